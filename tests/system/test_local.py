# SPDX-License-Identifier: MIT
"""Control from the host itself: holdfast --local, with a server in sight and without."""
import calendar
import fcntl
import getpass
import json
import os
import pathlib
import pty
import re
import select
import shutil
import signal
import socket
import struct
import subprocess
import termios
import time

import pytest

from holdfast import TIMEOUT, bin_dir, wait_until
from installation import Installation, end_all

RUN = "exec ./proc-test --life-ms 120000"
SOMEBODY = 2  # of Debian: bin; 65534 is what the kernel says of users it can not name


class Host:
    """One host: an agent, and processes that are scripts."""

    def __init__(self, holdfast, folder, agent):
        self.holdfast, self.folder, self.agent = holdfast, folder, agent
        self.socket = agent / "control.sock"
        self.env = {"HOME": folder, "XDG_CONFIG_HOME": "", "LC_ALL": "C", "TZ": "UTC",
                    "HOLDFAST_LOCAL_SOCKET": self.socket}
        self.pids = set()

    def spec(self, name, start=RUN, block=None, **control):
        """`block`: of the spec's block holdfast."""
        place = self.folder / name
        place.mkdir(exist_ok=True)
        if not (place / "proc-test").exists():
            shutil.copy(bin_dir().parents[1] / "tests/victim", place / "proc-test")
        spec = {"identity": {"proc_name": "proc-test", "setup_path": str(place), "pid_path": str(place / "pid"),
                             "user": getpass.getuser()},
                "control": {"start_cmd": start, **control},
                "monitor_policy": {"auto_type": 1, "start_check_secs": 1, "stop_check_secs": 1,
                                   **({"op_timeout": 3} if block else {})},
                "holdfast": block or {}}
        path = self.folder / f"{name}.json"
        path.write_text(json.dumps(spec), encoding="utf-8")
        return path

    def cli(self, *args, code=0):
        p = self.holdfast.run("holdfast", "--local", *args, env=self.env, timeout=3 * TIMEOUT)
        assert p.process.returncode == code, (args, p.out, p.err)
        return p

    def json(self, *args, code=0):
        return json.loads(self.cli(*args, "--json", code=code).out)

    def processes(self):
        found = {p["process"]["name"]: p["process"] for p in self.json("ps")["processes"]}
        self.pids |= {p["pid"] for p in found.values() if p["pid"] > 1}
        return found

    def start(self, name, start=RUN, code=0, **control):
        said = self.cli("start", "ns/" + name, "--spec", self.spec(name, start, **control), code=code)
        self.processes()
        return said


@pytest.fixture
def alone(holdfast, tmp_path):
    """An agent that knows of no server."""
    agent = tmp_path / "agent"
    host = Host(holdfast, tmp_path, agent)
    host.program = holdfast.start("holdfast-agent", "--data-dir", agent)
    host.program.wait_log(text="ready")
    yield host
    end_all(host.pids)


@pytest.fixture
def linked(holdfast, tmp_path):
    home = Installation(holdfast, tmp_path)
    host = Host(holdfast, tmp_path, home.add_agent().folder)
    host.home = home
    yield host
    end_all(host.pids)


WHEN_TOLD = "until [ -e go ]; do sleep 0.05; done; exec ./proc-test --life-ms 120000"


def test_a_first_start_is_shown_while_it_is_in_work(linked):
    """There is nothing else that the process could be known by."""
    spec, name = linked.spec("slow", WHEN_TOLD), "ns/slow"
    linked.cli("start", name, "--spec", spec, "--no-wait")
    local = wait_until(lambda: linked.processes().get("slow"), "it is shown on the host")
    assert local["cause"]["doing"] == 0 and local["status"] == 2, local
    assert "being started" in linked.cli("why", name).out
    told = wait_until(lambda: linked.home.processes(name="slow"), "it is shown by the server")[0]["process"]
    assert told["cause"]["doing"] == 0 and "being started" in told["why"], told
    (linked.folder / "slow" / "go").touch()
    wait_until(lambda: linked.home.processes(name="slow")[0]["process"]["status"] == 1, "it runs")
    assert linked.processes()["slow"]["status"] == 1


def test_of_a_start_as_another_program_it_is_shown_at_once(linked):
    """Long before its command has taken too long."""
    name, place = "ns/odd", linked.folder / "odd"
    spec = linked.spec("odd", "exec ./other -c 'until [ -e go ]; do sleep 0.05; done'")
    shutil.copy("/bin/sh", place / "other")
    linked.cli("start", name, "--spec", spec, "--no-wait")
    text = "being started; the command runs as other, and proc-test is expected: is proc_name (program) right?"
    chinese = "正在启动；命令以 other 运行，应为 proc-test：proc_name（program）是否正确？"
    wait_until(lambda: text in " ".join(linked.cli("why", name).out.split()), "the host says it", timeout=60)
    assert chinese in "".join(linked.cli("why", name, "--lang", "zh").out.split("\n"))
    assert "the command runs as other" in linked.cli("ps").out
    cause = linked.processes()["odd"]["cause"]
    assert cause["doing"] == 0 and cause["instead"] in text, cause
    told = wait_until(lambda: [p["process"] for p in linked.home.processes(name="odd")
                               if p["process"]["cause"].get("instead")], "the server knows it")[0]
    assert told["why"] == text and told["cause"]["instead"] == cause["instead"], told
    for lang, expected in (("en", text), ("zh", chinese)):
        p = linked.holdfast.run("holdfast", "why", name, "--json", "--lang", lang, "--socket",
                                linked.home.data / "admin.sock", env=linked.env)
        assert json.loads(p.out)["processes"][0]["process"]["why"] == expected, p.out
    (place / "go").touch()
    wait_until(lambda: linked.processes()["odd"]["cause"].get("failed_code") == 836, "the start has failed")
    cause = linked.processes()["odd"]["cause"]
    assert cause["doing"] == -1 and "instead" not in cause, cause


@pytest.mark.parametrize("start", ["exit 7", "exec ./proc-test --exit 7"])
def test_a_first_start_that_fails_stays_shown(linked, start):
    linked.cli("start", "ns/bad", "--spec", linked.spec("bad", start), code=1)
    assert linked.processes()["bad"]["cause"]["doing"] == -1
    row = wait_until(lambda: linked.home.processes(name="bad"), "it is shown by the server")[0]["process"]
    wait_until(lambda: linked.home.processes(name="bad")[0]["process"]["cause"].get("failed_s"), "as failed")
    assert row["wanted"] == 0, row


