# SPDX-License-Identifier: MIT
"""The contract's checklist point by point, its table of what refuses a whole request and what only one
target, and what has hurt people who run processes with BlueKing; all of it with the real programs.

    test_19_NN   the checklist for servers that clients can bear: NN is its point, 01 to 14
    test_dN      the field notes' items: 1 to 6, 8, 18, 22, 23, 25, 28, 30

    test_11_0    whole requests and single targets, by the words of that table:

    whole request
    not JSON                        test_11_0_what_is_no_json_is_turned_away_by_the_layer_in_front
    wrong types; missing meta, targets, op_type, spec; out of range; a bad cron rule; relative paths;
    over the size limits            test_11_0_a_request_that_is_wrong_is_refused_as_a_whole, by WHOLE's rows; and every
                                    field of every endpoint in tests/contract/test_bad_input.c
    a body over its limit           a_body_may_be_so_large in tests/unit/api/pipeline/test_gate.c
    authentication                  test_11_0_who_is_not_known_gets_nothing_done
    no permission at all            test_11_0_an_operation_that_an_app_may_not_do_at_all_is_refused_as_a_whole

    one target, the others run
    unknown or offline host (117)   test_11_0_a_target_that_can_not_be_is_refused_alone; test_d1, test_19_07
    unknown op_type (832), no command for it (827)   test_11_0_a_target_that_can_not_be_is_refused_alone
    outside the business (117)      test_11_0_a_host_of_another_business_is_unknown_alone
    the host's policy (823)         test_11_0_what_a_hosts_policy_forbids_is_refused_alone
    not registered on v1 (801)      test_11_0_what_is_not_registered_is_refused_alone

    required by op                  test_11_0_each_operation_wants_what_it_needs; of Job's, tests/unit/api/job/test_job.c
"""
import http.client
import json
import subprocess
import time
import urllib.parse

import pytest

from daemon import Daemon
from holdfast import Holdfast, wait_until
from installation import ESB, GATEWAY, Installation, is_alive

START, STOP, QUERY, HOST, UNHOST, RESTART, RELOAD, KILL = 0, 1, 2, 3, 4, 7, 8, 9
SPACE = "checklist"
QUICK = {"auto_type": 1, "start_check_secs": 1, "stop_check_secs": 1, "op_timeout": 20}


@pytest.fixture(name="home", scope="module")
def one_home(tmp_path_factory):
    """One host that is there and one that was; what a test runs there is its own."""
    programs = Holdfast()
    home = Installation(programs, tmp_path_factory.mktemp("checklist"))
    home.gone = home.add_agent("127.0.0.2")
    left = Daemon(home.folder / "left")
    home.do(request("left", START, left, ip="127.0.0.2"))
    wait_until(lambda: infos(home, "left", hosts=[{"ip": "127.0.0.2", "bk_cloud_id": 0}])[0]["status"] == 1,
               "the server knows that it runs")
    home.gone.kill()
    home.agent = home.add_agent()
    yield home
    left.end()
    wrong = programs.close()
    assert not wrong, "\n".join(wrong)


@pytest.fixture(name="strict", scope="module")
def strict_agent(home):
    """Of another business, and with a policy of its own."""
    return home.add_agent("127.0.0.4", biz_id=3, HOLDFAST_AGENT_POLICY_USERS="nobody")


@pytest.fixture(name="daemon")
def one_daemon(tmp_path):
    daemon = Daemon(tmp_path / "daemon")
    yield daemon
    daemon.end()


@pytest.fixture(name="name")
def own_name(request):
    return request.node.name.partition("[")[0]


def request(name, op, daemon=None, ip="127.0.0.1", policy="alive_monitor_policy", **control):
    """One operation on a process of this name, with the commands of a daemon's folder."""
    folder = str(daemon.folder) if daemon else "/nowhere"
    commands = {c + "_cmd": f"./{c}.sh" for c in ("start", "stop", "restart", "reload", "kill", "version", "health")}
    return {"meta": {"namespace": SPACE, "name": name}, "op_type": op, "hosts": [{"ip": ip, "bk_cloud_id": 0}],
            "spec": {"identity": {"proc_name": "proc-test", "setup_path": folder, "pid_path": folder + "/proc-test.pid",
                                  "user": "root"}, "control": {**commands, **control}, policy: dict(QUICK)}}


def key_of(name, ip="127.0.0.1"):
    return f"0:{ip}:{SPACE}:{name}"


def batch(home, *elements, by="esb"):
    return home.operate({"proc_operate_req": list(elements)}, by=by, name="operate_proc_multi")


