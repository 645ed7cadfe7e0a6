# SPDX-License-Identifier: MIT
"""Mixed fleets: agents that are slow, failing, flapping, away, hung or lying, among many that are not."""
import json
import os
import signal
import time

import pytest

from fleet import Fleet
from holdfast import wait_until
from installation import Installation, UnixConnection, is_alive

OFFLINE, WAITING, DEADLINE, CANCELLED, COMMAND_FAILED = 117, 115, 120, 826, 65535
QUERY, RESTART = 2, 7

# All kinds; on a machine that is slow each agent costs tens of milliseconds to join.
MIXED = ["--offline", "3", "--black-hole", "2", "--mute", "2", "--lying", "2", "--failing", "3", "--slow", "3",
         "--flapping", "3", "--reconnecting", "2", "--slow-ms", "500", "--flap-seconds", "1", "--back-ms", "100",
         "--drop-seconds", "2", "--seed", "7"]


def codes(fleet, results):
    return {number: result["error_code"] for number, result in fleet.by_number(results).items()}


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as f:
        return [int(word) for word in f.read().split()]


def metrics(home):
    connection = UnixConnection(str(home.data / "admin.sock"), 30)
    connection.request("GET", "/metrics")
    text = connection.getresponse().read().decode()
    connection.close()
    return text


def hung(fleet):
    return set(fleet.kinds["black_hole"]) | set(fleet.kinds["mute"])


def wait_away(fleet):
    """For 30 s after its start a server waits for all the hosts it knows."""
    def is_away():
        data = fleet.home.poll(fleet.home.operate(fleet.request(QUERY), by="gateway"), by="gateway")
        return all(codes(fleet, data)[n] == OFFLINE for n in fleet.kinds["offline"])
    wait_until(is_away, "the offline hosts are shown as offline", 90)


def check_first_poll(fleet, task):
    """Exactly one entry per target, and the items of offline hosts have ended."""
    first = codes(fleet, fleet.home.poll(task, by="gateway"))
    assert sorted(first) == list(range(fleet.agents))
    assert all(first[n] == OFFLINE for n in fleet.kinds["offline"]), [first[n] for n in fleet.kinds["offline"]]
    assert all(first[n] != OFFLINE for n in first if n not in fleet.kinds["offline"])


def expected(fleet, number):
    """The codes that it may end with.  An agent that loses its session again and again may be offline for too long."""
    kinds = {kind for kind, numbers in fleet.kinds.items() if number in numbers}
    if "offline" in kinds:
        return {OFFLINE}
    if "failing" in kinds:
        return {COMMAND_FAILED}
    return {0, OFFLINE} if kinds & {"lying", "reconnecting"} else {0}


def wait_others(fleet, task, but=frozenset(), timeout=60):
    """All that do not hang have ended, with what they should."""
    silent = hung(fleet) | set(but)
    def ended():
        found = codes(fleet, fleet.home.poll(task, by="gateway"))
        assert sorted(found) == list(range(fleet.agents))
        return found if {n for n, code in found.items() if code == WAITING} <= silent else None
    found = wait_until(ended, "all that answer have ended", timeout)
    wrong = {n: code for n, code in found.items() if n not in silent and code not in expected(fleet, n)}
    assert not wrong, wrong
    return found


def test_those_who_hang_lie_or_are_away_harm_nobody_else(holdfast, tmp_path):
    home = Installation(holdfast, tmp_path)
    fleet = Fleet(home, 100, *MIXED)
    fleet.wait_reached()
    fleet.wait(lambda r: r["lies"] >= 15 and r["deaths"] >= 3, "the liars and the flapping have had their say")
    task = home.operate(fleet.request(RESTART), by="gateway")
    found = wait_others(fleet, task, but=fleet.kinds["offline"])
    # A liar reports results for its neighbours in the list; the server ignores them.
    silent = hung(fleet) | set(fleet.kinds["offline"])
    assert all(found[n] in (WAITING, OFFLINE, DEADLINE) for n in silent), found
    liars = {fleet.id(n) for n in fleet.kinds["lying"]}  # they may report anything about their own hosts
    names = {(r["process"]["namespace"], r["process"]["name"]) for r in home.processes() if r["agent_id"] not in liars}
    assert names == {("sim", f"proc-{i:02}") for i in range(3)}, "a lie is believed"
    fleet.wait(lambda r: r["unstored"] == 0, "every result is stored")
    again = codes(fleet, home.poll(task, by="gateway"))  # a liar has changed its mind meanwhile; its result has not
    assert {n: c for n, c in again.items() if found[n] != WAITING} == {n: c for n, c in found.items() if c != WAITING}
    fleet.stop()


