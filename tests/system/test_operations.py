# SPDX-License-Identifier: MIT
"""One operation from the request to the process and back, with the programs as they are."""
import json
import os
import signal
import sqlite3

import pytest

from daemon import Daemon
from holdfast import wait_until
from installation import Installation, is_alive

FAST = {"start_check_secs": 1, "stop_check_secs": 1}


@pytest.fixture
def home(holdfast, tmp_path):
    return Installation(holdfast, tmp_path)


@pytest.fixture
def daemon(tmp_path, request):
    made = []

    def make(kind="daemon", name="daemon", options=""):
        made.append(Daemon(tmp_path / name, kind, options))
        return made[-1]
    yield make
    for d in made:
        d.end()


def value_of(result):
    """The one element of `content` of every operation but a query."""
    value = json.loads(result["content"])["value"]
    assert len(value) == 1
    return value[0]


def instance_of(result):
    content = json.loads(result["content"])
    assert len(content["process"]) == 1 and len(content["process"][0]["instance"]) == 1
    return content["process"][0]["instance"][0]


class Client:
    """A client of one kind: by ESB with hosts, or by the gateway with agent ids."""

    def __init__(self, home, agent, daemon, by):
        self.home, self.agent, self.daemon, self.by = home, agent, daemon, by

    def request(self, op, **policy):
        body = self.daemon.request(self.agent.ip, op, **{**FAST, **policy})
        if self.by == "gateway":
            del body["hosts"]
            body["agent_id_list"] = [self.agent.id]
        return body

    def do(self, op, code=0, **policy):
        data = self.home.result(self.home.operate(self.request(op, **policy), self.by), self.by)
        where = "0:" + self.agent.ip if self.by == "esb" else self.agent.id
        assert list(data) == [where + ":gse:proc-test"]
        result = data[where + ":gse:proc-test"]
        assert result["error_code"] == code, result
        assert isinstance(result["content"], str) and isinstance(result["error_msg"], str)
        return result

    def query(self):
        return instance_of(self.do(2))


@pytest.mark.quick
@pytest.mark.parametrize("by", ["esb", "gateway"])
@pytest.mark.parametrize("kind", ["foreground", "daemon"])
def test_all_operations(home, daemon, kind, by):
    d = daemon(kind)
    client = Client(home, home.add_agent(), d, by)
    before = client.query()
    assert before["pid"] == -1 and before["isAuto"] is False and before["processName"] == "proc-test"

    started = client.do(0)
    assert started["error_msg"] == "success"
    assert value_of(started)["isAuto"] is True and value_of(started)["result"] == "success"
    first = d.wait_pid()
    running = client.query()
    assert running["pid"] == first and running["isAuto"] is True
    assert running["threadCount"] == 1 and isinstance(running["utime"], str) and running["cmdline"]

    again = client.do(0, 828)
    assert d.pids() == [first] and d.starts() == 1 and value_of(again)["isAuto"] is True

    client.do(8)
    assert (d.folder / "reloads").read_text() == "reloaded\n"
    assert d.pids() == [first]

    client.do(4)
    assert client.query()["isAuto"] is False
    client.do(3)
    assert client.query()["isAuto"] is True and d.pids() == [first]

    client.do(7)
    second = d.wait_pid(but=first)
    assert d.pids() == [second] and client.query()["pid"] == second

    stopped = client.do(1)
    assert d.pids() == [] and value_of(stopped)["isAuto"] is False
    after = client.query()
    assert after["pid"] == -1 and after["isAuto"] is False
    not_running = client.do(1, 829)
    assert value_of(not_running)["result"] == not_running["error_msg"]

    client.do(3)  # hosting a stopped one pulls it up
    third = d.wait_pid()
    wait_until(lambda: client.query()["pid"] == third, "it is known by its new pid")
    killed = client.do(9)
    assert d.pids() == [] and value_of(killed)["isAuto"] is False
    assert d.starts() == 3
    client.do(5, 832)