def rows(home, name):
    path = home.agent.folder / ".proc"
    listed = json.loads(path.read_text(encoding="utf-8"))["proc"] if path.exists() else []
    return [r for r in listed if r["valuekey"] == f"{SPACE}:{name}"]


def is_done(result):
    return result["error_code"] != 115


def infos(home, name, **more):
    ask = {"meta": {"namespace": SPACE, "name": name}, "hosts": [{"ip": "127.0.0.1", "bk_cloud_id": 0}], **more}
    answer = home.esb("get_proc_status_v2", ask)
    assert answer["result"], answer
    return answer["data"]["proc_infos"]


# --- 19: what clients can bear

@pytest.mark.parametrize("path", [ESB, "/api/c/compapi/v2/gse/{}", "/api/c/compapi/v2/gse/{}//", "/c/compapi/v2/gse/{}/",
                                  "/api/c/compapi/gse/{}/", "/api/c/compapi/v2/gse/api/v2/proc/{}/"])
def test_19_01_json_without_its_type_any_slashes_and_unknown_fields(home, path):
    body = request("19-01", QUERY)
    body.update(no_request=True, nodeman_spec={"a": [1]}, bk_supplier_account="0")
    body["meta"]["extra"] = body["hosts"][0]["bk_host_id"] = body["spec"]["identity"]["more"] = 1
    answer = home.esb("operate_proc_v2", body, path=path)
    assert answer["result"] is True and answer["data"]["task_id"].startswith("GSETASK:"), answer


def test_19_01_a_body_that_is_no_object_is_a_form(home, name):
    task = home.operate(request(name, QUERY))
    form = urllib.parse.urlencode({"bk_app_code": home.code, "bk_app_secret": home.secret, "bk_username": "admin", "task_id": task})
    status, _, answer = home.call("POST", ESB.format("get_proc_operate_result_v2"), form.encode())
    assert status == 200 and list(answer["data"]) == [key_of(name)], answer


def test_19_02_messages_are_in_the_callers_language_as_they_are_written(home):
    headers = {**home.auth(), "Blueking-Language": "zh-hans"}
    connection = http.client.HTTPConnection("127.0.0.1", home.port, timeout=30)
    connection.request("POST", ESB.format("operate_proc_v2"), b"{}", headers)
    answer = connection.getresponse()
    text = answer.read()
    connection.close()
    assert answer.getheader("Content-Type") == "application/json; charset=utf-8"
    assert json.loads(text)["message"] == "参数错误，meta：必填" and "参数错误".encode() in text, text


@pytest.mark.parametrize("by", ["esb", "gateway"])
def test_19_02_every_logical_result_is_http_200_with_the_whole_envelope(home, by):
    good = getattr(home, by)("operate_proc_v2", request("19-02", QUERY))
    bad = getattr(home, by)("operate_proc_v2", {"meta": {}})
    unknown = getattr(home, by)("get_proc_operate_result_v2", {"task_id": "GSETASK:S:none:1"})
    for answer in (good, bad, unknown):
        assert {"result", "code", "message", "data", "request_id"} <= set(answer), answer
        assert type(answer["code"]) is int and type(answer["message"]) is str and len(answer["request_id"]) == 32
        assert answer["result"] is (answer["code"] == 0) and (answer["result"] or answer["data"] is None), answer
    assert (good["code"], bad["code"], unknown["code"]) == (0, 1000811, 1000806)
    assert "meta.namespace" in bad["message"] and "GSETASK:S:none:1" in unknown["message"]


def test_19_03_task_and_keys_are_there_before_the_id_is_told_in_the_callers_spelling(home, daemon, name):
    """By agent id, by address as an id, and one that does not exist: three keys in every poll."""
    ids = [home.agent.id, "0:127.0.0.1", "No-Such-Agent"]
    body = {**request(name, START, daemon), "agent_id_list": ids}
    task = home.operate(body, by="gateway")
    polls = [home.poll(task, by="gateway")]
    wait_until(lambda: polls.append(home.poll(task, by="gateway")) or all(map(is_done, polls[-1].values())), "it ends", 60)
    for data in polls:
        assert set(data) == {f"{i}:{SPACE}:{name}" for i in ids}
    assert polls[0][f"{ids[0]}:{SPACE}:{name}"]["error_code"] == 115
    assert [polls[-1][f"{i}:{SPACE}:{name}"]["error_code"] for i in ids] == [0, 0, 117]
    assert daemon.starts() == 1


