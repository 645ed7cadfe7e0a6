# SPDX-License-Identifier: MIT
"""holdfast, the command line, from the outside: a stand-in answers as /v1 would."""
import base64
import fcntl
import http.server
import json
import os
import pty
import re
import select
import signal
import socketserver
import ssl
import struct
import subprocess
import termios
import threading
import time
import urllib.parse

import pytest

from holdfast import bin_dir, free_port, sanitizer_reports, wait_until

pytestmark = pytest.mark.quick

NOW = int(time.time())


# --- The stand-in ---------------------------------------------------------

class StandIn:
    """Answers each (method, path) with what `answers` has for it: (status, object), a
    list of them for one request after the other (the last stays), or a function."""

    def __init__(self, unix_path=None, tls=None):
        self.answers, self.asked = {}, []
        stand_in = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def address_string(self):
                return "somebody"

            def log_message(self, *_):
                pass

            def do_GET(self):
                stand_in.answer(self)

            do_POST = do_PUT = do_DELETE = do_GET

        class UnixServer(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
            pass

        server = UnixServer if unix_path else http.server.ThreadingHTTPServer
        self.server = server(unix_path or ("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = "" if unix_path else f"http://127.0.0.1:{self.server.server_address[1]}"
        if tls:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*tls)
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
            self.server.handle_error = lambda *_: None  # a client that does not trust us ends the handshake
            self.url = self.url.replace("http:", "https:")
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()

    def answer(self, request):
        url = urllib.parse.urlsplit(request.path)
        length = int(request.headers.get("Content-Length", 0))
        asked = {"method": request.command, "path": url.path, "headers": request.headers,
                 "query": dict(urllib.parse.parse_qsl(url.query)),
                 "body": json.loads(request.rfile.read(length)) if length else None}
        self.asked.append(asked)
        path = url.path
        if path == "/v1/explain" and ("GET", path) not in self.answers:
            path = "/v1/processes"  # what is explained has all that is listed
        found = self.answers.get((request.command, path), (404, error(404, "NOT_FOUND", "no such page")))
        if isinstance(found, list):
            found = found.pop(0) if len(found) > 1 else found[0]
        if callable(found):
            found = found(request, asked)
        if found is None:
            request.close_connection = True
            return
        status, body = found
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        request.send_response(status)
        request.send_header("Content-Type", "application/json")
        request.send_header("Content-Length", str(len(raw)))
        request.end_headers()
        request.wfile.write(raw)

    def close(self):
        self.server.shutdown()
        self.server.server_close()


def error(_status, code, message, number=3):
    return {"error": {"code": code, "number": number, "message": message, "request_id": "r-17"}}


def process(ip="10.0.0.1", name="web", space="prod", wanted=1, status=1, online=True, cloud=0, **more):
    view = {"namespace": space, "name": name, "wanted": wanted, "status": status, "hosted": True,
            "pid": 4711 if status == 1 else -1, "restarts": 2, **more}
    return {"agent_id": f"a-{ip}", "cloud_id": cloud, "ip": ip, "online": online, "process": view}


def item(ip="10.0.0.1", code=0, text="success", done=True, op=0, **view):
    return {"key": f"0:{ip}:prod:web", "agent_id": f"a-{ip}", "namespace": "prod", "name": "web",
            "op_type": op, "done": done, "code": code, "text": text,
            "process": {"namespace": "prod", "name": "web", "wanted": 1, "status": 1, **view}}


def task(*items):
    return {"task_id": "T1", "app": "ops", "user": "ann", "created_ms": NOW * 1000,
            "deadline_ms": NOW * 1000 + 60000, "total": len(items),
            "left": sum(not i["done"] for i in items),
            "failed": sum(i["done"] and i["code"] != 0 for i in items), "items": list(items)}


STATUS = {"version": "0.1.0", "uptime_s": 192, "hosts": 3, "online": 2, "silent": 0, "processes": 4,
          "running": 3, "hosted": 4, "open_tasks": 1}
HOSTS = {"hosts": [{"agent_id": "a1", "cloud_id": 0, "ip": "10.0.0.1", "biz_id": 2, "hostname": "n1",
                    "version": "0.1.0", "online": True, "since_s": NOW - 3600, "joined_s": NOW - 9000,
                    "processes": 3, "running": 2},
                   {"agent_id": "a2", "cloud_id": 7, "ip": "10.0.0.1", "hostname": "数据库主机", "online": False}],
         "next": ""}


@pytest.fixture
def stand_in():
    s = StandIn()
    yield s
    s.close()


@pytest.fixture
def env(tmp_path):
    """No settings of the user that runs the tests."""
    for name in ("HOLDFAST_SERVER", "HOLDFAST_SOCKET", "HOLDFAST_APP", "HOLDFAST_SECRET"):
        assert name not in os.environ, f"{name} would reach the program under test"
    return {"HOME": tmp_path, "XDG_CONFIG_HOME": "", "LC_ALL": "C", "TZ": "UTC"}


@pytest.fixture
def run(holdfast, stand_in, env):
    """run("ps", "--json"): the program against the stand-in; .code, .out, .err."""
    def start(*args, more=None, server=True):
        where = ["--server", stand_in.url] if server else []
        p = holdfast.run("holdfast", *args, *where, env={**env, **(more or {})})
        p.code = p.process.returncode
        return p
    return start


def cells(line):
    return re.split(r"  +", line.strip())


# --- What there is --------------------------------------------------------

def test_status_lists_in_json_all_that_is_wrong(run, stand_in):
    store = {"kind": "store", "text": "holdfast.db: no space left: free some and try again (0 bytes)"}
    stand_in.answers["GET", "/v1/status"] = 200, {**STATUS, "wrong": [store]}
    stand_in.answers["GET", "/v1/processes"] = 200, {"next": "", "processes": [
        process(), process("10.0.0.2", "db", status=2, why="exit code 1 after 3 s")]}
    stand_in.answers["GET", "/v1/hosts"] = 200, {"hosts": HOSTS["hosts"][1:], "next": ""}
    p = run("status", "--json")
    wrong = json.loads(p.out)["wrong"]
    assert p.code == 1 and [w["kind"] for w in wrong] == ["store", "process", "offline"] and wrong[0] == store
    assert (wrong[1]["namespace"], wrong[1]["name"]) == ("prod", "db") and "exit code 1" in wrong[1]["text"]
    assert wrong[2]["agent_id"] == "a2"
    assert "cannot write to its store: holdfast.db: no space left" in " ".join(run("status").out.split())
    stand_in.answers["GET", "/v1/status"] = 200, {**STATUS, "online": 3}
    stand_in.answers["GET", "/v1/processes"] = 200, {"next": "", "processes": [process()]}
    p = run("status", "--json")
    assert p.code == 0 and json.loads(p.out)["wrong"] == []


def test_ps_is_a_table(run, stand_in):
    stand_in.answers["GET", "/v1/processes"] = 200, {"processes": [
        process(last_start_s=int(time.time()) - 192),  # other tests may have run for long since NOW
        process("10.0.0.2", "db", status=2, why="exit code 1 after 3 s; next try in 10 s"),
        process("10.0.0.3", "job", cloud=5, online=False, why="nothing heard of the agent for 5s")], "next": ""}
    p = run("ps")
    assert p.code == 0 and p.err == ""
    head, web, db, job = p.out.splitlines()
    assert cells(head) == "HOST PROCESS WANTED STATE PID HOSTED RESTARTS CPU MEM UPTIME WHY".split()
    assert cells(web)[:7] == ["10.0.0.1", "prod/web", "running", "running", "4711", "yes", "2"]
    assert cells(web)[7:9] == ["-", "-"] and re.fullmatch(r"3m \d+s", cells(web)[9])
    assert cells(db) == ["10.0.0.2", "prod/db", "running", "stopped", "-", "yes", "2", "-", "-", "-",
                         "exit code 1 after 3 s; next try in 10 s"]
    assert cells(job)[0] == "5:10.0.0.3" and cells(job)[-1] == "nothing heard of the agent for 5s"
    assert cells(web)[10] == "running as pid 4711; restarted 2 times"  # of a server that does not say it
    assert web.index("prod/web") == db.index("prod/db") == head.index("PROCESS")
    assert "\033" not in p.out


@pytest.mark.parametrize("args, query", [
    ([], {}),
    (["prod"], {"namespace": "prod"}),
    (["prod/web"], {"namespace": "prod", "name": "web"}),
    (["prod/a/b"], {"namespace": "prod", "name": "a/b"}),
    (["生产/web & co", "--host", "5:10.0.0.1"], {"namespace": "生产", "name": "web & co", "host": "5:10.0.0.1"}),
    (["--state", "stopped", "--hosted"], {"status": "stopped", "hosted": "true"}),
    (["--namespace", "prod", "--biz", "7", "--hosted=no", "--match", "we"],
     {"namespace": "prod", "business": "7", "hosted": "false", "text": "we"}),
])
def test_ps_asks_for_what_is_named(run, stand_in, args, query):
    stand_in.answers["GET", "/v1/processes"] = 200, {"processes": [], "next": ""}
    p = run("ps", *args)
    assert p.code == (1 if args and not args[0].startswith("--") else 0)  # it was named, and is not there
    assert stand_in.asked[0]["query"] == {**query, "limit": "1000"}
    assert ("start one with: holdfast start" in p.out) == (args == [])
    assert ("holdfast ps lists all" in p.out + p.err) == (args != [])


def test_pages_are_put_together(run, stand_in):
    pages = {None: ({"processes": [process("1.1.1.1")], "next": "b"}),
             "b": ({"processes": [process("1.1.1.2")], "next": "c"}),
             "c": ({"processes": [process("1.1.1.3")], "next": ""})}
    stand_in.answers["GET", "/v1/processes"] = lambda _, asked: (200, pages[asked["query"].get("after")])
    p = run("ps", "--json")
    assert [x["ip"] for x in json.loads(p.out)["processes"]] == ["1.1.1.1", "1.1.1.2", "1.1.1.3"]
    assert len(run("ps").out.splitlines()) == 4


def test_pages_that_do_not_end_are_noticed(run, stand_in):
    stand_in.answers["GET", "/v1/processes"] = 200, {"processes": [process()], "next": "b"}
    p = run("ps")
    assert p.code == 3 and "endless pages" in p.err and len(stand_in.asked) == 2


def test_status_shows_totals_and_what_is_wrong(run, stand_in):
    stand_in.answers["GET", "/v1/status"] = 200, STATUS
    stand_in.answers["GET", "/v1/processes"] = 200, {"processes": [
        process(), process("10.0.0.2", "db", status=2, why="killed by signal 9"),
        process("10.0.0.3", "old", wanted=2), process("10.0.0.4", "far", status=2, online=False),
        process("10.0.0.5", "free", wanted=0, status=2)], "next": ""}
    stand_in.answers["GET", "/v1/hosts"] = 200, {"hosts": [{"agent_id": "a3", "ip": "10.0.0.4"}], "next": ""}
    p = run("status")
    assert p.code == 1
    assert "hosts      3: 2 online, 1 offline" in p.out and "up 3m 12s" in p.out
    assert "2 not as wanted:" in p.out and "killed by signal 9" in p.out
    assert "prod/db" in p.out and "prod/old" in p.out
    assert not any(name in p.out for name in ("prod/web", "prod/far", "prod/free"))
    stand_in.answers["GET", "/v1/processes"] = 200, {"processes": [process()], "next": ""}
    assert "Every process of the hosts online is as wanted." in run("status").out
    p = run("status", "--json")
    offline = {"kind": "offline", "agent_id": "a3", "text": "offline"}
    assert json.loads(p.out) == {**STATUS, "wrong": [offline]} and p.code == 1


def test_status_names_hosts_that_are_offline(run, stand_in):
    away = [{"agent_id": f"a{n}", "ip": f"10.0.0.{n}", "cloud_id": 0} for n in range(1, 6)]
    stand_in.answers["GET", "/v1/status"] = 200, {**STATUS, "hosts": 7}
    stand_in.answers["GET", "/v1/processes"] = 200, {"processes": [process("10.0.0.7")], "next": ""}
    stand_in.answers["GET", "/v1/hosts"] = 200, {"hosts": away, "next": ""}
    p = run("status")
    assert p.code == 1 and stand_in.asked[-1]["query"]["state"] == "offline"
    assert "5 hosts offline" in p.out and ": 10.0.0.1, 10.0.0.2, 10.0.0.3, and 2 more\n" in p.out
    assert "5 台主机离线" in run("status", "--lang", "zh").out
    stand_in.answers["GET", "/v1/status"] = 200, {**STATUS, "hosts": 7, "uptime_s": 12}
    assert "5 hosts not reconnected yet: 10.0.0.1, " in run("status").out
    stand_in.answers["GET", "/v1/status"] = 200, {**STATUS, "online": 3}
    p = run("status")
    assert p.code == 0 and "offline:" not in p.out


def test_of_a_host_that_is_away_nothing_is_known(run, stand_in):
    far = {**process(why="nothing heard of the agent for 21s; last running as pid 4711", elapsed_s=60, online=False),
           "unknown_since_s": NOW}
    stand_in.answers["GET", "/v1/processes"] = 200, {"processes": [far], "next": ""}
    row = cells(run("ps").out.splitlines()[1])
    assert row[2:10] == ["running", "unknown", "-", "yes", "2", "-", "-", "-"] and "last running" in row[10]
    assert cells(run("ps", "--lang", "zh").out.splitlines()[1])[3] == "未知"
    p = run("why", "prod/web")
    assert p.code == 1 and re.search(r"  state +unknown since \d", p.out) and "\n  pid" not in p.out


def test_what_matches_no_filter_is_not_said_to_be_unknown(run, stand_in):
    stand_in.answers["GET", "/v1/processes"] = 200, {"processes": [], "next": ""}
    stand_in.answers["GET", "/v1/hosts"] = 200, {"hosts": [], "next": ""}
    for args in (["ps", "--hosted=no"], ["ps", "prod", "--match", "x"], ["host", "list", "--match", "x"]):
        assert "nothing matches the filters" in run(*args).out
    assert run("ps", "prod", "--match", "x").code == 0
    for named in ("prod", "prod/web"):
        p = run("ps", named)
        assert p.code == 1 and p.out == "" and f"holdfast: {named}: no such process; holdfast ps lists all" in p.err
        p = run("ps", named, "--json")
        assert p.code == 1 and json.loads(p.out)["processes"] == [] and p.err == ""


@pytest.mark.parametrize("args, near", [
    (["ps", "prdo"], "prod"), (["ps", "wbe"], "prod/web"), (["ps", "prod/wbe"], "prod/web"), (["why", "prod/wbe"], "prod/web"),
    (["forget", "prod/wbe", "--yes"], "prod/web"), (["why", "prdo/web"], "prod/web"), (["stop", "prod/wbe"], "prod/web"),
    (["start", "prod/wbe"], "prod/web")])
def test_the_nearest_process_is_named(run, stand_in, args, near):
    def listed(_request, asked):
        space, name = (asked["query"].get(key) for key in ("namespace", "name"))
        all_of = [process(), process(name="db"), process(name="queue", space="test")]
        return 200, {"processes": [p for p in all_of if space in (None, p["process"]["namespace"]) and
                                   name in (None, p["process"]["name"])], "next": ""}

    stand_in.answers["GET", "/v1/processes"] = listed
    stand_in.answers["POST", "/v1/operations"] = 404, error(404, "NOT_FOUND", "process prod/wbe: no host knows it")
    p = run(*args)
    assert p.code == 1 and p.out == ""
    assert p.err.startswith(f"holdfast: {args[1]}: no such process; did you mean {near}?"), p.err
    assert ("--spec FILE" in p.err) == (args[0] == "start"), p.err
    assert f"holdfast: {args[1]}：没有这个进程；您是不是想用 {near}？" in run(*args, "--lang", "zh").err


def test_lines_0_is_the_largest_page(run, stand_in):
    stand_in.answers["GET", "/v1/audit"] = 200, {"rows": [], "next": ""}
    stand_in.answers["GET", "/v1/tasks"] = 200, {"tasks": [], "next": ""}
    for args in (["audit"], ["task", "list"]):
        for lines, limit in (("0", "1000"), ("7", "7")):
            assert run(*args, "--lines", lines).code == 0
            assert stand_in.asked[-1]["query"]["limit"] == limit


@pytest.mark.parametrize("view, wrong", [
    ({"status": 2, "cause": {"has_finished": True}}, False),
    ({"status": 2, "cause": {"doing": 0}}, False),
    ({"status": 2, "cause": {"doing": 0, "tries": 1}}, True),
    ({"status": 2, "cause": {"has_given_up": True}}, True),
    ({"status": 2, "wanted": 2, "cause": {"has_given_up": True}}, True),
    ({"cause": {"instances": 1, "instances_wanted": 2}}, True),
    ({"cause": {"since_s": 5, "failed_s": 6, "failed_op": 7, "failed_code": 836}}, True),
    ({"cause": {"since_s": 5, "failed_s": 6, "failed_op": 8, "failed_code": 827}}, False),  # it runs as it did
    ({"cause": {"since_s": 6, "failed_s": 5, "failed_op": 0, "failed_code": 836}}, False),
])
def test_what_is_wrong_is_judged_by_the_facts(run, stand_in, view, wrong):
    stand_in.answers["GET", "/v1/status"] = 200, {**STATUS, "online": 3}
    stand_in.answers["GET", "/v1/processes"] = 200, {"processes": [process(**view)], "next": ""}
    p = run("status")
    assert ("1 not as wanted:" in p.out) == wrong and p.code == wrong
    assert run("why", "prod/web").code == wrong


CRASHED = {"status": 2, "why": "not running, ended 12s ago: exit code 1; try 2 of 4 in 7s",
           "cause": {"since_s": 10 ** 9, "exit_s": 10 ** 9, "exit_code": 1, "exit_pid": 812, "tries": 1, "tries_max": 4,
                     "next_try_s": 10 ** 9 + 7, "failed_s": 10 ** 9 + 1, "failed_op": 0, "failed_code": 836,
                     "failed_text": "not alive", "output": "first\033[2J\nsecond\u202e\u009b31m"}}


def test_why_shows_the_sentence_and_the_facts(run, stand_in):
    stand_in.answers["GET", "/v1/processes"] = 200, {"processes": [
        process(**CRASHED), process("10.0.0.2", why="running for 5s as pid 4711", cloud=5)], "next": ""}
    p = run("why", "prod/web", "--host", "10.0.0.1")
    assert p.code == 1 and p.err == ""
    assert stand_in.asked[0]["path"] == "/v1/explain"
    assert stand_in.asked[0]["query"] == {"namespace": "prod", "name": "web", "host": "10.0.0.1"}
    assert re.sub(r"\(\d+d \d+h ago\)", "(AGO)", p.out) == """\
prod/web on 10.0.0.1
  why           not running, ended 12s ago: exit code 1; try 2 of 4 in 7s
  state         stopped since 2001-09-09 01:46 (AGO)
  wanted        running
  hosted        yes
  last exit     exit code 1, 2001-09-09 01:46 (AGO), pid 812
  restarts      2
  tries         1 of 4
  next try      now
  last failure  start, 2001-09-09 01:46 (AGO), 836 CHECK
                not alive
  last output   | first?[2J
                | second??31m

prod/web on 5:10.0.0.2
  why           running for 5s as pid 4711
  state         running
  wanted        running
  hosted        yes
  pid           4711
  restarts      2
"""


@pytest.mark.parametrize("cause, label", [
    ({}, "exit output"),
    ({"failed_s": 10 ** 9 + 40}, "last output"),  # a reload, say: it stands
    ({"failed_s": 10 ** 9 + 1}, None),  # a start before the one that came up
])
def test_of_one_that_runs_old_words_are_not_told_as_new(run, stand_in, cause, label):
    old = {"since_s": 10 ** 9 + 30, "exit_s": 10 ** 9, "exit_code": 1, "failed_op": 8, "failed_code": 836,
           "output": "old words", **cause}
    stand_in.answers["GET", "/v1/processes"] = 200, {"processes": [process(cause=old)], "next": ""}
    out = run("why", "prod/web").out
    assert re.findall(r"^  (\S+ \S+) +\| old words$", out, re.M) == ([label] if label else [])


def test_the_server_is_told_the_language(run, stand_in):
    stand_in.answers["GET", "/v1/processes"] = 200, {"processes": [process(**CRASHED)], "next": ""}
    assert "next try" in run("why", "prod/web").out
    out = run("why", "prod/web", "--lang", "zh").out
    assert [a["headers"]["Blueking-Language"] for a in stand_in.asked] == ["en", "zh-hans"]
    assert "prod/web（10.0.0.1）" in out and "  最近退出      退出码 1，2001-09-09 01:46（" in out
    assert "最近失败      启动，" in out and "拉起次数      1（最多 4 次）" in out
    late = {**CRASHED["cause"], "failed_code": 822, "failed_text": "命令以退出码 127 结束"}  # in the language asked for
    stand_in.answers["GET", "/v1/processes"] = 200, {"processes": [process(**{**CRASHED, "cause": late})], "next": ""}
    out = run("why", "prod/web", "--lang", "zh").out
    assert "命令以退出码 127 结束" in out


def test_a_new_server_says_what_to_do_next(run, stand_in):
    stand_in.answers["GET", "/v1/status"] = 200, {"version": "0.1.0"}
    stand_in.answers["GET", "/v1/processes"] = 200, {"processes": [], "next": ""}
    stand_in.answers["GET", "/v1/hosts"] = 200, {"hosts": [], "next": ""}
    stand_in.answers["GET", "/v1/apps"] = 200, {"apps": [], "next": ""}
    assert "holdfast token create" in run("status").out
    assert "holdfast token create" in run("host", "list").out
    assert "holdfast app create CODE" in run("app", "list").out
    assert run("host", "list", "--quiet").out == ""


def test_host_list(run, stand_in):
    stand_in.answers["GET", "/v1/hosts"] = 200, HOSTS
    p = run("host", "list")
    _, first, second = p.out.splitlines()
    assert re.fullmatch(r"1h \d+m", cells(first).pop(3))
    assert [c for n, c in enumerate(cells(first)) if n != 3] == ["10.0.0.1", "n1", "online", "2", "2/3", "a1", "0.1.0"]
    assert cells(second)[:3] == ["7:10.0.0.1", "数据库主机", "offline"]
    assert [h["agent_id"] for h in json.loads(run("host", "list", "--json").out)["hosts"]] == ["a1", "a2"]


def test_several_hosts_are_removed_up_to_the_first_that_is_not_there(run, stand_in):
    no = 404, {"error": {"code": "NOT_FOUND", "number": 3, "message": "host x: there is none", "request_id": "r"}}
    gone = [(200, HOSTS["hosts"][0]), (200, HOSTS["hosts"][1]), no]
    stand_in.answers["POST", "/v1/hosts/remove"] = gone
    p = run("host", "remove", "a1", "a2", "x", "y")
    assert p.code == 2 and "add --yes" in p.err and not stand_in.asked
    p = run("host", "remove", "a1", "a2", "x", "y", "--yes")
    assert p.code != 0 and "host x: there is none" in p.err
    assert [a["body"]["host"] for a in stand_in.asked] == ["a1", "a2", "x"]
    assert len(p.out.splitlines()) == 2


def test_who_is_connected_and_silent_is_told_of(run, stand_in):
    mute = {**HOSTS["hosts"][0], "state": "silent", "silent_since_s": int(time.time()) - 70}
    stand_in.answers["GET", "/v1/status"] = 200, {**STATUS, "online": 3, "silent": 1}
    stand_in.answers["GET", "/v1/processes"] = 200, {"processes": [], "next": ""}
    stand_in.answers["GET", "/v1/hosts"] = 200, {"hosts": [mute], "next": ""}
    p = run("status")
    assert p.code == 1 and "1 host silent: 10.0.0.1\n" in p.out
    assert stand_in.asked[-1]["query"]["state"] == "silent"
    row = cells(run("host", "list", "--state", "silent").out.splitlines()[1])
    assert row[2] == "silent" and re.fullmatch(r"1m \d+s", row[3])
    assert "1 台主机无响应：10.0.0.1\n" in run("status", "--lang", "zh").out


# --- Forgetting -----------------------------------------------------------

def target(ip, code=0, text=""):
    return {"key": f"a-{ip}", "agent_id": f"a-{ip}", "ip": ip, "cloud_id": 0, "online": True, "code": code, "text": text}


def test_a_process_is_forgotten_where_it_is_or_where_it_is_said(run, stand_in):
    stand_in.answers["GET", "/v1/processes"] = 200, {"processes": [process(), process("10.0.0.2")], "next": ""}
    stand_in.answers["POST", "/v1/processes/forget"] = 200, {"targets": [target("10.0.0.1"), target("10.0.0.2")]}
    p = run("forget", "prod/web")
    assert p.code == 2 and "holdfast: forget: no terminal to ask for confirmation; add --yes" in p.err and not stand_in.asked
    p = run("forget", "prod/web", "--yes")
    assert p.code == 0 and p.out == "prod/web: definition removed on 2 hosts\n"
    assert stand_in.asked[-1]["body"] == {"namespace": "prod", "name": "web", "hosts": ["a-10.0.0.1", "a-10.0.0.2"]}
    stand_in.answers["POST", "/v1/processes/forget"] = 200, {"targets": [
        target("10.0.0.1"), {**target("", 117, "no such host"), "key": "x"}]}
    n = len(stand_in.asked)
    p = run("forget", "prod/web", "--host", "10.0.0.1", "--host", "x", "--yes")
    assert p.code == 1 and len(stand_in.asked) == n + 1 and stand_in.asked[-1]["body"]["hosts"] == ["10.0.0.1", "x"]
    assert cells(p.out.splitlines()[1]) == ["x", "117", "no such host"] and "definition removed on 1 host\n" in p.out
    assert "已删除在 1 台主机上的定义" in run("forget", "prod/web", "--yes", "--lang", "zh").out
    stand_in.answers["GET", "/v1/processes"] = 200, {"processes": [], "next": ""}
    p = run("forget", "prod/none", "--yes")
    assert p.code == 1 and "no such process" in p.err
    assert run("forget", "prod", "--yes").code == 2


# --- Operations -----------------------------------------------------------

def expect_operation(stand_in, *tasks):
    stand_in.answers["POST", "/v1/operations"] = 200, {"task_id": "T1", "items": len(tasks[-1]["items"])}
    stand_in.answers["GET", "/v1/tasks/T1"] = [(200, t) for t in tasks]


@pytest.mark.parametrize("command, name", [
    ("start", "start"), ("stop", "stop"), ("restart", "restart"), ("reload", "reload"), ("kill", "kill"),
    ("host", "host"), ("unhost", "unhost"), ("manage", "host"), ("unmanage", "unhost"), ("query", "query")])
def test_every_operation_is_asked_for_and_waited_for(run, stand_in, command, name):
    expect_operation(stand_in, task(item(done=False, code=115), item("10.0.0.2", done=False, code=115)),
                     task(item(), item("10.0.0.2", done=False, code=115)), task(item(), item("10.0.0.2")))
    p = run(command, "prod/web", "--host", "10.0.0.1", "--host=5:10.0.0.2")
    assert p.code == 0 and p.err == ""
    assert stand_in.asked[0]["body"] == {"operation": name, "namespace": "prod", "name": "web",
                                         "hosts": ["10.0.0.1", "5:10.0.0.2"]}
    assert len(stand_in.asked) == 4
    assert re.fullmatch(rf"{name} prod/web: 2 of 2 done, [\d.]+s\n", p.out)


def test_failures_are_told_with_their_reason(run, stand_in):
    expect_operation(stand_in, task(item(), item("10.0.0.2", 117, ""), item("10.0.0.3", 65535, "exit code 3\nno disk"),
                                    item("10.0.0.4", 999, "of tomorrow")))
    p = run("start", "prod/web")
    assert p.code == 1 and p.err == ""
    summary, head, *rows = p.out.splitlines()
    assert re.fullmatch(r"start prod/web: 3 of 4 failed, [\d.]+s \(task T1\)", summary)
    assert cells(head) == ["HOST", "PROCESS", "CODE", "TEXT"]
    assert [cells(r) for r in rows] == [
        ["10.0.0.2", "prod/web", "117 OFFLINE", "the agent is not connected"],
        ["10.0.0.3", "prod/web", "65535 COMMAND", "exit code 3 no disk"],
        ["10.0.0.4", "prod/web", "999", "of tomorrow"]]
    zh = run("start", "prod/web", "--lang", "zh").out
    assert "4 个中失败 3 个" in zh and "Agent 未连接" in zh and "命令执行失败：exit code 3 no disk" in zh
    expect_operation(stand_in, task(item(code=117, text="没有这台主机")))
    zh = run("start", "prod/web", "--lang", "zh").out
    assert "没有这台主机" in zh and "Agent 未连接" not in zh, "what is in the language is told as it is"


@pytest.mark.parametrize("op, number", [("stop", 1), ("kill", 9)])
def test_a_stop_that_failed_says_that_it_is_still_hosted(run, stand_in, op, number):
    unsure = {"code": 807, "text": "process (web) can not be identified: the pid file is not used", "op": number}
    failed = item(**unsure, hosted=True)
    expect_operation(stand_in, task(failed, item("10.0.0.2", **unsure, hosted=False), item("10.0.0.3", op=number)))
    for p in (run(op, "prod/web"), run("task", "T1"), run("task", "T1", "--wait")):
        assert p.code == 1 and "Still hosted on 1 host: " in p.out and "holdfast unhost prod/web ends that" in p.out, p.out
    assert "仍在1 台主机上托管" in run(op, "prod/web", "--lang", "zh").out
    expect_operation(stand_in, task(item(**unsure, hosted=False), item("10.0.0.3", op=number, hosted=True)))
    assert "Still hosted" not in run(op, "prod/web").out


def test_a_query_shows_what_it_found(run, stand_in):
    expect_operation(stand_in, task(item(op=2, pid=77, why="runs")))
    p = run("query", "prod/web")
    assert p.code == 0
    assert cells(p.out.splitlines()[-1])[:5] == ["10.0.0.1", "prod/web", "running", "running", "77"]
    assert "0:10.0.0.1" not in p.out


def test_no_wait_prints_the_task(run, stand_in):
    expect_operation(stand_in, task(item()))
    assert "holdfast task T1 --wait" in run("stop", "prod/web", "--no-wait").out
    assert run("stop", "prod/web", "--no-wait", "--quiet").out == "T1\n"
    assert json.loads(run("stop", "prod/web", "--no-wait", "--json").out) == {"task_id": "T1", "items": 1}
    assert all(a["method"] == "POST" for a in stand_in.asked)


def test_by_when_all_will_have_ended_is_told(run, stand_in):
    ends = int(time.time()) + 7200 + 59
    stand_in.answers["POST", "/v1/operations"] = 200, {"task_id": "T1", "items": 1, "deadline_ms": ends * 1000}
    stand_in.answers["GET", "/v1/tasks/T1"] = 200, {**task(item(done=False)), "deadline_ms": ends * 1000}
    when = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(ends))
    for args in (["stop", "prod/web", "--no-wait"], ["task", "show", "T1"], ["task", "T1", "--wait", "--timeout", "0"]):
        assert f"ends at {when} at the latest (in 2h 0m)" in run(*args).out
    assert f"最迟于 {when}（2小时0分后）全部结束" in run("task", "T1", "--lang", "zh").out
    stand_in.answers["GET", "/v1/tasks/T1"] = 200, {**task(item()), "deadline_ms": ends * 1000}
    assert "at the latest" not in run("task", "T1").out


def test_json_of_an_operation_is_the_task(run, stand_in):
    expect_operation(stand_in, task(item(), item("10.0.0.2", 829, "not running")))
    p = run("stop", "prod/web", "--json")
    assert p.code == 1 and p.err == ""
    seen = json.loads(p.out)
    assert (seen["task_id"], seen["failed"], seen["items"][1]["code"]) == ("T1", 1, 829)
    assert p.out.count("\n") == 1


def test_quiet_says_only_what_failed(run, stand_in):
    expect_operation(stand_in, task(item()))
    assert run("stop", "prod/web", "--quiet").out == ""
    expect_operation(stand_in, task(item(code=829)))
    assert "829 NOT_RUNNING" in run("stop", "prod/web", "--quiet").out


def test_a_process_that_no_host_has_is_no_success(run, stand_in):
    stand_in.answers["POST", "/v1/operations"] = 200, {"task_id": "T1", "items": 0}
    p = run("start", "prod/web")
    assert p.code == 1 and "holdfast: prod/web: no such process; " in p.err and "--spec FILE" in p.err
    stand_in.answers["POST", "/v1/operations"] = 404, error(404, "NOT_FOUND", "process prod/web: no host knows it")
    p = run("start", "prod/web")
    assert p.code == 1 and "holdfast: prod/web: no such process; " in p.err and "--spec FILE" in p.err


def test_the_wait_has_an_end(run, stand_in):
    expect_operation(stand_in, task(item(), item("10.0.0.2", done=False, code=115)))
    p = run("start", "prod/web", "--timeout", "1")
    assert p.code == 1 and "1 of 2 have not ended after 1" in p.out and "holdfast task T1 --wait" in p.out


@pytest.mark.parametrize("last, code, exit_status", [
    ((200, {"other": 1}), "MALFORMED", 3), ((404, error(404, "NO_TASK", "no such task", 806)), "NO_TASK", 1)])
def test_json_of_a_failure_is_of_the_last_one(run, stand_in, last, code, exit_status):
    expect_operation(stand_in, task(item()))
    stand_in.answers["GET", "/v1/tasks/T1"] = [(200, task(item(done=False, code=115))),
                                               (503, error(503, "UNAVAILABLE", "later", 9)), last]
    p = run("--json", "start", "prod/web")
    assert p.code == exit_status and json.loads(p.out)["error"]["code"] == code, p.out


def test_the_server_may_be_away_during_the_wait(run, stand_in):
    gone = lambda *_: None
    expect_operation(stand_in, task(item()))
    stand_in.answers["GET", "/v1/tasks/T1"] = [
        (200, task(item(done=False, code=115))), gone, gone, gone, gone,
        (503, error(503, "UNAVAILABLE", "starting", 8)), (200, task(item()))]
    p = run("start", "prod/web")
    assert p.code == 0 and "1 of 1 done" in p.out
    assert [a["method"] for a in stand_in.asked].count("POST") == 1


def test_task_shows_all_items_and_waits_if_told_to(run, stand_in):
    stand_in.answers["GET", "/v1/tasks/T1"] = 200, task(
        item(why="runs"), item("10.0.0.2", 829, "not running"), item("10.0.0.3", 115, "", done=False))
    p = run("task", "T1")
    assert p.code == 1
    lines = p.out.splitlines()
    assert lines[0] == "task T1: 2 done, 1 left, 1 failed"
    assert lines[1].startswith("created 20") and lines[1].endswith("(ann)")
    assert [cells(r)[2] for r in lines[-3:]] == ["done", "829 NOT_RUNNING", "in progress"]
    stand_in.answers["GET", "/v1/tasks/T1"] = [(200, task(item(done=False, code=115))), (200, task(item()))]
    p = run("task", "T1", "--wait")
    assert p.code == 0 and p.out.startswith("task T1: 1 of 1 done, ")
    stand_in.answers["GET", "/v1/tasks/a%2Fb%3F"] = 200, task(item())
    assert run("task", "a/b?").code == 0


def test_fifty_thousand_items_are_read(run, stand_in):
    expect_operation(stand_in, task(*[item(f"10.1.{n // 250}.{n % 250}", 117, "x" * 200) for n in range(50000)]))
    p = run("start", "prod/web", "--quiet")
    assert p.code == 1 and len(p.out.splitlines()) == 50002


# --- The specification -----------------------------------------------------

YAML = """\
identity: {proc_name: web, setup_path: /opt/web, user: root}
control:
  start_cmd: ./web --名称
monitor_policy: {start_check_secs: 3}
"""


@pytest.mark.parametrize("name, text", [
    ("spec.yaml", YAML),
    ("spec.json", json.dumps({"identity": {"proc_name": "web", "setup_path": "/opt/web", "user": "root"},
                              "control": {"start_cmd": "./web --名称"},
                              "monitor_policy": {"start_check_secs": 3}}, indent="\t")),
])
def test_a_spec_goes_with_the_operation(run, stand_in, tmp_path, name, text):
    (tmp_path / name).write_text(text)
    expect_operation(stand_in, task(item()))
    assert run("start", "prod/web", "--spec", tmp_path / name).code == 0
    spec = stand_in.asked[0]["body"]["spec"]
    assert spec["identity"]["setup_path"] == "/opt/web" and spec["control"]["start_cmd"] == "./web --名称"
    assert spec["monitor_policy"] == {"start_check_secs": 3}
    assert "resource" not in spec


@pytest.mark.parametrize("name, text, message", [
    ("s.yaml", "control:\n  start_cmd: x\n  strat: y\n", "s.yaml:3: control.strat: no such setting"),
    ("s.yaml", "control:\n  start_comand: x\n", "s.yaml:2: control.start_comand: no such setting; did you mean start_cmd?"),
    ("s.json", '{"contol": {"start_cmd": "x"}}', "s.json: contol: no such setting; did you mean control?"),
    ("s.yaml", "monitor_policy: {op_timeout: soon}\n", "s.yaml:1: monitor_policy.op_timeout: must be"),
    ("s.yaml", "identity: {setup_path: opt}\n", "identity.setup_path: must be an absolute path"),
    ("s.json", '{"identity": {"usr": "x"}}', "s.json: identity.usr: "),
    ("s.json", '{"identity": ', "s.json: byte 13: "),
])
def test_a_wrong_spec_is_refused_before_anything_is_sent(run, stand_in, tmp_path, name, text, message):
    (tmp_path / name).write_text(text)
    p = run("start", "prod/web", "--spec", tmp_path / name)
    assert p.code == 2 and message in p.err and len(p.err.splitlines()) == 1
    assert stand_in.asked == []
    p = run("start", "prod/web", "--spec", tmp_path / "none.yaml")
    assert p.code == 2 and f"{tmp_path}/none.yaml: No such file" in p.err


# --- Apps and tokens --------------------------------------------------------

def test_app_create(run, stand_in):
    stand_in.answers["POST", "/v1/apps"] = 200, {"code": "ops", "secret": "s3cret", "permissions": {}, "created_s": NOW}
    p = run("app", "create", "ops", "--right", "read", "--right", "admin", "--namespace", "prod", "--biz", "2",
            "--biz=3", "--operation", "query", "--biz-set", "7", "--rate", "50", "--signatures")
    assert p.code == 0 and "secret  s3cret" in p.out
    assert stand_in.asked[0]["body"] == {"code": "ops", "permissions": {
        "rights": ["read", "admin"], "operations": ["query"], "namespaces": ["prod"], "businesses": [2, 3],
        "business_sets": [7], "rate_per_second": 50, "signatures": True}}
    assert stand_in.asked[0]["query"] == {}
    assert run("app", "create", "ops", "--quiet", "--rotate").out == "s3cret\n"
    assert stand_in.asked[1]["query"] == {"rotate": "1"}
    assert json.loads(run("app", "create", "ops", "--json").out)["secret"] == "s3cret"


def test_app_list(run, stand_in):
    stand_in.answers["GET", "/v1/apps"] = 200, {"apps": [
        {"code": "all", "permissions": {}, "created_s": 0},
        {"code": "one", "permissions": {"rights": ["read", "admin"], "namespaces": ["生产"], "businesses": [2, 3],
                                         "operations": ["start", "stop"], "business_sets": [9], "rate_per_second": 50,
                                         "signatures": True}, "can_sign": True,
         "created_s": 10 ** 9}], "next": ""}
    _, first, second = run("app", "list").out.splitlines()
    assert cells(first) == ["all", "1970-01-01 00:00", "-", "-", "read operate", "all", "all", "all"]
    assert cells(second) == ["one", "2001-09-09 01:46", "50", "yes", "read admin", "start stop", "生产", "2 3 set:9"]
    assert len(json.loads(run("app", "list", "--json").out)["apps"]) == 2


def test_app_set_changes_what_is_said_and_no_more(run, stand_in):
    app = {"code": "ops", "permissions": {"rights": ["read"], "namespaces": ["gse"], "rate_per_second": 5}, "created_s": 0}
    stand_in.answers["GET", "/v1/apps/ops"] = 200, app
    stand_in.answers["PUT", "/v1/apps/ops"] = 200, {**app, "permissions": {"signatures": True}}
    p = run("app", "set", "ops", "--namespace=", "--operation", "stop", "--biz-set", "9", "--signatures")
    assert p.code == 0 and p.out == "app ops: changed; it can sign with its next secret: holdfast app rotate ops\n"
    assert stand_in.asked[-1]["body"]["permissions"] == {
        "rights": ["read"], "operations": ["stop"], "namespaces": [], "businesses": [], "business_sets": [9],
        "rate_per_second": 5, "signatures": True}
    assert "nothing to change" in run("app", "set", "ops").err
    assert "--signatures: must be yes or no" in run("app", "set", "ops", "--signatures=maybe").err


def test_app_rotate_and_delete(run, stand_in):
    stand_in.answers["POST", "/v1/apps"] = 200, {"code": "ops", "secret": "s3cret", "permissions": {}, "created_s": 0}
    stand_in.answers["DELETE", "/v1/apps/ops"] = 200, {"code": "ops", "permissions": {}, "created_s": 0}
    assert run("app", "rotate", "ops", "--quiet").out == "s3cret\n"
    assert stand_in.asked[-1]["query"] == {"rotate": "1"}
    assert run("app", "delete", "ops").out == "app ops: deleted\n"
    assert stand_in.asked[-1]["body"] is None
    assert run("app", "delete", "none").code == 1


@pytest.mark.parametrize("command, texts", [
    (("start",), ["a start with another --spec stores it for the next start", "启动时给出不同的 --spec 会被保存，供下次启动使用"]),
    (("app", "create"), ["admin, which includes read", "admin（包含 read）"]),
])
def test_help_says_what_an_option_does_besides(run, command, texts):
    for lang, text in zip(("en", "zh"), texts):
        said = run(*command, "--help", "--lang", lang).out
        assert text.replace(" ", "") in "".join(said.split()), said


def test_token_create(run, stand_in):
    stand_in.answers["POST", "/v1/tokens"] = 200, {"token": "hf1.abc", "id": "0a1b2c", "cloud_id": 5, "biz_id": 2, "uses": 10,
                                                   "expires_s": int(time.time()) + 7200 + 59}
    p = run("token", "create", "--cloud", "5", "--biz", "2", "--ttl", "1h30m", "--uses", "10", "--note", "机房 A")
    assert p.code == 0 and p.out.startswith("hf1.abc\n") and "10 hosts of cloud area 5, business 2" in p.out
    assert "2h 0m from now" in p.out and "holdfast token revoke 0a1b2c" in p.out
    assert stand_in.asked[0]["body"] == {"cloud_id": 5, "biz_id": 2, "ttl_s": 5400, "uses": 10, "note": "机房 A"}
    assert run("token", "create", "--quiet").out == "hf1.abc\n"
    assert stand_in.asked[1]["body"] == {"cloud_id": 0, "biz_id": 0, "ttl_s": 86400, "uses": 1, "note": ""}


TOKEN = {"id": "0a1b2c3d4e5f", "cloud_id": 5, "biz_id": 2, "uses_left": 9, "created_s": 10 ** 9,
         "expires_s": 4 * 10 ** 9, "app": "ops", "user": "ann", "note": "机房 A"}


def test_tokens_are_listed_and_revoked(run, stand_in):
    stand_in.answers["GET", "/v1/tokens"] = 200, {"tokens": [], "next": ""}
    assert "holdfast token create" in run("token", "list").out
    stand_in.answers["GET", "/v1/tokens"] = [
        (200, {"tokens": [TOKEN], "next": "0a1b2c3d4e5f"}),
        (200, {"tokens": [{**TOKEN, "id": "b", "expires_s": 1}, {**TOKEN, "id": "c", "uses_left": 0, "user": ""},
                         {**TOKEN, "id": "d", "uses_left": 0, "revoked_s": 10 ** 9, "relay": True}], "next": ""})]
    head, good, expired, used_up, revoked = run("token", "list").out.splitlines()
    assert cells(head) == ["ID", "STATE", "USES LEFT", "CLOUD", "BIZ", "EXPIRES", "CREATED", "CREATED BY", "RELAY", "NOTE"]
    assert cells(good) == ["0a1b2c3d4e5f", "valid", "9", "5", "2", "2096-10-02 07:06", "2001-09-09 01:46", "ops (ann)", "no", "机房 A"]
    assert cells(expired)[:2] == ["b", "expired"] and cells(used_up)[:3] == ["c", "used up", "0"]
    assert cells(used_up)[7] == "ops" and cells(revoked)[:2] == ["d", "revoked"] and cells(revoked)[8] == "yes"
    assert "已过期" in run("token", "list", "--lang", "zh").out
    stand_in.answers["DELETE", "/v1/tokens/0a1b2c3d4e5f"] = 200, TOKEN
    assert run("token", "revoke", "0a1b2c3d4e5f").out == "token 0a1b2c3d4e5f: revoked; hosts can no longer join with it\n"
    assert json.loads(run("token", "revoke", "0a1b2c3d4e5f", "--json").out)["note"] == "机房 A"
    stand_in.answers["DELETE", "/v1/tokens/x%2F"] = 404, error(404, "NOT_FOUND", "token x/: there is none")
    p = run("token", "revoke", "x/")
    assert p.code == 1 and "there is none" in p.err


def test_tasks_are_listed_by_what_is_asked(run, stand_in):
    stand_in.answers["GET", "/v1/tasks"] = 200, {"tasks": [], "next": ""}
    assert run("task", "list", "--failed", "--open", "--by", "ops", "--lines", "5").out == "no tasks\n"
    assert stand_in.asked[0]["query"] == {"failed": "true", "open": "true", "app": "ops", "limit": "5"}


TASK_LINE = {"task_id": "GSETASK:S:202611160056480135750401:1", "app": "admin", "user": "", "op_type": 7, "namespace": "sim",
             "name": "proc-01", "created_ms": NOW * 1000, "finished_ms": 0, "total": 19000, "left": 3, "failed": 10}


AUDIT = {"at_ms": 10 ** 12 + 9000, "request_id": "r1", "app": "ops", "user": "ann", "user_proven": False, "from": "10.0.0.9:1",
         "method": "POST", "route": "operate_proc_v2", "code": 0, "message": "", "task_id": "T1",
         "what": {"meta": {"namespace": "prod", "name": "web"}, "op_type": 1, "hosts": {"n": 50, "first": [
             {"ip": "10.0.0.1", "bk_cloud_id": 0}, {"ip": "10.0.0.2", "bk_cloud_id": 5}]}}}


def test_audit_is_for_people_and_json_has_all(run, stand_in):
    refused = {**AUDIT, "app": "ci", "user": "", "method": "PUT", "route": "/v1/apps/*", "code": 3, "code_name": "NOT_FOUND", "task_id": "",
               "message": "app kit: there is none", "what": {"id": "kit", "ask": {"permissions": {"rights": ["read", "operate"]}}}}
    stand_in.answers["GET", "/v1/audit"] = 200, {"rows": [{**AUDIT, "code": 1000823, "task_id": "", "message": "no"}, refused, AUDIT,
                                                          {**AUDIT, "task_id": ""}], "next": ""}
    head, done, accepted, named, numbered = run("audit").out.splitlines()
    assert cells(head) == ["TIME", "APP", "USER", "FROM", "API", "CODE", "WHAT"]
    assert cells(done)[5:] == ["done", "stop prod/web; 50 hosts: 10.0.0.1, 5:10.0.0.2 ..."]
    assert cells(accepted) == ["2001-09-09 01:46:49", "ops", "ann?", "10.0.0.9:1", "POST operate_proc_v2", "accepted",
                               "stop prod/web; 50 hosts: 10.0.0.1, 5:10.0.0.2 ...; T1"]
    assert cells(named)[4:] == ["PUT /v1/apps/*", "NOT_FOUND", "id=kit rights=read,operate; app kit: there is none"]
    assert cells(numbered)[5] == "1000823" and cells(numbered)[6].endswith("; no")
    assert "停止 prod/web; 50 台主机：10.0.0.1" in run("audit", "--lang", "zh").out
    assert json.loads(run("audit", "--json").out)["rows"][2]["what"] == AUDIT["what"]


# --- Credentials -------------------------------------------------------------

def credentials(asked):
    kind, _, text = asked["headers"].get("Authorization", "").partition(" ")
    return (kind, base64.b64decode(text).decode()) if kind else None


def test_the_secret_comes_from_a_file_or_the_environment(run, stand_in, tmp_path):
    stand_in.answers["GET", "/v1/hosts"] = 200, HOSTS
    secret = tmp_path / "secret"
    secret.write_text("from-file\n")
    secret.chmod(0o600)
    assert run("host", "list").code == 0
    assert run("host", "list", "--app", "ops", "--secret-file", secret).code == 0
    assert run("host", "list", more={"HOLDFAST_APP": "ops", "HOLDFAST_SECRET": "from-env"}).code == 0
    assert [credentials(a) for a in stand_in.asked] == [None, ("Basic", "ops:from-file"), ("Basic", "ops:from-env")]


def test_what_is_wrong_with_a_secret_is_said_without_it(run, stand_in, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("hush hush\n")
    secret.chmod(0o644)
    for args, more, message in [
            (["--app", "ops", "--secret-file", secret], {}, "chmod 600"),
            (["--app", "ops"], {}, "app ops needs its secret"),
            ([], {"HOLDFAST_SECRET": "hush"}, "without its app"),
            (["--app", "ops"], {"HOLDFAST_SECRET": "hush hush"}, "HOLDFAST_SECRET: not a secret"),
            (["--app", "ops", "--secret-file", tmp_path / "none"], {}, "No such file"),
            (["--app", "ops", "--secret", "hush"], {}, "--secret-file FILE or HOLDFAST_SECRET"),
            (["--app", "ops", "--secret=hush"], {}, "--secret-file FILE or HOLDFAST_SECRET")]:
        p = run("ps", *args, more=more)
        assert p.code == 2 and message in p.err and "hush" not in p.err + p.out, p.err
    secret.chmod(0o600)
    p = run("ps", "--app", "ops", "--secret-file", secret)
    assert p.code == 2 and "not a secret" in p.err and "hush" not in p.err
    assert stand_in.asked == []


def test_the_admin_socket_needs_no_credentials(holdfast, env, tmp_path):
    path = str(tmp_path / "admin")
    stand_in = StandIn(path)
    stand_in.answers["GET", "/v1/hosts"] = 200, HOSTS
    try:
        for args, more in [(["--socket", path], {}), ([], {"HOLDFAST_SOCKET": path}),
                           (["--socket", path, "--app", "ops"], {})]:
            p = holdfast.run("holdfast", "host", "list", *args, env={**env, **more})
            assert p.process.returncode == 0 and "10.0.0.1" in p.out, p.err
        assert [credentials(a) for a in stand_in.asked] == [None] * 3
    finally:
        stand_in.close()


def test_a_server_with_tls_is_believed_by_its_ca(holdfast, env, tmp_path):
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                    "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-days", "2",
                    "-keyout", tmp_path / "key", "-out", tmp_path / "cert"], check=True, capture_output=True)
    stand_in = StandIn(tls=(tmp_path / "cert", tmp_path / "key"))
    stand_in.answers["GET", "/v1/hosts"] = 200, HOSTS
    try:
        p = holdfast.run("holdfast", "host", "list", "--server", stand_in.url, env=env)
        assert p.process.returncode == 3 and "cannot verify the server" in p.err and "--ca FILE" in p.err
        p = holdfast.run("holdfast", "host", "list", "--server", stand_in.url, "--ca", tmp_path / "none", env=env)
        assert p.process.returncode == 2 and f"--ca {tmp_path}/none" in p.err
        p = holdfast.run("holdfast", "host", "list", "--server", stand_in.url, "--ca", tmp_path / "cert", env=env)
        assert p.process.returncode == 0 and "10.0.0.1" in p.out, p.err
        assert len(stand_in.asked) == 1
    finally:
        stand_in.close()


