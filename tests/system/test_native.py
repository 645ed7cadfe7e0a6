# SPDX-License-Identifier: MIT
"""Holdfast's own API with real programs: tasks that are cancelled, requests that come twice."""
import base64
import json
import os
import re
import signal

import pytest

from daemon import START
from holdfast import wait_until
from one_host import OneHost

CANCELLED = 826


class World(OneHost):
    def task(self, task, query=""):
        return self.home.v1("GET", f"/v1/tasks/{task}{query}")

    def post(self, path, body, key, status=200):
        word = base64.b64encode(f"{self.home.code}:{self.home.secret}".encode()).decode()
        got, headers, answer = self.home.call("POST", path, body, {"Authorization": "Basic " + word,
                                                                   "Idempotency-Key": key})
        assert got == status, answer
        return headers, answer

    def reload(self, word):
        """A reload whose effect can be seen, as the native API has it."""
        return self.reload_by(f"./effect.sh {word}")

    def reload_by(self, command):
        request = self.daemon.request(self.agent.ip, 8)
        request["spec"]["control"]["reload_cmd"] = command
        return {"operation": "reload", "namespace": "gse", "name": request["meta"]["name"],
                "hosts": [self.agent.ip], "spec": request["spec"]}

    def effects(self):
        path = self.daemon.folder / "effects"
        return path.read_text(encoding="ascii").split() if path.exists() else []


@pytest.fixture
def world(holdfast, tmp_path):
    w = World(holdfast, tmp_path)
    w.daemon.script("effect.sh", "echo $1 >> effects")
    w.daemon.script("hold.sh", "touch held; while [ ! -e go ]; do sleep 0.05; done")
    yield w
    w.daemon.end()


def test_the_counts_of_an_answer_agree_with_its_lists(world):
    request = world.daemon.request(world.agent.ip, START, start_check_secs=1)
    body = {"operation": "start", "namespace": "gse", "name": request["meta"]["name"],
            "hosts": [world.agent.ip, "10.255.0.1", "no host at all"], "spec": request["spec"]}
    task = world.home.v1("POST", "/v1/operations", body)["task_id"]
    seen = wait_until(lambda: world.task(task) if not world.task(task)["left"] else None, "it ends")
    items = seen["items"]
    assert seen["total"] == len(items) == 3
    assert seen["left"] == sum(not i["done"] for i in items) == 0
    assert seen["failed"] == sum(i["code"] != 0 for i in items) == 2
    assert {c["code"]: c["count"] for c in seen["codes"]} == {
        code: sum(i["code"] == code for i in items) for code in {i["code"] for i in items}}
    line = next(t for t in world.home.v1("GET", "/v1/tasks")["tasks"] if t["task_id"] == task)
    assert (line["total"], line["left"], line["failed"]) == (seen["total"], seen["left"], seen["failed"])
    status, hosts = world.home.v1("GET", "/v1/status"), world.home.v1("GET", "/v1/hosts")["hosts"]
    processes = world.home.v1("GET", "/v1/processes")["processes"]
    assert (status["hosts"], status["online"]) == (len(hosts), sum(h["online"] for h in hosts))
    assert (status["processes"], status["hosted"]) == (len(processes), sum(p["process"]["hosted"] for p in processes))
    assert status["running"] == sum(p["process"]["status"] == 1 and p["online"] for p in processes)


@pytest.mark.quick
def test_what_waits_is_cancelled_and_what_runs_goes_on(world):
    assert world.home.do(world.daemon.request(world.agent.ip, 0, start_check_secs=1))["error_code"] == 0
    first = world.home.v1("POST", "/v1/operations", world.reload_by("./hold.sh"))["task_id"]
    wait_until((world.daemon.folder / "held").exists, "the first runs, until it may go on")
    second = world.home.v1("POST", "/v1/operations", world.reload("second"))["task_id"]
    p = world.cli("task", "cancel", second)
    assert p.code == 0 and f"task {second}: cancelled" in p.out and "go on" not in p.out, p.out + p.err
    ended = wait_until(lambda: world.task(second) if world.task(second)["left"] == 0 else None, "it ends")
    assert [i["code"] for i in ended["items"]] == [CANCELLED] and not ended["items"][0]["changed"]
    assert ended["codes"] == [{"code": CANCELLED, "count": 1, "name": "CANCELLED", "text": "cancelled"}]
    assert world.task(first)["left"] == 1, "it was not waited for"
    assert world.home.v1("POST", "/v1/tasks/cancel", {"task_id": first})["cancelled_ms"] > 0
    (world.daemon.folder / "go").touch()
    assert next(iter(world.home.result(first).values()))["error_code"] == 0, "it had begun"
    assert world.effects() == []
    rows = json.loads(world.cli("task", "list", "--json").out)["tasks"]
    assert [r["task_id"] for r in rows][:2] == [second, first] and rows[0]["failed"] == 1
    assert second in world.cli("task", "show", second, "--failed").out
    assert "826 CANCELLED" in world.cli("task", second).out
    assert (rows[0]["cancelled"], rows[1]["cancelled"]) == (1, 0)
    states = {line.split()[0]: line for line in world.cli("task", "list").out.splitlines()}
    assert "  cancelled  " in states[second] and "  done  " in states[first], "as it became of them"
    said = world.cli("task", first).out
    assert "cancelled 20" in said and "0 of 1 ended by that" in said
    assert f" by {world.home.code}" in said