def test_19_04_content_is_a_text_always_and_json_when_it_is_over(home, daemon, name):
    started = home.operate(request(name, START, daemon))
    first = home.poll(started)[key_of(name)]
    assert first == {"error_code": 115, "error_msg": "handling", "content": ""}
    assert home.result(started)[key_of(name)]["error_code"] == 0
    ended = [home.result(batch(home, request(name, START, daemon), request("19-04-no", STOP),
                               request("19-04-what", 5), request("19-04-away", QUERY, ip="10.99.0.1")))]
    assert [r["error_code"] for r in ended[0].values()] == [828, 829, 832, 117]
    for result in ended[0].values():
        content = json.loads(result["content"])
        assert len(content.get("value") or content["process"]) == 1
    assert len(json.loads(home.do(request(name, QUERY))["content"])["process"][0]["instance"]) == 1


def test_19_05_what_is_stopped_has_pid_minus_one_and_types_hold(home, daemon, name):
    types = {"pid": int, "isAuto": bool, "utime": str, "stime": str, "startTime": str, "stat": str, "cmdline": str,
             "freeVMem": str, "version": str, "health": str, "processName": str, "threadCount": int, "usePhyMem": int,
             "diskSize": int, "elapsedTime": int, "register_time": int, "last_start_time": int, "report_time": int}
    def instance():
        result = home.do(request(name, QUERY, daemon))
        assert result["error_code"] == 0 and ".0," not in result["content"].replace("127.0.0", ""), result
        found = json.loads(result["content"])["process"][0]["instance"][0]
        assert {k: type(found[k]) for k in types} == types
        return found
    before = instance()
    assert before["pid"] == -1 and before["isAuto"] is False
    assert home.do(request(name, START, daemon))["error_code"] == 0
    now = instance()
    assert now["pid"] == daemon.wait_pid() and now["isAuto"] is True and now["processName"] == name
    assert now["version"].strip() == "1.2.3"


def test_19_06_status_rows_have_all_that_is_read(home, daemon, name):
    assert infos(home, name) == []
    assert home.do(request(name, START, daemon))["error_code"] == 0
    for api in ("get_proc_status", "get_proc_status_v2"):
        answer = home.esb(api, {"meta": {"namespace": SPACE, "name": name},
                                "hosts": [{"ip": "127.0.0.1", "bk_cloud_id": 0, "bk_supplier_id": 0}]})
        row, = answer["data"]["proc_infos"]
        assert (row["status"], row["flag"], row["isauto"], row["bk_agent_id"]) == (1, 1, True, home.agent.id)
        assert row["host"]["ip"] == "127.0.0.1" and row["version"].strip() == "1.2.3" and row["pid"] == daemon.wait_pid()


def test_19_07_an_agent_that_is_gone_ends_in_117_in_the_first_poll(home, name):
    """Once it has been away for some seconds; it is, for some time, when the other tests are over."""
    def first():
        return home.poll(home.operate(request(name, START, ip="127.0.0.2")))[key_of(name, "127.0.0.2")]
    wait_until(lambda: first()["error_code"] == 117, "the first poll says so", 60)
    assert json.loads(first()["content"])["value"][0]["isAuto"] is False


def test_19_08_failures_say_what_clients_look_for(home, daemon, name):
    daemon.script("fails.sh", "echo it can not be; exit 3")
    results = home.result(batch(
        home, request(name + "-a", START, daemon, start_cmd="./fails.sh"), request(name + "-b", START, daemon, start_cmd="true")))
    failed, dead = results[key_of(name + "-a")], results[key_of(name + "-b")]
    assert failed["error_code"] == 65535 and "it can not be" in failed["error_msg"], failed
    assert failed["error_msg"].startswith("Script exit code non-zero. Error msessage: ["), failed
    assert dead["error_code"] == 836 and dead["error_msg"].startswith("start process ("), dead
    assert home.do(request(name, START, daemon))["error_code"] == 0
    alive = home.do(request(name, STOP, daemon, stop_cmd="true"))
    assert alive["error_code"] == 836 and alive["error_msg"].startswith("stop process ("), alive
    assert daemon.pids() and json.loads(alive["content"])["value"][0]["result"] == alive["error_msg"]


def test_19_08_and_say_it_in_chinese_but_for_what_clients_look_for(home, daemon, name):
    """What the agent says is put into the caller's language; what a command printed is not."""
    daemon.script("fails.sh", "echo not running; exit 3")
    task = batch(home, request(name + "-a", START, daemon, start_cmd="./fails.sh"),
                 request(name + "-b", START, daemon, start_cmd="true"), request(name + "-c", RELOAD, daemon))
    home.result(task)
    _, _, answer = home.call("POST", ESB.format("get_proc_operate_result_v2"), {"task_id": task},
                             {**home.auth(), "Blueking-Language": "zh-cn"})
    failed, dead, down = (answer["data"][key_of(name + end)]["error_msg"] for end in ("-a", "-b", "-c"))
    assert failed.startswith("Script exit code non-zero. Error msessage: [not running"), failed
    assert dead.startswith(f"start process ({name}-b) failed, for post-check status not alive, "
                           "please refer to agent log for details: 没有 PID 文件 "), dead
    assert down.startswith(f"进程 ({name}-c) 未运行：没有 PID 文件 "), down


