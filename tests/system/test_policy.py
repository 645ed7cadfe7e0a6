# SPDX-License-Identifier: MIT
"""The host's policy stands above what a server asks for, and a new one counts at once."""
import json
import shutil

import pytest

from crowd import KINDS, Member
from holdfast import wait_until
from installation import Installation
from test_reload import Configured

DENIED = 823


@pytest.fixture(name="home")
def installation(holdfast, tmp_path):
    return Installation(holdfast, tmp_path)


def folder(tmp_path, name):
    path = tmp_path / name
    path.mkdir()
    return path


def do(home, member, op, **policy):
    result = home.do(member.request("127.0.0.1", op, **policy))
    return result["error_code"], result["error_msg"]


@pytest.mark.quick
def test_what_it_forbids_is_refused_and_nothing_runs(home, tmp_path):
    inside, outside = folder(tmp_path, "in"), folder(tmp_path, "out")
    agent = Configured(home, tmp_path)
    agent.write(policy={"paths": [str(inside)], "commands": "under_prefix"})
    agent.reload()
    good, bad, shell = Member(inside / "good"), Member(outside / "bad"), Member(inside / "shell", KINDS["shell"])
    (inside / "door").symlink_to(outside)
    assert do(home, good, 0)[0] == 0
    assert do(home, bad, 0) == (DENIED, f"policy.paths: {outside}/bad is under none of {inside} (setup_path)")
    code, text = do(home, shell, 0)
    assert code == DENIED and text.startswith("policy.commands: ") and text.endswith("(start_cmd)")
    bad.folder, through = inside / "door" / "bad", bad.folder
    code, text = do(home, bad, 3)
    assert code == DENIED and f"which is {through}" in text
    good.control["stop_cmd"] = "kill $(cat pid)"
    assert do(home, good, 1)[0] == DENIED
    good.control.clear()
    good.extra["environment"] = {"LD_PRELOAD": "/tmp/x.so"}
    assert do(home, good, 7)[0] == DENIED
    good.extra.clear()
    assert do(home, good, 2)[0] == 0 and good.pids()
    assert do(home, good, 1)[0] == 0 and not good.pids()
    bad.folder = through
    assert not bad.begun() and not shell.begun() and len(good.begun()) == 1


def test_a_new_one_counts_for_the_next_operation_and_for_what_is_hosted(home, tmp_path):
    inside = folder(tmp_path, "in")
    agent = Configured(home, tmp_path)
    m = Member(inside / "web")
    assert do(home, m, 0)[0] == 0
    agent.write(policy={"users": ["nobody"]})
    agent.reload()
    assert do(home, m, 7) == (DENIED, "policy.users: root is not an allowed user (user)")
    assert m.pids() == m.begun()  # it is let alone
    m.kill()
    event = wait_until(lambda: home.events("process_restart_failed"), "that is told of")[0]
    assert "policy.users" in json.dumps(event)
    view = wait_until(lambda: "policy" in (v := home.processes(name="web")[0]["process"])["why"] and v, "and explained")
    assert view["hosted"], view
    agent.write(policy={"users": ["nobody", "root"]})
    agent.reload()
    assert m.wait_pid(2)
    m.end()
    shutil.rmtree(m.folder, ignore_errors=True)


def test_one_that_makes_no_sense_is_refused(home, tmp_path):
    agent = Configured(home, tmp_path)
    agent.write(policy={"commands": "under_prefix"})
    agent.program.signal(1)
    refused = "the configuration is refused, and the one before stays in force"
    said = agent.program.wait_until(lambda: agent.program.logs(text=refused), refused)[0]
    assert "policy.paths: at least one is needed" in said["error"]