@pytest.mark.quick
def test_an_agent_without_a_server_is_controlled_from_its_host(alone):
    assert "no server" in alone.program.out
    assert "no processes on this host yet" in alone.cli("ps").out
    assert alone.start("web", f"echo hello; {RUN} > /dev/null").out.startswith("start ns/web: 1 of 1 done")
    alone.start("db")
    table = alone.cli("ps").out.splitlines()
    assert table[0].split() == ["HOST", "PROCESS", "WANTED", "STATE", "PID", "HOSTED", "RESTARTS", "CPU", "MEM",
                                "UPTIME", "WHY"]
    assert [line.split()[:2] for line in table[1:]] == [[socket.gethostname(), "ns/db"], [socket.gethostname(), "ns/web"]]
    assert alone.cli("logs", "web").out == "hello\n"
    assert "running" in alone.cli("why", "ns:web").out
    assert alone.cli("stop", "web", "db").out.startswith("stop ns/web ns/db: 2 of 2 done")
    assert {n: (p["status"], p["hosted"]) for n, p in alone.processes().items()} == \
        {"web": (2, False), "db": (2, False)}
    assert "as wanted" in alone.cli("why", "web").out
    assert "Every process of this host is as wanted." in alone.cli("status").out
    assert alone.json("status")["wrong"] == [] and "wrong" not in alone.json("facts")
    assert [line.split()[1] for line in alone.cli("ps", "web").out.splitlines()[1:]] == ["ns/web"]
    assert len(alone.cli("ps", "ns").out.splitlines()) == 3
    assert alone.json("start", "web", "--no-wait")["items"] == 1
    wait_until(lambda: alone.processes()["web"]["hosted"], "it has started, waited for or not")
    assert ": 1 to do\nsee holdfast --local ps\n" in alone.cli("start", "web", "--no-wait").out  # its result is open
    task = alone.json("query", "web")
    assert (task["user"], task["failed"], task["items"][0]["code"]) == (getpass.getuser(), 0, 0)
    assert task["items"][0]["process"]["pid"] == alone.processes()["web"]["pid"]


@pytest.mark.quick
def test_mistakes_are_named(alone):
    alone.start("web")
    assert alone.cli("stop", "wbe", code=1).err.strip().endswith("did you mean web?")
    assert "no such process on this host" in alone.cli("reload", "other/thing", code=1).err
    assert "827 NO_COMMAND" in alone.cli("reload", "web", code=1).out
    assert "not as wanted:" not in alone.cli("status").out  # it runs as it did
    assert "other/thing: no such process on this host" in alone.cli("why", "other/thing", code=1).err
    assert "thing: no such process on this host" in alone.cli("ps", "thing", code=1).err
    assert "65535 COMMAND" in alone.cli("start", "ns/bad", "--spec", alone.spec("bad", "exit 3"), code=1).out
    assert "give it again with --spec FILE" in alone.cli("start", "bad", code=1).out
    assert "1 not as wanted:" in alone.cli("status", code=1).out
    status = json.loads(alone.cli("status", "--json", code=1).out)
    assert [(w["kind"], w["namespace"], w["name"]) for w in status["wrong"]] == [("process", "ns", "bad")]
    assert "exit code 3" in status["wrong"][0]["text"] and status["pid"] == alone.json("facts")["pid"]
    assert [p["process"]["name"] for p in alone.json("ps", "--state", "stopped")["processes"]] == ["bad"]
    assert [p["process"]["name"] for p in alone.json("ps", "--hosted", "--match", "WE")["processes"]] == ["web"]
    assert "--biz: needs a server" in alone.cli("ps", "--biz", "1", code=2).err
    assert "unhost ns/web: 1 of 1 done" in alone.cli("unhost", "web").out
    pid = alone.processes()["web"]["pid"]
    assert "it is hosted from now on" in alone.cli("start", "web").out
    assert (alone.processes()["web"]["pid"], alone.processes()["web"]["hosted"]) == (pid, True)
    alone.cli("unhost", "web")
    assert "从现在起托管" in alone.cli("start", "web", "--lang", "zh").out
    alone.cli("unhost", "web")
    assert "host ns/web: 1 of 1 done" in alone.cli("manage", "web").out
    assert "not available with --local" in alone.cli("host", "list", code=2).err
    assert "cannot be combined with --local" in alone.cli("ps", "--host", "1.2.3.4", code=2).err
    other = alone.holdfast.run("holdfast", "--local=/nowhere/sock", "ps", "--json", env=alone.env)
    assert other.process.returncode == 3
    assert "is holdfast-agent running?" in other.err
    assert json.loads(other.out)["error"]["code"]
    facts = alone.holdfast.run("holdfast", "facts", env=alone.env)
    assert facts.process.returncode == 2 and "only available with --local" in facts.err
    assert "--spec: open /nowhere.yaml: No such file" in alone.cli("start", "ns/x", "--spec", "/nowhere.yaml", code=2).err
    alone.env["HOLDFAST_LANG"] = "zh"
    assert "holdfast: wbe：本机没有这个进程；您是不是想用 web？" in alone.cli("stop", "wbe", code=1).err
    assert "--spec：打开 /nowhere.yaml：没有该文件或目录" in alone.cli("start", "ns/x", "--spec", "/nowhere.yaml", code=2).err


def test_what_the_agent_says_is_in_the_readers_language(alone):
    alone.env["HOLDFAST_LANG"] = "zh"
    alone.cli("start", "ns/bad", "--spec", alone.spec("bad", "exit 3"), code=1)
    cause = alone.json("why", "bad", code=1)["processes"][0]["process"]["cause"]
    assert cause["failed_text"] == "命令以退出码 3 结束" and "failed_text_msg" not in cause
    why = alone.cli("why", "bad", code=1).out
    assert why.count("命令以退出码 3 结束") == 2 and "exit code" not in why
    refused = alone.cli("reload", "bad", code=1).out
    assert "进程未注册；上一次 start 失败" in refused and "not registered" not in refused
    items = alone.json("reload", "bad", code=1)["items"]
    assert items[0]["text"].startswith("进程未注册") and items[0]["process"]["cause"]["failed_text"] == cause["failed_text"]
    refused = alone.cli("logs", "ns/none", code=1).err
    assert "本机 Agent 拒绝：" in refused and "没有保留其输出" in refused