@pytest.mark.parametrize("policy", ["monitor_policy", "alive_monitor_policy"])
def test_19_09_both_names_of_the_policy_odd_spellings_and_nulls(home, daemon, name, policy):
    subprocess.run(["./start.sh"], cwd=daemon.folder, check=True, timeout=60)  # so that no operation waits for its start
    daemon.wait_pid()
    body = request(name + policy, HOST, daemon, policy=policy)
    body["meta"]["labels"] = {"bk_process_id": 4711, "proc_name": "x"}
    body["spec"][policy] = {"auto_type": 1, "crotab_rule": "", "start_check_secs": None, "stop_check_secs": 7,
                            "op_timeout": None, "start_retries": None, "start_interval": 0}
    body["spec"]["control"]["version_cmd"] = body["spec"]["identity"]["log_path"] = None
    assert home.do(body)["error_code"] == 0
    row, = rows(home, name + policy)
    assert (row["startCheckBeginTime"], row["startCheckEndTime"], row["opTimeOut"], row["versionCmd"]) == (5, 7, 60, "")
    wait_until(lambda: [i["meta"]["labels"] for i in infos(home, name + policy)] == [{"bk_process_id": "4711", "proc_name": "x"}],
               "labels are strings")
    empty = dict.fromkeys(["setup_path", "pid_path", "user"], "")
    query = {**body, "op_type": QUERY, "spec": {"identity": {"proc_name": "proc-test", **empty}}}
    assert json.loads(home.do(query)["content"])["process"][0]["instance"][0]["isAuto"] is True
    assert home.do(request(name + policy, UNHOST))["error_code"] == 0


def test_19_10_hosts_and_agent_ids_of_both_kinds_and_the_ids_win(home, name):
    body = {**request(name, QUERY, ip="10.99.99.99"), "agent_id_list": [home.agent.id, "0:127.0.0.1"]}
    data = home.result(home.operate(body, by="gateway"), by="gateway")
    assert {k: r["error_code"] for k, r in data.items()} == {f"{home.agent.id}:{SPACE}:{name}": 0, f"0:127.0.0.1:{SPACE}:{name}": 0}
    assert home.result(home.operate({**body, "agent_id_list": []}))[key_of(name, "10.99.99.99")]["error_code"] == 117


def test_19_11_hosting_twice_changes_the_spec_and_letting_go_twice_is_fine(home, daemon, name):
    assert home.do(request(name, HOST, daemon))["error_code"] == 0
    pid = daemon.wait_pid()
    assert home.do(request(name, HOST, daemon, stop_cmd="./stop.sh gently"))["error_code"] == 0
    assert [r["stopCmd"] for r in rows(home, name)] == ["./stop.sh gently"]
    for _ in range(2):
        assert home.do(request(name, UNHOST))["error_code"] == 0
    assert rows(home, name) == [] and daemon.pids() == [pid] and daemon.starts() == 1


def test_19_12_what_is_short_is_over_soon(home, name):
    """The most impatient client gives up after some 15 seconds; this is for three in a row."""
    began = time.monotonic()
    for op in (QUERY, UNHOST, QUERY):
        assert home.do(request(name, op))["error_code"] == 0
    assert time.monotonic() - began < 15


def test_19_13_the_file_has_what_is_hosted_and_nothing_else(home, daemon, name):
    for op, hosted in ((START, 1), (UNHOST, 0), (HOST, 1), (RELOAD, 1), (RESTART, 1), (KILL, 0), (STOP, 0)):
        home.do(request(name, op, daemon))
        assert len(rows(home, name)) == hosted, op
    assert home.do(request(name, STOP, daemon))["error_code"] == 829


def test_19_14_the_same_once_more_joins_until_something_else_comes_between(home, daemon, name):
    daemon.script("slow.sh", "while [ ! -e go ]; do sleep 0.05; done; exec ./start.sh")
    start = request(name, START, daemon, start_cmd="./slow.sh")
    first = home.operate(start)
    assert home.operate(start) == first and home.operate(start) == first
    other = home.operate(request(name, QUERY, daemon))
    again = home.operate(start)
    assert len({first, other, again}) == 3
    (daemon.folder / "go").touch()
    codes = [home.result(t)[key_of(name)]["error_code"] for t in (first, other, again)]
    assert codes == [0, 0, 828] and daemon.starts() == 1
    assert home.operate(start) not in (first, again)  # those are over


# --- 7.5: operations without a spec