def test_settings_come_from_a_file_too(run, stand_in, tmp_path):
    stand_in.answers["GET", "/v1/hosts"] = 200, HOSTS
    folder = tmp_path / ".config/holdfast"
    folder.mkdir(parents=True)
    (folder / "cli.yaml").write_text(f"server: {stand_in.url}\nlang: zh\n")
    assert "在线" in run("host", "list", server=False).out
    assert "online" in run("host", "list", "--lang", "en", server=False).out
    assert "online" in run("host", "list", server=False, more={"HOLDFAST_LANG": "en"}).out
    (folder / "cli.yaml").write_text("sever: x\n")
    p = run("host", "list")
    assert p.code == 2 and "cli.yaml:1: sever: no such setting" in p.err
    (tmp_path / "other.yaml").write_text("json: true\n")
    assert json.loads(run("host", "list", "--config", tmp_path / "other.yaml").out)["hosts"]


def test_a_server_that_is_typed_wins_over_a_socket_that_is_set(run, stand_in):
    stand_in.answers["GET", "/v1/hosts"] = 200, HOSTS
    assert run("host", "list", more={"HOLDFAST_SOCKET": "/nowhere/socket"}).code == 0
    p = run("host", "list", server=False, more={"HOLDFAST_SOCKET": "/nowhere/socket"})
    assert p.code == 3 and "/nowhere/socket: No such file" in p.err


