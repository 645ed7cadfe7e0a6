# SPDX-License-Identifier: MIT
"""Processes by Job's APIs, from the request to the process and its line in `.proc`."""
import json
import os
import signal
import subprocess

import pytest

from crowd import KINDS, Member
from holdfast import wait_until
from installation import Installation, is_alive

START, STOP, QUERY, RESTART, KILL = 0, 1, 2, 7, 9
HOST, UNHOST = 1, 2  # manage_proc's own numbers


class Job:
    """Server and agent, asked by Job's clients in business 2."""

    def __init__(self, holdfast, folder):
        self.home = Installation(holdfast, folder)
        self.agent = self.home.add_agent(biz_id=2)

    def ask(self, system, name, body):
        return self.home.esb(name, {"bk_biz_id": 2, **body}, path="/api/c/compapi/v2/" + system + "/{}/")

    def result(self, task, system="job"):
        def ended():
            answer = self.ask(system, "get_proc_result", {"bk_gse_taskid": task})
            assert answer["result"] is True, answer
            return answer["data"]["status"] == 0 and answer["data"]["result"]
        results = wait_until(ended, f"task {task} ends", 60)
        assert len(results) == 1
        return next(iter(results.items()))

    def do(self, name, op, info, system="job"):
        """(key, result) of one operation on one process."""
        info = {**info, "ip_list": [{"ip": self.agent.ip, "bk_cloud_id": 0}]}
        answer = self.ask(system, name, {"op_type": op, "process_infos": [info]})
        assert answer["result"] is True and answer["message"] == "" and answer["permission"] is None, answer
        return self.result(answer["data"]["bk_gse_taskid"], system)

    def rows(self):
        return json.loads((self.agent.folder / ".proc").read_text(encoding="utf-8"))["proc"]


@pytest.fixture(name="job")
def jobs(holdfast, tmp_path):
    return Job(holdfast, tmp_path)


@pytest.fixture(name="member")
def members(tmp_path):
    m = Member(tmp_path / "member", KINDS["daemon"])
    yield m
    m.end()


def info_of(m, **more):
    return {"setup_path": str(m.folder) + "/", "proc_name": m.proc_name, "pid_path": str(m.pid_file), "type": 1,
            "start_cmd": m.start, "op_timeout": 20, "start_check_begin_time": 1, "start_check_end_time": 30,
            "func_id": "f1", "instance_id": "i1", **more}


@pytest.mark.quick
def test_a_process_by_job_from_start_to_end(job, member):
    name = f"{member.folder}/{member.proc_name}"
    key, result = job.do("operate_process", START, info_of(member, contact="tom"))
    assert key == f"{name}:0:{job.agent.ip}" and result["error_code"] == 0, result
    value = result["content"]["value"][0]
    assert value["isAuto"] is True and (value["funcID"], value["instanceID"]) == ("f1", "i1")
    pid = member.wait_pid()
    row = job.rows()[0]
    assert (row["contact"], row["valuekey"]) == ("tom", f"job.biz.2:{name}")
    assert (row["startCheckBeginTime"], row["startCheckEndTime"], row["opTimeOut"]) == (1, 30, 20)
    key, result = job.do("operate_process", QUERY, info_of(member), system="jobv3")
    instance = result["content"]["process"][0]["instance"][0]
    assert (instance["pid"], instance["processName"], instance["isAuto"]) == (pid, member.proc_name, True)

    # Un-hosted by its name alone, it keeps running; hosted again it belongs to another user.
    key, result = job.do("manage_proc", UNHOST, {"proc_name": member.proc_name})
    assert key == f"/{member.proc_name}:0:{job.agent.ip}" and result["error_code"] == 0, result
    assert job.rows() == [] and is_alive(pid)
    key, result = job.do("manage_process", HOST, info_of(member, proc_owner="ann", cpu_lmt=1000), system="jobv3")
    assert result["error_code"] == 0 and result["content"]["value"][0]["isAuto"] is True
    assert [(r["contact"], r["cpulmt"]) for r in job.rows()] == [("ann", 0)] and is_alive(pid)

    # What is in the file is the agent's also after it has begun anew.
    assert job.agent.program.stop() == 0
    job.agent.start()
    job.agent.wait_online()
    assert [r["contact"] for r in job.rows()] == ["ann"]
    key, result = job.do("operate_process", STOP, info_of(member))
    assert result["error_code"] == 0, result
    assert job.rows() == [] and not is_alive(pid)