def bare(name, op, **more):
    """An operation that brings no spec."""
    body = {**request(name, op), **more}
    del body["spec"]
    return body


def test_7_05_without_a_spec_the_registered_one_is_used(home, daemon, name):
    spec = request(name, START, daemon)["spec"]
    register = {"meta": {"namespace": SPACE, "name": name}, "hosts": [{"ip": "127.0.0.1", "bk_cloud_id": 0}], "spec": spec}
    register["spec"]["resource"] = {"cpu": 0, "mem": 0}
    assert home.esb("register_proc_info", register)["result"] is True
    assert home.do(bare(name, HOST))["error_code"] == 0
    pid = daemon.wait_pid()
    found = json.loads(home.do(bare(name, QUERY))["content"])["process"][0]
    assert (found["procname"], found["instance"][0]["pid"]) == (name, pid)
    by_id = f"0:{home.agent.ip}"
    task = batch(home, bare(name, STOP, agent_id_list=[by_id]))
    result = home.result(task)[f"{by_id}:{SPACE}:{name}"]
    value, = json.loads(result["content"])["value"]
    assert (result["error_code"], value["bk_agent_id"], value["procName"]) == (0, by_id, "proc-test")
    assert not is_alive(pid)


def test_7_05_without_any_spec_each_operation_has_its_answer(home, name):
    ops = [QUERY, UNHOST, START, STOP, HOST, RESTART, RELOAD, KILL]
    task = batch(home, *(bare(f"{name}-{op}", op) for op in ops))
    results = home.result(task)
    codes = [results[key_of(f"{name}-{op}")]["error_code"] for op in ops]
    assert codes == [0, 0] + 6 * [801]
    instance, = json.loads(results[key_of(f"{name}-{QUERY}")]["content"])["process"][0]["instance"]
    assert (instance["pid"], instance["register_time"]) == (-1, 0)


def test_6_04_a_query_that_failed_has_pid_zero(home, name):
    result = home.result(batch(home, request(name, QUERY, ip="10.99.0.1")))[key_of(name, "10.99.0.1")]
    instance, = json.loads(result["content"])["process"][0]["instance"]
    assert (result["error_code"], instance["pid"]) == (117, 0)


def test_8_03_and_11_0_an_id_that_can_be_none_fails_alone(home, name):
    ids = ["", "x" * 300, home.agent.id]
    results = home.result(batch(home, {**request(name, QUERY), "agent_id_list": ids}))
    assert [results[f"{i}:{SPACE}:{name}"]["error_code"] for i in ids] == [117, 117, 0]


# --- 11.0: whole requests

def broken(change):
    body = request("11-0", START)
    change(body)
    return body


WHOLE = {
    "no meta": (lambda b: b.pop("meta"), "meta: required"),
    "no name": (lambda b: b["meta"].pop("name"), "meta.name: required"),
    "no targets": (lambda b: b.pop("hosts"), "hosts: required"),
    "an empty list of targets": (lambda b: b.update(hosts=[]), "hosts: "),
    "no operation": (lambda b: b.pop("op_type"), "op_type: required"),
    "a text for a number": (lambda b: b.update(op_type="0"), "op_type: must be an integer"),
    "an empty spec": (lambda b: b.update(spec={}), "spec.identity."),
    "no user": (lambda b: b["spec"]["identity"].pop("user"), "spec.identity.user: required"),
    "out of range": (lambda b: b["spec"]["alive_monitor_policy"].update(op_timeout=86401),
                     "spec.alive_monitor_policy.op_timeout: "),
    "a bad rule": (lambda b: b["spec"]["alive_monitor_policy"].update(crontab_rule="61 * * * *"),
                   "spec.alive_monitor_policy.crontab_rule: "),
    "a relative path": (lambda b: b["spec"]["identity"].update(setup_path="here"), "spec.identity.setup_path: "),
    "a colon in the namespace": (lambda b: b["meta"].update(namespace="a:b"), "meta.namespace: "),
    "too many targets": (lambda b: b.update(hosts=[{"ip": "10.1.1.1", "bk_cloud_id": 0}] * 50001), "hosts: "),
}


@pytest.mark.parametrize("what", WHOLE)
def test_11_0_a_request_that_is_wrong_is_refused_as_a_whole(home, what):
    change, path = WHOLE[what]
    n = len(home.v1("GET", "/v1/tasks?limit=1000")["tasks"])
    for name, body, at in (("operate_proc_v2", broken(change), ""), (
            "operate_proc_multi", {"proc_operate_req": [request("11-0", QUERY), broken(change)]}, "proc_operate_req[1].")):
        answer = home.esb(name, body)
        assert answer["result"] is False and answer["code"] == 1000811 and answer["data"] is None, answer
        assert answer["message"].startswith("Parameters error, " + at + path), answer
    assert len(home.v1("GET", "/v1/tasks?limit=1000")["tasks"]) == n