def test_variables_of_the_server_do_not_disturb(run, stand_in):
    stand_in.answers["GET", "/v1/hosts"] = 200, HOSTS
    assert run("host", "list", more={"HOLDFAST_SERVER_LISTEN": "127.0.0.1:1", "http_proxy": "http://127.0.0.1:1"}).code == 0
    p = run("host", "list", more={"HOLDFAST_COLOR": "pink"})
    assert p.code == 2 and "HOLDFAST_COLOR: color: must be one of" in p.err


# --- No ------------------------------------------------------------------------

@pytest.mark.parametrize("status, code, number, message, en, zh", [
    (401, "UNAUTHORIZED", 5, "unknown app or wrong secret", "check --app and the secret", "请检查 --app 与密钥"),
    (403, "FORBIDDEN", 5, "needs the right operate", "not allowed: needs the right operate (FORBIDDEN, request r-17)",
     "holdfast: 没有权限：needs the right operate（"),
    (403, "DENIED", 823, "应用 ops 不能执行 stop", "应用 ops 不能执行 stop", "holdfast: 没有权限：应用 ops 不能执行 stop（"),
    (409, "CONFLICT", 4, "已有 ops", "已有 ops", "holdfast: 服务端拒绝：已有 ops（"),
    (404, "NO_TASK", 806, "no such task", "the server refused: no such task (NO_TASK, request r-17)", "任务不存在或已过期：no such task"),
    (409, "CONFLICT", 4, "app ops is there; rotate it", "the server refused: app ops is there; rotate it (CONFLICT", "当前状态不允许"),
    (400, "INVALID", 1, "spec.control.start_cmd: required", "spec.control.start_cmd: required", "参数错误"),
    (500, "SYSTEM", 101, "", "an error of the server (SYSTEM", "服务内部错误"),
])
def test_a_refusal_is_told_in_both_languages(run, stand_in, status, code, number, message, en, zh):
    stand_in.answers["POST", "/v1/operations"] = status, error(status, code, message, number)
    credentials_of = {"HOLDFAST_APP": "ops", "HOLDFAST_SECRET": "hush"}
    p = run("stop", "prod/web", more=credentials_of)
    exit_status = {400: 2, 500: 3}.get(status, 1)
    assert p.code == exit_status and p.out == "" and len(p.err.splitlines()) == 1
    assert en in p.err and p.err.startswith("holdfast: ") and "hush" not in p.err
    assert zh in run("stop", "prod/web", "--lang", "zh", more=credentials_of).err
    p = run("stop", "prod/web", "--json", more=credentials_of)
    assert p.code == exit_status and json.loads(p.out) == error(status, code, message, number)
    assert len(stand_in.asked) == 3


