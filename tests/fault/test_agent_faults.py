# SPDX-License-Identifier: MIT
"""Every n-th system call of the agent fails, or kills it, while it starts and while it
carries out an operation: what was asked for happens once, is not lost, and has an end."""
import itertools

import pytest

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


@pytest.fixture(name="host")
def one_host(holdfast, tmp_path):
    host = Host(holdfast, tmp_path)
    yield host
    host.daemon.end()


def do_under(host, fault, op):
    """The task of an operation whose agent has this fault ahead, and whether it died of it."""
    host.again(fault)
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
        assert host.do(STOP) in (0, 829), n
    assert (deaths > 2) == (kind == "kill")
