# SPDX-License-Identifier: MIT
"""Checks of real processes: http, tcp and commands, whose listener a port is, and what is told of them."""
import json
import re
import socket
import sys

import pytest

from installation import UnixConnection
from holdfast import free_port, wait_until
from one_host import OneHost

FAST = {"start_check_secs": 1, "stop_check_secs": 1, "start_interval": 1, "op_timeout": 10}
NAME = "gse/proc-test"
WEB = "cd {folder}\n{python} -m http.server {port} --bind 127.0.0.1 >/dev/null 2>&1 &\n"
START = "echo $$ >> starts\n{before}exec ./proc-test --life-ms 120000 {daemon}"
DAEMON = "--daemonize --pid-file $PWD/proc-test.pid {}"


class World(OneHost):
    def __init__(self, holdfast, folder):
        super().__init__(holdfast, folder)
        self.port = free_port()
        self.serve()

    def serve(self, options="", web=False):
        """What its start command runs: a listener of its own, or a web server in its family."""
        before = WEB.format(folder=self.daemon.folder, python=sys.executable, port=self.port) if web else ""
        if web:
            self.daemon.kind = "foreground"
        daemon = options if web else DAEMON.format(options)
        self.daemon.script("start.sh", START.format(before=before, daemon=daemon))
        self.daemon.script("restart.sh", "./stop.sh\nwhile kill -0 $(cat proc-test.pid 2>/dev/null) 2>/dev/null; do\n"
                           "    sleep 0.05\ndone\nexec ./start.sh")

    def do(self, op, extra=None, code=0):
        body = self.daemon.request(self.agent.ip, op, **FAST)
        body["spec"]["control"]["health_cmd"] = ""
        body["spec"]["holdfast"] = extra or {}
        result = self.home.do(body)
        assert result["error_code"] == code, result
        return result

    def checks(self):
        rows = self.home.processes(name="proc-test")
        return {c["name"]: c for c in rows[0]["process"].get("checks", [])}

    def wait_state(self, name, state):
        wait_until(lambda: self.checks().get(name, {}).get("state") == state, f"{name} is {state}", 60)
        return self.checks()[name]

    def why(self, *args):
        return self.cli("why", NAME, *args).out

    def events(self, name):
        return [e["data"][0]["event"]["content"] for e in self.home.events(name)]

    def metric(self, name):
        connection = UnixConnection(str(self.home.data / "admin.sock"), 30)
        connection.request("GET", "/metrics")
        text = connection.getresponse().read().decode()
        connection.close()
        return float(re.search(rf"^{name} (\S+)$", text, re.M)[1])


@pytest.fixture
def world(holdfast, tmp_path):
    w = World(holdfast, tmp_path)
    yield w
    w.daemon.end()


@pytest.mark.quick
def test_a_check_of_its_own_port_passes_and_is_shown(world):
    world.serve(f"--listen {world.port}")
    world.do(0, {"checks": [{"name": "port", "tcp": str(world.port), "interval": 1}]})
    world.wait_state("port", "passing")
    assert re.search(r"checks +port: passing, [\d.]+ ms", world.why()), world.why()
    assert "端口" not in world.why("--lang", "zh") and "通过" in world.why("--lang", "zh")
    assert re.search(r"HEALTH +WHY\n.* ok +", world.cli("ps").out), world.cli("ps").out
    assert world.metric("holdfast_checks_passing") == 1 and world.metric("holdfast_checks_failing") == 0
    assert world.metric("holdfast_checks_latency_seconds") > 0


def test_a_port_that_another_process_holds_fails_and_names_it(world):
    with socket.create_server(("127.0.0.1", world.port)):
        world.do(0, {"checks": [
            {"name": "own", "tcp": str(world.port), "interval": 1, "threshold": 2},
            {"name": "any", "tcp": f"127.0.0.1:{world.port}", "interval": 1, "any_owner": True}]})
        text = world.wait_state("own", "failing")["text"]
        assert re.fullmatch(rf"port {world.port} is held by \S+ \(\d+\), which does not belong to it", text), text
        world.wait_state("any", "passing")
        assert f"check own: port {world.port} is held by" in world.why()
        ps = world.cli("ps").out
        assert "failing: own" in ps, ps
        assert world.metric("holdfast_processes_unhealthy") == 1
        wait_until(lambda: world.events("process_unhealthy"), "an event tells of it")
    assert world.events("process_unhealthy")[0].startswith("proc-test is unhealthy: check own: port ")


def test_a_start_is_not_ready_while_another_process_holds_its_port(world):
    ready = {"when": "port", "port": world.port, "timeout": 2}
    with socket.create_server(("127.0.0.1", world.port)):
        result = world.do(0, {"ready": ready}, code=836)
        assert f"port {world.port} is held by " in result["error_msg"], result
        world.do(7, {"ready": {**ready, "any_owner": True}})
    world.serve(f"--listen {world.port}")
    world.do(7, {"ready": {**ready, "timeout": 20}})


def test_a_web_server_is_looked_at_by_status_and_body(world):
    (world.daemon.folder / "index.html").write_text("all is fine", encoding="ascii")
    world.serve(web=True)
    url = f"http://127.0.0.1:{world.port}"
    world.do(0, {"ready": {"when": "health", "timeout": 30}, "checks": [
        {"name": "page", "http": url + "/", "body": "is fine", "interval": 1, "threshold": 1},
        {"name": "gone", "http": f"http://localhost:{world.port}/none?a=b", "status": 404, "interval": 1},
        {"name": "says", "command": "test -e index.html || { echo no page; exit 3; }", "interval": 1, "threshold": 1}]})
    for name in ("page", "gone", "says"):
        world.wait_state(name, "passing")
    (world.daemon.folder / "index.html").rename(world.daemon.folder / "other.html")
    assert "does not contain \"is fine\"" in world.wait_state("page", "failing")["text"]
    assert world.wait_state("says", "failing")["text"] == "no page"
    (world.daemon.folder / "other.html").rename(world.daemon.folder / "index.html")
    wait_until(lambda: world.events("process_healthy"), "it is healthy again", 60)
    assert len(world.events("process_unhealthy")) == 1  # of both
    lines = [row for row in world.agent.program.logs() if row.get("text") in ("a check fails", "a check passes again")]
    assert sorted((row["check"], row.get("text")) for row in lines) == [
        ("page", "a check fails"), ("page", "a check passes again"),
        ("says", "a check fails"), ("says", "a check passes again")]


def test_a_failing_check_restarts_it(world):
    world.do(0, {"unhealthy_restarts": 2, "checks": [
        {"name": "file", "command": "test -e cured", "interval": 1, "threshold": 2}]})
    first = world.daemon.wait_pid()
    world.daemon.wait_pid(but=first)
    wait_until(lambda: world.events("process_restart_success"), "the restart is told", 60)
    (world.daemon.folder / "cured").touch()
    world.wait_state("file", "passing")


@pytest.mark.parametrize("check, text", [
    ({}, "spec.holdfast.checks[0]: one of http, tcp and command is required"),
    ({"tcp": "80", "command": "true"}, "spec.holdfast.checks[0]: only one of http, tcp and command is possible"),
    ({"tcp": "80", "body": "x"}, "spec.holdfast.checks[0].body: only possible with http"),
    ({"tcp": "80", "timeout": 20}, "spec.holdfast.checks[0].timeout: must be at most the interval, 10 s"),
])
def test_what_makes_no_sense_is_refused(world, check, text):
    result = world.do(0, {"checks": [check]}, code=811)
    assert text in result["error_msg"], result
    assert json.dumps(world.daemon.pids()) == "[]"