def test_11_0_what_is_no_json_is_turned_away_by_the_layer_in_front(home):
    for path, status, code in ((ESB, 200, 1306000), (GATEWAY, 400, 1640001)):
        got, _, answer = home.call("POST", path.format("operate_proc_v2"), b'{"meta": {', home.auth())
        assert (got, answer["code"], answer["data"]) == (status, code, None), answer


def test_11_0_an_operation_that_an_app_may_not_do_at_all_is_refused_as_a_whole(home, daemon, name):
    app = home.admin("POST", "/v1/apps", {"code": "looker", "permissions": {"operations": ["query"]}})
    body = {**request(name, START, daemon), "bk_app_code": app["code"], "bk_app_secret": app["secret"]}
    answer = home.esb("operate_proc_v2", body)
    assert (answer["result"], answer["code"], answer["data"]) == (False, 1000823, None), answer
    answer = home.esb("operate_proc_multi", {"bk_app_code": app["code"], "bk_app_secret": app["secret"], "proc_operate_req": [
        request(name, QUERY), request(name, START, daemon)]})
    assert (answer["result"], answer["code"]) == (False, 1000823) and daemon.starts() == 0, answer


def test_11_0_who_is_not_known_gets_nothing_done(home, daemon, name):
    n = len(home.v1("GET", "/v1/tasks?limit=1000")["tasks"])
    for secret in ("guess", ""):
        body = {**request(name, START, daemon), "bk_app_code": home.code, "bk_app_secret": secret, "bk_username": "admin"}
        status, _, answer = home.call("POST", ESB.format("operate_proc_v2"), body)
        assert (status, answer["result"], answer["code"], answer["data"]) == (200, False, 1306000, None), answer
    assert len(home.v1("GET", "/v1/tasks?limit=1000")["tasks"]) == n and daemon.starts() == 0


# Without which field each operation is refused as a whole; query and un-host want none.
NEEDED = {op: ["proc_name", "setup_path", "pid_path", "user"] for op in (START, STOP, HOST, KILL)} | {QUERY: [], UNHOST: []}


@pytest.mark.parametrize("op", NEEDED)
def test_11_0_each_operation_wants_what_it_needs(home, name, op):
    for field in NEEDED[op]:
        body = request(name, op)
        del body["spec"]["identity"][field]
        answer = home.esb("operate_proc_v2", body)
        assert (answer["result"], answer["code"]) == (False, 1000811), answer
        assert answer["message"] == f"Parameters error, spec.identity.{field}: required", answer
    if not NEEDED[op]:
        body = request(name, op)
        del body["spec"]
        assert home.do(body)["error_code"] == 0


# --- 11.0: single targets; the others are done

@pytest.mark.parametrize("code, change", [
    (117, lambda b: b.update(hosts=[{"ip": "10.99.99.98", "bk_cloud_id": 0}])),
    (832, lambda b: b.update(op_type=5)),
    (832, lambda b: b.update(op_type=4711)),
    (827, lambda b: b["spec"]["control"].update(start_cmd="")),
    (827, lambda b: (b.update(op_type=RELOAD), b["spec"]["control"].update(reload_cmd=""))),
    (827, lambda b: (b.update(op_type=RESTART), b["spec"]["control"].update(restart_cmd="", start_cmd=""))),
    (122, lambda b: b["spec"]["identity"].update(user="no-such-user")),
])
def test_11_0_a_target_that_can_not_be_is_refused_alone(home, daemon, name, code, change):
    bad = request(name + "-bad", START, daemon)
    change(bad)
    results = list(home.result(batch(home, bad, request(name, QUERY, daemon))).values())
    assert [r["error_code"] for r in results] == [code, 0] and daemon.starts() == 0, results


def test_11_0_a_host_of_another_business_is_unknown_alone(home, strict, name):
    app = home.admin("POST", "/v1/apps", {"code": "of-two", "permissions": {"businesses": [2]}})
    hosts = [{"ip": ip, "bk_cloud_id": 0} for ip in (strict.ip, "127.0.0.1")]
    answer = home.esb("operate_proc_v2", {**request(name, QUERY), "hosts": hosts, "bk_app_code": app["code"],
                                          "bk_app_secret": app["secret"]})
    assert answer["result"] is True, answer
    task = answer["data"]["task_id"]
    home.result(task)
    assert [i["code"] for i in home.v1("GET", "/v1/tasks/" + task)["items"]] == [117, 0]