def test_facts_say_what_is_used_and_what_in_its_place(alone):
    alone.start("web")
    facts = alone.json("facts")
    assert (facts["pid"], facts["servers"], facts["is_linked"]) == (alone.program.pid, "", False)
    assert (facts["processes"], facts["running"], facts["hosted"]) == (1, 1, 1)
    assert facts["data_dir"] == str(alone.agent)
    rows = {f["name"]: f for f in facts["facts"]}
    assert {"pidfd", "cgroup", "inotify"} <= set(rows)
    assert all(f["used"] or (f["why"] and f["instead"]) for f in rows.values()), rows
    assert "controlled only by holdfast --local" in alone.cli("facts").out
    texts = (pathlib.Path(__file__).resolve().parents[2] / "src/cli/text_rows.h").read_text(encoding="utf-8")
    assert [f["name"] for f in rows.values() if f'"{f["instead"]}"' not in texts] == []  # it says the same, in Chinese too


def test_the_server_is_gone_and_all_goes_on(linked):
    linked.start("web", f"echo one; {RUN} > /dev/null")
    linked.home.kill()
    pid = linked.processes()["web"]["pid"]
    follow = linked.holdfast.start("holdfast", "--local", "logs", "-f", "web", env=linked.env)
    follow.wait_until(lambda: follow.out == "one\n", "what was said is shown")
    linked.cli("restart", "web")
    follow.wait_until(lambda: follow.out == "one\none\n", "and what is said now")
    follow.signal(signal.SIGINT)
    assert follow.wait() == 0
    assert linked.processes()["web"]["pid"] not in (pid, -1)
    assert not linked.json("facts")["is_linked"]
    linked.cli("stop", "web")
    linked.home.start()

    def told():  # a server that was killed may write the last line of before once more
        events = [e["data"][0] for e in linked.home.events("process_local_operation")]
        return list({e["timestamp"]: e["event"]["content"] for e in events}.values())
    texts = wait_until(lambda: texts if len(texts := told()) == 3 else None, "the server hears of all three", 60)
    user = getpass.getuser()
    assert texts == [f"{user} asked on the host itself to {op} ns:web: success" for op in ("start", "restart", "stop")]
    row = wait_until(lambda: [p for p in linked.home.processes(name="web") if p["online"]], "it is back", 60)[0]
    assert (row["process"]["status"], row["process"]["hosted"]) == (2, False)
    wait_until(lambda: linked.json("facts")["is_linked"] and linked.json("facts")["events"] == 0, "nothing waits")


def test_operations_of_server_and_host_are_done_in_their_order(linked):
    spec = json.loads(linked.spec("web", "sleep 2; " + RUN).read_text(encoding="utf-8"))
    body = {"operation": "start", "namespace": "ns", "name": "web", "hosts": ["127.0.0.1"], "spec": spec}
    linked.home.v1("POST", "/v1/operations", body)
    wait_until(lambda: "web" in linked.processes() or linked.json("facts")["operations"], "it has begun")
    stopped = linked.json("kill", "ns/web", "--spec", linked.folder / "web.json")
    assert stopped["items"][0]["code"] == 0, stopped
    assert linked.processes()["web"]["status"] == 2
    assert linked.home.v1("GET", "/v1/status")["open_tasks"] == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can change the user")
def test_others_are_kept_out(alone):
    program = alone.folder / "holdfast"
    shutil.copy(bin_dir() / "holdfast", program)

    def ask():
        return subprocess.run([str(program), f"--local={alone.socket}", "ps"], user=SOMEBODY, group=SOMEBODY,
                              extra_groups=[], capture_output=True, text=True, timeout=60, check=False,
                              env={"LC_ALL": "C"}, cwd="/")
    for folder in [alone.folder, *alone.folder.parents]:
        if not folder.stat().st_mode & 0o001:
            os.chmod(folder, 0o755)
    said = ask()
    assert said.returncode == 3 and "Permission denied: only root, the agent's own user" in said.stderr, said
    os.chmod(alone.agent, 0o755)  # whatever others have made of the modes
    os.chmod(alone.socket, 0o666)
    said = ask()
    assert said.returncode == 1, said
    assert f"the agent of this host refused: uid {SOMEBODY} may not control this agent" in said.stderr
    assert alone.program.logs(text="local control refused", uid=SOMEBODY)


def test_a_flood_costs_others_nothing(linked):
    """Connections that stall hold every place, others pour in bytes; the server's operations go on."""
    stalled = []
    for _ in range(40):
        s = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        s.connect(str(linked.socket))
        stalled.append(s)
    noise = subprocess.Popen(["/usr/bin/python3", "-c", """
import socket, sys
while True:
    s = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    s.settimeout(5)
    try:
        s.connect(sys.argv[1])
        s.sendall(b"x" * 100000)
    except OSError:
        pass
    s.close()
""", str(linked.socket)])
    try:
        spec = json.loads(linked.spec("web").read_text(encoding="utf-8"))
        body = {"operation": "start", "namespace": "ns", "name": "web", "hosts": ["127.0.0.1"], "spec": spec}
        task = linked.home.v1("POST", "/v1/operations", body)["task_id"]
        view = wait_until(lambda: (t := linked.home.v1("GET", f"/v1/tasks/{task}"))["left"] == 0 and t, "it is done", 60)
        assert view["failed"] == 0, view
        assert linked.home.online("127.0.0.1")
    finally:
        noise.kill()
        noise.wait()
        for s in stalled:
            s.close()

    def is_served():  # those that were let go may not be counted out yet
        return linked.holdfast.run("holdfast", "--local", "ps", env=linked.env, timeout=TIMEOUT).process.returncode == 0
    wait_until(is_served, "it is served again")
    assert linked.processes()["web"]["status"] == 1


def test_after_kill_9_the_next_agent_serves_the_same_socket(alone):
    alone.start("web")
    pid = alone.processes()["web"]["pid"]
    alone.program.kill()
    assert alone.socket.exists()
    assert "is holdfast-agent running?" in alone.cli("ps", code=3).err
    again = alone.holdfast.start("holdfast-agent", "--data-dir", alone.agent)
    again.wait_log(text="ready")
    assert alone.processes()["web"]["pid"] == pid


