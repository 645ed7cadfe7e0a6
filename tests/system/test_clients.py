# SPDX-License-Identifier: MIT
"""BlueKing's own programs as clients (tests/lib/clients.py), unchanged but for the address: each starts,
asks for, stops, hosts and lets go of a process of its own, on one host."""
import json

import pytest

import clients
from daemon import Daemon
from holdfast import Holdfast, wait_until
from installation import Installation, is_alive

START, STOP, QUERY, HOST, UNHOST = clients.START, clients.STOP, clients.QUERY, clients.HOST, clients.UNHOST


@pytest.fixture(name="world", scope="module")
def one_world(tmp_path_factory):
    """Server and agent, for all of them: what each has is its own."""
    programs = Holdfast()
    home = Installation(programs, tmp_path_factory.mktemp("clients"))
    home.agent = home.add_agent()
    yield home
    wrong = programs.close()
    assert not wrong, "\n".join(wrong)


@pytest.fixture(name="make")
def maker(world, tmp_path):
    made = []

    def make(kind, space):
        made.append(Daemon(tmp_path / space))
        return kind(world, world.agent, made[-1], space)
    yield make
    for daemon in made:
        daemon.end()


def rows(world, space):
    path = world.agent.folder / ".proc"
    listed = json.loads(path.read_text(encoding="utf-8"))["proc"] if path.exists() else []
    return [r for r in listed if r["contact"] == space]


def check(world, client, running, hosted):
    """Whatever it looks at says the truth; a status that is pushed may take a moment."""
    wait_until(lambda: (client.is_running(), client.is_hosted()) == (running, hosted),
               f"{type(client).__name__} sees running {running}, hosted {hosted}", 60)
    assert bool(client.daemon.pids()) == running
    assert [r["valuekey"] for r in rows(world, client.space)] == ([f"{client.space}:{client.name}"] if hosted else [])


def done(client, op):
    result = client.operate(op)
    assert result["error_code"] == 0, (op, result)


def all_of_it(world, client):
    done(client, START)
    pid = client.daemon.wait_pid()
    check(world, client, True, True)
    done(client, UNHOST)
    check(world, client, True, False)
    done(client, HOST)
    check(world, client, True, True)
    assert client.daemon.pids() == [pid] and client.daemon.starts() == 1
    done(client, STOP)
    assert not is_alive(pid)
    check(world, client, False, False)


@pytest.mark.parametrize("kind", [clients.Sdk, clients.Kit, clients.Bscp, clients.NodeMgr], ids=lambda k: k.__name__)
def test_a_process_by(world, make, kind):
    all_of_it(world, make(kind, "by_" + kind.__name__))


def test_a_process_by_an_app_that_knows_no_version(world, make):
    client = make(clients.Sdk, "by_old_app")
    client.version = ""
    done(client, HOST)
    client.daemon.wait_pid()
    done(client, UNHOST)
    check(world, client, True, False)


def test_a_process_by_nodeman(world, make):
    client = make(clients.NodeMan, "by_nodeman")
    assert client.agent_alive()
    assert client.status() == {"state": "UNREGISTER", "auto": False} and client.sync() == {}
    all_of_it(world, client)
    assert client.sync() == {(world.agent.ip, client.name): (2, False, "1.2.3")}
    assert client.operate(STOP)["error_code"] == 0  # 829 is as good


def test_a_registered_process_by_nodeman(world, make):
    client = make(clients.NodeMan, "by_nodeman_v1")
    assert client.register() == ([], [world.agent.ip]) and client.register() == ([], [world.agent.ip])
    assert client.operate_registered(START)["error_code"] == 0
    pid = client.daemon.wait_pid()
    check(world, client, True, True)
    assert client.operate_registered(START)["error_code"] == 828
    assert client.operate_registered(STOP)["error_code"] == 0 and not is_alive(pid)
    assert client.unregister() == ([], [world.agent.ip]) and client.unregister() == ([], [world.agent.ip])


def test_a_process_by_cmdb(world, make):
    client = make(clients.Cmdb, "2.77")
    assert client.register()["error_code"] == 0
    all_of_it(world, client)
    body = client.body()
    del body["hosts"]  # a mistake of its own
    client.call("operate_proc", {**body, "op_type": STOP}, {}, code=1000811)
    assert client.unregister()["error_code"] == 0


def test_a_process_behind_an_esb(world, make):
    client = make(clients.Esb, "behind_esb")
    key = f"0:0:{world.agent.ip}:{client.space}:{client.name}"
    done_so = {key: {"error_code": 0, "error_msg": "success", "content": ""}}
    whole = client.body(spec=client.spec("monitor_policy"))
    assert client.call("POST", "/procapi/v1/proc/procinfo", whole) == done_so
    assert client.call("POST", "/procapi/v1/proc/procinfo", whole)[key]["error_code"] == 850
    assert client.call("PUT", "/procapi/v1/proc/procinfo", whole) == done_so
    assert client.operate_registered(HOST)["error_code"] == 0
    pid = client.daemon.wait_pid()
    check(world, client, True, True)
    client.call("POST", "/procapi/v2/proc/multioperate", {"proc_operate_req": [
        client.body(op_type=QUERY, spec=client.spec("monitor_policy"))]})
    page = {"meta": {"namespace": client.space}, "page": {"start": 0, "limit": 10}}
    listed = client.call("GET", "/procapi/v1/proc/syncstatus", page)
    assert listed["count"] == 1 and listed["proc_infos"][0]["pid"] == pid
    limits = {"cpu_pool_limit": 90.5, "mem_pool_limit": 80.0, "cpu_pool_weight": 1, "mem_pool_weight": 0}
    group = {"spec": {"process_group": [{"id": client.space, "resource": limits}]}}
    client.call("POST", "/procapi/v1/proc/groupinfo", client.body(**group))
    found = client.call("GET", "/procapi/v1/proc/groupinfo", client.body())["process_group_infos"]
    assert [f["resource"] for f in found] == [limits]
    done(client, STOP)
    check(world, client, False, False)
    assert client.call("DELETE", "/procapi/v1/proc/procinfo", client.body()) == done_so


def test_hosts_by_sops_and_bscp(world, make):
    """By either kind of agent id, and whether it is known or not."""
    ids = [world.agent.id, f"0:{world.agent.ip}", "no-such-agent", "9:10.9.9.9"]
    assert make(clients.Sops, "by_sops").states(*ids) == dict(zip(ids, ["online", "online", "offline", "offline"]))
    assert make(clients.Bscp, "by_bscp_2").agent_state(*ids) == dict(zip(ids, [2, 2, -2, -2]))
    assert make(clients.Bscp, "by_bscp_3").agent_state("nobody") == {"nobody": -2}