def test_11_0_what_a_hosts_policy_forbids_is_refused_alone(home, strict, daemon, name):
    hosts = [{"ip": ip, "bk_cloud_id": 0} for ip in (strict.ip, "127.0.0.1")]
    results = home.result(home.operate({**request(name, START, daemon), "hosts": hosts}))
    assert {k: r["error_code"] for k, r in results.items()} == {key_of(name, strict.ip): 823, key_of(name): 0}, results
    assert results[key_of(name, strict.ip)]["error_msg"].startswith("policy.users: root is not an allowed user"), results
    assert daemon.starts() == 1


def test_11_0_what_is_not_registered_is_refused_alone(home, name):
    hosts = [{"ip": "127.0.0.1", "bk_cloud_id": 0, "bk_supplier_id": 0}]
    answer = home.esb("operate_proc", {"meta": {"namespace": SPACE, "name": name}, "op_type": STOP, "hosts": hosts})
    result = home.result(answer["data"]["task_id"])[f"0:0:127.0.0.1:{SPACE}:{name}"]
    assert (result["error_code"], result["error_msg"]) == (801, "process info not registered")


# --- D: what has hurt people

def test_d1_one_agent_that_is_gone_holds_up_nobody(home, name):
    task = batch(home, request(name, QUERY, ip="127.0.0.2"), request(name, QUERY))
    wait_until(lambda: home.poll(task)[key_of(name)]["error_code"] == 0, "the one that is there has answered")
    assert home.result(task)[key_of(name, "127.0.0.2")]["error_code"] == 117


def test_d2_status_is_known_without_a_task_for_each_process(home, daemon, name):
    assert home.do(request(name, START, daemon))["error_code"] == 0
    n = len(home.v1("GET", "/v1/tasks?limit=1000")["tasks"])

    def page(start, limit):
        return home.esb("sync_proc_status", {"meta": {"namespace": SPACE}, "page": {"start": start, "limit": limit}})["data"]
    count = page(0, 1)["count"]
    found = [i for start in range(0, count, 2) for i in page(start, 2)["proc_infos"]]
    assert len(found) == count and name in [i["meta"]["name"] for i in found]
    assert len(home.v1("GET", "/v1/tasks?limit=1000")["tasks"]) == n


def test_d3_an_agent_that_restarts_within_an_operation_says_what_came_of_it(home, daemon, name):
    agent = home.add_agent("127.0.0.3")
    daemon.script("slow.sh", "touch begun; while [ ! -e go ]; do sleep 0.05; done; exec ./start.sh")
    task = home.operate(request(name, START, daemon, ip=agent.ip, start_cmd="./slow.sh"))
    wait_until((daemon.folder / "begun").exists, "the command runs")
    agent.kill()
    (daemon.folder / "go").touch()
    agent.start()
    result = home.result(task, timeout=120)[key_of(name, agent.ip)]
    # It waited for the command that was still running, and then looked what had become of it.
    assert result["error_code"] == 0 and len(daemon.pids()) == 1 and daemon.starts() == 1, result
    assert agent.program.stop() == 0


def test_d4_a_fresh_task_can_be_asked_for_at_once(home, name):
    for _ in range(20):
        answer = home.esb("get_proc_operate_result_v2", {"task_id": home.operate(request(name, QUERY))})
        assert answer["code"] == 0 and list(answer["data"]) == [key_of(name)], answer


def test_d5_the_first_poll_has_one_entry_for_each_that_was_asked_for(home):
    elements = [request(f"d5-{i}", QUERY, ip=ip) for i in range(50) for ip in ("127.0.0.1", "127.0.0.2", "10.99.0.1")]
    assert set(home.poll(batch(home, *elements))) == {key_of(e["meta"]["name"], e["hosts"][0]["ip"]) for e in elements}


def test_d6_every_row_of_a_status_has_every_field(home):
    """Of a host that is there, of one that is not, of what runs and what does not."""
    fields = {"meta", "host", "bk_agent_id", "flag", "status", "isauto", "message", "pid", "version", "register_time",
              "last_start_time", "report_time", "cpu_usage", "mem_usage", "fd", "disk", "net"}
    found = home.esb("sync_proc_status", {"meta": {"namespace": SPACE}, "page": {"start": 0, "limit": 1000}})["data"]
    assert found["proc_infos"] and all(set(i) == fields and i["status"] in (0, 1, 2) for i in found["proc_infos"])


def test_d8_what_an_agent_that_is_gone_last_said_is_not_told_as_new(home):
    def seen():
        row, = infos(home, "left", hosts=[{"ip": "127.0.0.2", "bk_cloud_id": 0}])
        return row
    wait_until(lambda: seen()["status"] != 1, "it is not told to run", 60)
    row, = home.processes(name="left")
    assert row["online"] is False and row["unknown_since_s"] > 0
    assert seen()["pid"] == -1