def test_the_request_of_the_document_as_it_stands(home, daemon):
    """Nothing changed but address and paths: five seconds of check, and its own scripts."""
    d = daemon()
    agent = home.add_agent()
    task = home.operate(d.request(agent.ip, 0))
    assert task.startswith("GSETASK:")
    first_poll = home.poll(task)
    assert list(first_poll) == ["0:127.0.0.1:gse:proc-test"]
    assert first_poll["0:127.0.0.1:gse:proc-test"]["error_code"] == 115
    assert first_poll["0:127.0.0.1:gse:proc-test"]["content"] == ""
    assert home.result(task)["0:127.0.0.1:gse:proc-test"]["error_code"] == 0
    pid = d.wait_pid()
    shown = home.processes(namespace="gse", name="proc-test")
    assert shown[0]["process"]["pid"] == pid and shown[0]["process"]["hosted"] is True
    assert home.do(d.request(agent.ip, 9))["error_code"] == 0
    assert not is_alive(pid)


@pytest.mark.quick
def test_a_hosted_process_that_is_killed_comes_back(home, daemon):
    d = daemon()
    client = Client(home, home.add_agent(), d, "esb")
    client.do(0)
    first = d.wait_pid()
    os.kill(first, signal.SIGKILL)
    second = d.wait_pid(but=first)
    wait_until(lambda: home.events("process_restart_success"), "the event is told")
    event = home.events("process_restart_success")[0]
    assert event["data_id"] == 1100008 and event["data"][0]["target"] == "127.0.0.1|0"
    assert event["data"][0]["dimension"]["process_index"] == "gse:proc-test"
    assert client.query()["pid"] == second and d.starts() == 2
    client.do(1)
    assert d.pids() == []


@pytest.mark.quick
def test_an_agent_that_is_killed_loses_and_doubles_nothing(home, daemon):
    daemons = [daemon(kind, f"{kind}-{i}") for i in range(3) for kind in ("foreground", "daemon")]
    agent = home.add_agent()
    clients = [Client(home, agent, d, "esb") for d in daemons]
    for n, c in enumerate(clients):
        c.daemon_name = f"proc-{n}"
        c.request = lambda op, c=c, n=n, **policy: {
            **c.daemon.request(agent.ip, op, **{**FAST, **policy}),
            "meta": {"namespace": "gse", "name": f"proc-{n}"}}
    tasks = [home.operate(c.request(0)) for c in clients]
    for task in tasks:
        assert next(iter(home.result(task).values()))["error_code"] == 0
    pids = [d.wait_pid() for d in daemons]
    agent.kill()
    os.kill(pids[0], signal.SIGKILL)  # dies while no agent runs
    wait_until(lambda: not is_alive(pids[0]), "it is gone")
    agent.start()
    agent.wait_online()
    new = daemons[0].wait_pid(but=pids[0])
    assert new != pids[0]
    for d, pid in list(zip(daemons, pids))[1:]:
        assert d.pids() == [pid] and d.starts() == 1
    rows = {r["process"]["name"]: r["process"] for r in home.processes(namespace="gse")}
    for n, pid in list(enumerate(pids))[1:]:
        assert rows[f"proc-{n}"]["pid"] == pid and rows[f"proc-{n}"]["hosted"]
    os.kill(pids[1], signal.SIGKILL)  # adopted, and noticed all the same
    assert daemons[1].wait_pid(but=pids[1])


def test_an_agent_killed_during_an_operation_ends_it_all_the_same(home, daemon):
    d = daemon()
    agent = home.add_agent()
    task = home.operate(d.request(agent.ip, 0, start_check_secs=3))
    d.wait_pid()
    agent.kill()
    agent.start()
    result = next(iter(home.result(task).values()))
    assert result["error_code"] == 0 and d.starts() == 1 and len(d.pids()) == 1


def test_a_server_killed_in_the_middle_ends_its_tasks(home, daemon):
    d = daemon()
    agent = home.add_agent()
    task = home.operate(d.request(agent.ip, 0, start_check_secs=3))
    d.wait_pid()
    home.kill()
    home.start()
    assert next(iter(home.poll(task).values()))["error_code"] in (0, 115)
    assert next(iter(home.result(task).values()))["error_code"] == 0
    assert d.starts() == 1 and len(d.pids()) == 1


def test_supervision_needs_no_server(home, daemon):
    d = daemon()
    client = Client(home, home.add_agent(), d, "esb")
    client.do(0)
    first = d.wait_pid()
    home.kill()
    os.kill(first, signal.SIGKILL)
    second = d.wait_pid(but=first)
    home.start()
    client.agent.wait_online()
    wait_until(lambda: client.query()["pid"] == second, "the server knows")


