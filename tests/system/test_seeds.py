# SPDX-License-Identifier: MIT
"""The five documents that all began with: their example requests byte for byte, their example
answers, and what they ask for really happens, on a host that is as theirs.

The fixtures are tests/contract/seeds/NAME.json and NAME.answer.json:

    register_proc_info, operate_proc_v2               10.0.0.1 in cloud area 1, by GSE's path of ESB
    manage_proc_scope, manage_proc_biz, operate_process    10.0.0.1 in cloud area 0, by jobv3 and job
"""
import json
import os
import pathlib
import shutil
import subprocess

import pytest

import own_root
from crowd import program_pids, victim
from daemon import Daemon
from holdfast import wait_until
from installation import Agent, Installation, is_alive

SEEDS = pathlib.Path(__file__).resolve().parents[1] / "contract/seeds"
HOST, STOP = 3, 1
MEMBERS = ("procName", "setupPath", "pidPath", "contact", "startCmd", "stopCmd", "restartCmd", "reloadCmd", "killCmd",
           "type", "cpulmt", "memlmt", "user", "valuekey", "startCheckBeginTime", "startCheckEndTime", "opTimeOut")

pytestmark = pytest.mark.skipif(os.getuid() != 0, reason="only root can mount, and change its root")


class Documents:
    """The server, and the documents' host as an agent."""

    def __init__(self, holdfast, folder, cloud_id, biz_id):
        self.home = Installation(holdfast, folder)
        self.agent = Agent(self.home, "10.0.0.1", self.home.token(cloud_id=cloud_id, biz_id=biz_id))
        self.agent.wait_online()
        assert self.agent.row["cloud_id"] == cloud_id

    def post(self, path, body):
        """The body as it stands; whose it is says the header, which counts alone."""
        auth = {"bk_app_code": self.home.code, "bk_app_secret": self.home.secret, "bk_username": "admin"}
        status, headers, answer = self.home.call("POST", path, body, {"X-Bkapi-Authorization": json.dumps(auth)})
        assert status == 200 and headers["Content-Type"] == "application/json; charset=utf-8", answer
        return answer

    def send(self, name, path):
        """The fixture's request; its answer must be as the document's."""
        answer = self.post(path, (SEEDS / f"{name}.json").read_bytes())
        expected = json.loads((SEEDS / f"{name}.answer.json").read_text(encoding="utf-8"))
        check_same(expected, answer, name)
        return answer["data"]

    def rows(self):
        path = self.agent.folder / ".proc"
        return json.loads(path.read_text(encoding="utf-8"))["proc"] if path.exists() else []


def check_same(expected, got, where):
    """All that the document has, of the same type; texts and numbers the same, but for the ids of tasks."""
    assert type(expected) is type(got), (where, got)
    if isinstance(expected, dict):
        assert set(expected) <= set(got), (where, got)
        if where.endswith(".data"):
            assert set(expected) == set(got), (where, got)
        for key, value in expected.items():
            check_same(value, got[key], f"{where}.{key}")
    elif isinstance(expected, str) and expected.startswith("GSETASK:"):
        assert got.startswith("GSETASK:") and len(got) < 64 and got.isascii(), (where, got)
    else:
        assert expected == got, (where, got)


def gse_result(docs, name, task, key):
    def ended():
        data = docs.post(f"/api/c/compapi/v2/gse/{name}/", {"task_id": task})["data"]
        assert list(data) == [key], data
        return data[key]["error_code"] != 115 and data[key]
    return wait_until(ended, f"{task} ends", 90)


def job_result(docs, task, key, system):
    def ended():
        answer = docs.post(f"/api/c/compapi/v2/{system}/get_proc_result/", {"bk_biz_id": 1, "bk_gse_taskid": task})
        assert answer["result"] is True and list(answer["data"]["result"]) == [key], answer
        return answer["data"]["status"] == 0 and answer["data"]["result"][key]
    return wait_until(ended, f"{task} ends", 90)


def spec_of(name):
    return json.loads((SEEDS / f"{name}.json").read_text(encoding="utf-8"))["spec"]


def check_gse_row(row, spec, policy):
    identity, control = spec["identity"], spec["control"]
    expected = dict(zip(MEMBERS, (
        identity["proc_name"], identity["setup_path"], identity["pid_path"], "gse", control["start_cmd"],
        control["stop_cmd"], control["restart_cmd"], control["reload_cmd"], control["kill_cmd"], policy["auto_type"],
        spec.get("resource", {}).get("cpu", 0), spec.get("resource", {}).get("mem", 0), identity["user"],
        "gse:proc-test", policy["start_check_secs"], policy["stop_check_secs"], 60)))
    assert {k: row[k] for k in MEMBERS} == expected


