# SPDX-License-Identifier: MIT
"""A start succeeds as soon as the process is ready: real processes, from a request to its result."""
import socket

import pytest

from daemon import Daemon
from holdfast import free_port
from installation import Installation

SLOW = {"start_check_secs": 3600, "stop_check_secs": 1, "start_interval": 1, "op_timeout": 60}


class World:
    def __init__(self, holdfast, folder, kind, options):
        self.home = Installation(holdfast, folder)
        self.agent = self.home.add_agent()
        self.daemon = Daemon(folder / "daemon", kind, options)

    def start(self, ready, op=0):
        body = self.daemon.request(self.agent.ip, op, **SLOW)
        body["spec"]["holdfast"] = {"ready": ready}
        return self.home.do(body)


@pytest.fixture
def make(holdfast, tmp_path):
    made = []

    def new(kind="daemon", options=""):
        made.append(World(holdfast, tmp_path, kind, options))
        return made[0]
    yield new
    for world in made:
        world.daemon.end()


@pytest.mark.parametrize("kind", ["daemon", "foreground"])
def test_it_says_so_itself(make, kind):
    world = make(kind, "--notify")
    assert world.start({"when": "notify"})["error_code"] == 0
    first = world.daemon.wait_pid()
    assert world.start({"when": "notify"}, op=7)["error_code"] == 0
    assert world.daemon.wait_pid() != first and world.daemon.starts() == 2


def test_one_that_never_says_so_fails_and_is_left(make):
    world = make("daemon")
    result = world.start({"when": "notify", "timeout": 1})
    assert result["error_code"] == 836, result
    assert "it has not sent READY=1 to $NOTIFY_SOCKET within 1 s" in result["error_msg"]
    assert world.daemon.pids() == [world.daemon.named_pid()]


def test_its_port_takes_connections(make):
    world = make("daemon")
    port = free_port()
    world.daemon.script("version.sh", "true")
    result = world.start({"when": "port", "port": port, "timeout": 1})
    assert result["error_code"] == 836 and f"port {port} takes no connections" in result["error_msg"], result
    world.daemon.end()
    with socket.create_server(("127.0.0.1", port)):
        assert world.start({"when": "port", "port": port, "any_owner": True})["error_code"] == 0


def test_its_pid_file_or_its_health_command_says_so(make):
    world = make("daemon", "--pid-late-ms 500")
    assert world.start({"when": "pid_file"})["error_code"] == 0
    assert world.daemon.pids() == [world.daemon.named_pid()]
    world.daemon.script("health.sh", "test -s proc-test.pid && kill -0 $(cat proc-test.pid)")
    assert world.start({"when": "health"}, op=7)["error_code"] == 0


def test_one_that_dies_meanwhile_fails_at_once(make):
    world = make("daemon", "--crash-signal 11 --crash-ms 2500")
    result = world.start({"when": "notify", "timeout": 3600})
    assert result["error_code"] == 836 and "it ended before it was ready" in result["error_msg"], result
