# SPDX-License-Identifier: MIT
"""Authentication: clients that sign, users with a token, an ESB in front; and refusals."""
import getpass
import http.client
import http.server
import json
import os
import pathlib
import re
import signal
import threading
import time
import urllib.parse

import pytest

from holdfast import free_port, wait_until
from installation import ESB, Installation
from signature_oracle import signed_target

RESULT = ESB.format("get_proc_operate_result_v2")
BACKEND = "/procapi/v2/proc/operate"
NO_TASK = {"task_id": "GSETASK:none"}


class LoginService:
    """BlueKing's: says whose a bk_token is.  `users` has them; `form` is how it answers."""

    FORMS = {
        1: lambda user: {"result": bool(user), "code": "00" if user else "1200", "message": "",
                         "data": {"username": user} if user else {}},
        2: lambda user: {"result": bool(user), "bk_error_code": 0 if user else 1302100, "bk_error_msg": "",
                         "data": {"bk_username": user} if user else None},
    }

    def __init__(self):
        self.users, self.form, self.asked, self.go = {}, 1, [], threading.Event()
        self.go.set()
        service = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def log_message(self, *_):
                pass

            def do_GET(self):
                url = urllib.parse.urlsplit(self.path)
                token = dict(urllib.parse.parse_qsl(url.query))["bk_token"]
                service.asked.append((url.path, token, self.headers["X-APP-CODE"], self.headers["X-APP-TOKEN"]))
                service.go.wait(30)
                body = json.dumps(service.FORMS[service.form](service.users.get(token))).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                try:
                    self.wfile.write(body)
                except OSError:
                    pass  # the client has waited long enough

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()

    def close(self):
        self.go.set()
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def login():
    service = LoginService()
    yield service
    service.close()


def again(home, **env):
    """The same installation with other settings."""
    assert home.server.stop() == 0
    home.start(**{"HOLDFAST_SERVER_" + key: value for key, value in env.items()})
    return home


def ask(home, code, secret, **more):
    return home.call("POST", RESULT, {"bk_app_code": code, "bk_app_secret": secret, **NO_TASK, **more})[2]


def is_in(answer):
    """It came as far as that there is no such task."""
    return not answer["code"] // 1000 == 1306


@pytest.mark.quick
def test_clients_that_sign(holdfast, tmp_path):
    home = Installation(holdfast, tmp_path)
    made = home.admin("POST", "/v1/apps", {"code": "signer", "permissions": {"signatures": True}})
    secret, old = made["secret"], None

    def get(key, **more):
        params = {"bk_app_code": "signer", **NO_TASK, "bk_nonce": "1", "bk_timestamp": str(int(time.time())), **more}
        return home.call("GET", signed_target("GET", RESULT, key, params))[2]

    def post(key, data, sent=None, headers=None, signed_path=None):
        params = {"bk_nonce": "99", "bk_timestamp": str(int(time.time()))}
        target = signed_target("POST", RESULT, key, params, data, signed_path)
        return home.call("POST", target, (sent or data).encode(), headers)[2]

    data = json.dumps({"bk_app_code": "signer", "note": "进程 +&=", **NO_TASK}, ensure_ascii=False)
    for _ in range(2):
        assert is_in(get(secret)) and is_in(post(secret, data))
        assert not old or is_in(get(old))  # two are good at once
        assert "verification failed" in get("another")["message"]
        assert "verification failed" in post(secret, data, data.replace("note", "node"))["message"]
        assert "because it has expired" in get(secret, bk_timestamp=str(int(time.time()) - 400))["message"]
        assert is_in(post(secret, data, None, {"X-Request-Uri": "/paas" + RESULT + "?x=1"}, "/paas" + RESULT))
        other = ESB.format("operate_proc_v2")
        assert "verification failed" in post(secret, data, None, {"X-Request-Uri": other}, other)["message"]
        again(home)  # what was sealed is still there
        old, secret = secret, home.admin("POST", "/v1/apps?rotate=1", {"code": "signer"})["secret"]

    plain = {"bk_app_code": home.code, "bk_nonce": "1", "bk_timestamp": str(int(time.time())), **NO_TASK}
    answer = home.call("GET", signed_target("GET", RESULT, home.secret, plain))[2]
    assert answer["code"] == 1306000 and "Signature [bk_signature] verification failed" in answer["message"]
    assert (home.data / "seal.key").stat().st_mode & 0o777 == 0o600
    kept = b"".join(f.read_bytes() for f in home.data.glob("holdfast.db*"))
    assert b"signer" in kept and not any(s.encode() in kept for s in (secret, old, home.secret))
    home.admin("DELETE", "/v1/apps/signer")
    assert "Invalid APP Code [bk_app_code=signer]" in get(secret)["message"]