@pytest.mark.alone
def test_the_documents_of_gse_register_and_start_their_process(holdfast, tmp_path):
    own_root.enter(tmp_path / "root", "/data")
    daemon = Daemon("/data/gsetest")
    docs = Documents(holdfast, tmp_path, cloud_id=1, biz_id=2)
    v1 = {"meta": {"namespace": "gse", "name": "proc-test"},
          "hosts": [{"ip": "10.0.0.1", "bk_cloud_id": 1, "bk_supplier_id": 2}]}

    # Document 000; it is kept by what was registered from the moment it is hosted.
    docs.send("register_proc_info", "/api/c/compapi/v2/gse/register_proc_info/")
    assert daemon.starts() == 0 and docs.rows() == []
    task = docs.post("/api/c/compapi/v2/gse/operate_proc/", {**v1, "op_type": HOST})["data"]["task_id"]
    assert gse_result(docs, "get_proc_operate_result", task, "1:2:10.0.0.1:gse:proc-test")["error_code"] == 0
    first = daemon.wait_pid()
    spec = spec_of("register_proc_info")
    check_gse_row(docs.rows()[0], spec, spec["monitor_policy"])
    task = docs.post("/api/c/compapi/v2/gse/operate_proc/", {**v1, "op_type": STOP})["data"]["task_id"]
    assert gse_result(docs, "get_proc_operate_result", task, "1:2:10.0.0.1:gse:proc-test")["error_code"] == 0
    assert docs.rows() == [] and not is_alive(first)

    # Document 001 brings its own spec, and starts it.
    task = docs.send("operate_proc_v2", "/api/c/compapi/v2/gse/operate_proc_v2/")["task_id"]
    result = gse_result(docs, "get_proc_operate_result_v2", task, "1:10.0.0.1:gse:proc-test")
    assert result["error_code"] == 0 and result["error_msg"] == "success", result
    value = json.loads(result["content"])["value"]
    assert [(v["procName"], v["setupPath"], v["result"], v["isAuto"]) for v in value] == [
        ("proc-test", "/data/gsetest/", "success", True)]
    second = daemon.wait_pid(but=first)
    spec = spec_of("operate_proc_v2")
    check_gse_row(docs.rows()[0], spec, spec["alive_monitor_policy"])
    assert daemon.pids() == [second]
    daemon.end()


def check_nginx(docs, task, system):
    """Hosted as the document says; for one that runs once the agent looks for no process."""
    result = job_result(docs, task, "key_test:0:10.0.0.1", system)
    assert result["error_code"] == 0 and result["content"]["value"][0]["isAuto"] is True, result
    expected = dict(zip(MEMBERS, (
        "nginx", "/data/home/nginx/bin/", "/data/var/run/nginx/", "root", "echo start", "echo stop", "echo restart",
        "echo reload", "echo kill", 2, 20, 30, "root", "job.biz.1:key_test", 5, 5, 5)))
    assert [{k: row[k] for k in MEMBERS} for row in docs.rows()] == [expected]


@pytest.mark.alone
def test_the_documents_of_job_host_and_stop_their_processes(holdfast, tmp_path):
    own_root.enter(tmp_path / "root", "/data", "/usr/local")
    for folder in ("/data/home/nginx/bin", "/data/var/run/nginx", "/usr/local/xxx"):
        pathlib.Path(folder).mkdir(parents=True)
    docs = Documents(holdfast, tmp_path, cloud_id=0, biz_id=1)
    unhost = {"bk_biz_id": 1, "op_type": 2, "process_infos": [
        {"proc_name": "nginx", "value_key": "key_test", "ip_list": [{"bk_cloud_id": 0, "ip": "10.0.0.1"}]}]}

    # Documents 002 and 003: the same process, its scope said in two ways, by two names.
    for name, system, api in (("manage_proc_scope", "jobv3", "manage_proc"), ("manage_proc_biz", "job", "manage_process")):
        task = docs.send(name, f"/api/c/compapi/v2/{system}/{api}/")["bk_gse_taskid"]
        check_nginx(docs, task, system)
        task = docs.post(f"/api/c/compapi/v2/{system}/manage_proc/", unhost)["data"]["bk_gse_taskid"]
        assert job_result(docs, task, "key_test:0:10.0.0.1", system)["error_code"] == 0
        assert docs.rows() == []

    # Document 004 stops what runs there, without a command or a pid file to do it by.
    program = pathlib.Path("/usr/local/xxx/gseagent")
    shutil.copy(victim(), program)
    with subprocess.Popen([str(program), "--life-ms", "120000"], start_new_session=True) as running:
        wait_until(lambda: running.pid in program_pids(program), "the process of the document runs")
        task = docs.send("operate_process", "/api/c/compapi/v2/job/operate_process/")["bk_gse_taskid"]
        result = job_result(docs, task, "/usr/local/xxx/gseagent:0:10.0.0.1", "job")
        was_alive = is_alive(running.pid)
        running.kill()
    assert result["error_code"] == 0 and result["content"]["value"][0]["isAuto"] is False, result
    assert not was_alive