def test_who_gives_no_credentials_is_told_how(run, stand_in):
    stand_in.answers["GET", "/v1/processes"] = 401, error(401, "UNAUTHORIZED", "no credentials", 5)
    p = run("ps")
    assert p.code == 1 and "--secret-file" in p.err and "--socket" in p.err


@pytest.mark.parametrize("lang, text", [("en", ": Connection refused; is holdfast-server running there, and is --server"),
                                        ("zh", "：连接被拒绝；请检查 holdfast-server 是否在运行")])
def test_a_server_that_is_away_is_named(holdfast, env, lang, text):
    url = f"http://127.0.0.1:{free_port()}"
    for args in (["ps"], ["stop", "prod/web"], ["task", "T1", "--wait"]):
        p = holdfast.run("holdfast", *args, "--server", url, "--lang", lang, env=env)
        assert p.process.returncode == 3 and p.out == ""
        assert url in p.err and text in p.err
    p = holdfast.run("holdfast", "ps", "--json", "--server", url, env=env)
    assert json.loads(p.out)["error"]["code"] == "UNAVAILABLE"


@pytest.mark.parametrize("url", ["127.0.0.1:7020", "ftp://x", "http://", "http://a/b", "http://me:word@a"])
def test_an_address_that_is_none_is_refused(holdfast, env, url):
    p = holdfast.run("holdfast", "ps", "--server", url, env=env)
    assert p.process.returncode == 2 and "--server: must be http://HOST:PORT" in p.err