@pytest.mark.parametrize("lead", [0, 120])
def test_a_signed_operation_can_not_be_replayed(holdfast, tmp_path, lead):
    """Sent again it is the same task while that is unfinished, and refused when it is over, also by a restarted
    server and when the client's clock is ahead."""
    home = Installation(holdfast, tmp_path)
    agent = home.add_agent()
    secret = home.admin("POST", "/v1/apps", {"code": "signer", "permissions": {"signatures": True}})["secret"]
    go, starts = tmp_path / "go", tmp_path / "starts"
    start = f"echo x >> {starts}; while [ ! -e {go} ]; do sleep 0.05; done"
    spec = {"identity": {"proc_name": "none", "setup_path": str(tmp_path), "pid_path": str(tmp_path / "pid"), "user": "root"},
            "control": {"start_cmd": start}, "alive_monitor_policy": {"auto_type": 2, "op_timeout": 60}}
    body = json.dumps({"bk_app_code": "signer", "meta": {"namespace": "signed", "name": "once"}, "op_type": 0,
                       "agent_id_list": [agent.id], "spec": spec})

    def signed(name, data, ahead=0):
        params = {"bk_nonce": "7", "bk_timestamp": str(int(time.time()) + ahead)}
        return signed_target("POST", ESB.format(name), secret, params, data), data.encode()

    request = signed("operate_proc_v2", body, lead)
    first = home.call("POST", *request)[2]
    assert first["result"] is True and home.call("POST", *request)[2]["data"] == first["data"]
    wait_until(starts.exists, "the command runs")
    assert home.call("POST", *request)[2]["data"] == first["data"]
    go.touch()
    assert home.result(first["data"]["task_id"])[f"{agent.id}:signed:once"]["error_code"] == 0
    for _ in range(2):
        answer = home.call("POST", *request)[2]
        assert answer["code"] == 1306000 and "Signature [bk_signature] verification failed" in answer["message"], answer
        again(home)
        agent.wait_online()
    assert starts.read_text(encoding="ascii") == "x\n"
    query = signed("get_proc_operate_result_v2", json.dumps({"bk_app_code": "signer", **first["data"]}))
    assert home.call("POST", *query)[2]["result"] is True
    assert "verification failed" in home.call("POST", *query)[2]["message"]
    assert "has expired" in home.call("POST", *signed("operate_proc_v2", body, ahead=400))[2]["message"]


def test_the_example_of_the_page_signs(holdfast, tmp_path):
    """docs/access.md, word for word."""
    home = Installation(holdfast, tmp_path)
    page = pathlib.Path(__file__).resolve().parents[2] / "docs/access.md"
    blocks = re.findall(r"^```python\n(.*?)^```$", page.read_text(encoding="utf-8"), re.M | re.S)
    assert len(blocks) == 1
    words = {}
    exec(blocks[0], words)  # pylint: disable=exec-used
    secret = home.admin("POST", "/v1/apps", {"code": "signer", "permissions": {"signatures": True}})["secret"]

    def call(path, key, code="signer"):
        return words["call"](f"http://127.0.0.1:{home.port}", path, code, key, NO_TASK)

    assert call(RESULT, secret)["code"] == 1000806
    assert call("/api/bk-gse/prod/api/v2/proc/get_proc_operate_result_v2", secret)["code"] == 1000806
    assert "verification failed" in call(RESULT, "another")["message"]
    home.admin("POST", "/v1/apps", {"code": "older"})
    home.admin("PUT", "/v1/apps/older", {"permissions": {"signatures": True}})
    secret = home.admin("POST", "/v1/apps?rotate=1", {"code": "older"})["secret"]
    assert call(RESULT, secret, "older")["code"] == 1000806


