# SPDX-License-Identifier: MIT
"""What a new user runs into first, from the command line to a process and back."""
import json
import os
import re

import pytest

from daemon import Daemon
from holdfast import wait_until
from installation import Installation

START, RELOAD = 0, 8
NAME = "gse/proc-test"


@pytest.fixture(name="world")
def one_world(holdfast, tmp_path):
    world = World(holdfast, tmp_path)
    yield world
    world.daemon.end()


class World:
    def __init__(self, holdfast, folder):
        self.holdfast, self.folder = holdfast, folder
        self.home = Installation(holdfast, folder)
        self.agent = self.home.add_agent()
        self.agent.wait_online()
        self.daemon = Daemon(folder / "daemon")

    def cli(self, *args, code=0):
        p = self.holdfast.run("holdfast", *args, "--socket", self.home.data / "admin.sock", env={"HOME": str(self.folder)})
        assert p.process.returncode == code, p.out + p.err
        return p.out + p.err

    def operate(self, op, **policy):
        return self.home.do(self.daemon.request(self.agent.ip, op, start_check_secs=1, stop_check_secs=1, **policy))

    def unregister(self):
        body = {"meta": {"namespace": "gse", "name": "proc-test"},
                "hosts": [{"ip": self.agent.ip, "bk_cloud_id": 0, "bk_supplier_id": 0}]}
        (result,) = self.home.esb("unregister_proc_info", body)["data"].values()
        return result["error_code"]


def test_what_never_came_up_can_be_forgotten(world):
    world.daemon.script("start.sh", "exit 3")
    assert world.operate(START)["error_code"] == 65535
    assert NAME in wait_until(lambda: world.cli("ps", "--state", "stopped", "--hosted=no"), "it is listed")
    assert world.unregister() == 0
    wait_until(lambda: not world.home.processes(), "it is gone", 60)
    assert world.unregister() == 829
    world.agent.kill()  # and does not come back with the next session, nor with the next agent
    world.agent.start()
    wait_until(lambda: world.home.online(world.agent.ip), "the agent is back", 60)
    world.daemon.script("start.sh", "echo $$ >> starts\nexec ./proc-test --life-ms 120000 --daemonize --pid-file $PWD/proc-test.pid")
    assert world.home.processes() == []
    assert world.operate(START)["error_code"] == 0


def test_a_reload_that_failed_leaves_it_as_wanted(world):
    assert world.operate(START)["error_code"] == 0
    world.daemon.script("reload.sh", "exit 1")
    assert world.operate(RELOAD)["error_code"] == 65535
    assert "reload failed" in wait_until(lambda: said_of(world, "reload failed"), "it is told", 60)
    said = world.cli("status")
    assert "not as wanted" not in said and "is as wanted" in said
    assert "1 of 1 done" in world.cli("stop", NAME)


def said_of(world, words):
    said = world.cli("why", NAME)
    return said if words in said else None


def test_one_that_is_just_being_started_can_be_stopped_by_its_name(world):
    os.mkfifo(world.daemon.folder / "go")
    world.daemon.script("start.sh", "read x < go\necho $$ >> starts\n"
                        "exec ./proc-test --life-ms 120000 --daemonize --pid-file $PWD/proc-test.pid")
    task = world.home.operate(world.daemon.request(world.agent.ip, START, start_check_secs=1, stop_check_secs=1))
    stop = world.cli("stop", NAME, "--no-wait", "--quiet").strip()
    (world.daemon.folder / "go").write_text("now\n", encoding="ascii")
    (started,) = world.home.result(task).values()
    assert started["error_code"] == 0
    assert "1 of 1 done" in world.cli("task", stop, "--wait")
    assert world.daemon.pids() == []
    lines = json.loads(world.cli("task", "list", "--failed", "--json"))["tasks"]
    assert lines == []


def test_tokens_and_what_was_done_are_listed(world):
    before = json.loads(world.cli("token", "list", "--json"))["tokens"]
    assert [t["uses_left"] for t in before] == [0]  # the agent's
    world.cli("token", "create", "--note", "rack 7")
    (made,) = [t for t in json.loads(world.cli("token", "list", "--json"))["tokens"] if t["uses_left"]]
    assert (made["note"], made["app"]) == ("rack 7", "admin")
    assert "revoked" in world.cli("token", "revoke", made["id"])
    assert "revoked" in world.cli("token", "revoke", made["id"])
    assert re.search(rf"^{made['id']}  revoked", world.cli("token", "list"), re.M)
    assert "there is none" in world.cli("token", "revoke", "0123456789ab", code=1)
    assert "must be the 12 digits" in world.cli("token", "revoke", "999", code=1)
    assert world.operate(START)["error_code"] == 0
    said = world.cli("audit")
    assert "NOT_FOUND  id=0123456789ab; token 0123456789ab: there is none" in said
    assert f"accepted   start {NAME}; 1 host: {world.agent.ip}; " in said