@pytest.mark.quick
def test_batches_have_one_task_and_every_key(home, daemon):
    d = daemon()
    agent = home.add_agent()
    elements = []
    for n in range(50):
        element = d.request(agent.ip, 2)
        element["meta"] = {"namespace": "gse", "name": f"proc-{n}", "labels": {"bk_process_id": n}}
        elements.append(element)
    elements.append({**d.request("10.9.9.9", 2)})
    task = home.operate({"proc_operate_req": elements}, name="operate_proc_multi")
    data = home.result(task)
    keys = [f"0:127.0.0.1:gse:proc-{n}" for n in range(50)] + ["0:10.9.9.9:gse:proc-test"]
    assert sorted(data) == sorted(keys)
    assert data["0:10.9.9.9:gse:proc-test"]["error_code"] == 117
    assert all(data[k]["error_code"] == 0 for k in keys[:-1])


def test_an_offline_agent_is_117_in_the_first_poll(home, daemon):
    d = daemon()
    agent = home.add_agent()
    agent.program.stop()
    wait_until(lambda: not home.hosts()["127.0.0.1"]["online"], "the server knows that it is gone")
    def first_poll():
        task = home.operate(d.request(agent.ip, 2))
        return next(iter(home.poll(task).values()))["error_code"] == 117
    wait_until(first_poll, "a poll that says offline", timeout=60)


def test_a_command_that_fails_says_what_it_said(home, daemon):
    d = daemon()
    d.script("start.sh", "echo this can not work; echo 原因 >&2; exit 3")
    client = Client(home, home.add_agent(), d, "gateway")
    result = client.do(0, 65535)
    assert result["error_msg"].startswith("Script exit code non-zero. Error msessage: [")
    assert "this can not work" in result["error_msg"] and "原因" in result["error_msg"]
    assert value_of(result)["isAuto"] is False and value_of(result)["result"] == result["error_msg"]


def test_a_start_that_dies_is_836(home, daemon):
    d = daemon()
    d.script("start.sh", "exit 0")
    client = Client(home, home.add_agent(), d, "esb")
    result = client.do(0, 836)
    assert result["error_msg"].startswith("start process (proc-test) failed, for post-check status not alive")


BAD = [
    (lambda b: b["meta"].pop("namespace"), "meta.namespace: required"),
    (lambda b: b.pop("op_type"), "op_type: required"),
    (lambda b: b.pop("hosts"), "hosts"),
    (lambda b: b["hosts"].clear(), "hosts"),
    (lambda b: b["hosts"][0].pop("ip"), "hosts[0].ip: required"),
    (lambda b: b["spec"]["identity"].update(setup_path="data"), "spec.identity.setup_path"),
    (lambda b: b["spec"]["identity"].pop("user"), "spec.identity.user"),
    (lambda b: b["spec"]["alive_monitor_policy"].update(start_check_secs=-1),
     "spec.alive_monitor_policy.start_check_secs"),
    (lambda b: b["spec"].pop("identity"), "spec.identity"),
    (lambda b: b["meta"].update(namespace="a:b"), "meta.namespace"),
]


@pytest.mark.quick
def test_bad_input_names_the_field_and_runs_nothing(home, daemon):
    d = daemon()
    agent = home.add_agent()
    for spoil, path in BAD:
        body = d.request(agent.ip, 0)
        spoil(body)
        for by in ("esb", "gateway"):
            answer = getattr(home, by)("operate_proc_v2", body)
            assert answer["code"] == 1000811 and answer["result"] is False and answer["data"] is None, answer
            assert answer["message"].startswith("Parameters error, ") and path in answer["message"], answer
    assert d.starts() == 0 and home.admin("GET", "/v1/status")["open_tasks"] == 0


def test_unknown_tasks_and_wrong_secrets_have_their_codes(home):
    answer = home.esb("get_proc_operate_result_v2", {"task_id": "GSETASK:S:1:1"})
    assert answer["code"] == 1000806 and answer["result"] is False and "GSETASK:S:1:1" in answer["message"]
    home.secret = "wrong"
    answer = home.esb("get_proc_operate_result_v2", {"task_id": "x"})
    assert answer["code"] == 1306000 and answer["message"].startswith("APP Secret verification failed")
    status, _, answer = home.call("POST", "/api/bk-gse/prod/api/v2/proc/get_proc_operate_result_v2",
                                  {"task_id": "x"}, home.auth())
    assert status == 400 and answer["code"] == 1640001 and answer["data"] is None