def test_a_page_of_somebody_else_is_noticed(run, stand_in):
    stand_in.answers["GET", "/v1/processes"] = 200, b"<html>hello</html>"
    p = run("ps")
    assert p.code == 3 and "not like a Holdfast server" in p.err and stand_in.url in p.err
    stand_in.answers["GET", "/v1/processes"] = 502, b"<html>proxy</html>"
    p = run("ps")
    assert p.code == 3 and "answered 502" in p.err
    stand_in.answers["GET", "/v1/processes"] = 302, b""
    assert run("ps").code == 3


def test_a_lost_connection_is_tried_again_for_a_look_alone(run, stand_in):
    gone = lambda *_: None
    stand_in.answers["GET", "/v1/hosts"] = [gone, (200, HOSTS)]
    assert run("host", "list").code == 0
    stand_in.answers["GET", "/v1/hosts"] = gone
    assert run("host", "list").code == 3
    assert len(stand_in.asked) == 4
    stand_in.answers["POST", "/v1/tasks/cancel"] = gone
    p = run("task", "cancel", "T1")
    assert p.code == 3 and "the operation may have been executed" in p.err
    assert len(stand_in.asked) == 5


def test_an_operation_is_asked_for_again_by_the_same_key(run, stand_in):
    gone = lambda *_: None
    in_work = 409, error(409, "CONFLICT", "a request with this key is in work", 4)
    expect_operation(stand_in, task(item()))
    made = stand_in.answers["POST", "/v1/operations"]
    stand_in.answers["POST", "/v1/operations"] = [gone, in_work, in_work, made]
    assert run("stop", "prod/web").code == 0
    keys = [a["headers"].get("Idempotency-Key") for a in stand_in.asked if a["method"] == "POST"]
    assert len(keys) == 4 and len(set(keys)) == 1 and re.fullmatch("[0-9a-f]{32}", keys[0])
    assert run("stop", "prod/web").code == 0
    assert stand_in.asked[-2]["headers"]["Idempotency-Key"] != keys[0]  # another operation
    stand_in.asked.clear()
    stand_in.answers["POST", "/v1/operations"] = in_work  # that is an answer: nothing was lost before
    assert run("stop", "prod/web").code == 1 and len(stand_in.asked) == 1
    stand_in.asked.clear()
    stand_in.answers["POST", "/v1/operations"] = gone
    p = run("stop", "prod/web")
    assert p.code == 3 and "the operation may have been executed" in p.err
    assert len(stand_in.asked) == 2  # once more, and no more


