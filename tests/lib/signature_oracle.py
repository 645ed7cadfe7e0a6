#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Signed requests as clients of BlueKing make them; and tests/unit/api/signature_cases.inc,
which is made of them.  Nothing of Holdfast is in it.  Once is enough, but for new cases:

    python3 tests/lib/signature_oracle.py > tests/unit/api/signature_cases.inc
"""
import base64
import hashlib
import hmac
import random
import urllib.parse

CASES = 60


def sign(method, path, secret, params, data=None):
    """What the clients' SDK computes: all parameters, sorted, not escaped; a body as `data`."""
    given = dict(params)
    if data:
        given["data"] = data
    text = "&".join(f"{key}={value}" for key, value in sorted(given.items()))
    digest = hmac.new(secret.encode(), f"{method}{path}?{text}".encode(), hashlib.sha1).digest()
    return base64.b64encode(digest).decode()


def signed_target(method, path, secret, params, data=None, signed_path=None):
    """The target of the request: path and query, signature and all."""
    signature = sign(method, signed_path or path, secret, params, data)
    return path + "?" + urllib.parse.urlencode({**params, "bk_signature": signature})


# --- cases for C

KEYS = ["bk_app_code", "a", "A", "aa", "a_b", "a b", "data", "dat", "datb", "z", "名", "é", "x+y", "50%", "k=v", "e&e"]
VALUES = ["", "1", "two words", "a+b", "100%", "x=y&z", "中文", "ü", "/path/?q", "~-._", "😀", "\"quoted\"", "é"]
BODIES = ["{}", '{"bk_app_code":"demo"}', '{"name":"进程"}', "a=1&b=2", "  {\"x\":[1,2]}\n", "{" + "\"a\":0," * 20 + "\"b\":1}"]
PATHS = ["/api/c/compapi/v2/gse/get_proc_operate_result_v2/", "/c/compapi/v2/gse/operate_proc",
         "/api/c/compapi/v2/jobv3/operate_process/", "/api/bk-gse/prod/api/v2/proc/operate_proc_v2"]
SECRETS = ["a-secret-of-demo", "x", "秘密", "k" * 64, "k" * 65, "Mf3kq-Zs_0aB9" * 3]


def quote(text):
    """A string of C; bytes that are no plain ASCII in octal, which ends after three digits."""
    plain = set(range(32, 127)) - set(b'"\\?')
    return '"' + "".join(chr(b) if b in plain else f"\\{b:03o}" for b in text.encode()) + '"'


def case(rng):
    method = rng.choice(["GET", "POST"])
    path, secret = rng.choice(PATHS), rng.choice(SECRETS)
    params = {key: rng.choice(VALUES) for key in rng.sample(KEYS, rng.randrange(len(KEYS)))}
    params.update(bk_nonce=str(rng.randrange(1, 1 << 31)), bk_timestamp="1700000000")
    params = dict(rng.sample(sorted(params.items()), len(params)))
    data = rng.choice(BODIES + [""]) if method == "POST" else ""
    uri = rng.choice(["", "", "/paas" + path, path + "?whatever=1"])
    target = signed_target(method, path, secret, params, data, uri.partition("?")[0] or None)
    return method, target, uri, data, secret


def main():
    rng = random.Random(20)
    print("/* SPDX-License-Identifier: MIT */")
    print("/* Made by tests/lib/signature_oracle.py: method, target, X-Request-Uri, body, secret. */")
    for _ in range(CASES):
        print("{ " + ", ".join(map(quote, case(rng))) + " },")


if __name__ == "__main__":
    main()
