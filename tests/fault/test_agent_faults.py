# SPDX-License-Identifier: MIT
"""Every n-th system call of the agent fails, or kills it, while it starts and while it
carries out an operation: what was asked for happens once, is not lost, and has an end."""
import itertools

import pytest

from crowd import KINDS, Member
from daemon import Daemon
from holdfast import wait_until
from installation import Installation

ERRORS = ["EIO", "ENOMEM", "EMFILE", "ENOSPC"]
PARTS = 4  # so that several can run at once
CALLS, STEP = 240, 24  # of an operation, looked at from each part another n-th
FAST = {"start_check_secs": 1, "stop_check_secs": 1, "op_timeout": 3}
START, STOP, QUERY = 0, 1, 2
ENDS = (0, 836, 101, 65535)  # done; seen not to be; not known; its command could not be run


class Host:
    """One agent of one server, and the daemon it looks after."""

    def __init__(self, holdfast, folder):
        self.home = Installation(holdfast, folder)
        self.agent = self.home.add_agent()
        self.daemon = Daemon(folder / "daemon")

    def again(self, fault=None):
        """The agent ends and is started again, with a fault ahead of it."""
        if self.agent.program.process.poll() is None:
            self.agent.kill()
        self.agent.start(**({"HOLDFAST_FAULT": fault} if fault else {}))

    def is_over(self):
        return self.agent.program.process.poll() is not None

    def operate(self, op):
        return self.home.operate(self.daemon.request(self.agent.ip, op, **FAST))

    def code(self, task):
        return next(iter(self.home.result(task).values()))["error_code"]

    def code_now(self, task):
        return next(iter(self.home.poll(task).values()))["error_code"]

    def do(self, op):
        return self.code(self.operate(op))

    def shown_pid(self, member):
        return next(r["process"]["pid"] for r in self.home.processes() if r["process"]["name"] == member.name)


@pytest.fixture(name="host")
def one_host(holdfast, tmp_path):
    host = Host(holdfast, tmp_path)
    yield host
    host.daemon.end()


def do_under(host, fault, op):
    """The task of an operation whose agent has this fault ahead, and whether it died of it."""
    host.again(fault)
    # On a busy host its start may take longer than an operation waits for an agent that is away.
    wait_until(lambda: host.is_over() or host.home.online(host.agent.ip), f"{fault}: an end or a session")
    task = host.operate(op)
    wait_until(lambda: host.is_over() or host.code_now(task) != 115, f"{fault}: an end or a result")
    return task, host.is_over()


def first_call_after_start(host):
    """The agent has joined before, so each start makes about as many calls."""
    def is_killed(n):
        host.again(f"any:{n}:kill")
        wait_until(lambda: host.is_over() or host.agent.program.logs(text="connected"), "an end or a session")
        return host.is_over()
    return next(n for n in itertools.count(1, 8) if not is_killed(n))


@pytest.mark.parametrize("part", range(PARTS))
def test_killed_or_failing_at_every_call_of_its_start_it_loses_nothing(host, part):
    assert host.do(START) == 0
    pid = host.daemon.wait_pid()
    calls, told = first_call_after_start(host), 0
    assert calls > 50  # journal, output, identity, TLS
    for n in range(part + 1, calls, PARTS):
        do_under(host, f"any:{n}:kill", QUERY)
        assert host.daemon.pids() == [pid], n
        if do_under(host, f"any:{n}:{ERRORS[n // PARTS % len(ERRORS)]}", QUERY)[1]:
            assert "holdfast-agent: " in host.agent.program.err, (n, host.agent.program.err)
            told += 1
        assert host.daemon.pids() == [pid], n
    assert told >= 4  # what can not be done without
    host.again()
    host.agent.wait_online()
    assert host.do(START) == 828
    assert host.daemon.pids() == [pid] and host.daemon.starts() == 1


def end_under(host, fault, op):
    """Its code, which the next agent tells if this one can not, and whether it died."""
    task, died = do_under(host, fault, op)
    if died:
        host.again()
    return host.code(task), died


@pytest.mark.parametrize("kind", ["kill", "EIO", "EMFILE"])
@pytest.mark.parametrize("part", range(PARTS))
def test_in_an_operation_it_is_done_once_and_has_an_end(host, part, kind):
    """A start, then a stop: what is said of it is what is so."""
    first, deaths = first_call_after_start(host), 0
    for n in range(first + part * STEP // PARTS, first + CALLS, STEP):
        before = host.daemon.starts()
        code, died = end_under(host, f"any:{n}:{kind}", START)
        deaths += died
        assert code in ENDS, (n, code)
        assert host.daemon.starts() - before <= 1, n
        wait_until(lambda c=code: len(host.daemon.pids()) == (c == 0), f"{n}: as many run as were said to")
        if code == 0:
            code, died = end_under(host, f"any:{n}:{kind}", STOP)
            deaths += died
            assert code in ENDS, (n, code)
            wait_until(lambda c=code: len(host.daemon.pids()) == (c != 0), f"{n}: as many run as were said to")
        host.again()
        host.agent.wait_online()  # a busy host may take longer than an operation waits for its agent
        assert host.do(STOP) in (0, 829), n
    assert (deaths > 2) == (kind == "kill")


# Calls right after a command was cloned, on the thread that did it and on the loop; the pid is in the
# journal after that.  Each is the second of its kind in an agent that starts nothing at first.
AFTER_CLONE = ["dup3:2:kill", "epoll:2:kill"]
SLOW = "sleep 1; exec ./proc-test {}"  # for a second nothing has the name of the process


def says(agent, text):
    return agent.program.logs(text=text)


@pytest.mark.parametrize("fault", AFTER_CLONE)
@pytest.mark.parametrize("kind", [*KINDS, "slow"])
def test_killed_before_the_pid_of_a_start_is_written_down_it_starts_no_second_one(holdfast, tmp_path, kind, fault):
    host = Host(holdfast, tmp_path)
    m = Member(tmp_path / "member", KINDS.get(kind, SLOW))
    try:
        host.again(fault)
        host.agent.wait_online()
        task = host.home.operate(m.request(host.agent.ip, START))
        wait_until(host.is_over, "it dies")
        host.again()
        assert host.code(task) == 0
        assert [len(m.begun()), m.doubles(), m.pids()] == [1, [], m.begun()]
        if kind != "daemon":  # the command has ended there, and its process is found by its pid file
            assert says(host.agent, "a command that an agent before us was about to begin runs")
        m.kill()
        m.wait_pid(2)  # it is supervised
        assert m.doubles() == []
    finally:
        host.agent.kill()
        m.end()


@pytest.mark.parametrize("kind", [*KINDS, "slow"])
def test_killed_before_the_pid_of_a_restart_is_written_down_it_starts_no_second_one(holdfast, tmp_path, kind):
    host = Host(holdfast, tmp_path)
    m = Member(tmp_path / "member", KINDS.get(kind, SLOW))
    try:
        assert host.home.do(m.request(host.agent.ip, START))["error_code"] == 0
        host.again(AFTER_CLONE[0])
        host.agent.wait_online()
        m.kill()
        wait_until(host.is_over, "it dies")
        host.again()
        second = m.wait_pid(2)
        assert host.home.do(m.request(host.agent.ip, QUERY))["error_code"] == 0
        wait_until(lambda: host.shown_pid(m) == second, "it is known")
        assert [len(m.begun()), m.doubles(), m.pids()] == [2, [], [second]]
        m.kill()
        m.wait_pid(3)  # it is supervised
        assert m.doubles() == []
    finally:
        host.agent.kill()
        m.end()
