# SPDX-License-Identifier: MIT
"""GSE's v1 with a real agent: registered, started by its name alone, updated while the agent is
away, unregistered; and a limit for a whole namespace."""
import copy
import json
import pathlib

import pytest

from daemon import Daemon
from holdfast import wait_until
from installation import Installation, is_alive

START, STOP, QUERY = 0, 1, 2
SEED = pathlib.Path(__file__).parents[1] / "contract/seeds/register_proc_info.json"
NOT_REGISTERED = {"error_code": 829, "error_msg": "process info not registered", "content": ""}
DONE = {"error_code": 0, "error_msg": "success", "content": ""}


class World:
    """An agent and a daemon, and what v1 says of them."""

    def __init__(self, home, daemon):
        self.home, self.daemon = home, daemon
        self.agent = home.add_agent()
        self.agent.wait_online()
        self.hosts = [{"ip": self.agent.ip, "bk_cloud_id": 0, "bk_supplier_id": 3}]
        self.meta = {"namespace": "gse", "name": "proc-test"}

    def body(self, **control):
        """The document's own example, with addresses, paths and commands of here."""
        body = copy.deepcopy(json.loads(SEED.read_text(encoding="utf-8")))
        body["hosts"] = self.hosts
        for field in ("setup_path", "pid_path", "config_path", "log_path"):
            body["spec"]["identity"][field] = body["spec"]["identity"][field].replace(
                "/data/gsetest", str(self.daemon.folder))
        body["spec"]["control"].update(control)
        body["spec"]["monitor_policy"].update(start_check_secs=1, stop_check_secs=1)
        return body

    def call(self, name, body):
        answer = self.home.esb(name, {"meta": self.meta, "hosts": self.hosts, **body})
        assert answer["result"], answer
        return answer["data"]

    def result(self, answer):
        assert list(answer) == [f"0:3:{self.agent.ip}:gse:proc-test"]
        return answer[f"0:3:{self.agent.ip}:gse:proc-test"]

    def operate(self, op):
        task = self.call("operate_proc", {"op_type": op})["task_id"]

        def ended():
            result = self.result(self.home.esb("get_proc_operate_result", {"task_id": task})["data"])
            return None if result["error_code"] == 115 else result
        return wait_until(ended, f"operation {op} has ended", 60)

    def hosted(self):
        path = self.agent.folder / ".proc"
        return json.loads(path.read_text(encoding="utf-8"))["proc"] if path.exists() else []

    def wait_hosted(self, stop_cmd):
        wait_until(lambda: [r["stopCmd"] for r in self.hosted()] == [stop_cmd], f".proc says {stop_cmd}", 60)


@pytest.fixture(name="world")
def one_world(holdfast, tmp_path):
    daemon = Daemon(tmp_path / "daemon")
    yield World(Installation(holdfast, tmp_path), daemon)
    daemon.end()


@pytest.mark.quick
def test_registered_started_updated_and_unregistered(world):
    home, agent = world.home, world.agent
    assert world.operate(START)["error_code"] == 801
    assert world.result(world.call("register_proc_info", world.body())) == DONE
    assert world.result(world.call("register_proc_info", world.body()))["error_code"] == 850
    assert world.operate(START)["error_code"] == 0
    pid = world.daemon.wait_pid()
    world.wait_hosted("./stop.sh")

    assert world.result(world.call("update_proc_info", world.body(stop_cmd="./stop.sh now"))) == DONE
    world.wait_hosted("./stop.sh now")
    agent.kill()
    wait_until(lambda: not home.online(agent.ip), "the server knows that the agent is away", 60)
    assert world.result(world.call("update_proc_info", world.body(stop_cmd="./stop.sh later"))) == DONE
    home.kill()
    home.start()  # what it owes to the agent it remembers
    agent.start()
    agent.wait_online()
    world.wait_hosted("./stop.sh later")
    assert world.daemon.pids() == [pid] and world.daemon.starts() == 1

    assert world.result(world.call("unregister_proc_info", {})) == DONE
    wait_until(lambda: world.hosted() == [], ".proc is empty", 60)
    assert is_alive(pid)
    assert world.operate(STOP)["error_code"] == 801
    assert world.result(world.call("unregister_proc_info", {})) == NOT_REGISTERED


def test_a_limit_of_a_namespace_reaches_the_agent(world):
    limits = {"cpu_pool_limit": 50.5, "mem_pool_limit": 60, "cpu_pool_weight": 0, "mem_pool_weight": 1}
    spec = {"process_group": [{"id": "gse", "resource": limits}]}
    world.agent.kill()
    answer = world.call("set_process_group_info", {"spec": spec})
    assert answer == {f"0:3:{world.agent.ip}:gse": DONE}
    world.agent.start()
    world.agent.wait_online()
    path = world.agent.folder / "procgroupinfo.json"

    def there():
        return path.exists() and json.loads(path.read_text(encoding="utf-8"))["process_group"]
    assert wait_until(there, "the agent has written it down", 60) == [{"id": "gse", "resource": limits}]
    infos = world.call("get_process_group_info", {})["process_group_infos"]
    assert [(i["id"], i["resource"], i["host"]) for i in infos] == [("gse", limits, world.hosts[0])]
