# SPDX-License-Identifier: MIT
"""The server's ports and sockets from the outside: which clients get in, and what each may see."""
import json
import os
import signal
import socket
import stat

import pytest

from conftest import read_all, status_of
from installation import Agent, Installation, exchange, UnixConnection


@pytest.fixture
def home(holdfast, tmp_path):
    return Installation(holdfast, tmp_path)


def test_the_admin_socket_is_for_its_owner_alone_whatever_the_umask(holdfast, tmp_path):
    old = os.umask(0)
    try:
        home = Installation(holdfast, tmp_path)
    finally:
        os.umask(old)
    mode = (home.data / "admin.sock").stat().st_mode
    assert stat.S_ISSOCK(mode) and stat.S_IMODE(mode) & 0o077 == 0, oct(mode)


@pytest.mark.skipif(os.geteuid() != 0, reason="gives a folder to another user")
def test_a_data_folder_of_somebody_else_is_refused(holdfast, tmp_path):
    data = tmp_path / "data"
    data.mkdir(mode=0o700)
    os.chown(data, 65534, 65534)
    program = holdfast.run("holdfast-server", "--listen", "127.0.0.1:0", "--data-dir", data)
    assert program.process.returncode == 1
    assert f"data_dir: {data} belongs to user 65534, not to us (0)" in program.err
    assert list(data.iterdir()) == []


def test_a_request_on_the_admin_socket_is_finished_before_the_end(home):
    body = b'{"code":"late"}'
    with socket.socket(socket.AF_UNIX) as s:
        s.settimeout(20)
        s.connect(str(home.data / "admin.sock"))
        s.sendall(b"POST /v1/apps HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
                  b"Content-Length: %d\r\n\r\n%s" % (len(body), body[:5]))
        exchange(UnixConnection(str(home.data / "admin.sock"), 20), "GET", "/v1/status")  # it has seen ours
        home.server.signal(signal.SIGTERM)
        home.server.wait_log(text="stopping")
        s.sendall(body[5:])
        answer = read_all(s)
    assert status_of(answer) == 200 and b'"secret":"' in answer
    assert home.server.wait() == 0


@pytest.mark.quick
def test_what_others_run_is_kept_from_an_app_with_limits(home):
    """Neither by naming their host without a spec, nor by its results, is anything seen of theirs."""
    host = home.add_agent(biz_id=3)
    spec = {"identity": {"proc_name": "hidden-name", "setup_path": "/hidden/path", "pid_path": "/hidden/pid",
                         "user": "root"}, "control": {"start_cmd": "true"}}
    home.result(home.v1("POST", "/v1/operations", {"operation": "host", "namespace": "gse", "name": "p",
                                                   "hosts": [host.id], "spec": spec})["task_id"])
    assert home.processes(name="p")
    app = home.admin("POST", "/v1/apps", {"code": "limited", "permissions": {"businesses": [2]}})
    home.code, home.secret = app["code"], app["secret"]
    task = home.v1("POST", "/v1/operations", {"operation": "stop", "namespace": "gse", "name": "p",
                                              "hosts": [host.id, "0:" + host.ip]})["task_id"]
    for result in home.result(task).values():
        assert result["error_code"] == 117 and "hidden" not in json.dumps(result), result
    assert "hidden" not in json.dumps(home.v1("GET", "/v1/tasks/" + task))
    assert home.v1("GET", "/v1/hosts")["hosts"] == []
    home.v1("GET", "/v1/processes?host=" + host.id, status=404)
    status = home.v1("GET", "/v1/status")
    assert status["hosts"] == status["online"] == status["processes"] == 0


def test_a_host_that_is_removed_makes_room_for_the_one_that_replaces_it(home):
    """A machine that was set up anew has another key, and its address is taken until then."""
    old = home.add_agent()
    old.kill()
    new = Agent(home, "127.0.0.1", home.token(), folder="agent-anew")
    new.program.wait_until(lambda: "is taken by host " + old.id in new.program.err, "it is refused, and told why")
    assert home.admin("POST", "/v1/hosts/remove", {"host": "127.0.0.1"})["agent_id"] == old.id
    new.program.stop()
    new.start()
    new.wait_online()
    assert new.id != old.id and list(home.hosts()) == ["127.0.0.1"]


def test_a_host_that_is_removed_is_let_in_no_more(home):
    agent = home.add_agent()
    home.admin("POST", "/v1/hosts/remove", {"host": agent.id})
    assert home.hosts() == {}
    agent.program.wait_until(lambda: agent.program.logs(level="warn"), "it loses its session, and is told why", 30)
    assert home.hosts() == {}
