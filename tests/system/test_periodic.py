# SPDX-License-Identifier: MIT
"""Periodic processes: run by their schedule, and told of."""
import pytest

from holdfast import wait_until
from one_host import OneHost

PERIODIC = {"auto_type": 0, "cycle_time": 1, "start_check_secs": 1, "stop_check_secs": 1}


class World(OneHost):
    def wait_cli(self, text, *args):
        """The first answer with that text: right now it may be running."""
        def asked():
            p = self.cli(*args)
            return p if text in p.out else None
        return wait_until(asked, text, timeout=60)

    def request(self, op, **policy):
        return self.daemon.request(self.agent.ip, op, **{**PERIODIC, **policy})

    def do(self, op, code=0, **policy):
        result = self.home.do(self.request(op, **policy))
        assert result["error_code"] == code, result
        return result

    def cause(self):
        return self.home.processes(name="proc-test")[0]["process"]["cause"]

    def lines(self):
        path = self.daemon.folder / "ran"
        return path.read_text().split() if path.exists() else []


@pytest.fixture
def world(holdfast, tmp_path):
    w = World(holdfast, tmp_path)
    yield w
    w.daemon.end()


def runs_of(world, fits, what):
    """The last runs, newest first, once the newest is like that."""
    def asked():
        runs = world.cause().get("runs", [])
        return runs if runs and fits(runs[0]) else None
    return wait_until(asked, what, timeout=60)


def test_one_that_waits_for_its_next_run_is_scheduled_and_listed_as_such(world):
    world.daemon.script("start.sh", "echo x >> ran")
    world.do(3, cycle_time=3600)
    wait_until(lambda: "scheduled" in world.cli("ps").out, "it is shown as scheduled")
    for state, is_listed in (("scheduled", True), ("stopped", False), ("running", False)):
        p = world.cli("ps", "--state", state)
        assert p.code == 0 and ("gse/proc-test" in p.out) == is_listed, (state, p.out + p.err)
        listed = world.home.v1("GET", f"/v1/processes?status={state}")["processes"]
        assert (len(listed) == 1) == is_listed


@pytest.mark.quick
def test_it_runs_by_its_cycle_and_its_runs_are_told(world):
    world.daemon.script("start.sh", "echo x >> ran\necho copied 3 files")
    world.do(3)
    wait_until(lambda: len(world.lines()) >= 3, "it has run three times", timeout=60)
    runs = runs_of(world, lambda r: r.get("output") == "copied 3 files", "its last words are told")
    assert runs[0]["code"] == 0 and runs[0]["exit_code"] == 0 and runs[0]["duration_ms"] >= 0
    begun = [r["begun_s"] for r in runs]
    assert begun == sorted(begun, reverse=True)
    p = world.wait_cli(" ago succeeded; next run ", "why", "gse/proc-test")
    assert p.code == 0 and "last run " in p.out, p.out
    assert "succeeded  | copied 3 files" in p.out and "next run" in p.out
    zh = world.cli("why", "gse/proc-test", "--lang", "zh").out
    assert "最近执行" in zh and "成功  | copied 3 files" in zh
    world.wait_cli("scheduled", "ps")
    assert "as wanted." in world.cli("status").out
    # the next agent goes on
    world.agent.kill()
    world.agent.start()
    world.agent.wait_online()
    before = len(world.lines())
    wait_until(lambda: len(world.lines()) > before + 1, "it runs on", timeout=60)
    assert len(world.cause()["runs"]) > 1
    # a run that fails
    world.daemon.script("start.sh", "echo no space left\nexit 7")
    runs = runs_of(world, lambda r: r["code"] and r.get("output") == "no space left", "the failure is told")
    assert runs[0]["exit_code"] == 7 and runs[0]["code"] == 65535
    wait_until(lambda: world.home.events("process_run_failed"), "the event is there", timeout=60)
    assert not world.home.events("process_restart_failed")
    assert world.wait_cli("last run failed ", "why", "gse/proc-test").code == 1
    # it is not run any more
    world.do(4)
    wait_until(lambda: world.cause().get("next_run_s", 0) == 0, "no run is planned")


def test_one_that_is_asked_for_runs_now_and_is_scheduled_then(world):
    world.daemon.script("start.sh", "echo x >> ran")
    world.do(0, cycle_time=0, crotab_rule="0 3 1 1 *")
    assert world.lines() == ["x"]
    cause = wait_until(lambda: (c := world.cause()).get("runs") and c, "its run is told")
    assert len(cause["runs"]) == 1 and cause["next_run_s"] > cause["runs"][0]["begun_s"]
    p = world.cli("why", "gse/proc-test")
    assert p.code == 0 and " ago succeeded; next run in " in p.out, p.out
    assert " 03:00 (in " in p.out


@pytest.mark.parametrize("rule, wrong", [("61 * * * *", "minute: 61 is more than 59"),
                                         ("* * *", "has 3 fields, must have five")])
def test_a_bad_rule_refuses_the_whole_request(world, rule, wrong):
    body = world.home.esb("operate_proc_v2", world.request(3, crotab_rule=rule))
    assert body["result"] is False and not body.get("data"), body
    assert f"spec.alive_monitor_policy.crotab_rule: {wrong}" in body["message"], body
    assert not world.home.processes(name="proc-test")