def test_an_answer_without_an_end_is_not_kept(run, stand_in):
    def flood(request, _):
        request.send_response(200)
        request.send_header("Content-Length", str(1 << 30))
        request.end_headers()
        try:
            for _ in range(1024):
                request.wfile.write(b" " * (1 << 20))
        except OSError:
            pass
    stand_in.answers["GET", "/v1/hosts"] = flood
    p = run("host", "list")
    assert p.code == 3 and "larger than 64 MiB" in p.err


def test_a_gap_is_told_once_with_its_own_number(run, stand_in):
    def view(output, **more):
        return 200, {"host": "a1", "output": output, "next": 4, "has_gap": bool(more), **more}

    stand_in.answers["GET", "/v1/logs"] = [
        view("one\n"), view("two", has_gap=True, gap_bytes=92), view("three\n", has_gap=True, gap_bytes=7),
        view("four\n", has_gap=True), (404, error(404, "NOT_FOUND", "the process is gone"))]  # the last gap: of an old agent
    assert run("logs", "prod/web", "-f").out.splitlines() == [
        "one", "--- 92 bytes of output are missing here: they are no longer stored ---", "two",
        "--- 7 bytes of output are missing here: they are no longer stored ---", "three",
        "--- output is missing here: it is no longer stored ---", "four"]


