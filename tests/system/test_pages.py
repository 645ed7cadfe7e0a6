# SPDX-License-Identifier: MIT
"""The pages of docs/: links lead somewhere, and every example of the reference is one that the
server takes."""
import base64
import getpass
import http.client
import json
import pathlib
import re
import shlex

from installation import Installation

ROOT = pathlib.Path(__file__).resolve().parents[2]
ENDPOINTS = ROOT / "docs/reference/endpoints.md"

# What examples ask for that is not there, by what is in their line: a task, what a process of no
# host has said, and a token.
ABSENT = {"GSETASK:": (1000806, "NO_TASK"), "/v1/logs": ("NOT_FOUND",), "/v1/tokens/": ("NOT_FOUND",)}


def anchors(page):
    heads = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.M)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


def test_links_lead_somewhere():
    broken, seen = [], 0
    for page in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]:
        for link in re.findall(r"\]\(([^)]+)\)", page.read_text(encoding="utf-8")):
            name, _, anchor = link.partition("#")
            to = page.parent / name if name else page
            seen += 1
            if re.match(r"\w+:", link):
                continue
            if not to.exists() or (anchor and anchor not in anchors(to)):
                broken.append(f"{page.relative_to(ROOT)}: {link}")
    assert seen > 300 and not broken


class Curl:
    """A line of a page: method, path, body, headers, and whether it is for /v1."""

    def __init__(self, line):
        words = shlex.split(line)[1:]
        self.is_v1, self.method, self.body, self.path, self.headers = False, None, None, None, {}
        while words:
            word = words.pop(0)
            if word in ("-u", "-H", "-X", "-d"):
                value = words.pop(0)
                self.is_v1 |= word == "-u"
                self.method = value if word == "-X" else self.method
                self.body = value.encode() if word == "-d" else self.body
                if word == "-H" and "$" not in value:
                    self.headers.update([value.split(": ", 1)])
            elif word != "-N":
                self.path = word.replace("$SERVER", "")
        self.method = self.method or ("POST" if self.body else "GET")

    def __repr__(self):
        return f"{self.method} {self.path} {self.body}"


def examples():
    text = ENDPOINTS.read_text(encoding="utf-8")
    lines = [Curl(line) for line in re.findall(r"^```sh\n(curl .*)\n```$", text, re.M)]
    assert len(lines) == len(re.findall(r"^### ", text, re.M)) == len(re.findall(r"^\| `/", text, re.M))
    return lines


def ask_as(home, rights):
    """A function that does what a line says, as an app with these rights."""
    secret = home.admin("POST", "/v1/apps", {"code": "reader", "permissions": {"rights": rights}})["secret"]
    basic = {"Authorization": "Basic " + base64.b64encode(f"reader:{secret}".encode()).decode()}
    header = {"X-Bkapi-Authorization": json.dumps(
        {"bk_app_code": "reader", "bk_app_secret": secret, "bk_username": "admin"})}

    def ask(curl):
        headers = {**(basic if curl.is_v1 else header), **curl.headers}
        if "/stream" not in curl.path and curl.path != "/metrics":
            return home.call(curl.method, curl.path, curl.body, headers)
        connection = http.client.HTTPConnection("127.0.0.1", home.port, timeout=30)
        connection.request(curl.method, curl.path, headers=headers)
        status = connection.getresponse().status  # the rest has no end, or is no JSON
        connection.close()
        return status, {}, {}

    return ask


def test_every_example_is_taken(holdfast, tmp_path):
    home = Installation(holdfast, tmp_path)
    ask, refused = ask_as(home, ["read", "operate", "admin", "metrics"]), []
    home.admin("PUT", "/v1/businesses", {"id": 2, "name": "games"})
    home.admin("PUT", "/v1/hosts", {"host": "10.0.0.1", "biz_id": 2})
    for curl in examples():
        status, _, answer = ask(curl)
        if status == 200 and (curl.is_v1 or answer["result"]):
            continue
        code = (answer["error"] if curl.is_v1 else answer)["code"]
        if not any(code in codes for word, codes in ABSENT.items() if word in repr(curl)):
            refused.append((curl, status, answer))
    assert not refused


def test_every_line_of_the_native_page_is_taken(holdfast, tmp_path):
    """One host knows prod/web, as the page has it; what became of it is not asked here."""
    home = Installation(holdfast, tmp_path)
    host = home.add_agent()
    identity = {"proc_name": "sh", "setup_path": "/", "pid_path": f"{tmp_path}/pid", "user": getpass.getuser()}
    spec = {"identity": identity, "control": {"start_cmd": "true", "stop_cmd": "true"}, "monitor_policy": {}}
    said = home.esb("update_proc_info", {"meta": {"namespace": "prod", "name": "web"}, "spec": spec,
                                         "hosts": [{"ip": host.ip, "bk_cloud_id": 0}]})
    assert said["result"], said
    ask, task, n = ask_as(home, ["read", "operate"]), "", 0
    text = (ROOT / "docs/native-api.md").read_text(encoding="utf-8").replace("\\\n", " ")
    for line in re.findall(r"^    (curl .*)$", text, re.M):
        curl = Curl(line.replace("$TASK", task))
        assert curl.is_v1, line
        status, _, answer = ask(curl)
        assert status == 200, (line, answer)
        task, n = answer.get("task_id") or task, n + 1
    assert n >= 12 and task
