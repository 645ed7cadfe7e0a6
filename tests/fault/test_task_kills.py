# SPDX-License-Identifier: MIT
"""The server is killed at one system call after the other while a task is asked for, sent,
run and stored: if it was accepted it ends, and its effect happens once."""
import http.client

import pytest

from daemon import Daemon
from holdfast import wait_until
from installation import Installation

PARTS, KILLS = 4, 9  # so that several can run at once
EVERY = pytest.param(100 * 1000, marks=pytest.mark.long)
FAST = {"start_check_secs": 1, "stop_check_secs": 1}


class Kills:
    def __init__(self, holdfast, folder):
        self.home = Installation(holdfast, folder)
        self.daemon = Daemon(folder / "daemon")
        self.daemon.script("effect.sh", "echo $1 >> effects")
        self.agent = self.home.add_agent()
        assert self.home.do(self.daemon.request(self.agent.ip, 0, **FAST))["error_code"] == 0

    def start(self, fault):
        """False: it has not come up."""
        try:
            self.home.start(HOLDFAST_FAULT=fault)
        except AssertionError:
            assert self.home.server.wait() == -9, self.home.server.err
            return False
        return True

    def ask(self, word):
        """The task, or None if the server has died before it said so."""
        body = self.daemon.request(self.agent.ip, 8, **FAST)
        body["spec"]["control"]["reload_cmd"] = f"./effect.sh {word}"
        try:
            return self.home.operate(body)
        except (OSError, ValueError, http.client.HTTPException):
            return None

    def ended(self, task):
        """The result, once there is one; True if the server has died."""
        if self.home.server.process.poll() is not None:
            return True
        result = next(iter(self.home.poll(task).values()))
        return result if result["error_code"] != 115 else None

    def effects(self, word):
        path = self.daemon.folder / "effects"
        return path.read_text(encoding="ascii").split().count(word) if path.exists() else 0

    def run(self, fault, word):
        """A start and a task of it: (task or None, whether the server has died).  The agent is a
        new one: it has not found the server gone again and again, and so does not wait."""
        self.agent.kill()
        self.agent.start()
        task = self.ask(word) if self.start(fault) else None
        if task:
            wait_until(lambda: self.ended(task), "an end of the one or the other")
        died = self.home.server.process.poll() is not None
        self.home.kill()
        return task, died

    @staticmethod
    def last_call(low, high, near, is_reached):
        while high - low > near:
            middle = (low + high) // 2
            low, high = (middle, high) if is_reached(middle) else (low, middle)
        return low

    def calls(self):
        """How many calls a start makes, and how many a start and a task; about."""
        def at_start(n):
            died = not self.start(f"any:{n}:kill")
            self.home.kill()
            return died
        self.home.server.stop()
        first = self.last_call(1, 1024, 8, at_start)
        return first, self.last_call(first, first + 1024, 64, lambda n: self.run(f"any:{n}:kill", f"s{n}")[1])


@pytest.fixture
def kills(holdfast, tmp_path):
    k = Kills(holdfast, tmp_path)
    yield k
    k.daemon.end()


@pytest.mark.parametrize("most", [KILLS, EVERY])
@pytest.mark.parametrize("part", range(PARTS))
def test_killed_at_any_call_a_task_ends_once(kills, part, most):
    first, last = kills.calls()
    step = max(PARTS, (last - first) // most)
    killed = 0
    for n in range(first + part * step // PARTS, last + step, step):
        word = f"w{n}"
        task, died = kills.run(f"any:{n}:kill", word)
        killed += died
        kills.home.start()
        if task:
            result = next(iter(kills.home.result(task).values()))
            assert result["error_code"] == 0 and kills.effects(word) == 1, (n, result)
        assert kills.effects(word) <= 1, n
        kills.home.kill()
    assert killed >= KILLS // 2
    kills.home.start()
    assert kills.daemon.starts() == 1
