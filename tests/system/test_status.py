# SPDX-License-Identifier: MIT
"""What is told of agents and their processes while they are there, and when they are not."""
import os

import pytest

from daemon import Daemon
from installation import GATEWAY, Installation

CLUSTER = GATEWAY.replace("/proc/", "/cluster/")
TASK = GATEWAY.replace("/proc/", "/task/")
META = {"namespace": "gse", "name": "p"}


@pytest.fixture
def home(holdfast, tmp_path):
    return Installation(holdfast, tmp_path)


@pytest.fixture
def daemon(tmp_path):
    one = Daemon(tmp_path / "daemon")
    yield one
    one.end()


def spec_of(daemon):
    folder = str(daemon.folder)
    return {"identity": {"proc_name": "proc-test", "setup_path": folder, "pid_path": str(daemon.pid_file), "user": "root"},
            "control": {"start_cmd": "./start.sh"}}


@pytest.mark.quick
def test_an_agent_tells_of_its_host_and_is_missed_when_it_is_gone(home, daemon):
    agent = home.add_agent()
    info = home.gateway("list_agent_info", {"agent_id_list": [agent.id, "nobody"]}, path=CLUSTER)["data"]
    system = os.uname()
    assert [row["status_code"] for row in info] == [2, -2]
    assert info[0]["bk_os_type"] == system.sysname.lower() and info[0]["bk_cpu_architecture"] == system.machine
    assert info[0]["cpu_num"] == os.cpu_count() and info[0]["mem_size"] > 1 << 20 and info[0]["start_time"] > 0

    task = home.operate({"meta": META, "op_type": 3, "spec": spec_of(daemon), "agent_id_list": [agent.id]}, by="gateway")
    home.result(task, by="gateway")
    state = home.gateway("get_task_state", {"task_id": task, "agent_id_list": [agent.id]}, path=TASK)["data"]["result"]
    assert state["state"] == "successed" and state["successed_agents"] == [agent.id]

    def status():
        data = home.gateway("get_proc_status_v2", {"meta": META, "agent_id_list": [agent.id]})["data"]
        return data["proc_infos"][0]
    agent.program.wait_until(lambda: status()["report_time"] > 0, "the agent has spoken of it", 30)
    assert status()["isauto"] is True and status()["flag"] == 1

    def running():
        return home.v1("GET", "/v1/status")["running"]
    agent.program.wait_until(lambda: running() == 1, "its process is seen to run", 60)
    pid = daemon.wait_pid()

    agent.kill()
    agent.program.wait_until(lambda: not home.processes(name="p")[0]["online"], "it is missed", 60)
    assert running() == 0 and daemon.pids() == [pid]  # it runs, but its agent is offline