def test_a_cancelled_task_is_not_run_by_an_agent_that_comes_later(world):
    world.agent.kill()
    wait_until(lambda: not world.home.online(world.agent.ip), "the agent is gone")
    task = world.home.v1("POST", "/v1/operations", world.reload("late"))["task_id"]
    view = world.home.v1("POST", "/v1/tasks/cancel", {"task_id": task})
    assert [i["code"] for i in view["items"]] == [CANCELLED]
    world.home.kill()
    world.home.start()
    world.agent.start()
    world.agent.wait_online()
    assert world.home.do(world.daemon.request(world.agent.ip, 2))["error_code"] in (0, 829)
    assert [i["code"] for i in world.task(task)["items"]] == [CANCELLED]
    assert world.effects() == []


def test_a_request_with_a_key_is_done_once_even_if_the_server_dies(world):
    assert world.home.do(world.daemon.request(world.agent.ip, 0, start_check_secs=1))["error_code"] == 0
    body = world.reload("once")
    headers, first = world.post("/v1/operations", body, "key-1")
    assert "Idempotent-Replayed" not in headers
    world.home.result(first["task_id"])
    world.home.kill()
    world.home.start()
    headers, again = world.post("/v1/operations", body, "key-1")
    assert again == first and headers["Idempotent-Replayed"] == "true"
    world.post("/v1/operations", world.reload("other"), "key-1", status=409)
    assert world.effects() == ["once"]
    world.agent.wait_online()
    _, other = world.post("/v1/operations", body, "key-2")
    assert other["task_id"] != first["task_id"]
    world.home.result(other["task_id"])
    assert world.effects() == ["once", "once"]


def test_a_command_says_what_it_is_for_and_stops_if_that_is_not_so(world):
    assert world.home.do(world.daemon.request(world.agent.ip, 0, start_check_secs=1))["error_code"] == 0
    wait_until(lambda: world.home.processes(name="proc-test"), "the process is known")
    p = world.cli("restart", "gse/proc-test", "--dry-run")
    assert p.code == 0 and "nothing was done" in p.out and world.agent.ip in p.out, p.out + p.err
    p = world.cli("stop", "gse/proc-test", "--expect", "2")
    assert p.code == 1 and "it is for 1 targets, and 2 were expected" in p.err, p.out + p.err
    assert world.cli("start", "gse/proc-test").code == 1, "it runs already"
    p = world.cli("start", "gse/proc-test", "--idempotent", "--expect", "1", "--json")
    item = json.loads(p.out)["items"][0]
    assert p.code == 0 and item["code"] == 0 and item["changed"] is False
    assert world.daemon.starts() == 1
    out = world.cli("why", "gse/proc-test").out
    assert "operations" in out and "start" in out


def test_status_ps_and_why_agree_as_soon_as_an_agent_is_lost(world):
    assert world.home.do(world.daemon.request(world.agent.ip, 0, start_check_secs=1))["error_code"] == 0
    wait_until(lambda: world.home.processes(name="proc-test"), "the process is known")
    world.agent.kill()
    wait_until(lambda: world.home.v1("GET", "/v1/status")["online"] == 0, "the server has noticed")
    assert world.home.v1("GET", "/v1/status")["running"] == 0
    process = world.home.processes(name="proc-test")[0]
    assert process["online"] is False and process["unknown_since_s"] > 0
    assert "unknown" in world.cli("ps", "gse/proc-test").out and "running" not in world.cli("ps", "--state", "running").out
    assert world.cli("why", "gse/proc-test").code == 1


def spec_file(world, tmp_path, start_cmd):
    spec = world.daemon.request(world.agent.ip, 0, start_check_secs=1)["spec"]
    spec["control"]["start_cmd"] = start_cmd
    path = tmp_path / "spec.json"
    path.write_text(json.dumps(spec), encoding="utf-8")
    return path


def test_a_start_of_one_that_runs_stores_a_new_spec_for_its_next_start(world, tmp_path):
    assert world.home.do(world.daemon.request(world.agent.ip, 0, start_check_secs=1))["error_code"] == 0
    pid = world.daemon.pids()
    world.daemon.script("second.sh", "touch second; exec ./start.sh")
    p = world.cli("start", "gse/proc-test", "--spec", spec_file(world, tmp_path, "./second.sh"), "--idempotent")
    assert p.code == 0 and "the new spec is stored and used at its next start" in p.out, p.out + p.err
    assert world.daemon.pids() == pid and world.daemon.starts() == 1
    previous = "it runs with its previous spec until its next start"
    wait_until(lambda: previous in world.cli("why", "gse/proc-test").out, "why says so")
    p = world.cli("start", "gse/proc-test", "--idempotent")
    assert p.code == 0 and "the new spec" not in p.out, "there is no other spec than the stored one"
    os.kill(pid[0], signal.SIGKILL)
    wait_until((world.daemon.folder / "second").exists, "it is started again, with the new spec")
    wait_until(lambda: previous not in world.cli("why", "gse/proc-test").out, "why does not say so any more")