def test_the_socket_is_there_after_an_upgrade_in_place(alone):
    alone.start("web")
    alone.program.signal(signal.SIGUSR2)
    alone.program.wait_until(lambda: len(alone.program.logs(text="ready")) == 2, "the new program is ready", 60)
    assert alone.json("facts")["pid"] == alone.program.pid
    assert alone.cli("stop", "web").out.startswith("stop ns/web: 1 of 1 done")


def test_a_wait_has_an_end_and_the_operation_goes_on(alone):
    spec = alone.spec("web", f"until test -e go; do sleep 0.05; done; {RUN}")
    late = alone.cli("start", "ns/web", "--spec", spec, "--timeout", "1", code=1)
    assert late.out.startswith("start ns/web: 1 of 1 have not ended after 1s; they continue")
    waits = alone.holdfast.start("holdfast", "--local", "kill", "ns/web", "--spec", spec, env=alone.env)
    wait_until(lambda: alone.program.logs(text="an operation by a user of this host", op=9), "it waits behind the start")
    waits.signal(signal.SIGINT)
    assert waits.wait() == 128 + signal.SIGINT
    assert "stopped waiting" in waits.out
    lost = alone.holdfast.start("holdfast", "--local", "query", "ns/web", "--spec", spec, env=alone.env)
    wait_until(lambda: alone.program.logs(text="an operation by a user of this host", op=2), "it waits, too")
    alone.program.kill()
    assert lost.wait() == 3
    assert "closed the connection before it answered" in lost.err
    (alone.folder / "web/go").touch()
    again = alone.holdfast.start("holdfast-agent", "--data-dir", alone.agent)
    again.wait_log(text="ready")
    wait_until(lambda: alone.processes().get("web", {}).get("status") == 2 and alone.json("facts")["operations"] == 0
               and alone.json("facts")["events"] == 2, "all were carried out in their order", 60)


def test_a_token_that_is_used_up_is_told_and_another_in_its_file_is_taken(holdfast, tmp_path):
    home = Installation(holdfast, tmp_path)
    token = tmp_path / "token"
    token.touch(mode=0o600)
    token.write_text(home.token(biz_id=2) + "\n", encoding="ascii")
    first, second = tmp_path / "first", tmp_path / "second"
    args = ["--servers", f"127.0.0.1:{home.link_port}", "--join-token-file", token]
    holdfast.start("holdfast-agent", "--data-dir", first, "--ip", "127.0.0.1", *args).wait_until(
        lambda: home.online("127.0.0.1"), "the token's one use is taken")
    program = holdfast.start("holdfast-agent", "--data-dir", second, "--ip", "127.0.0.2", *args)
    host = Host(holdfast, tmp_path, second)
    program.wait_log(text="the server does not want us; hosted processes are kept alive")
    said = host.cli("status", code=1).out
    assert "the join token is used up: make a new one; next attempt in " in said, said
    facts = host.json("status", code=1)
    assert "the join token is used up" in facts["trouble"] and 0 < facts["again_s"] <= 60, facts
    assert [(w["kind"], w["text"]) for w in facts["wrong"]] == [("link", facts["trouble"])], facts
    host.env["LC_ALL"] = "zh_CN.UTF-8"
    assert "后重试" in host.cli("status", "--lang", "zh", code=1).out
    token.write_text(home.token(biz_id=2) + "\n", encoding="ascii")
    program.wait_until(lambda: home.online("127.0.0.2"), "it has joined by the other token", 75)
    facts = host.json("status")
    assert "trouble" not in facts and facts["wrong"] == [], facts


UNSHARED = ["unshare", "--pid", "--fork", "--mount", "--mount-proc", "--kill-child"]


@pytest.mark.skipif(os.getuid() != 0 or not shutil.which("unshare"), reason="only root can make namespaces")
def test_who_the_kernel_does_not_name_is_refused(holdfast, tmp_path):
    """To a process in a pid namespace of its own, one outside of it has no pid."""
    agent, data = tmp_path / "agent", tmp_path / "server"
    programs = [[bin_dir() / "holdfast-agent", "--data-dir", agent],
                [bin_dir() / "holdfast-server", "--listen", "127.0.0.1:0", "--link-listen", "127.0.0.1:0",
                 "--data-dir", data]]
    running = [subprocess.Popen([*UNSHARED, *map(str, p)], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL) for p in programs]
    try:
        host = Host(holdfast, tmp_path, agent)
        wait_until((agent / "control.sock").exists, "the agent's socket is there")
        wait_until((data / "admin.sock").exists, "the server's socket is there")
        host.env["HOLDFAST_SOCKET"] = data / "admin.sock"
        for args in (["--local", "status"], ["--local", "ps"], ["app", "create", "x", "--socket", data / "admin.sock"],
                     ["host", "list", "--socket", data / "admin.sock"]):
            p = holdfast.run("holdfast", *args, env=host.env)
            assert p.process.returncode not in (0, None) and "the kernel does not report the caller's identity" in p.err, \
                (args, p.out, p.err)
    finally:
        for p in running:
            p.kill()
            p.wait()


# --- Names ---------------------------------------------------------------------------

def hosted(host):
    return {f"{p['process']['namespace']}/{p['process']['name']}": p["process"]["hosted"]
            for p in host.json("ps")["processes"]}


@pytest.fixture
def shop(alone):
    """Two namespaces; the name web is in both."""
    for name in ("shop/web", "shop/db", "admin/web", "admin/shop"):
        alone.cli("start", name, "--spec", alone.spec(name.replace("/", "-")))
    alone.pids |= {p["process"]["pid"] for p in alone.json("ps")["processes"]}
    return alone


def test_a_word_selects_one_process_a_namespace_or_all(shop):
    assert shop.cli("stop", "shop/").out.startswith("stop shop/: 2 of 2 done")
    assert hosted(shop) == {"shop/web": False, "shop/db": False, "admin/web": True, "admin/shop": True}
    again = shop.cli("stop", "all")  # those that are down already are no failure
    assert again.out.startswith("stop all: 4 of 4 done") and "not running" not in again.out
    assert set(hosted(shop).values()) == {False}
    assert shop.cli("start", "admin", "db", "shop:db").out.startswith("start admin shop/db shop/db: 3 of 3 done")
    assert hosted(shop) == {"shop/web": False, "shop/db": True, "admin/web": True, "admin/shop": True}
    shop.pids |= {p["process"]["pid"] for p in shop.json("ps")["processes"] if p["process"]["pid"] > 1}
    why = shop.cli("why", "db", "admin/", code=0).out
    assert [line.split()[0] for line in why.splitlines() if line.startswith(("shop/", "admin/"))] == \
        ["shop/db", "admin/shop", "admin/web"]
    assert [p["process"]["name"] for p in shop.json("why", "db", "admin/shop")["processes"]] == ["db", "shop"]
    assert len(shop.json("ps", "shop/")["processes"]) == 3  # and admin/shop, as before
    task = shop.json("query", "all")
    assert (task["total"], task["failed"], len(task["items"])) == (4, 0, 4)


