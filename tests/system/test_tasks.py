# SPDX-License-Identifier: MIT
"""What is promised of a task whatever dies meanwhile: once accepted it ends, its effect
happens once at most, and its result is the same ever after."""
import collections
import http.client
import itertools
import random
import shutil
import socket
import threading
import time

import pytest

from daemon import Daemon
from holdfast import wait_until
from installation import Agent, Installation

FAST = {"start_check_secs": 1, "stop_check_secs": 1}
OUTCOME_UNKNOWN = 101
OFFLINE = 117  # away for ten seconds, and never told to do it
QUEUE_FULL = 830  # of the process: what was accepted while the agent was away comes at once


@pytest.fixture
def home(holdfast, tmp_path):
    return Installation(holdfast, tmp_path)


@pytest.fixture
def daemon(tmp_path):
    d = Daemon(tmp_path / "daemon")
    d.script("effect.sh", "echo $1 >> effects")
    yield d
    d.end()


class Stream:
    """Operations asked for one after the other until n are accepted, each of them with an
    effect of its own."""

    def __init__(self, home, daemon, ip, n, word="a"):
        self.home, self.daemon, self.ip, self.n, self.word = home, daemon, ip, n, word
        self.accepted = {}  # number: task
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def request(self, number):
        body = self.daemon.request(self.ip, 2 if number % 4 == 0 else 8, **FAST)
        body["spec"]["control"]["reload_cmd"] = f"./effect.sh {self.word}{number}"
        body["meta"]["labels"] = {"number": str(number)}  # so that no query joins another
        return body

    def run(self):
        for number in itertools.count():
            if len(self.accepted) == self.n:
                return
            try:
                self.accepted[number] = self.home.operate(self.request(number))
            except (OSError, ValueError, http.client.HTTPException):
                time.sleep(0.05)  # the server is dead; it may or may not have taken the request

    def effects(self):
        path = self.daemon.folder / "effects"
        words = path.read_text(encoding="ascii").split() if path.exists() else []
        return collections.Counter(w for w in words if w.startswith(self.word))

    def results(self):
        return {n: next(iter(self.home.result(task, timeout=100).values())) for n, task in self.accepted.items()}

    def check(self, codes):
        """All that was accepted has ended, with these codes; the results, by number."""
        assert len(self.accepted) == self.n
        results, effects = self.results(), self.effects()
        odd = {n: r for n, r in results.items() if r["error_code"] not in codes}
        assert not odd, odd
        assert all(times == 1 for times in effects.values()), effects
        for number, result in results.items():
            if number % 4 and result["error_code"] != OUTCOME_UNKNOWN:
                assert effects[f"{self.word}{number}"] == (result["error_code"] == 0), (number, result)
        return results


def begin(home, daemon):
    """An agent with the daemon running."""
    agent = home.add_agent()
    assert home.do(daemon.request(agent.ip, 0, **FAST))["error_code"] == 0
    return agent


def test_a_server_killed_again_and_again_loses_and_doubles_nothing(home, daemon):
    agent = begin(home, daemon)
    stream, dice = Stream(home, daemon, agent.ip, 300), random.Random(1)
    while stream.thread.is_alive():
        time.sleep(dice.uniform(0.05, 0.6))  # at random, which is the point
        home.kill()
        home.start()
    results = stream.check([0, QUEUE_FULL])
    home.kill()
    home.start()
    assert stream.results() == results
    assert daemon.starts() == 1


@pytest.mark.parametrize("order", ["server first", "agent first"])
def test_both_killed_in_the_middle(home, daemon, order):
    agent = begin(home, daemon)
    stream, dice = Stream(home, daemon, agent.ip, 300), random.Random(2)
    kills = [home.kill, agent.kill]
    starts = [home.start, agent.start] if order == "server first" else [agent.start, home.start]
    while stream.thread.is_alive():
        time.sleep(dice.uniform(0.3, 0.8))
        for step in dice.sample(kills, 2) + starts:
            step()
    results = stream.check([0, QUEUE_FULL, OUTCOME_UNKNOWN])
    agent.wait_online()
    home.kill()
    home.start()
    assert stream.results() == results
    assert daemon.starts() == 1 and len(daemon.pids()) == 1


