# SPDX-License-Identifier: MIT
"""Apps that may operate but neither start nor host: they bring no commands, user or paths of their own."""
import copy
import json
import sqlite3

import pytest

from daemon import Daemon
from holdfast import wait_until
from installation import Installation

START, STOP, QUERY, UNHOST, RESTART, RELOAD, KILL = 0, 1, 2, 4, 7, 8, 9
MANAGE_HOST, MANAGE_UNHOST = 1, 2  # Job's manage_proc has numbers of its own
NOT_REGISTERED, DENIED, JOB_DENIED = 801, 1000823, 9900403
JOB = "/api/c/compapi/v2/{}/{{}}/"


class Rights:
    """One host with one daemon, and apps with some of the rights."""

    def __init__(self, holdfast, folder):
        self.home = Installation(holdfast, folder)
        self.agent = self.home.add_agent(biz_id=2)
        self.daemon = Daemon(folder / "daemon")
        self.proof = folder / "proof"  # made by every command that an app brings along

    def app(self, *operations):
        made = self.home.admin("POST", "/v1/apps", {"code": "app-" + "-".join(operations),
                                                    "permissions": {"operations": list(operations)}})
        other = copy.copy(self.home)
        other.code, other.secret = made["code"], made["secret"]
        return other

    def request(self, op_type):
        """The daemon's identity, with commands that leave a proof."""
        body = self.daemon.request(self.agent.ip, op_type)
        body["spec"]["control"] = {c: f"/usr/bin/touch {self.proof}" for c in body["spec"]["control"]}
        return body

    def start(self):
        body = self.daemon.request(self.agent.ip, START, start_check_secs=1)
        assert self.home.do(body)["error_code"] == 0
        return self.daemon.wait_pid()

    def start_by_job(self):
        """The daemon as Job knows it; only the registered stop command gives its script this word."""
        self.daemon.script("stop.sh", f'[ "$1" = registered ] || touch {self.proof}\n'
                           "touch stopped\nkill $(cat proc-test.pid)")
        body = job_body(self, START)
        body["process_infos"][0].update(start_cmd="./start.sh", stop_cmd="./stop.sh registered", type=1,
                                        start_check_begin_time=1)
        item = ended(self.home, job_task(self.home, "job", "operate_process", body))
        assert item["code"] == 0, item
        return self.daemon.wait_pid()

    def make_scripts_leave_a_proof(self):
        """Job's operate_proc runs scripts of fixed names in the caller's folder."""
        for name in ("start.sh", "stop.sh", "restart.sh", "reload.sh", "kill.sh"):
            self.daemon.script(name, f"touch {self.proof}")


@pytest.fixture(name="rights")
def one_host(holdfast, tmp_path):
    r = Rights(holdfast, tmp_path)
    yield r
    r.daemon.end()


def v1_body(rights, op):
    body = rights.request(QUERY)
    return {"operation": op, "namespace": body["meta"]["namespace"], "name": body["meta"]["name"],
            "hosts": [rights.agent.id], "spec": body["spec"]}


def job_body(rights, op_type):
    identity = rights.request(op_type)["spec"]["identity"]
    touch = f"/usr/bin/touch {rights.proof}"
    return {"bk_biz_id": 2, "op_type": op_type, "process_infos": [{
        "setup_path": identity["setup_path"], "proc_name": identity["proc_name"], "pid_path": identity["pid_path"],
        "account": "root", "stop_cmd": touch, "reload_cmd": touch, "kill_cmd": touch, "restart_cmd": touch,
        "ip_list": [{"ip": rights.agent.ip, "bk_cloud_id": 0}]}]}


def ended(app, task):
    """The one item of a task, once it has ended; by /v1, which shows tasks of every door."""
    def look():
        item = app.v1("GET", "/v1/tasks/" + task)["items"][0]
        return item if item["done"] else None
    return wait_until(look, f"task {task} ends")


def by_v2(app, rights, op_type):
    return app.operate(rights.request(op_type))


def by_gateway(app, rights, op_type):
    body = rights.request(op_type)
    del body["hosts"]
    return app.operate({**body, "agent_id_list": [rights.agent.id]}, by="gateway")


def by_multi(app, rights, op_type):
    return app.operate({"proc_operate_req": [rights.request(op_type)]}, name="operate_proc_multi")


def by_native(app, rights, op_type):
    names = {QUERY: "query", STOP: "stop", RELOAD: "reload", KILL: "kill", RESTART: "restart", UNHOST: "unhost"}
    return app.v1("POST", "/v1/operations", v1_body(rights, names[op_type]))["task_id"]