@pytest.mark.parametrize("system", ["job", "jobv3"])
def test_setup_path_and_pid_path_may_be_left_out(job, member, system):
    program = f"bare-{os.getpid() % 100000}-{system[-1]}"  # the only one of that name on this machine
    os.link(member.folder / member.proc_name, member.folder / program)
    start = f"cd {member.folder} && " + member.start.replace(f"./{member.proc_name}", f"./{program}")
    member.proc_name = program
    bare = {k: v for k, v in info_of(member, start_cmd=start).items() if k not in ("setup_path", "pid_path")}
    key, result = job.do("operate_process", START, bare, system)
    assert (key, result["error_code"]) == (f"/{member.proc_name}:0:{job.agent.ip}", 0), result
    pid = member.wait_pid()
    assert [(r["setupPath"], r["pidPath"], r["valuekey"]) for r in job.rows()] == [("", "", f"job.biz.2:/{member.proc_name}")]
    key, result = job.do("operate_process", QUERY, bare, system)
    assert result["content"]["process"][0]["instance"][0]["pid"] == pid
    assert job.do("manage_proc", UNHOST, {"proc_name": member.proc_name}, system)[1]["error_code"] == 0
    assert job.rows() == [] and is_alive(pid)
    assert job.do("manage_proc", HOST, bare, system)[1]["error_code"] == 0
    assert len(job.rows()) == 1
    key, result = job.do("operate_process", STOP, bare, system)
    assert result["error_code"] == 0 and not is_alive(pid), result


@pytest.fixture(name="bare")
def without_paths(member, tmp_path):
    """A program whose name nothing else on this machine has, asked for without any path; and another of that name."""
    program = f"only-{os.getpid() % 100000}"
    start = member.start.replace(f"./{member.proc_name}", f"./{program}")
    os.link(member.folder / member.proc_name, member.folder / program)
    (tmp_path / "other").mkdir()
    os.link(member.folder / member.proc_name, tmp_path / "other" / program)
    member.proc_name = program
    others = []

    def start_another():
        others.append(subprocess.Popen([tmp_path / "other" / program], stdout=subprocess.DEVNULL))
        return others[-1].pid
    info = info_of(member, start_cmd=f"cd {member.folder} && {start}")
    yield {k: v for k, v in info.items() if k not in ("setup_path", "pid_path")}, start_another
    for p in others:
        p.kill()
        p.wait()


def test_without_paths_several_of_the_name_are_told_and_none_is_touched(job, bare):
    info, start_another = bare
    pids = [start_another(), start_another()]
    wait_until(lambda: all(os.readlink(f"/proc/{pid}/exe").endswith(info["proc_name"]) for pid in pids), "both run")
    for op in (STOP, KILL, QUERY, START, RESTART):
        result = job.do("operate_process", op, info)[1]
        assert result["error_code"] == 807 and all(str(pid) in result["error_msg"] for pid in pids), (op, result)
    assert all(map(is_alive, pids))


def test_without_paths_the_only_one_of_the_name_is_found_hosted_and_stopped(job, bare):
    info, start_another = bare
    pid = start_another()
    wait_until(lambda: os.readlink(f"/proc/{pid}/exe").endswith(info["proc_name"]), "it runs")
    assert job.do("manage_proc", HOST, info)[1]["error_code"] == 0
    result = wait_until(lambda: job.do("operate_process", QUERY, info)[1], "it is looked for")
    assert result["content"]["process"][0]["instance"][0]["pid"] == pid, result
    assert job.do("operate_process", STOP, info)[1]["error_code"] == 0
    wait_until(lambda: not is_alive(pid), "it has ended")


def test_without_paths_the_one_that_we_started_is_meant_whoever_else_has_its_name(job, member, bare):
    info, start_another = bare
    assert job.do("operate_process", START, info)[1]["error_code"] == 0
    first, other = member.wait_pid(), start_another()
    assert job.do("operate_process", QUERY, info)[1]["content"]["process"][0]["instance"][0]["pid"] == first
    os.kill(first, signal.SIGKILL)
    second = member.wait_pid(2)  # it is started again: the other one is not taken for it
    assert job.do("operate_process", QUERY, info)[1]["content"]["process"][0]["instance"][0]["pid"] == second
    assert job.do("operate_process", RESTART, info)[1]["error_code"] == 0
    third = member.wait_pid(3)
    assert job.do("operate_process", KILL, info)[1]["error_code"] == 0
    assert not is_alive(third) and is_alive(other)


def test_scripts_of_fixed_names_are_run(job, member):
    """operate_proc: what it starts goes on in the background."""
    script = member.folder / "start.sh"
    script.write_text(f"#!/bin/sh\ntest \"$1\" = {member.proc_name} && {member.start}\n", encoding="ascii")
    script.chmod(0o755)
    info = {"setup_path": str(member.folder), "proc_name": member.proc_name, "pid_path": str(member.pid_file)}
    _, result = job.do("operate_proc", START, {**info, "cmd_shell_ext": "bat"})
    assert result["error_code"] == 827, result
    key, result = job.do("operate_proc", START, info)
    assert result["error_code"] == 0 and is_alive(member.wait_pid()), result
    assert job.rows()[0]["startCmd"] == f"cd {member.folder} && ./start.sh {member.proc_name} &"


def test_others_have_no_business_here(job, member):
    answer = job.ask("job", "manage_proc", {"bk_biz_id": 77, "op_type": HOST, "process_infos": [
        {**info_of(member), "ip_list": [{"ip": job.agent.ip, "bk_cloud_id": 0}]}]})
    assert answer["result"] is False and answer["code"] == 1243049 and answer["data"] is None, answer
    assert member.begun() == []
