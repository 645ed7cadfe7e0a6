# SPDX-License-Identifier: MIT
"""A client that sends much does not make others wait."""
import pytest

from fleet import Fleet
from holdfast import wait_until
from installation import Installation

QUERY, WAITING = 2, 115
MANY = 40


class Other:
    """Another app of an installation."""

    def __init__(self, home, code):
        self.home = home
        app = home.admin("POST", "/v1/apps", {"code": code})
        self.credentials = {"bk_app_code": app["code"], "bk_app_secret": app["secret"], "bk_username": "admin"}

    def ask(self, name, body):
        status, _, answer = self.home.call("POST", f"/api/c/compapi/v2/gse/{name}/", {**self.credentials, **body})
        assert status == 200 and answer["result"], answer
        return answer["data"]

    def result(self, body):
        task = self.ask("operate_proc_v2", body)["task_id"]

        def ended():
            data = self.ask("get_proc_operate_result_v2", {"task_id": task})
            return data if all(r["error_code"] != WAITING for r in data.values()) else None
        return wait_until(ended, f"task {task} ends")


@pytest.fixture
def home(holdfast, tmp_path):
    return Installation(holdfast, tmp_path)


def limit(home, **limits):
    home.server.stop(60)
    home.start(**{"HOLDFAST_SERVER_DISPATCH_" + name.upper(): str(value) for name, value in limits.items()})


def left(home, task):
    return home.v1("GET", f"/v1/tasks/{task}?items=none")["left"]


def on_one(fleet, number, proc):
    return dict(fleet.request(QUERY, proc=proc), hosts=[{"ip": fleet.ip(number), "bk_cloud_id": 0}])


def test_one_start_passes_by_the_large_task_of_another_app(home):
    """All of it is for one host, which does one thing at a time of it, and takes its time."""
    limit(home, per_agent=1)
    fleet = Fleet(home, 1, "--op-ms", "1000")
    fleet.wait_reached()
    large = home.operate({"proc_operate_req": [on_one(fleet, 0, f"large-{i:02}") for i in range(MANY)]},
                         name="operate_proc_multi")
    results = Other(home, "other").result(on_one(fleet, 0, "single"))
    assert [r["error_code"] for r in results.values()] == [0], results
    assert left(home, large) > 1
    home.v1("POST", "/v1/tasks/cancel", {"task_id": large})
    codes = {r["error_code"] for r in home.result(large).values()}
    assert codes <= {0, 826}, codes


def test_hosts_that_hang_do_not_hold_up_those_that_do_not(home):
    limit(home, total=1)
    fleet = Fleet(home, 8, "--mute", "25%")
    fleet.wait_reached()
    hung = set(fleet.kinds["mute"])
    assert len(hung) == 2
    task = home.operate(fleet.request(QUERY))

    def codes():
        return {n: r["error_code"] for n, r in fleet.by_number(home.poll(task)).items()}
    wait_until(lambda: left(home, task) <= len(hung), "all that can end have")
    assert codes() == {n: WAITING if n in hung else 0 for n in range(8)}