def test_an_unclear_word_is_an_error_that_names_what_it_may_mean(shop):
    said = shop.cli("stop", "web", code=1).err
    assert "web: ambiguous: admin/web, shop/web; use NAMESPACE/NAME" in said
    assert "shop: ambiguous: admin/shop, shop/; use" in shop.cli("stop", "shop", code=1).err
    assert shop.cli("stop", "shpo/", code=1).err.strip().endswith("did you mean shop/?")
    assert "did you mean shop/db?" in shop.cli("why", "shop/bd", code=1).err
    assert set(hosted(shop).values()) == {True}  # nothing was begun
    spec = shop.spec("new")
    assert "all: --spec describes one process" in shop.cli("start", "all", "--spec", spec, code=2).err
    assert shop.cli("start", "new", "--spec", spec).out.startswith("start default/new: 1 of 1 done")
    shop.pids |= {p["process"]["pid"] for p in shop.json("ps")["processes"]}
    assert hosted(shop)["default/new"]
    assert "--expect: needs a server" in shop.cli("stop", "new", "--expect", "1", code=2).err


def test_a_dry_run_shows_what_would_be_done_and_does_nothing(shop):
    shop.cli("stop", "db")
    lines = shop.cli("start", "all", "--dry-run").out.splitlines()
    assert lines[0] == "start all: 4 processes; nothing was done"
    rows = {line.split()[0]: " ".join(line.split()[1:]) for line in lines[2:]}
    assert rows == {"shop/db": "would be executed", "shop/web": "nothing to do", "admin/web": "nothing to do",
                    "admin/shop": "nothing to do"}
    assert not hosted(shop)["shop/db"]
    made = shop.json("restart", "shop/", "--dry-run")
    assert made["dry_run"] and {t["key"]: t["text"] for t in made["targets"]} == \
        {"shop/db": "would be executed", "shop/web": "would be executed"}
    assert "无需操作" in shop.cli("stop", "db", "--dry-run", "--lang", "zh").out


def test_what_is_as_asked_already_is_no_failure_if_one_says_so(alone):
    alone.start("web")
    pid = alone.processes()["web"]["pid"]
    assert "828" in alone.cli("start", "web", code=1).out
    assert alone.cli("start", "web", "--idempotent").out.startswith("start ns/web: 1 of 1 done")
    task = alone.json("start", "web", "--idempotent")
    assert (task["failed"], task["idempotent"], task["items"][0]["changed"]) == (0, True, False)
    other = alone.spec("web", reload_cmd="true")
    alone.cli("start", "web", "--spec", other, "--idempotent")
    alone.cli("reload", "web")  # by the new spec
    assert alone.processes()["web"]["pid"] == pid
    alone.cli("stop", "web")
    alone.cli("stop", "web", "--idempotent")


def test_many_are_operated_on_some_at_a_time(alone):
    names = [f"many/p{n}" for n in range(40)]
    spec = alone.spec("many")
    for name in names:  # one program, so hosting it moves on from name to name
        alone.cli("host", name, "--spec", spec)
    assert alone.cli("unhost", "all").out.startswith("unhost all: 40 of 40 done")
    assert alone.json("query", *names, "--spec", spec, code=0)["total"] == 40
    alone.processes()


# --- The end of a definition, and events ---------------------------------------------

def test_a_definition_is_removed_and_the_process_runs_on(linked):
    linked.start("web")
    linked.start("db")
    wait_until(lambda: linked.home.processes(name="web"), "the server knows it")
    pid = linked.processes()["web"]["pid"]
    assert "add --yes" in linked.cli("forget", "web", code=2).err
    assert set(linked.processes()) == {"web", "db"}
    assert linked.cli("forget", "web", "--yes").out == "ns/web: definition removed\n"
    assert set(linked.processes()) == {"db"}
    os.kill(pid, 0)
    wait_until(lambda: not linked.home.processes(name="web"), "the server knows it no more")
    assert "no such process" in linked.cli("forget", "web", "--yes", code=1).err
    texts = [e["text"] for e in linked.json("events")["events"]]
    assert f"{getpass.getuser()} asked on the host itself to forget ns:web: success" in texts
    assert "it is hosted from now on" in linked.cli("start", "ns/web", "--spec", linked.spec("web")).out
    assert linked.processes()["web"]["pid"] == pid
    forgotten = linked.json("forget", "all", "--yes")
    assert {t["key"]: t["code"] for t in forgotten["targets"]} == {"ns/web": 0, "ns/db": 0}
    assert linked.processes() == {}
    os.kill(pid, 0)


def test_events_of_a_host_are_shown_without_a_server(alone):
    assert alone.cli("events").out == "no events\n"
    alone.start("web")
    alone.cli("stop", "web")
    events = alone.json("events")["events"]
    user = getpass.getuser()
    assert [e["text"] for e in events] == [f"{user} asked on the host itself to {op} ns:web: success" for op in ("stop", "start")]
    table = alone.cli("events", "--lines", "1").out.splitlines()
    assert len(table) == 2 and table[1].split()[2:4] == [socket.gethostname(), "ns/web"], table
    assert "no events" in alone.cli("events", "--namespace", "other").out
    assert len(alone.json("events", "--since", "10m")["events"]) == 2
    follow = alone.holdfast.start("holdfast", "--local", "events", "-f", env=alone.env)
    follow.wait_until(lambda: follow.out.count("\n") == 2, "past events are shown")
    alone.cli("start", "web")
    alone.processes()
    follow.wait_until(lambda: follow.out.count("\n") == 3, "and what comes")
    follow.signal(signal.SIGINT)
    assert follow.wait() == 0
    assert follow.out.splitlines()[2].endswith(f"{user} asked on the host itself to start ns:web: success")
    alone.env["HOLDFAST_LANG"] = "zh"
    assert "root 在主机上执行了 start ns:web：成功".replace("root", user) in alone.cli("events", "--lines", "1").out