@pytest.mark.quick
def test_the_same_request_joins_its_task_even_after_a_restart(home, daemon):
    agent = home.add_agent()
    start = daemon.request(agent.ip, 0, start_check_secs=8)
    task = home.operate(start)
    assert home.operate(start) == task
    home.kill()
    home.start()
    assert home.operate(start) == task, "it has not ended"
    other = home.operate(daemon.request(agent.ip, 2))
    assert other != task
    again = home.operate(start)
    assert again not in (task, other), "something else was asked of the process since"
    assert next(iter(home.result(task).values()))["error_code"] == 0
    assert next(iter(home.result(again).values()))["error_code"] == 828
    assert daemon.starts() == 1


class Wire:
    """A link that tears and delays; for an Agent it stands in the place of its home."""

    def __init__(self, home):
        self.home, self.dice, self.pairs, self.delay_s = home, random.Random(3), [], 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.link_port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def __getattr__(self, name):
        return getattr(self.home, name)

    def accept(self):
        while True:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return
            try:
                far = socket.create_connection(("127.0.0.1", self.home.link_port))
            except OSError:
                near.close()
                continue
            self.pairs.append((near, far))
            for source, to in ((near, far), (far, near)):
                threading.Thread(target=self.carry, args=(source, to), daemon=True).start()

    def carry(self, source, to):
        try:
            while piece := source.recv(65536):
                time.sleep(self.delay_s)
                to.sendall(piece)
        except OSError:
            pass
        for s in (source, to):
            try:
                s.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def cut(self):
        while self.pairs:
            for s in self.pairs.pop():
                s.close()

    def close(self):
        self.listener.close()
        self.cut()


def test_a_link_that_tears_loses_and_doubles_nothing(home, daemon):
    wire = Wire(home)
    agent = Agent(wire, "127.0.0.1", home.token(cloud_id=0, biz_id=2)).wait_online()
    assert home.do(daemon.request(agent.ip, 0, **FAST))["error_code"] == 0
    stream = Stream(home, daemon, agent.ip, 600)
    while stream.thread.is_alive():
        wire.delay_s = wire.dice.choice([0, 0, 0.02, 0.2])
        time.sleep(wire.dice.uniform(0.05, 0.4))
        wire.cut()
    wire.delay_s = 0
    stream.check([0, QUEUE_FULL, OFFLINE])
    assert daemon.starts() == 1
    agent.program.stop()
    wire.close()


def test_a_clone_is_refused_and_told_of(home, daemon):
    agent = begin(home, daemon)
    twin = home.folder / "agent-127.0.0.2"
    twin.mkdir(mode=0o700)
    for name in ("agent.key", "agent.pem"):
        shutil.copy2(agent.folder / name, twin / name)
    clone = Agent(home, "127.0.0.2", home.token(cloud_id=0, biz_id=2))
    event = wait_until(lambda: home.events("agent_clone"), "the event is told")[0]["data"][0]
    assert agent.id in event["event"]["content"] and event["dimension"]["bk_agent_id"] == agent.id
    wait_until(lambda: "is a clone of it" in clone.program.err, "the clone is told")
    assert [r["ip"] for r in home.hosts().values()] == ["127.0.0.1"] and home.online("127.0.0.1")
    assert home.do(daemon.request(agent.ip, 2))["error_code"] == 0
    agent.program.stop()  # now the other one has the identity alone


@pytest.mark.quick
def test_a_token_for_one_lets_one_of_two_in(home):
    token = home.token(cloud_id=0, biz_id=2, uses=1)
    agents = [Agent(home, f"127.0.0.{n}", token) for n in (1, 2)]
    wait_until(lambda: sum(bool(home.online(a.ip)) for a in agents) == 1, "one of them is in")
    left_out = next(a for a in agents if not home.online(a.ip))
    wait_until(lambda: "used up" in left_out.program.err, "the other is told why")
    assert len(home.hosts()) == 1