def backend_task(app, name, body):
    """As an ESB that stands in front of the server asks it."""
    status, _, answer = app.call("POST", "/procapi/v2/proc/" + name, body, app.auth())
    assert status == 200 and answer["code"] == 0, answer
    return answer["data"]["task_id"]


def by_backend(app, rights, op_type):
    return backend_task(app, "operate", rights.request(op_type))


def by_backend_multi(app, rights, op_type):
    return backend_task(app, "multioperate", {"proc_operate_req": [rights.request(op_type)]})


def job_task(app, system, name, body):
    answer = app.esb(name, body, path=JOB.format(system))
    assert answer["result"] is True, answer
    return answer["data"]["bk_gse_taskid"]


def by_job(app, rights, op_type):
    return job_task(app, "job", "operate_process", job_body(rights, op_type))


def by_jobv3(app, rights, op_type):
    return job_task(app, "jobv3", "operate_process", job_body(rights, op_type))


def script_body(rights, op_type):
    info, = job_body(rights, op_type)["process_infos"]
    kept = ("setup_path", "proc_name", "pid_path", "account", "ip_list")
    return {"bk_biz_id": 2, "op_type": op_type, "process_infos": [{k: info[k] for k in kept}]}


def by_job_script(app, rights, op_type):
    return job_task(app, "job", "operate_proc", script_body(rights, op_type))


def by_jobv3_script(app, rights, op_type):
    return job_task(app, "jobv3", "operate_proc", script_body(rights, op_type))


GSE_DOORS = [by_v2, by_gateway, by_multi, by_native, by_backend, by_backend_multi]
JOB_DOORS = [by_job, by_jobv3, by_job_script, by_jobv3_script]
DOORS = GSE_DOORS + JOB_DOORS


@pytest.mark.parametrize("door", DOORS, ids=lambda d: d.__name__)
def test_a_query_of_an_app_that_may_only_look_runs_no_command(rights, door):
    pid, app = rights.start(), rights.app("query")
    item = ended(app, door(app, rights, QUERY))
    assert item["code"] == 0 and item["process"]["pid"] == pid, item
    assert not rights.proof.exists()


@pytest.mark.parametrize("door", DOORS, ids=lambda d: d.__name__)
def test_what_is_not_registered_can_not_be_operated_with_commands_of_ones_own(rights, door):
    app = rights.app("stop", "reload", "kill", "restart")
    rights.make_scripts_leave_a_proof()
    for op in (STOP, RELOAD, KILL, RESTART):
        item = ended(app, door(app, rights, op))
        assert item["code"] == NOT_REGISTERED, item
        assert not rights.proof.exists()


@pytest.mark.parametrize("door", GSE_DOORS, ids=lambda d: d.__name__)
def test_a_stop_runs_the_registered_command_and_not_the_callers(rights, door):
    pid, app = rights.start(), rights.app("stop")
    rights.daemon.script("stop.sh", "touch stopped\nkill $(cat proc-test.pid)")
    item = ended(app, door(app, rights, STOP))
    assert item["code"] == 0, item
    assert (rights.daemon.folder / "stopped").exists() and not rights.proof.exists()
    assert pid not in rights.daemon.pids()


@pytest.mark.parametrize("door", JOB_DOORS, ids=lambda d: d.__name__)
def test_a_stop_by_job_runs_the_registered_command_and_not_the_callers(rights, door):
    pid, app = rights.start_by_job(), rights.app("stop")
    item = ended(app, door(app, rights, STOP))
    assert item["code"] == 0, item
    assert (rights.daemon.folder / "stopped").exists() and not rights.proof.exists()
    assert pid not in rights.daemon.pids()


def hosted(rights):
    return [r["process"]["name"] for r in rights.home.processes(hosted=True)]


@pytest.mark.parametrize("name", ["manage_proc", "manage_process"])
@pytest.mark.parametrize("system", ["job", "jobv3"])
def test_manage_proc_hosts_nothing_and_runs_nothing_without_the_right(rights, system, name):
    pid, app = rights.start_by_job(), rights.app("stop", "restart", "unhost")
    before = wait_until(lambda: hosted(rights), "the daemon is hosted")
    body = job_body(rights, MANAGE_HOST)
    body["process_infos"][0]["value_key"] = "another"
    refused = app.esb(name, body, path=JOB.format(system))
    assert refused["result"] is False and refused["code"] == JOB_DENIED and refused["data"] is None, refused
    assert hosted(rights) == before
    item = ended(app, job_task(app, system, name, job_body(rights, MANAGE_UNHOST)))
    assert item["code"] == 0, item
    wait_until(lambda: not hosted(rights), "the daemon is hosted no more")
    assert rights.daemon.pids() == [pid] and not rights.proof.exists()