# --- Use, and top --------------------------------------------------------------------

def test_ps_shows_what_a_process_uses(alone):
    alone.start("web")

    def row():
        head, line = (re.split(r"  +", text.strip()) for text in alone.cli("ps").out.splitlines())
        return dict(zip(head, line))
    shown = row()  # memory at once, and not once a minute
    assert re.fullmatch(r"[0-9.]+[KMG]", shown["MEM"]) and re.fullmatch(r"[0-9.]+%", shown["CPU"]), shown
    view = alone.processes()["web"]
    rss = int(pathlib.Path(f"/proc/{view['pid']}/statm").read_text(encoding="ascii").split()[1]) * 4096
    assert view["mem_bytes"] == pytest.approx(rss, rel=0.5)
    alone.cli("stop", "web")
    assert [row()[name] for name in ("CPU", "MEM")] == ["-", "-"]


class Screen:
    """`top` on a terminal: what is on its screen, line by line."""

    def __init__(self, host, *args, columns=80, rows=12):
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.before = termios.tcgetattr(slave)
        self.slave = slave
        self.process = subprocess.Popen([bin_dir() / "holdfast", "--local", "top", *args], stdin=slave, stdout=slave,
                                        stderr=slave, start_new_session=True,
                                        env={**os.environ, "TERM": "xterm", **{k: str(v) for k, v in host.env.items()}})
        self.raw, self.bytes_in, self.lines = "", b"", [""] * rows

    def pump(self):
        while select.select([self.master], [], [], 0.05)[0]:
            try:
                piece = os.read(self.master, 65536)
            except OSError:
                break
            if not piece:
                break
            self.bytes_in += piece
        self.raw = self.bytes_in.decode(errors="ignore")
        self.lines = [""] * len(self.lines)
        drawn = self.raw.partition("\033[?1049l")[0]
        for row, text in re.findall(r"\033\[(\d+);1H(.*?)\033\[K", drawn):
            self.lines[int(row) - 1] = text
        return self.lines

    def wait(self, check, what):
        return wait_until(lambda: check(self.pump()), what)

    def press(self, text):
        os.write(self.master, text.encode())

    def end(self):
        """The exit status; the terminal is as before."""
        wait_until(lambda: self.pump() and self.process.poll() is not None, "top ends")
        self.pump()
        assert self.raw.endswith("\033[?25h\033[?1049l"), self.raw[-200:]
        assert termios.tcgetattr(self.slave) == self.before
        os.close(self.slave)
        os.close(self.master)
        return self.process.returncode


def plain(line):
    return re.sub(r"\033\[[0-9;]*m", "", line)


def columns_of(line):
    return sum(2 if "\u2e80" <= c <= "\uffe6" else 1 for c in plain(line))


def rows_of(lines):
    return [plain(line).split()[0] for line in lines[2:-1] if line]


@pytest.mark.parametrize("lang, columns", [("en", 80), ("en", 120), ("zh", 80), ("zh", 120)])
def test_top_is_live(alone, lang, columns):
    alone.start("web")
    alone.start("db")
    words = {"en": ("PROCESS", "running", "stopped", "q quit"), "zh": ("进程", "运行中", "已停止", "q 退出")}[lang]
    top = Screen(alone, "--lang", lang, columns=columns)
    top.wait(lambda lines: len(rows_of(lines)) == 2, "both are there")
    assert plain(top.lines[1]).startswith(words[0]) and words[3] in top.lines[-1]
    assert "CPU*" in plain(top.lines[1])
    top.press("n")
    top.wait(lambda lines: rows_of(lines) == ["ns/db", "ns/web"] and "*" in plain(lines[1]).split("  ")[0], "by name")
    top.press("n")
    top.wait(lambda lines: rows_of(lines) == ["ns/web", "ns/db"], "the other way round")
    assert "\033[7mns/" in "".join(top.lines)  # one is selected
    top.press("\033[H\033[B")  # home, down
    top.wait(lambda lines: lines[3].startswith("\033[7mns/db"), "the second is selected")
    top.press("t")
    top.wait(lambda lines: "ns/db" in lines[-1] and "y/N" in lines[-1], "it asks before it ends something")
    top.press("n")
    top.wait(lambda lines: words[3] in lines[-1], "no")
    assert alone.processes()["db"]["status"] == 1
    top.press("t")
    top.wait(lambda lines: "y/N" in lines[-1], "it asks again")
    top.press("y")
    top.wait(lambda lines: words[2] in lines[3], "it is stopped")
    assert alone.processes()["db"]["status"] == 2
    top.press("s")  # ends nothing, so it does not ask
    top.wait(lambda lines: words[1] in lines[3], "it runs again")
    alone.processes()
    top.press("w")
    top.wait(lambda lines: plain(lines[0]).startswith("ns/db"), "why")
    top.press("x")
    top.wait(lambda lines: len(rows_of(lines)) == 2, "back")
    assert max(map(columns_of, top.lines)) <= columns, top.lines
    top.press("q")
    assert top.end() == 0


def test_top_shows_output_and_restores_the_terminal_whatever_ends_it(alone):
    alone.start("web", f"echo hello from web; {RUN}")
    for how, code in ((signal.SIGINT, 0), (signal.SIGTERM, 128 + signal.SIGTERM)):
        top = Screen(alone)
        top.wait(lambda lines: rows_of(lines) == ["ns/web"], "it is there")
        top.press("l")
        top.wait(lambda lines: lines[0] == "hello from web", "its output")
        top.press(" ")
        top.wait(lambda lines: rows_of(lines) == ["ns/web"], "back")
        top.process.send_signal(how)
        assert top.end() == code
    top = Screen(alone)
    top.wait(lambda lines: rows_of(lines) == ["ns/web"], "it is there")
    top.press("\x03")  # Ctrl-C; the session of this terminal is not that of top, so it comes as a key
    top.press("q")
    assert top.end() == 0