@pytest.mark.parametrize("options", [["--idempotent"], []])
@pytest.mark.parametrize("spec", ["known", "new"])
def test_a_start_of_one_that_runs_and_is_not_hosted_hosts_it(world, tmp_path, spec, options):
    assert world.home.do(world.daemon.request(world.agent.ip, 0, start_check_secs=1))["error_code"] == 0
    assert world.cli("unhost", "gse/proc-test").code == 0
    pid = world.daemon.pids()
    given = ["--spec", spec_file(world, tmp_path, "sh ./start.sh")] if spec == "new" else []
    assert world.home.do(world.daemon.request(world.agent.ip, 0))["error_code"] == 828
    assert not world.home.processes(name="proc-test")[0]["process"]["hosted"], "BlueKing's call changes nothing"
    p = world.cli("start", "gse/proc-test", *options, *given)
    assert p.code == 0 and "it is hosted from now on" in p.out, p.out + p.err
    assert ("the new spec is stored" in p.out) == (spec == "new")
    wait_until(lambda: world.home.processes(name="proc-test")[0]["process"]["hosted"], "it is hosted")
    assert world.home.processes(name="proc-test")[0]["process"]["wanted"] == 1
    assert world.daemon.pids() == pid and world.daemon.starts() == 1
    os.kill(pid[0], signal.SIGKILL)
    wait_until(lambda: world.daemon.starts() == 2, "it is kept alive")


def test_a_stop_of_one_that_waits_for_its_next_try_succeeds(world):
    for stops in (lambda: world.cli("stop", "gse/proc-test").code == 0,
                  lambda: world.home.do(world.daemon.request(world.agent.ip, 1))["error_code"] == 829):
        world.daemon.script("start.sh", START["daemon"].format(""))
        assert world.home.do(world.daemon.request(world.agent.ip, 0, start_check_secs=1))["error_code"] == 0
        world.daemon.script("start.sh", "exit 1")
        os.kill(world.daemon.pids()[0], signal.SIGKILL)
        wait_until(lambda: world.home.processes(name="proc-test")[0]["process"]["cause"].get("failed_s"), "a try fails")
        assert stops()
        wait_until(lambda: not world.home.processes(name="proc-test")[0]["process"]["hosted"], "it is hosted no more")
        p = world.cli("status")
        assert p.code == 0, "it is stopped, as wanted: " + p.out
    assert world.cli("stop", "gse/proc-test").code == 1, "there was nothing to stop"


def test_one_that_is_stopped_as_wanted_is_no_problem_though_its_last_start_failed(world):
    assert world.home.do(world.daemon.request(world.agent.ip, 0, start_check_secs=1))["error_code"] == 0
    assert world.home.do(world.daemon.request(world.agent.ip, 1))["error_code"] == 0
    world.daemon.script("start.sh", "exit 3")
    assert world.cli("start", "gse/proc-test").code == 1
    wait_until(lambda: "start failed" in world.cli("why", "gse/proc-test").out, "the failure is known")
    p = world.cli("status")
    assert p.code == 0 and "gse/proc-test" not in p.out, p.out
    explained = world.home.v1("GET", "/v1/explain?namespace=gse&name=proc-test")
    assert not explained["processes"][0]["is_trouble"], explained


def test_what_is_wanted_during_a_start_is_that_it_runs(world):
    for op in (0, 1):
        assert world.home.do(world.daemon.request(world.agent.ip, op, start_check_secs=1))["error_code"] == 0
    world.daemon.script("start.sh", "./hold.sh\n" + START["daemon"].format(""))
    request = world.daemon.request(world.agent.ip, 0, start_check_secs=1)
    task = world.home.operate(request)
    wait_until((world.daemon.folder / "held").exists, "the start runs")

    def row():
        return [line.split() for line in world.cli("ps").out.splitlines() if "gse/proc-test" in line]
    wait_until(lambda: row() and row()[0][2:4] == ["running", "stopped"], "wanted running, and not running yet")
    why = world.cli("why", "gse/proc-test").out
    assert re.search(r"  wanted +running", why), why  # as ps says
    (world.daemon.folder / "go").touch()
    assert next(iter(world.home.result(task).values()))["error_code"] == 0
    wait_until(lambda: row()[0][2:4] == ["running", "running"], "it runs")


def test_the_api_describes_itself_to_everybody(world):
    status, headers, document = world.home.call("GET", "/openapi.json")
    assert status == 200 and headers["Content-Type"].startswith("application/json")
    assert document["openapi"] == "3.1.0"
    assert {"/v1/operations", "/v1/tasks/{id}", "/api/c/compapi/v2/gse/operate_proc_v2/"} <= set(document["paths"])
