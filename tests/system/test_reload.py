# SPDX-License-Identifier: MIT
"""SIGHUP: the agent reads its configuration again."""
import json
import os
import pathlib
import signal
import socket

import pytest

from crowd import Member
from holdfast import wait_until
from installation import Installation

DONE = "the configuration was read again, the log file opened again"
REFUSED = "the configuration is refused, and the one before stays in force"


class Configured:
    """An agent with all of its settings in a file."""

    def __init__(self, home, tmp_path, **env):
        self.home, self.file = home, tmp_path / "agent.yaml"
        token = tmp_path / "token"
        token.touch(mode=0o600)
        token.write_text(home.token(cloud_id=0, biz_id=2), encoding="ascii")
        self.settings = {"data_dir": str(tmp_path / "agent"), "servers": [f"127.0.0.1:{home.link_port}"],
                         "join_token_file": str(token), "ip": "127.0.0.1", "log": {"level": "debug"}}
        self.write()
        self.program = home.holdfast.start("holdfast-agent", "--config", self.file, env=env)
        self.program.wait_until(lambda: home.online("127.0.0.1"), "the agent is online", 60)

    def write(self, **settings):
        self.settings.update(settings)
        self.file.write_text(json.dumps(self.settings), encoding="utf-8")

    def reload(self, text=DONE):
        before = len(self.program.logs(text=text))
        self.program.signal(signal.SIGHUP)
        self.program.wait_until(lambda: len(self.program.logs(text=text)) > before, text)
        return self.program.logs(text=text)[-1]

    def files(self):
        fds = pathlib.Path(f"/proc/{self.program.pid}/fd")
        return [os.readlink(f) for f in fds.iterdir()]

    def count(self, text):
        return len(self.program.logs(text=text))


@pytest.fixture(name="home")
def installation(holdfast, tmp_path):
    return Installation(holdfast, tmp_path)


@pytest.fixture(name="agent")
def configured(home, tmp_path):
    return Configured(home, tmp_path)


@pytest.mark.quick
@pytest.mark.parametrize("settings, says", [
    ({"log": {"level": "loud"}}, "log.level"),
    ({"servers": []}, "servers: none is named"),
    ({"servers": ["127.0.0.1:1", "nonsense"]}, "servers[1]: 'nonsense'"),
    ({"operations": {"at_once": 0}}, "operations.at_once"),
    ({"log": {"file": "/nowhere/at/all", "level": "debug"}}, "/nowhere/at/all"),
    ({"proc_file": "relative"}, "proc_file: must be an absolute path"),
    ({"colour": "blue"}, "colour"),
])
def test_a_bad_one_is_refused_whole(home, agent, tmp_path, settings, says):
    agent.write(**{"proc_file": str(tmp_path / "elsewhere"), **settings})
    assert says in agent.reload(REFUSED)["error"]
    assert not (tmp_path / "elsewhere").exists()
    assert agent.count("connected") == 1 and home.online("127.0.0.1")


def test_the_log_moves_and_its_level_changes(agent, tmp_path):
    log = tmp_path / "log"
    agent.write(log={"file": str(log), "level": "info"})
    agent.program.signal(signal.SIGHUP)
    wait_until(lambda: DONE in log.read_text(encoding="utf-8"), "it goes on in the file")
    log.rename(tmp_path / "log.1")
    agent.program.signal(signal.SIGHUP)
    wait_until(lambda: DONE in log.read_text(encoding="utf-8"), "and in a new one")
    agent.write(log={"level": "error"})
    agent.program.signal(signal.SIGHUP)
    agent.program.wait_until(lambda: str(log) not in agent.files(), "the file is closed")
    agent.write(log={"level": "debug"})
    agent.reload()  # on standard error again
    assert agent.count(DONE) == 1


def test_a_session_stays_while_its_server_does(home, agent):
    agent.write(servers=["127.0.0.1:1", f"127.0.0.1:{home.link_port}"])
    agent.reload()
    agent.write(operations={"at_once": 7}, output={"max_bytes": 65536})
    agent.reload()
    assert agent.count("connected") == 1
    agent.write(servers=[f"localhost:{home.link_port}"])
    agent.reload()
    agent.program.wait_until(lambda: agent.count("connected") == 2, "the other one is connected")
    said = agent.program.logs(text="no server; hosted processes are kept alive")[0]
    assert f"127.0.0.1:{home.link_port} is no longer in the settings" in said["error"]


def test_what_can_not_change_is_named_if_it_changed(agent, tmp_path):
    later = "takes effect when the agent is started anew"
    agent.reload()
    assert agent.count(later) == 0
    agent.write(ip="127.0.0.9", data_dir=str(tmp_path / "other"), agent_id="me")
    agent.reload()
    assert [r["setting"] for r in agent.program.logs(text=later)] == ["data_dir", "ip", "agent_id"]
    assert not (tmp_path / "other").exists()
    agent.write(ip="127.0.0.1", data_dir=str(tmp_path / "agent"), agent_id="")
    agent.reload()
    assert agent.count(later) == 3


def test_the_list_of_processes_moves(home, agent, tmp_path):
    m = Member(tmp_path / "web")
    assert home.do(m.request("127.0.0.1", 0))["error_code"] == 0
    agent.write(proc_file=str(tmp_path / "list"))
    agent.reload()
    wait_until((tmp_path / "list").exists, "it is there")
    assert json.loads((tmp_path / "list").read_text(encoding="utf-8"))["proc"][0]["valuekey"] == "crowd:web"
    (tmp_path / "theirs").write_text("{\"proc\":[]}", encoding="utf-8")
    agent.write(proc_file=str(tmp_path / "theirs"))
    agent.reload()
    assert [r["file"] for r in agent.program.logs() if "has to be read first" in r["text"]] == \
        [str(tmp_path / "theirs")]
    assert (tmp_path / "theirs").read_text(encoding="utf-8") == "{\"proc\":[]}"
    m.end()


def test_the_service_manager_is_told(home, tmp_path):
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(str(tmp_path / "notify"))
        manager.settimeout(60)
        agent = Configured(home, tmp_path, NOTIFY_SOCKET=tmp_path / "notify")
        assert manager.recv(100) == b"READY=1"
        agent.reload()
        first = manager.recv(100)
        assert first.startswith(b"RELOADING=1\nMONOTONIC_USEC=") and manager.recv(100) == b"READY=1"
        agent.write(log={"level": "loud"})
        agent.reload(REFUSED)
        assert manager.recv(100).startswith(b"RELOADING=1") and manager.recv(100) == b"READY=1"
        agent.write(log={"level": "debug"})
        agent.program.signal(signal.SIGUSR2)
        assert manager.recv(100) == b"READY=1"  # by the program that took its place