def test_top_writes_only_lines_that_have_changed(alone):
    alone.start("web")
    top = Screen(alone)
    top.wait(lambda lines: rows_of(lines) == ["ns/web"], "it is there")
    head = top.raw.count("\033[2;1H")
    drawn = top.raw.count("\033[1;1H")
    top.wait(lambda lines: top.raw.count("\033[1;1H") >= drawn + 2, "the time of day has changed twice")
    assert top.raw.count("\033[2;1H") == head, "the heads are written once"
    fcntl.ioctl(top.master, termios.TIOCSWINSZ, struct.pack("HHHH", 12, 60, 0, 0))
    top.process.send_signal(signal.SIGWINCH)
    top.wait(lambda lines: top.raw.count("\033[2J") == 2 and max(map(columns_of, lines)) <= 60, "it is drawn anew")
    top.press("q")
    assert top.end() == 0


def test_top_is_a_plain_table_in_a_pipe(alone):
    alone.start("web")
    lines = alone.cli("top").out.splitlines()
    assert lines[0].split() == ["PROCESS", "STATE", "PID", "CPU", "MEM", "RESTARTS", "HEALTH", "UPTIME"]
    assert lines[1].split()[:3] == ["ns/web", "running", str(alone.processes()["web"]["pid"])] and "\033" not in lines[1]
    assert [p["process"]["name"] for p in alone.json("top")["processes"]] == ["web"]
    assert "only available with --local" in alone.holdfast.run("holdfast", "top", env=alone.env).err


# --- Output of several ---------------------------------------------------------------

def test_output_of_several_processes_has_their_names_in_front(alone):
    alone.start("web", f"printf 'one\\ntwo\\nerror: three\\nfour'; {RUN} > /dev/null")
    alone.start("database", f"echo first; {RUN} > /dev/null")
    out = alone.cli("logs", "web", "database", "-n", "2").out
    assert out == "ns/web      | error: three\nns/web      | four\nns/database | first\n"
    assert sorted(alone.cli("logs", "all", "--grep", "error").out.splitlines()) == ["ns/web      | error: three"]
    assert alone.cli("logs", "web", "--grep", "two").out == "two\n"
    coloured = alone.cli("logs", "ns/", "--color", "always").out
    assert "\033[36mns/database\033[0m | first\n" in coloured and "\033[33mns/web     \033[0m | one\n" in coloured
    assert "one process only" in alone.cli("logs", "web", "database", "--json", code=2).err
    assert alone.cli("logs", "web", "--lines", "1").out == "four"


def test_a_followed_line_has_the_time_at_which_it_came(alone):
    alone.start("web", f"echo old; (until [ -e go ]; do sleep 0.05; done; printf 'ne'; sleep 0.3; echo w) & {RUN} > /dev/null")
    follow = alone.holdfast.start("holdfast", "--local", "logs", "-f", "--timestamps", "web", env=alone.env)
    follow.wait_until(lambda: "old" in follow.out, "what was said is shown")
    assert follow.out == " " * 21 + "old\n"  # nothing knows when
    before = time.time()
    (alone.folder / "web" / "go").touch()
    follow.wait_until(lambda: "new" in follow.out, "and what is said now, whole")
    at, text = follow.out.splitlines()[1].split("  ")
    assert text == "new"
    came = calendar.timegm(time.strptime(at, "%Y-%m-%d %H:%M:%S"))
    assert before - 1 <= came <= time.time() + 1
    follow.signal(signal.SIGINT)
    assert follow.wait() == 0


def test_output_can_be_selected_by_its_age(alone):
    alone.start("web", f"echo old; (until [ -e go ]; do sleep 0.05; done; echo new; echo newer) & {RUN} > /dev/null")
    assert alone.cli("logs", "web", "--since", "1h").out == "old\n"
    wait_until(lambda: alone.cli("logs", "web", "--since", "2s").out == "", "it is older than that")
    (alone.folder / "web" / "go").touch()
    wait_until(lambda: alone.cli("logs", "web", "--since", "2s").out == "new\nnewer\n", "only what is newer is shown")
    assert alone.cli("logs", "web", "--since", "1h", "-n", "2").out == "new\nnewer\n"
    assert alone.cli("logs", "web", "--since", "1h").out == "old\nnew\nnewer\n"

# --- Signals, pre-start commands, watched files, pid files --------------------------

SIGNALS = ["HUP", "USR1", "WINCH", "RTMIN+3"]
TRAPS = "".join(f"trap 'echo {s} >> got' {s}; " for s in SIGNALS) + "touch there; while :; do sleep 0.05; done"


def start_trapper(host, name):
    """A process that notes the signals that it gets; its program is a shell under the name of the process."""
    place = host.folder / name
    place.mkdir()
    shutil.copy("/bin/bash", place / "proc-test")
    (place / "traps.sh").write_text(TRAPS, encoding="utf-8")
    host.start(name, "exec ./proc-test ./traps.sh")
    wait_until((place / "there").exists, "its traps are set")
    return place / "got"


@pytest.mark.quick
def test_a_signal_is_sent_to_the_main_process(alone):
    got = start_trapper(alone, "trap")
    pid = alone.processes()["trap"]["pid"]
    for i, text in enumerate(["HUP", "SIGUSR1", str(int(signal.SIGWINCH)), "rtmin+3"]):
        assert f"signal ns/trap {text}: 1 of 1 done" in alone.cli("signal", "trap", text).out
        wait_until(lambda: got.exists() and got.read_text().split() == SIGNALS[:i + 1], f"{text} has come")
    assert alone.processes()["trap"]["pid"] == pid
    assert "must be the name of a signal" in alone.cli("signal", "ns/trap", "HUPP", code=2).err
    assert "SIGNAL" in alone.cli("signal", "ns/trap", code=2).err
    alone.cli("signal", "ns/trap", "KILL")
    wait_until(lambda: alone.processes()["trap"]["pid"] not in (0, pid), "a hosted process is restarted as after any exit")
    alone.cli("stop", "trap")
    assert "829" in alone.cli("signal", "trap", "HUP", code=1).out