def test_the_same_seed_is_the_same_fleet_and_joins_once(holdfast, tmp_path):
    home = Installation(holdfast, tmp_path)
    fleet = Fleet(home, 12, "--offline", "25%", "--failing", "2", "--seed", "3", "--processes", "2")
    first, kinds = fleet.wait_reached(), fleet.kinds
    assert first["joined"] == 12 and first["sessions"] == 9
    fleet.stop()
    fleet.start()
    again = fleet.wait_reached()
    assert fleet.kinds == kinds and len(kinds["offline"]) == 3
    assert again["joined"] == 0 and again["sessions"] == 9
    assert again["snapshots"] == 0, "nothing has changed, so no agent is asked for its processes"
    died = fleet.ask(f"die {kinds['failing'][0]} 1 -1")
    assert died["done"] == 1
    wait_until(lambda: [r["agent_id"] for r in home.processes(name="proc-01", status=2)]
               == [fleet.id(kinds["failing"][0])], "the death is seen")
    assert fleet.ask("drop all")["done"] == 9
    fleet.wait(lambda r: r["up"] == 9 and r["sessions"] == 18, "all are back")
    assert "no such command" in fleet.ask("dance")["error"]
    workers = children(fleet.program.pid)
    assert len(workers) == 2
    os.kill(workers[0], signal.SIGKILL)  # it ends with the first of them, and says what the others have done
    assert fleet.program.wait(60) == 1
    last = json.loads(fleet.program.out)
    assert "one of its processes has ended" in fleet.program.err and last["agents"] == 6, (last, fleet.program.err)
    fleet.start()
    workers = children(fleet.program.pid)
    fleet.program.kill()
    wait_until(lambda: not any(is_alive(p) for p in workers), "its processes end with it")


def test_a_simulated_agent_answers_whatever_a_real_one_does(holdfast, tmp_path, monkeypatch):
    monkeypatch.setenv("HOLDFAST_SERVER_LINK_PING_SECONDS", "1")
    home = Installation(holdfast, tmp_path)
    fleet = Fleet(home, 6, "--slow", "2", "--slow-ms", "60000")
    fleet.wait_reached()
    slow = set(fleet.kinds["slow"])
    task = home.operate(fleet.request(RESTART), by="gateway")
    wait_until(lambda: set(codes(fleet, home.poll(task, by="gateway")).values()) == {0, WAITING}, "the quick have ended")
    fleet.wait(lambda r: r["commands"] == 6, "the slow have begun")
    home.v1("POST", "/v1/tasks/cancel", {"task_id": task})
    found = codes(fleet, home.result(task, by="gateway"))
    assert found == {n: CANCELLED if n in slow else 0 for n in range(6)}
    quick = min(set(range(6)) - slow)
    said = home.v1("GET", f"/v1/logs?namespace=sim&name=proc-00&host={fleet.id(quick)}")
    assert said["output"] == "a simulated process says this\n"
    task = home.operate({**fleet.request(QUERY, proc="proc-01"), "hosts": [{"ip": fleet.ip(quick), "bk_cloud_id": 0}]},
                        by="gateway")
    (result,) = home.result(task, by="gateway").values()
    process = json.loads(result["content"])["process"][0]["instance"][0]
    assert process["isAuto"] is True and process["pid"] > 0 and process["cmdline"] == "proc-01", result
    home.holdfast.run("holdfast", "stop", "sim/proc-02", "--host", fleet.id(quick), "--socket",
                      home.data / "admin.sock", env={"LC_ALL": "C"})
    (row,) = [r for r in home.processes(name="proc-02") if r["agent_id"] == fleet.id(quick)]
    assert row["process"]["status"] == 2 and row["process"]["hosted"] is False
    figures = ("reporting 6", "processes 18", "watched_processes 17")
    wait_until(lambda: all(f"\nholdfast_agents_{f}\n" in metrics(home) for f in figures), "pongs tell of them all", 60)


def test_what_makes_no_fleet_is_refused(holdfast, tmp_path):
    cases = [(["--offline", "some"], "offline: 'some' is no share"),
             (["--slow", "60%", "--mute", "50%"], "mute: with the shares before it more than all agents"),
             (["--ip", "here"], "ip: 'here' is not an IPv4 address"),
             (["--server", "nowhere"], "server: 'nowhere' "),
             (["--agents", "1000000"], "use more --processes, or raise ulimit -n")]
    for args, text in cases:
        p = holdfast.run("holdfast-sim", "--dir", tmp_path / "fleet", *args)
        assert p.process.returncode == 2 and text in p.err, (args, p.err)
    p = holdfast.run("holdfast-sim", "--dir", tmp_path / "fleet", "--agents", "1", "--duration", "1",
                     "--server", "127.0.0.1:1")
    assert p.process.returncode == 1 and "1 of 1 agents were never connected" in p.err, p.err
    assert "no join token: make one with 'holdfast token create'" in p.err, p.err
    precious = tmp_path / "precious"
    precious.write_text("mine", encoding="ascii")
    p = holdfast.run("holdfast-sim", "--dir", tmp_path / "fleet", "--agents", "1", "--control", precious)
    assert p.process.returncode == 1 and "a file that is not a socket is there" in p.err, p.err
    assert precious.read_text(encoding="ascii") == "mine"


@pytest.mark.long
def test_ten_thousand_targets_of_which_some_are_away_and_some_hang(holdfast, tmp_path):
    home = Installation(holdfast, tmp_path)
    fleet = Fleet(home, 10000, "--offline", "3%", "--black-hole", "1%", "--mute", "1%", "--processes", "2", procs=2)
    fleet.wait_reached(timeout=1800)
    wait_away(fleet)
    began = time.monotonic()
    task = home.operate(fleet.request(RESTART, op_timeout=10, start_check_secs=1, stop_check_secs=1), by="gateway")
    check_first_poll(fleet, task)
    wait_others(fleet, task, timeout=120)
    others_s = time.monotonic() - began
    data = home.result(task, by="gateway", timeout=300)
    found = codes(fleet, data)
    for number in range(fleet.agents):
        allowed = {DEADLINE, OFFLINE} if number in hung(fleet) else expected(fleet, number)
        assert found[number] in allowed, (number, found[number])
    print(f"others {others_s:.1f} s, all {time.monotonic() - began:.1f} s")