def test_the_block_of_our_own_is_obeyed(home, daemon):
    d = daemon("foreground")
    d.script("start.sh", 'echo "$COLOUR" > colour\nexec ./proc-test --life-ms 120000 --ignore-term')
    client = Client(home, home.add_agent(), d, "esb")

    def request(op):
        body = d.request("127.0.0.1", op, **FAST)
        body["spec"]["control"]["stop_cmd"] = ""
        body["spec"]["holdfast"] = {"stop_signal": "INT", "environment": {"COLOUR": "蓝 blue"}}
        return body
    assert home.do(request(0))["error_code"] == 0
    assert (d.folder / "colour").read_text(encoding="utf-8") == "蓝 blue\n"
    assert home.do(request(1), timeout=20)["error_code"] == 0, "SIGTERM it ignores, SIGINT it does not"
    assert d.pids() == []
    bad = request(0)
    bad["spec"]["holdfast"]["stop_signal"] = "STOP"
    assert "spec.holdfast.stop_signal" in home.esb("operate_proc_v2", bad)["message"]


def test_what_the_server_has_lost_the_agent_still_knows(home, daemon):
    """An operation without a spec is done by the one that the agent has."""
    d = daemon()
    agent = home.add_agent()
    assert home.do(d.request(agent.ip, 0, **FAST))["error_code"] == 0
    first = d.wait_pid()
    assert home.server.stop() == 0
    with sqlite3.connect(home.data / "holdfast.db") as db:
        assert db.execute("DELETE FROM process").rowcount == 1
    home.start()
    agent.wait_online()
    wait_until(lambda: home.processes(pid=first), "the agent has told of it")
    task = home.v1("POST", "/v1/operations", {"operation": "restart", "namespace": "gse", "name": "proc-test"})
    assert task["items"] == 1
    ended = wait_until(lambda: (t := home.v1("GET", "/v1/tasks/" + task["task_id"]))["left"] == 0 and t, "it ends")
    assert ended["failed"] == 0, ended
    assert d.wait_pid(but=first)


def test_a_process_that_goes_on_has_begun_at_one_time(home, daemon):
    client = Client(home, home.add_agent(), daemon(), "esb")
    client.do(0)
    assert len({client.query()["startTime"] for _ in range(12)}) == 1


def test_what_dies_is_in_the_agents_log(home, daemon):
    d = daemon()
    agent = home.add_agent()
    Client(home, agent, d, "esb").do(0)
    pid = d.wait_pid()
    os.kill(pid, signal.SIGKILL)
    assert agent.program.wait_log(text="a process has ended", pid=pid)["signal"] == 9
    assert agent.program.logs(text="a command has ended")[0]["exit_code"] == 0


def test_who_asks_by_another_name_takes_nothing_away(home, daemon):
    """A look at a hosted process under a second name must not end its hosting."""
    d = daemon()
    agent = home.add_agent()
    client = Client(home, agent, d, "esb")
    client.do(0)
    first = d.wait_pid()
    peek = d.request(agent.ip, 2)
    peek["meta"] = {"namespace": "other", "name": "peek"}
    assert home.do(peek)["error_code"] == 0
    os.kill(first, signal.SIGKILL)
    second = d.wait_pid(but=first)
    wait_until(lambda: client.query()["pid"] == second, "it is known by its new pid")
    client.do(1)
    assert d.pids() == []