def test_a_signal_is_sent_by_the_server_and_needs_its_right(linked):
    got, home = start_trapper(linked, "trap"), linked.home
    wait_until(lambda: home.processes(name="trap"), "it is known to the server")
    ask = {"operation": "signal", "namespace": "ns", "name": "trap", "signal": "HUP"}
    task = home.v1("POST", "/v1/operations", ask)["task_id"]
    wait_until(lambda: home.v1("GET", "/v1/tasks/" + task)["left"] == 0, "it has ended")
    assert home.v1("GET", "/v1/tasks/" + task)["failed"] == 0
    wait_until(lambda: got.exists() and got.read_text().split() == ["HUP"], "it has come")
    env = {**linked.env, "HOLDFAST_LOCAL_SOCKET": ""}
    by_cli = linked.holdfast.run("holdfast", "signal", "ns/trap", "USR1", "--socket", home.data / "admin.sock", env=env)
    assert by_cli.process.returncode == 0 and "signal ns/trap USR1: 1 of 1 done" in by_cli.out, by_cli.out + by_cli.err
    wait_until(lambda: got.read_text().split() == ["HUP", "USR1"], "it has come")
    audited = linked.holdfast.run("holdfast", "audit", "--socket", home.data / "admin.sock", env=env).out
    assert "signal ns/trap; signal=USR1" in audited, audited
    made = home.admin("POST", "/v1/apps", {"code": "stopper", "permissions": {"operations": ["stop", "reload"]}})
    home.code, home.secret = made["code"], made["secret"]
    refused = home.v1("POST", "/v1/operations", ask, status=403)
    assert "may not signal" in refused["error"]["message"]
    assert got.read_text().split() == ["HUP", "USR1"]


def test_the_pre_start_command_is_run_before_each_start(alone):
    place, order = alone.folder / "prep", alone.folder / "prep" / "order"
    prepare = "echo pre $WORD $PWD >> order; if [ -e bad ]; then echo no disk; exit 3; fi"
    block = {"pre_start": prepare, "environment": {"WORD": "w"}}
    alone.start("prep", f"echo start >> order; {RUN}", block=block)
    assert order.read_text().splitlines() == [f"pre w {place}", "start"]
    pid = alone.processes()["prep"]["pid"]
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: alone.processes()["prep"]["pid"] not in (0, pid), "it is restarted")
    assert len(order.read_text().splitlines()) == 4
    alone.cli("stop", "prep")
    (place / "bad").touch()
    failed = alone.cli("start", "prep", code=1).out
    assert "65535" in failed and "the pre-start command ended with exit code 3; its output: [no disk" in failed, failed
    why = alone.cli("why", "prep").out
    assert "the pre-start command ended with exit code 3" in why and "no disk" in why, why
    assert order.read_text().splitlines()[4:] == [f"pre w {place}"]


def test_a_pre_start_command_that_hangs_is_ended_and_so_is_what_it_left(alone):
    hang = "./proc-test --life-ms 120000 & echo $! > child; wait"
    failed = alone.start("hang", block={"pre_start": hang}, code=1).out
    assert "the pre-start command ran longer than 3 s and was ended" in failed, failed
    child = int((alone.folder / "hang" / "child").read_text())
    wait_until(lambda: not pathlib.Path(f"/proc/{child}").exists(), "its child is ended, too")
    assert alone.processes()["hang"]["status"] == 2


def replace(path, text):
    """As an editor does it: another file takes the name."""
    new = path.with_suffix(".new")
    new.write_text(text, encoding="utf-8")
    new.rename(path)


def test_a_watched_file_restarts_reloads_or_is_reported(linked):
    place = linked.folder / "conf"
    place.mkdir()
    files = {action: place / action for action in ("restart", "reload", "report")}
    for path in files.values():
        path.write_text("one", encoding="utf-8")
    watch = [{"path": str(path), "on_change": action} for action, path in files.items()]
    block = {"watch": watch + [{"path": str(place / "none")}]}
    def events():
        return json.dumps(linked.home.events("process_config_changed"), ensure_ascii=False)

    linked.start("conf", block=block, reload_cmd="echo x >> reloads")
    wait_until(lambda: f"{place}/none of conf is not there; nothing is done" in events(), "the files were read")
    pid = linked.processes()["conf"]["pid"]
    os.utime(files["restart"])  # no other content
    replace(files["report"], "two")
    replace(files["reload"], "two")
    wait_until(lambda: (place / "reloads").exists(), "it is reloaded")
    assert linked.processes()["conf"]["pid"] == pid
    wait_until(lambda: f"{files['report']} of conf has changed: nothing is done" in events(), "it is reported")
    files["report"].unlink()
    wait_until(lambda: f"{files['report']} of conf is not there; nothing is done" in events(), "and that it is gone")
    with open(files["restart"], "w", encoding="utf-8") as f:  # in several steps
        for part in ("t", "w", "o"):
            f.write(part)
            f.flush()
    wait_until(lambda: linked.processes()["conf"]["pid"] not in (0, -1, pid), "it is restarted", timeout=60)
    wait_until(lambda: f"because {files['restart']} had changed" in linked.cli("why", "conf").out, "why says so")
    assert (place / "reloads").read_text(encoding="utf-8") == "x\n"
    bad = linked.cli("start", "ns/other", "--spec", linked.spec("other", block=block), code=1).out
    assert "spec.control.reload_cmd: required where watch.on_change is reload" in bad, bad


@pytest.mark.parametrize("start", [RUN, "./proc-test --life-ms 120000 --daemonize"])
def test_pid_files_in_the_folder_of_the_agent_are_kept(holdfast, tmp_path, start):
    """Those of commands that daemonize, too, which write none here."""
    host, folder = Host(holdfast, tmp_path, tmp_path / "agent"), tmp_path / "pids"
    holdfast.start("holdfast-agent", "--data-dir", host.agent, "--pid-dir", folder).wait_log(text="ready")
    assert folder.stat().st_mode & 0o7777 == 0o755
    facts = host.json("facts")
    assert facts["pid_dir"] == str(folder) and str(folder) in host.cli("facts").out
    spec, file = host.spec("web", start), folder / "web.pid"
    text = json.loads(spec.read_text(encoding="utf-8"))
    text["identity"]["pid_path"] = str(file)
    spec.write_text(json.dumps(text), encoding="utf-8")

    def is_kept(but=None):
        pid = host.processes()["web"]["pid"]
        return pid not in (0, -1, but) and file.exists() and file.read_text(encoding="ascii") == f"{pid}\n" and pid
    try:
        host.cli("start", "ns/web", "--spec", spec)
        pid = wait_until(is_kept, "the file names the main process")
        os.kill(pid, signal.SIGKILL)
        wait_until(lambda: is_kept(but=pid), "and that of the next run")
        host.cli("stop", "web")
        wait_until(lambda: not file.exists(), "it goes with the process")
    finally:
        host.processes()
        end_all(host.pids)
