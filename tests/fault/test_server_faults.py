# SPDX-License-Identifier: MIT
"""Every n-th system call of the server fails, or kills it: it says so or goes on,
and the next start finds nothing in its way."""
import urllib.request

import pytest

from holdfast import free_port

ERRORS = ["EIO", "ENOMEM", "EMFILE"]
PARTS = 4  # so that several can run at once


def served(port):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=5) as answer:
        return answer.status == 200


class Starts:
    """Starts of a server on one port, each with a folder of its own unless told."""

    def __init__(self, holdfast, folder):
        self.holdfast, self.folder, self.port = holdfast, folder, free_port()

    def start(self, name, fault=None):
        program = self.holdfast.start("holdfast-server", "--listen", f"127.0.0.1:{self.port}", "--data-dir",
                                      self.folder / name, env={"HOLDFAST_FAULT": fault} if fault else {})
        program.wait_until(lambda: program.process.poll() is not None or served(self.port), f"{fault}: an end or an answer")
        return program

    def is_reached(self, n):
        """Whether a start makes n calls: one that the n-th kills does not come up."""
        program = self.holdfast.start("holdfast-server", "--listen", f"127.0.0.1:{self.port}", "--data-dir",
                                      self.folder / f"reach-{n}", env={"HOLDFAST_FAULT": f"any:{n}:kill"})
        program.wait_until(lambda: program.process.poll() is not None or program.logs(text="ready"), "an end")
        if program.process.poll() is None:
            program.stop()
            return False
        assert program.wait() == -9
        return True

    def calls(self):
        """How many calls a start makes."""
        low, high = 1, 2
        while self.is_reached(high):
            low, high = high, high * 2
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self.is_reached(middle) else (low, middle)
        return low


@pytest.fixture
def starts(holdfast, tmp_path):
    return Starts(holdfast, tmp_path)


@pytest.mark.parametrize("part", range(PARTS))
def test_killed_at_every_call_it_starts_again(starts, part):
    calls = starts.calls()
    assert calls >= 50  # CA, store, sockets
    for n in range(part + 1, calls + 1, PARTS):
        assert starts.start(f"killed-{n}", f"any:{n}:kill").wait() == -9, n
        again = starts.start(f"killed-{n}")
        assert again.process.poll() is None, f"killed at call {n}, then: {again.err}"
        assert again.stop() == 0


@pytest.mark.parametrize("part", range(PARTS))
def test_every_failing_call_is_survived_or_said(starts, part):
    told = 0
    for n in range(part + 1, starts.calls() + 1, PARTS):
        program = starts.start(f"failed-{n}", f"any:{n}:{ERRORS[n // PARTS % len(ERRORS)]}")
        if program.process.poll() is None:
            assert program.stop() == 0
            continue
        assert program.wait() in (1, 2)
        assert program.err.startswith("holdfast-server: "), f"call {n}: {program.err!r}"
        told += 1
    assert told >= 4  # what can not be done without


@pytest.mark.parametrize("call", ["accept", "recv", "send"])
def test_a_failing_connection_harms_no_other(holdfast, call):
    for n in range(1, 4):
        port = free_port()
        program = holdfast.start("holdfast-server", "--listen", f"127.0.0.1:{port}",
                                 env={"HOLDFAST_FAULT": f"{call}:{n}:EIO"})
        program.wait_log(text="ready")
        for _ in range(4):
            try:
                served(port)
            except OSError:
                pass  # the one that was hit
        program.wait_until(lambda: served(port), "others are served")