def test_d18_already_so_has_its_code_and_counts_as_unchanged_if_asked_for(home, daemon, name):
    assert home.do(request(name, START, daemon))["error_code"] == 0
    assert home.do(request(name, START, daemon))["error_code"] == 828
    ask = {"operation": "start", "namespace": SPACE, "name": name, "hosts": [home.agent.id], "idempotent": True}
    task = home.v1("POST", "/v1/operations", ask)["task_id"]
    home.result(task)
    view = home.v1("GET", "/v1/tasks/" + task)
    assert (view["failed"], view["unchanged"], view["items"][0]["changed"]) == (0, 1, False), view
    assert daemon.starts() == 1


def test_d22_what_it_would_be_done_to_is_listed_first(home, daemon, name):
    assert home.do(request(name, HOST, daemon))["error_code"] == 0
    daemon.wait_pid()
    ask = {"operation": "stop", "namespace": SPACE, "name": name, "hosts": ["127.0.0.1", "10.99.0.1"], "dry_run": True}
    view = home.v1("POST", "/v1/operations", ask)
    assert view["task_id"] == "" and view["items"] == 2
    assert [(t["ip"], t["code"]) for t in view["targets"]][0] == ("127.0.0.1", 0) and view["targets"][1]["code"] == 117
    assert daemon.pids()


def test_d23_another_number_of_targets_than_expected_is_refused(home, daemon, name):
    assert home.do(request(name, HOST, daemon))["error_code"] == 0
    pid = daemon.wait_pid()
    ask = {"operation": "kill", "namespace": SPACE, "name": name, "expect": 2}
    status, _, answer = home.call("POST", "/v1/operations", ask, home.auth())
    assert status >= 400 and "expect" in answer["error"]["message"], answer
    assert is_alive(pid)
    home.result(home.v1("POST", "/v1/operations", {**ask, "expect": 1})["task_id"])
    assert not is_alive(pid)


def test_d25_two_that_are_called_the_same_on_a_host_are_told_apart(home, daemon, name):
    """Of one key in one request the last result counts; a value_key makes two of one path and name."""
    twice = home.result(batch(home, request(name, QUERY), request(name, 5)))
    assert {k: r["error_code"] for k, r in twice.items()} == {key_of(name): 832}
    def manage(op, *keys):
        info = {"proc_name": "proc-test", "setup_path": str(daemon.folder), "pid_path": str(daemon.pid_file), "type": 2,
                "start_cmd": "true", "proc_owner": "x", "ip_list": [{"ip": "127.0.0.1", "bk_cloud_id": 0}]}
        answer = home.esb("manage_proc", {"bk_biz_id": 2, "op_type": op, "process_infos": [
            {**info, "value_key": key} for key in keys]}, path="/api/c/compapi/v2/job/{}/")
        return home.result(answer["data"]["bk_gse_taskid"])
    assert {k: r["error_code"] for k, r in manage(1, "one", "two").items()} == {"one:0:127.0.0.1": 0, "two:0:127.0.0.1": 0}
    listed = json.loads((home.agent.folder / ".proc").read_text(encoding="utf-8"))["proc"]
    assert {"job.biz.2:one", "job.biz.2:two"} <= {r["valuekey"] for r in listed}
    manage(2, "one", "two")


def test_d28_what_went_wrong_can_be_found_by_its_id(home, name):
    _, headers, answer = home.call("POST", ESB.format("operate_proc_v2"), {"meta": {}}, home.auth())
    assert headers["X-Bkapi-Request-Id"] == answer["request_id"]
    _, headers, answer = home.call("POST", ESB.format("operate_proc_v2"), request(name, QUERY), home.auth())
    said = home.server.wait_log(request_id=answer["request_id"])
    assert said["task"] == answer["data"]["task_id"]


def test_d30_one_target_without_an_agent_spoils_nothing_for_the_others(home, name):
    hosts = [{"ip": "10.99.0.1", "bk_cloud_id": 0}, {"ip": "127.0.0.1", "bk_cloud_id": 0}, {"ip": "127.0.0.1", "bk_cloud_id": 9}]
    data = home.result(home.operate({**request(name, QUERY), "hosts": hosts}))
    assert {k.rsplit(":", 2)[0]: r["error_code"] for k, r in data.items()} == {
        "0:10.99.0.1": 117, "0:127.0.0.1": 0, "9:127.0.0.1": 117}
    task = home.operate({**request(name, QUERY), "hosts": hosts})
    assert home.v1("POST", "/v1/tasks/cancel", {"task_id": task})["total"] == 3
