# SPDX-License-Identifier: MIT
"""Several clients ask several agents for one thing after the other while the server is killed
at random: what was accepted is there after every start, with one entry for each target, and
ends; nothing is done twice."""
import collections
import http.client
import itertools
import random
import threading
import time

import pytest

from daemon import Daemon
from installation import Installation

CLIENTS, IPS = 3, ["127.0.0.1", "127.0.0.2", "127.0.0.3"]
FAST = {"start_check_secs": 1, "stop_check_secs": 1}
DONE = 0
NOT_BEGUN = (117, 822)  # away for ten seconds, and never told; not its turn before its deadline


def key_of(ip, word):
    return f"0:{ip}:gse:{word}"


def keys_of(word):
    return sorted(key_of(ip, word) for ip in IPS)


class Host:
    def __init__(self, home, folder, ip):
        self.daemon = Daemon(folder / ip)
        self.daemon.script("effect.sh", "echo $1 >> effects")
        self.agent, self.ip = home.add_agent(ip), ip

    def ask(self, op, word=None):
        body = self.daemon.request(self.ip, op, **FAST)
        if word:
            body["meta"]["name"] = word  # what is asked of one process would wait for each other
            body["spec"]["control"]["reload_cmd"] = f"./effect.sh {word}"
        return body

    def effects(self):
        path = self.daemon.folder / "effects"
        return collections.Counter(path.read_text(encoding="ascii").split() if path.exists() else [])


class Client:
    """Asks all hosts for something of its own, until n of that were accepted."""

    def __init__(self, home, hosts, name, n):
        self.home, self.hosts, self.name, self.n = home, hosts, name, n
        self.accepted = {}  # word: task
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        for number in itertools.count():
            if len(self.accepted) == self.n:
                return
            word = f"{self.name}{number}"
            body = {"proc_operate_req": [h.ask(8, word) for h in self.hosts]}
            try:
                self.accepted[word] = self.home.operate(body, name="operate_proc_multi")
            except (OSError, ValueError, http.client.HTTPException):
                time.sleep(0.02)  # the server is dead; it may or may not have taken the request


@pytest.fixture
def world(holdfast, tmp_path):
    home = Installation(holdfast, tmp_path)
    hosts = [Host(home, tmp_path, ip) for ip in IPS]
    task = home.operate({"proc_operate_req": [h.ask(0) for h in hosts]}, name="operate_proc_multi")
    assert all(r["error_code"] == DONE for r in home.result(task).values())
    yield home, hosts
    for h in hosts:
        h.daemon.end()


def check_known(home, clients, dice):
    """Of what was accepted before the server died."""
    known = [pair for c in clients for pair in list(c.accepted.items())]
    for word, task in dice.sample(known, min(len(known), 5)):
        assert sorted(home.poll(task)) == keys_of(word), task


def check_effects(hosts, results):
    for h in hosts:
        effects = h.effects()
        assert all(times == 1 for times in effects.values()), effects
        for word, data in results.items():
            result = data[key_of(h.ip, word)]
            assert result["error_code"] == DONE or result["error_code"] in NOT_BEGUN, (word, result)
            assert effects[word] == (result["error_code"] == DONE), (word, result)
        assert h.daemon.starts() == 1 and len(h.daemon.pids()) == 1


@pytest.mark.parametrize("n", [10, pytest.param(1500, marks=pytest.mark.long)])
def test_killed_at_random_under_load_the_server_loses_and_doubles_nothing(world, n):
    home, hosts = world
    dice, kills = random.Random(7), 0
    clients = [Client(home, hosts, f"c{i}-", n) for i in range(CLIENTS)]
    while any(c.thread.is_alive() for c in clients) or kills < 3:
        for h in hosts:
            h.agent.wait_online()  # or nothing would be on its way
        time.sleep(dice.uniform(0, 0.3))  # at random, which is the point
        home.kill()
        home.start()
        kills += 1
        check_known(home, clients, dice)
    accepted = {word: task for c in clients for word, task in c.accepted.items()}
    assert len(accepted) == CLIENTS * n
    results = {word: home.result(task, timeout=100) for word, task in accepted.items()}
    assert all(sorted(data) == keys_of(word) for word, data in results.items())
    assert sum(r["error_code"] == DONE for data in results.values() for r in data.values()) > n
    check_effects(hosts, results)