def test_a_text_of_the_server_can_not_move_the_cursor(run, stand_in):
    stand_in.answers["GET", "/v1/processes"] = 200, {"processes": [
        process(why="bad\033[2J\u009b\u202etext\tend")], "next": ""}
    out = run("ps").out
    assert "bad?[2J??text end" in out and "\033" not in out
    stand_in.answers["GET", "/v1/processes"] = 400, error(400, "INVALID", "x\033]0;title\a")
    assert "\033" not in run("ps").err
    stand_in.answers["GET", "/v1/tasks/T1"] = 200, {**task(item()), "user": "eve\033[2J\nroot"}
    out = run("task", "T1").out  # an app names the user that it calls for
    assert "eve?[2J root" in out and "\033" not in out


# --- Usage -----------------------------------------------------------------------

@pytest.mark.parametrize("args, message", [
    ([], "no command given; see holdfast --help"),
    (["stauts"], "stauts: no such command; did you mean holdfast status?"),
    (["app", "crate", "x"], "app crate: no such command; did you mean holdfast app create?"),
    (["app"], "app: needs one of: create, set, rotate, delete, list"),
    (["frobnicate"], "frobnicate: no such command; see holdfast --help"),
    (["host", "lst"], "host lst: no such command; did you mean holdfast host list?"),
    (["ps", "--hots", "x"], "--hots: no such option; did you mean --host?"),
    (["ps", "--hosted=maybe"], "--hosted: must be yes or no, not maybe"),
    (["ps", "--state", "away"], "--state: must be one of"),
    (["ps", "--state", "away", "--lang", "zh"], "--state："),
    (["ps", "prod", "--namespace", "test"], "--namespace: given twice"),
    (["ps", "--biz", "1", "--biz", "2"], "--biz: given twice"),
    (["ps", "--spec", "x"], "holdfast: ps: has no --spec"),
    (["start"], "holdfast: start: needs NAMESPACE/NAME"),
    (["start", "web"], "web: must be NAMESPACE/NAME"),
    (["start", "a:b/web"], "namespace: must not have a colon"),
    (["start", "a/b", "c/d"], "unexpected argument c/d"),
    (["start", "a/b", "--timeout", "soon"], "--timeout: must be a time such as 90"),
    (["token", "create", "--uses", "0"], "uses: must be an integer from 1 to 1000000"),
    (["token", "create", "--cloud", "x"], "--cloud: must be an integer, not x"),
    (["app", "create", "x y"], 'code: must be letters'),
    (["app", "create", "x", "--right", "fly"], "permissions.rights[0]: must be one of"),
    (["app", "create", "x", "--biz", "two"], "permissions.businesses[0]: must be"),
    (["ps", "--lang", "fr"], "--lang: lang: must be one of"),
    (["ps", "--json=x"], "--json: json: must be"),
    (["start", "a/b", "--no-wait=1"], "--no-wait: takes no value"),
    (["ps", "--host"], "--host: needs a value"),
    (["ps", b"\xff"], "is not valid UTF-8"),
])
def test_wrong_usage_is_status_2_and_one_line(env, args, message):
    p = subprocess.run([bin_dir() / "holdfast", *args], capture_output=True, check=False,
                       env={**os.environ, **{k: str(v) for k, v in env.items()}})
    err = p.stderr.decode(errors="replace")
    assert p.returncode == 2 and p.stdout == b"" and message in err, err
    assert len(err.splitlines()) == 1 and err.startswith("holdfast: ") and not err.startswith("holdfast: holdfast ")


def test_help_and_version(holdfast, env):
    for args in (["--help"], ["help"], ["-h"]):
        p = holdfast.run("holdfast", *args, env=env)
        assert p.process.returncode == 0 and p.err == "" and "token create" in p.out
    own = holdfast.run("holdfast", "start", "--help", env=env).out
    assert "--no-wait" in own and "--secret-file" not in own and own.rstrip().endswith("holdfast --help")
    assert "--secret-file" in holdfast.run("holdfast", "--help", env=env).out
    both = holdfast.run("holdfast", "host", "--help", env=env).out
    assert "host NAMESPACE/NAME" in both and "host list" in both and "alias: manage" in both
    assert "--ttl TIME" in holdfast.run("holdfast", "help", "token", "create", env=env).out
    zh = holdfast.run("holdfast", "app", "--help", env={**env, "LC_ALL": "zh_CN.UTF-8"}).out
    assert "创建可调用" in zh and "列出主机" not in zh
    assert holdfast.run("holdfast", "--version", env=env).out.startswith("holdfast 0.")


def test_output_that_can_not_be_written_is_a_failure(env, stand_in):
    stand_in.answers["GET", "/v1/hosts"] = 200, HOSTS
    for args in (["--help"], ["host", "list", "--server", stand_in.url]):
        with open("/dev/full", "wb") as full:
            p = subprocess.run([bin_dir() / "holdfast", *args], stdout=full, stderr=subprocess.PIPE, check=False,
                               env={**os.environ, **{k: str(v) for k, v in env.items()}})
        assert p.returncode == 1 and b"write to standard output: No space left on device" in p.stderr
    with open("/dev/full", "wb") as full:
        p = subprocess.run([bin_dir() / "holdfast", "--help", "--lang", "zh"], stdout=full, stderr=subprocess.PIPE,
                           check=False, env={**os.environ, **{k: str(v) for k, v in env.items()}})
    assert "写入标准输出：磁盘空间不足" in p.stderr.decode()


