# SPDX-License-Identifier: MIT
"""Another program file takes the agent's place, in the same process: the processes do not
notice, and nothing that was in work is lost."""
import json
import os
import resource
import shutil
import signal

import pytest

from crowd import KINDS, Crowd, Killer, Member
from holdfast import bin_dir, wait_until
from installation import Agent, Installation, is_alive

START, STOP = 0, 1

# Waits between the old program and the new one; a shell would reap our children meanwhile.
BETWEEN = """#!/usr/bin/python3
import os, sys, time
if "--version" not in sys.argv:
    open({between!r}, "w").close()
    while not os.path.exists({go!r}):
        time.sleep(0.01)
os.execv({real!r}, [{real!r}] + sys.argv[1:])
"""


class Replaceable(Agent):
    """An agent whose program file is its own."""

    def start(self, **env):
        self.file = self.home.folder / "bin" / "holdfast-agent"
        if not self.file.exists():
            self.file.parent.mkdir()
            shutil.copy(bin_dir() / "holdfast-agent", self.file)
        self.program = self.home.holdfast.start(
            str(self.file), "--data-dir", self.folder, "--servers", f"127.0.0.1:{self.home.link_port}",
            "--join-token-file", self.token_file, "--ip", self.ip, "--log-level", "debug", env=env)

    def replace(self, text=None):
        """Another file in its place, as a package does it; without a text, a good one."""
        new = self.file.with_name("new")
        if text is None:
            shutil.copy(bin_dir() / "holdfast-agent", new)
        else:
            new.write_text(text, encoding="utf-8")
            new.chmod(0o755)
        os.replace(new, self.file)

    def lives(self):
        return len(self.program.logs(text="ready"))

    def upgrade(self):
        before = self.lives()
        self.program.signal(signal.SIGUSR2)
        self.program.wait_until(lambda: self.lives() > before, "the new program is ready", 60)

    def refused(self):
        return self.program.logs(text="not upgraded; the agent goes on as it is")


@pytest.fixture(name="home")
def installation(holdfast, tmp_path):
    return Installation(holdfast, tmp_path)


def add_agent(home, **env):
    agent = Replaceable.__new__(Replaceable)
    agent.start = (lambda start=agent.start: start(**env))
    agent.__init__(home, "127.0.0.1", home.token(cloud_id=0, biz_id=2))
    del agent.start
    return agent.wait_online()


def gated(folder, name, then, start=KINDS["foreground"]):
    """A member and a command that waits for the file `go`."""
    m = Member(folder / name, start)
    return m, f"touch waits; while [ ! -e go ]; do sleep 0.05; done; {then}"


def wait_gate(m):
    wait_until((m.folder / "waits").exists, f"the command of {m.name} runs", 60)


def only(data):
    assert len(data) == 1, data
    return next(iter(data.values()))