def test_users_by_a_login_service(holdfast, tmp_path, login):
    settings = {"LOGIN_URL": login.url, "LOGIN_APP_TOKEN": "t0ken", "SKIP_USER_AUTH_APPS": "other;tests"}
    home = again(Installation(holdfast, tmp_path), **settings, LOGIN_TIMEOUT_SECONDS="60")
    who = home.admin("POST", "/v1/apps", {"code": "kit"})
    login.users = {"good": "tom", "good-2": "ann"}

    def as_kit(**more):
        return ask(home, "kit", who["secret"], **more)

    assert is_in(as_kit(bk_token="good")) and is_in(as_kit(bk_token="good"))
    assert login.asked == [("/login/accounts/is_login/", "good", "esb", "t0ken")]  # once
    login.form = 2
    assert is_in(as_kit(bk_token="good-2", bk_username="eve"))
    answer = as_kit(bk_token="bad", bk_username="eve")
    assert (answer["code"], answer["message"]) == (
        1306000, "User authentication failed, please check if the bk_token is valid")
    answer = as_kit(bk_username="eve")
    assert (answer["code"], answer["message"]) == (
        1306000, "User authentication failed, please provide a valid user identity, such as bk_token, bk_username")
    assert is_in(ask(home, home.code, home.secret, bk_username="eve"))  # it may say so
    assert home.gateway("get_proc_operate_result_v2", NO_TASK)["code"] // 1000 != 1306

    query = {"meta": {"namespace": "gse", "name": "x"}, "op_type": 2, "agent_id_list": ["none"]}
    home.operate(query)  # as "admin", which is not authenticated
    as_tom = {"bk_app_code": "kit", "bk_app_secret": who["secret"], "bk_token": "good", **query}
    assert home.call("POST", ESB.format("operate_proc_v2"), as_tom)[2]["result"]
    rows = home.admin("GET", "/v1/audit")["rows"]
    proven = {(row["app"], row["user"], row["user_proven"]) for row in rows if row["route"] == "operate_proc_v2"}
    assert proven == {("tests", "admin", False), ("kit", "tom", True)}

    login.go.clear()
    assert is_in(as_kit(bk_token="good"))  # a user that is in the cache does not need it
    waiting = http.client.HTTPConnection("127.0.0.1", home.port, timeout=60)
    waiting.request("POST", ESB.format("operate_proc_v2"), json.dumps({**as_tom, "bk_token": "late"}))
    wait_until(lambda: login.asked[-1][1] == "late", "the service is asked")
    home.server.signal(signal.SIGTERM)
    home.server.wait_log(text="stopping")  # the second signal, below, ends it with this one in work
    again(home, **settings, LOGIN_TIMEOUT_SECONDS="1")
    assert as_kit(bk_token="slow")["code"] == 1306201  # a call waits no longer than the timeout
    login.close()
    answer = as_kit(bk_token="lost")
    assert answer["code"] == 1306201 and "[BK_LOGIN]" in answer["message"]
    home.server.wait_log(text="the login service can not be asked")
    assert "bk_token=" not in home.server.err and "t0ken" not in home.server.err


def test_an_esb_in_front(holdfast, tmp_path):
    home = Installation(holdfast, tmp_path)
    named = {"Bk-App-Code": home.code, "Bk-Username": "tom"}

    def back(headers):
        return home.call("GET", BACKEND, NO_TASK, headers)[2]

    assert "cannot be empty" in back(named)["message"]  # any client can send that header
    again(home, TRUSTED_ESB_FROM="10.0.0.0/8,::1")
    assert "cannot be empty" in back(named)["message"]
    again(home, TRUSTED_ESB_FROM="10.0.0.0/8,127.0.0.0/8")
    assert is_in(back(named))
    assert "Invalid APP Code [bk_app_code=nobody]" in back({**named, "Bk-App-Code": "nobody"})["message"]
    assert "cannot be empty" in back({"Bk-Username": "tom"})["message"]
    assert "cannot be empty" in back({**named, "Bk-Username": "t" * 257})["message"]
    assert is_in(back({**named, "Bk-Username": "t" * 256}))
    assert is_in(back(home.auth()))
    home.admin("PUT", "/v1/apps/" + home.code, {"permissions": {"rights": ["operate"]}})
    assert back(named)["code"] == 1306403  # its rights count
    answer = home.call("POST", RESULT, NO_TASK, named)[2]
    assert "cannot be empty" in answer["message"]  # nowhere else


@pytest.mark.parametrize("setting, value, says", [
    ("LOGIN_URL", "paas.example", "login.url: must be a URL"),
    ("TRUSTED_ESB_FROM", "10.0.0.1/8", "trusted_esb_from: 10.0.0.1/8: the address has more bits than /8"),
    ("SKIP_USER_AUTH_APPS", "a b?c", 'skip_user_auth_apps: "b?c": must be letters'),
])
def test_settings_that_are_wrong(holdfast, setting, value, says):
    program = holdfast.run("holdfast-server", "--listen", f"127.0.0.1:{free_port()}",
                           env={"HOLDFAST_SERVER_" + setting: value})
    assert program.process.returncode == 1
    assert re.search(re.escape(says), program.err)


def test_an_app_with_the_right_admin_can_read(holdfast, tmp_path):
    home = Installation(holdfast, tmp_path)
    made = holdfast.run("holdfast", "app", "create", "boss", "--right", "admin", "--json", "--socket",
                        home.data / "admin.sock", env={"HOME": tmp_path})
    assert made.process.returncode == 0, made.err
    row = json.loads(made.out)
    home.code, home.secret = row["code"], row["secret"]
    assert home.v1("GET", "/v1/hosts")["hosts"] == []
    assert home.v1("GET", "/v1/apps")["apps"]
    home.v1("POST", "/v1/operations", {"operation": "stop", "namespace": "a", "name": "b"}, status=403)


def test_the_audit_log_names_who_uses_the_admin_socket(holdfast, tmp_path):
    home = Installation(holdfast, tmp_path)  # it has made an app
    row = home.admin("GET", "/v1/audit")["rows"][0]
    assert (row["app"], row["user_proven"]) == ("admin", True), row
    assert row["user"] == f"{getpass.getuser()} (uid {os.getuid()})", row
    home.token(biz_id=2)
    assert home.admin("GET", "/v1/tokens")["tokens"][0]["user"] == row["user"]