@pytest.mark.parametrize("call", ["open", "read", "write", "fstat"])
def test_a_system_call_that_fails_has_a_definite_end(run, stand_in, tmp_path, call):
    """The n-th call of a kind fails, for every n there is."""
    (tmp_path / "spec.json").write_text("{}")
    (tmp_path / "secret").write_text("hush")
    (tmp_path / "secret").chmod(0o600)
    (tmp_path / "cli.yaml").write_text("lang: en\n")
    args = ["start", "prod/web", "--spec", tmp_path / "spec.json", "--app", "ops", "--secret-file",
            tmp_path / "secret", "--config", tmp_path / "cli.yaml"]
    expect_operation(stand_in, task(item()))
    codes = []
    while not codes or codes[-1] != 0:
        p = run(*args, more={"HOLDFAST_FAULT": f"{call}:{len(codes) + 1}:EIO"})
        codes.append(p.code)
        assert p.code == 0 or (p.code == (1 if call == "write" else 2) and "Input/output error" in p.err and "hush" not in p.err)
        assert len(codes) < 30
    assert len(codes) > 1


# --- On a terminal -----------------------------------------------------------------

class Terminal:
    """The program on a terminal of so many columns; .out is all it showed."""

    def __init__(self, args, env, columns):
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        self.process = subprocess.Popen([bin_dir() / "holdfast", *args], stdin=slave, stdout=slave, stderr=slave,
                                        env={**os.environ, "TERM": "xterm", **{k: str(v) for k, v in env.items()}})
        os.close(slave)
        self.out = ""

    def pump(self):
        """Takes what has come; false at the end."""
        if not select.select([self.master], [], [], 0.05)[0]:
            return True
        try:
            piece = os.read(self.master, 65536)
        except OSError:
            return False
        self.out += piece.decode()
        return bool(piece)

    def wait(self):
        wait_until(lambda: not self.pump(), "the program ends")
        os.close(self.master)
        code = self.process.wait(20)
        assert not sanitizer_reports(self.out), self.out
        return code


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_what_is_usual_fits_a_narrow_terminal(env, stand_in, lang):
    away = [{**HOSTS["hosts"][0], "agent_id": "hf-b3c2cda4f2e2a16b6ad89495b68791d2", "ip": f"10.100.100.{n}",
             "host_id": 1042, "note": "rack 4, left"} for n in range(101, 106)]
    token = {**TOKEN, "note": "simulated fleet", "user": ""}
    stand_in.answers["GET", "/v1/tasks"] = 200, {"tasks": [TASK_LINE], "next": ""}
    stand_in.answers["GET", "/v1/tokens"] = 200, {"tokens": [token], "next": ""}
    stand_in.answers["GET", "/v1/tasks/T1"] = 200, {**task(item(done=False)), "task_id": TASK_LINE["task_id"]}
    stand_in.answers["GET", "/v1/status"] = 200, {**STATUS, "silent": 5}
    stand_in.answers["GET", "/v1/hosts"] = 200, {"hosts": away, "next": ""}
    stand_in.answers["GET", "/v1/processes"] = 200, {"processes": [process()], "next": ""}
    stand_in.answers["GET", "/v1/apps"] = 200, {"apps": [{"code": "deployer", "created_s": 1, "permissions": {
        "rights": ["read", "operate"], "namespaces": ["sim"], "businesses": [2], "rate_per_second": 50}}], "next": ""}
    for args in (["task", "list"], ["token", "list"], ["task", "T1"], ["status"], ["app", "list"], ["host", "list"], ["ps", "--state", "nowhere to be found"]):
        t = Terminal([*args, "--server", stand_in.url, "--lang", lang], env, 80)
        t.wait()
        assert max(map(columns_of, t.out.splitlines())) <= 80, t.out


def test_a_narrow_terminal_keeps_what_matters_of_a_process(env, stand_in):
    why = "running for 3s as pid 4711; restarted twice, last after signal 9 (SIGKILL)"
    stand_in.answers["GET", "/v1/processes"] = 200, {
        "processes": [process("10.100.100.101", name="web-frontend_12", space="production", why=why)], "next": ""}
    t = Terminal(["ps", "--color", "never", "--server", stand_in.url], env, 80)
    t.wait()
    head, line = t.out.splitlines()
    assert cells(head) == ["HOST", "PROCESS", "STATE", "PID", "UPTIME", "WHY"], t.out
    assert cells(line)[:4] == ["10.100.100.101", "production/web-frontend_12", "running", "4711"]
    assert columns_of(line) <= 80 and "…" in line


@pytest.mark.parametrize("answer, code", [(b"y\n", 0), (b"n\n", 2), (b"\n", 2), (b"\x04", 2)])
def test_who_sits_at_a_terminal_is_asked(env, stand_in, answer, code):
    stand_in.answers["POST", "/v1/processes/forget"] = 200, {"targets": [target("10.0.0.1")]}
    t = Terminal(["forget", "prod/web", "--host", "10.0.0.1", "--server", stand_in.url], env, 100)
    wait_until(lambda: t.pump() and "(y/N)" in t.out, "it asks")
    assert "remove the definition of prod/web on 1 host?" in t.out and not stand_in.asked
    os.write(t.master, answer)
    assert t.wait() == code
    assert len(stand_in.asked) == (code == 0) and ("nothing was done" in t.out) == (code == 2)


def columns_of(line):
    """What it takes on a screen; these texts have no combining marks."""
    plain = re.sub(r"\033\[[0-9;]*[mK]", "", line)
    return sum(2 if "\u2e80" <= c <= "\uffe6" else 1 for c in plain)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_lines_fit_the_terminal(env, stand_in, lang):
    stand_in.answers["GET", "/v1/processes"] = 200, {"processes": [
        process(why="进程退出，退出码 1；" * 30), process("10.0.0.2", "网关", why="short")], "next": ""}
    t = Terminal(["ps", "--server", stand_in.url, "--lang", lang], env, 100)
    assert t.wait() == 0
    lines = t.out.splitlines()
    assert len(lines) == 3 and "…" in lines[1] and "short" in lines[2]
    assert 98 <= columns_of(lines[1]) <= 100
    assert "\033[32m" in lines[1] and "\033[1m" in lines[0]


@pytest.mark.parametrize("why", ["word " * 60, "进程退出，退出码 1；" * 30, "x" * 300])
@pytest.mark.parametrize("columns", [20, 80, 120])
def test_a_long_sentence_goes_on_below_where_it_began(env, stand_in, columns, why):
    stand_in.answers["GET", "/v1/processes"] = 200, {"processes": [process(why=why)], "next": ""}
    t = Terminal(["why", "prod/web", "--server", stand_in.url, "--color", "never"], env, columns)
    assert t.wait() == 0
    lines = t.out.splitlines()
    first = next(n for n, line in enumerate(lines) if line.startswith("  why"))
    last = next(n for n, line in enumerate(lines) if line.startswith("  state"))
    told = [line[16:] for line in lines[first:last]]
    assert len(told) > 1 and not any(line.startswith(" ") for line in told)
    assert "".join(told).replace(" ", "") == why.replace(" ", "")
    assert all(columns_of(line) <= max(columns, 36) for line in lines[first:last])


@pytest.mark.parametrize("more, args, colour", [
    ({"NO_COLOR": "1"}, [], False), ({"TERM": "dumb"}, [], False), ({}, ["--color", "never"], False),
    ({"NO_COLOR": "1"}, ["--color", "always"], True), ({}, [], True)])
def test_colours_can_be_had_or_not(env, stand_in, more, args, colour):
    stand_in.answers["GET", "/v1/processes"] = 200, {"processes": [process()], "next": ""}
    t = Terminal(["ps", "--server", stand_in.url, *args], {**env, **more}, 100)
    assert t.wait() == 0
    assert ("\033[" in t.out) == colour


def test_progress_is_one_line_drawn_again(env, stand_in):
    expect_operation(stand_in, task(item(done=False, code=115), item("10.0.0.2", done=False, code=115)),
                     task(item(), item("10.0.0.2", done=False, code=115)), task(item(), item("10.0.0.2")))
    t = Terminal(["start", "prod/web", "--server", stand_in.url], env, 80)
    assert t.wait() == 0
    drawn = [p for p in t.out.split("\r") if p.strip()]
    assert "start prod/web: 0 done, 2 left, 0 failed, 0s" in drawn[0]
    assert "start prod/web: 1 done, 1 left, 0 failed, 0s" in drawn[1]
    assert t.out.count("\n") == 1 and "start prod/web: 2 of 2 done" in drawn[-1]


def test_ctrl_c_ends_the_wait_and_not_the_task(env, stand_in):
    expect_operation(stand_in, task(item(done=False, code=115)))
    t = Terminal(["start", "prod/web", "--server", stand_in.url], env, 80)
    wait_until(lambda: t.pump() and "1 left" in t.out, "progress is shown")
    t.process.send_signal(signal.SIGINT)
    assert t.wait() == 130
    assert "the task continues: holdfast task T1 --wait" in t.out


def test_ctrl_c_ends_a_request_that_hangs(env, stand_in):
    expect_operation(stand_in, task(item(done=False, code=115)))
    hangs, end = threading.Event(), threading.Event()

    def hang(*_):
        hangs.set()
        end.wait(20)
    stand_in.answers["GET", "/v1/tasks/T1"] = [(200, task(item(done=False, code=115))), hang]
    t = Terminal(["start", "prod/web", "--server", stand_in.url], env, 80)
    wait_until(lambda: t.pump() and hangs.is_set(), "the second look hangs")
    t.process.send_signal(signal.SIGINT)
    try:
        assert t.wait() == 130
    finally:
        end.set()