def zombie(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as f:
            return f.read().rsplit(")", 1)[1].split()[0] == "Z"
    except FileNotFoundError:
        return False


def mask(pid, name):
    with open(f"/proc/{pid}/status", encoding="ascii") as f:
        return next(int(line.split()[1], 16) for line in f if line.startswith(name))


def blocks(pid, number):
    return bool(mask(pid, "SigBlk:") & 1 << (number - 1))


def test_a_local_call_that_waits_is_answered_by_the_new_program(home, tmp_path):
    agent = add_agent(home)
    m, line = gated(tmp_path, "slow", "kill $(cat pid)", KINDS["daemon"])
    try:
        assert only(home.result(home.operate(m.request(agent.ip, START))))["error_code"] == 0
        request = m.request(agent.ip, STOP, op_timeout=300, stop_check_secs=30)
        request["spec"]["control"]["stop_cmd"] = line
        spec = tmp_path / "spec.json"
        spec.write_text(json.dumps(request["spec"]), encoding="utf-8")
        call = home.holdfast.start("holdfast", "--local", "stop", "crowd/slow", "--spec", str(spec),
                                   env={"HOME": tmp_path, "HOLDFAST_LOCAL_SOCKET": agent.folder / "control.sock"})
        wait_gate(m)
        for _ in range(2):
            agent.upgrade()
            assert call.process.poll() is None, call.err
        (m.folder / "go").touch()
        assert call.wait() == 0, (call.out, call.err)
        assert "crowd/slow" in call.out and not m.pids()
    finally:
        m.end()


class Works:
    """A start and a stop whose commands wait."""

    def __init__(self, home, agent, folder):
        self.home = home
        self.starting, self.starting.start = gated(folder, "starting", "echo it went wrong; exit 3")
        self.stopping, line = gated(folder, "stopping", "kill $(cat pid)", KINDS["daemon"])
        assert only(home.result(home.operate(self.stopping.request(agent.ip, START))))["error_code"] == 0
        self.stopping.control = {"stop_cmd": line}
        self.tasks = [home.operate(self.starting.request(agent.ip, START, op_timeout=300)),
                      home.operate(self.stopping.request(agent.ip, STOP, op_timeout=300, stop_check_secs=30))]
        wait_gate(self.starting)
        wait_gate(self.stopping)

    def go(self):
        (self.starting.folder / "go").touch()
        (self.stopping.folder / "go").touch()

    def check(self):
        failed, stopped = (only(self.home.result(t, timeout=120)) for t in self.tasks)
        assert failed["error_code"] == 65535, failed
        assert "non-zero" in failed["error_msg"] and "it went wrong" in failed["error_msg"]
        assert stopped["error_code"] == 0, stopped
        assert not is_alive(self.stopping.begun()[-1])


@pytest.mark.quick
@pytest.mark.alone
def test_processes_and_operations_do_not_notice(home, tmp_path):
    agent = add_agent(home)
    crowd = Crowd(tmp_path / "crowd", 20)
    assert crowd.operate(home, agent.ip, START) == []
    works = Works(home, agent, tmp_path)
    fds = len(os.listdir(f"/proc/{agent.program.pid}/fd"))
    agent.replace()
    crowd.members[0].kill()
    agent.program.signal(signal.SIGUSR2)
    crowd.members[1].kill()
    agent.program.wait_until(lambda: agent.lives() == 2, "the new program is ready", 60)
    crowd.members[2].kill()
    works.go()
    works.check()
    crowd.wait_back()
    assert crowd.wrong() == []
    assert agent.program.process.poll() is None
    assert os.readlink(f"/proc/{agent.program.pid}/exe") == str(agent.file)  # and not one that is deleted
    said = agent.program.logs(text="upgraded: the program takes our place; the processes live on")
    assert said[0]["to"] == "holdfast-agent " + said[0]["from"]
    assert not blocks(agent.program.pid, signal.SIGHUP) and not blocks(agent.program.pid, signal.SIGUSR2)
    agent.wait_online()
    assert len(os.listdir(f"/proc/{agent.program.pid}/fd")) <= fds + 20  # none was inherited


@pytest.mark.alone
def test_what_ends_between_the_two_programs_is_not_lost(home, tmp_path):
    agent = add_agent(home)
    crowd = Crowd(tmp_path / "crowd", 6, kinds=("foreground", "daemon"))
    assert crowd.operate(home, agent.ip, START) == []
    works = Works(home, agent, tmp_path)
    between, go = tmp_path / "between", tmp_path / "go"
    agent.replace(BETWEEN.format(between=str(between), go=str(go), real=str(bin_dir() / "holdfast-agent")))
    agent.program.signal(signal.SIGUSR2)
    agent.program.wait_until(between.exists, "the agent is between two programs", 60)
    dead = [m.begun()[-1] for m in crowd.members[:4]]
    for m in crowd.members[:4]:
        m.kill()
    works.go()
    wait_until(lambda: all(zombie(p) for p in dead), "they have ended and are not reaped", 30)
    agent.program.signal(signal.SIGHUP)  # waits, too: there is no handler yet
    go.touch()
    works.check()
    crowd.wait_back()
    assert crowd.wrong() == []
    agent.program.wait_log(text="the configuration was read again, the log file opened again")
    ends = [row for row in agent.program.logs(signal=9) if row["pid"] in dead]
    assert len(ends) == 4, "how they ended is known, though no process waited for them then"
    assert not any(os.path.exists(f"/proc/{p}") for p in dead if not is_alive(p))


def test_a_stop_that_comes_between_the_two_programs_is_not_lost(home, tmp_path):
    agent = add_agent(home)
    between, go = tmp_path / "between", tmp_path / "go"
    agent.replace(BETWEEN.format(between=str(between), go=str(go), real=str(bin_dir() / "holdfast-agent")))
    agent.program.signal(signal.SIGUSR2)
    agent.program.wait_until(between.exists, "the agent is between two programs", 60)
    agent.program.signal(signal.SIGTERM)
    go.touch()
    assert agent.program.wait(60) == 0
    assert agent.lives() == 2 and agent.program.logs(text="stopped")


@pytest.mark.alone
def test_ten_in_a_row_while_processes_are_killed(home, tmp_path):
    agent = add_agent(home)
    crowd = Crowd(tmp_path / "crowd", 20)
    assert crowd.operate(home, agent.ip, START) == []
    killer = Killer(crowd, 4, at_once=2, pause_s=0.1)
    killer.start()
    try:
        for _ in range(10):
            agent.replace()
            agent.upgrade()
    finally:
        killer.end()
    crowd.wait_back()
    assert crowd.wrong() == []
    assert agent.lives() == 11 and agent.refused() == []
    assert len(agent.program.logs(text="ready", pid=agent.program.pid)) == 11


def test_children_get_what_the_agent_was_first_started_with(home, tmp_path):
    agent = add_agent(home)
    agent.upgrade()
    agent.upgrade()
    m = Member(tmp_path / "limited")
    assert only(home.result(home.operate(m.request(agent.ip, START))))["error_code"] == 0
    assert resource.prlimit(m.wait_pid(), resource.RLIMIT_NOFILE) == resource.getrlimit(resource.RLIMIT_NOFILE)
    assert mask(m.wait_pid(), "SigBlk:") == 0
    m.end()


@pytest.mark.parametrize("text, says", [
    (None, "exit code 127"),
    ("#!/bin/sh\necho cannot load; exit 5\n", "exit code 5; it said: cannot load"),
    ("#!/bin/sh\necho some-agent 9\n", "does not say 'holdfast-agent VERSION' but: some-agent 9"),
    ("#!/bin/sh\nkill -SEGV $$\n", "signal 11"),
    ("\x7fELF rubbish", "with --version"),
])
def test_a_program_that_is_none_is_refused(home, tmp_path, text, says):
    agent = add_agent(home)
    m = Member(tmp_path / "member")
    assert only(home.result(home.operate(m.request(agent.ip, START))))["error_code"] == 0
    if text:
        agent.replace(text)
    else:
        agent.file.unlink()
    agent.program.signal(signal.SIGUSR2)
    agent.program.wait_until(agent.refused, "the agent says why not")
    assert says in agent.refused()[0]["error"] and agent.refused()[0]["program"] == str(agent.file)
    assert agent.lives() == 1
    m.kill()
    m.wait_pid(2)  # it is kept alive as before
    agent.replace()
    agent.upgrade()
    m.end()


def test_one_that_hangs_is_given_up(home, tmp_path):
    agent = add_agent(home)
    agent.replace(f"#!/bin/sh\necho $$ > {tmp_path}/hangs\nexec sleep 1000\n")
    agent.program.signal(signal.SIGUSR2)
    agent.program.wait_until(agent.refused, "the agent has waited long enough", 60)
    assert "did not end within" in agent.refused()[0]["error"]
    pid = int((tmp_path / "hangs").read_text(encoding="ascii"))
    wait_until(lambda: not is_alive(pid), "it was ended")
    agent.replace()
    agent.upgrade()


def test_an_execve_that_fails_ends_nothing(home):
    agent = add_agent(home, HOLDFAST_FAULT="execve:2:EIO")  # the first one asks for the version
    limit = resource.prlimit(agent.program.pid, resource.RLIMIT_NOFILE)
    agent.program.signal(signal.SIGUSR2)
    agent.program.wait_until(agent.refused, "the agent says why not")
    assert "execve" in agent.refused()[0]["error"]
    assert resource.prlimit(agent.program.pid, resource.RLIMIT_NOFILE) == limit
    assert not blocks(agent.program.pid, signal.SIGUSR2)
    agent.upgrade()  # this one works


def test_a_configuration_that_can_not_be_read_is_found_before(holdfast, tmp_path):
    config = tmp_path / "agent.yaml"
    config.write_text("log: { level: debug }\n", encoding="utf-8")
    home = Installation(holdfast, tmp_path)
    agent = add_agent(home, HOLDFAST_AGENT_CONFIG=config)
    config.write_text("log: { level: loud }\n", encoding="utf-8")
    agent.program.signal(signal.SIGUSR2)
    said = agent.program.wait_log(text="not upgraded: the configuration could not be read again")
    assert "log.level" in said["error"]
    assert agent.lives() == 1