def update_by_esb(app, body):
    return app.esb("update_proc_info", body)


def update_by_gateway(app, body):
    return app.gateway("update_proc_info", body)


def update_by_backend(app, body):
    return app.call("PUT", "/procapi/v1/proc/procinfo", body, app.auth())[2]


@pytest.mark.parametrize("update", [update_by_esb, update_by_gateway, update_by_backend], ids=lambda d: d.__name__)
def test_update_proc_info_brings_no_commands_without_the_right(rights, update):
    pid, app = rights.start(), rights.app("stop", "restart", "unhost")
    body = rights.request(RESTART)
    spec = {**body["spec"], "resource": {"cpu": 0, "mem": 0}}
    spec["monitor_policy"] = spec.pop("alive_monitor_policy")
    refused = update(app, {"meta": body["meta"], "hosts": body["hosts"], "spec": spec})
    assert refused["code"] == DENIED and refused["data"] is None, refused
    item = ended(app, by_v2(app, rights, RESTART))
    assert item["code"] == 0, item
    assert rights.daemon.wait_pid(but=pid) and not rights.proof.exists()


def test_what_a_server_registered_is_used_before_the_agent_knows_it(rights):
    body = rights.daemon.request(rights.agent.ip, QUERY)
    body["spec"]["resource"] = {"cpu": 0, "mem": 0}
    body["spec"]["monitor_policy"] = body["spec"].pop("alive_monitor_policy")
    answer = rights.home.esb("register_proc_info", {k: body[k] for k in ("meta", "hosts", "spec")})
    assert answer["result"] is True and all(r["error_code"] == 0 for r in answer["data"].values()), answer
    app = rights.app("restart")
    item = ended(app, by_v2(app, rights, RESTART))
    assert item["code"] == 0, item
    assert rights.daemon.wait_pid() and not rights.proof.exists()


def test_the_agents_own_spec_is_used_where_the_server_has_lost_it(rights):
    pid, app = rights.start(), rights.app("reload")
    with_spec = {"namespace": "gse", "name": rights.request(QUERY)["meta"]["name"]}
    rights.home.server.stop()
    forget_specs(rights.home.data)
    rights.home.start()
    rights.agent.wait_online()
    wait_until(lambda: rights.home.processes(name=with_spec["name"]), "the agent has told of its process")
    item = ended(app, by_v2(app, rights, RELOAD))
    assert item["code"] == 0, item
    assert (rights.daemon.folder / "reloads").exists() and not rights.proof.exists()
    assert rights.daemon.pids() == [pid]


def forget_specs(data):
    """What a server that has lost its specs has: the processes that agents tell of, and nothing of how they run."""
    with sqlite3.connect(next(data.glob("*.db"))) as db:
        db.execute("DELETE FROM registry")
        db.execute("UPDATE process SET spec = ''")


def test_a_look_by_the_callers_identity_tells_nothing_of_another_users_process(rights):
    app, body = rights.app("query"), rights.request(QUERY)
    rights.daemon.pid_file.write_text(f"{rights.agent.program.pid}\n", encoding="ascii")
    body["spec"]["identity"]["user"] = "nobody"
    item = ended(app, app.operate(body))
    told = json.dumps(item)
    assert str(rights.agent.program.pid) not in told and "holdfast-agent" not in told, item
    assert not rights.proof.exists()


def test_an_app_that_may_start_brings_what_it_likes(rights):
    app = rights.app("start", "query")
    item = ended(app, app.operate(rights.request(QUERY)))
    assert item["code"] == 0, item
    assert rights.proof.exists()


def test_who_may_neither_start_nor_host_sets_no_limits_of_a_group(rights):
    """A pool that is too small makes agents kill the processes of the group."""
    resource = {"cpu_pool_limit": 0.01, "mem_pool_limit": 0.01, "cpu_pool_weight": 0, "mem_pool_weight": 0}
    body = {"meta": {"namespace": "gse"}, "hosts": [{"ip": rights.agent.ip, "bk_cloud_id": 0, "bk_supplier_id": 0}],
            "spec": {"process_group": [{"id": "gse", "resource": resource}]}}
    refused = rights.app("query", "stop", "kill").esb("set_process_group_info", body)
    assert refused["result"] is False and refused["code"] == 1000823 and "neither start nor host" in refused["message"]
    assert rights.app("start").esb("set_process_group_info", body)["result"] is True