def test_every_failure_has_its_content(home, daemon):
    """`content` says the same as error_msg, and whether it is hosted now, whatever went wrong."""
    d = daemon()
    client = Client(home, home.add_agent(), d, "gateway")

    def fail(op, code, text, hosted, user=None, folder=None, timeout=30, **control):
        body = client.request(op, op_timeout=timeout)
        body["spec"]["control"].update(control)
        if user:
            body["spec"]["identity"]["user"] = user
        if folder:
            body["spec"]["identity"]["setup_path"] = folder
        result = home.do(body, "gateway")
        assert result["error_code"] == code and result["error_msg"].startswith(text), result
        value = value_of(result)
        assert value["result"] == result["error_msg"] and value["isAuto"] is hosted, result
        assert value["bk_agent_id"] == client.agent.id and value["procName"] == "proc-test"
        return result["error_msg"]

    script = "Script exit code non-zero. Error msessage: ["
    assert "no-such-user" in fail(0, 122, "", False, user="no-such-user")
    assert "/no/such/folder" in fail(0, 65535, "", False, folder="/no/such/folder")
    fail(0, 65535, script + "never\n]", False, start_cmd="echo never; exit 1")
    late = fail(0, 822, "the command ran longer than 1 s and was ended", False, timeout=1, start_cmd="echo slow; sleep 60")
    assert late.endswith("; its output: [slow\n]")
    fail(0, 836, "start process (proc-test) failed, for post-check status not alive, please refer to agent log "
         "for details", False, start_cmd="true")
    fail(8, 829, "process (proc-test) is not running", False)
    fail(9, 829, "process (proc-test) is not running", False)
    client.do(0)
    first = d.wait_pid()
    fail(0, 828, f"process (proc-test) is already running with pid {first}", True)
    fail(1, 65535, script + "no\n]", True, stop_cmd="echo no; exit 4")
    fail(1, 836, "stop process (proc-test) failed, for post-check status alive, please refer to agent log for "
         "details", True, stop_cmd="true")
    fail(1, 122, "", True, user="no-such-user")
    fail(7, 65535, script, True, restart_cmd="exit 1")
    fail(8, 65535, script, True, reload_cmd="exit 1")
    fail(8, 822, "the command ran longer than 1 s", True, timeout=1, reload_cmd="sleep 60")
    fail(8, 827, "spec.control.reload_cmd", True, reload_cmd="")
    fail(9, 836, "kill process (proc-test) failed, for post-check status alive", True, kill_cmd="true")
    fail(6, 832, "op_type 6: no such operation", True)
    assert d.pids() == [first]
    fail(8, 836, "reload process (proc-test) failed, for post-check status not alive, please refer to agent log",
         True, reload_cmd="kill -9 $(cat proc-test.pid); sleep 0.2")
    d.wait_pid(but=first)  # hosted, so it is back
    client.do(1)
    fail(1, 829, "process (proc-test) is not running", False)


def test_a_start_that_failed_is_remembered(home, daemon):
    d = daemon()
    d.script("start.sh", "echo the licence has run out; exit 3")
    client = Client(home, home.add_agent(), d, "esb")
    client.do(0, 65535)
    row = wait_until(lambda: home.processes(namespace="gse", name="proc-test"), "it is there")[0]["process"]
    assert row["hosted"] is False and row["status"] == 2 and row["pid"] == -1
    assert row["cause"]["failed_code"] == 65535 and "licence" in row["cause"]["output"]
    assert "exit code 3" in row["cause"]["failed_text"]


@pytest.mark.parametrize("kind", [0, 2])
def test_what_is_not_to_stay_is_judged_by_its_exit_code(home, daemon, kind):
    d = daemon()
    d.script("start.sh", "echo $$ >> starts; exit 0")
    agent = home.add_agent()
    client = Client(home, agent, d, "esb")
    done = client.do(0, auto_type=kind)
    assert value_of(done)["isAuto"] is True and client.query()["isAuto"] is True
    agent.kill()  # and it is not run by the next one, nor later
    agent.start()
    agent.wait_online()
    assert client.query()["pid"] == -1 and d.starts() == 1
    row = home.processes(namespace="gse", name="proc-test")[0]["process"]
    assert row["cause"]["has_finished"] is True and row["cause"].get("failed_code", 0) == 0
    client.do(4, auto_type=kind)
    assert client.query()["isAuto"] is False
    d.script("start.sh", "echo $$ >> starts; exit 5")
    assert value_of(client.do(0, 65535, auto_type=kind))["isAuto"] is False
    assert d.starts() == 2


def test_where_several_are_expected_all_are_listed(home, daemon):
    d = daemon("foreground")
    d.script("start.sh", "./proc-test --life-ms 120000 &\n./proc-test --life-ms 120000 &\n"
             "exec ./proc-test --life-ms 120000")
    client = Client(home, home.add_agent(), d, "esb")

    def request(op):
        body = client.request(op)
        body["spec"]["holdfast"] = {"instances": 4}
        return body
    assert home.do(request(0))["error_code"] == 0
    wait_until(lambda: len(d.pids()) == 3, "three run")
    content = json.loads(home.do(request(2))["content"])
    listed = content["process"][0]["instance"]
    assert sorted(i["pid"] for i in listed) == sorted(d.pids())
    assert listed[0]["cmdline"] and all(i["isAuto"] is True for i in listed)
    assert {i["processName"] for i in listed} == {"proc-test"}

    def cause():
        return home.processes(namespace="gse", name="proc-test")[0]["process"]["cause"]
    wait_until(lambda: cause().get("instances") == 3, "the server knows how many")
    assert cause()["instances_wanted"] == 4
