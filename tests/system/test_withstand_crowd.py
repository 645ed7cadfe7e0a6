# SPDX-License-Identifier: MIT
"""Many processes, and an agent that is killed again and again: none dies of it, none is
started twice, and each that is killed comes back."""
import os
import random
import time

import pytest

from crowd import Crowd, Killer
from holdfast import wait_until
from installation import Installation, is_alive

START = 0
MINUTES = float(os.environ.get("HOLDFAST_SOAK_MINUTES", "10"))


def again(agent):
    """The agent is killed, and another one is in its place."""
    agent.kill()
    program = agent.program
    with open(agent.home.folder / "agents.log", "a", encoding="utf-8") as log:
        log.write(program.err)  # for people
    agent.home.holdfast.programs.remove(program)
    program.close()
    agent.start()


def check_told(home, crowd, timeout=60):
    """What the server says of each is what is so."""
    def differ():
        rows = {r["process"]["name"]: r["process"] for r in home.processes(namespace="crowd")}
        told = {m.name: (rows.get(m.name, {}).get("pid"), rows.get(m.name, {}).get("hosted")) for m in crowd.members}
        return {m.name: (told[m.name], m.lines()[-1]) for m in crowd.members
                if told[m.name] != (m.begun()[-1], True)}
    try:
        wait_until(lambda: not differ(), "the server knows them all", timeout)
    except AssertionError as e:
        raise AssertionError(f"{e}: {differ()}") from None


def kill_in_a_loop(holdfast, folder, n, seconds, seed):
    home = Installation(holdfast, folder)
    agent = home.add_agent()
    crowd = Crowd(folder / "crowd", n, life_ms=int(seconds + 600) * 1000)
    assert crowd.operate(home, agent.ip, START) == []
    for m in crowd.members:
        m.wait_pid()
    rng, rounds, end = random.Random(seed), 0, time.monotonic() + seconds
    killer = Killer(crowd, seed, at_once=3, pause_s=0.15)
    killer.start()
    try:
        while time.monotonic() < end:
            time.sleep(rng.random() * rng.choice((0.3, 1.5, 4)))  # it dies at any moment: while it adopts, restarts
            again(agent)
            rounds += 1
    finally:
        killer.end()
    agent.wait_online(60)
    crowd.wait_back()
    check_told(home, crowd)
    assert crowd.wrong() == []
    kills = sum(m.kills for m in crowd.members)
    print(f"{rounds} agents and {kills} of {n} processes killed in {seconds:.0f} s")
    assert rounds > seconds / 20 and kills > seconds


@pytest.mark.alone
def test_an_agent_killed_in_a_loop_loses_and_doubles_none_of_200(holdfast, tmp_path):
    kill_in_a_loop(holdfast, tmp_path, 200, 12, seed=1)


@pytest.mark.long
@pytest.mark.alone(timeout=MINUTES * 60 + 600)
def test_an_agent_killed_in_a_loop_for_minutes_loses_and_doubles_none_of_200(holdfast, tmp_path):
    kill_in_a_loop(holdfast, tmp_path, 200, MINUTES * 60, seed=int(time.time()))


def rss_kb(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as f:
        return next(int(line.split()[1]) for line in f if line.startswith("VmRSS"))


def keep_many(holdfast, folder, n, timeout):
    """Started, shown, 100 of them killed and back, and all adopted by another agent."""
    home = Installation(holdfast, folder)
    agent = home.add_agent()
    crowd = Crowd(folder / "crowd", n, life_ms=int(timeout * 5) * 1000)
    begun = time.monotonic()
    assert crowd.operate(home, agent.ip, START, timeout=timeout) == []
    print(f"{n} started in {time.monotonic() - begun:.1f} s, {rss_kb(agent.program.pid)} kB with sanitizers")
    check_told(home, crowd)
    before = {m.begun()[-1] for m in crowd.members}
    crowd.kill_some(random.Random(2), 100)
    crowd.wait_back(timeout)
    pids = [m.begun()[-1] for m in crowd.members]
    wait_until(lambda: not any(os.path.exists(f"/proc/{p}") for p in before.difference(pids)), "the dead are reaped", timeout)
    again(agent)
    agent.wait_online(timeout)
    check_told(home, crowd)
    assert crowd.wrong() == [] and all(is_alive(p) for p in pids)
    crowd.kill_some(random.Random(3), 100)  # adopted ones are looked after too
    crowd.wait_back(timeout)
    check_told(home, crowd)
    assert crowd.wrong() == []


@pytest.mark.alone
def test_1000_processes_are_kept_and_adopted(holdfast, tmp_path):
    keep_many(holdfast, tmp_path, 1000, timeout=120)


@pytest.mark.long
@pytest.mark.alone(timeout=1800)
def test_5000_processes_are_kept_and_adopted(holdfast, tmp_path):
    keep_many(holdfast, tmp_path, 5000, timeout=600)
