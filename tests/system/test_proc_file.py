# SPDX-License-Identifier: MIT
"""The list of hosted processes in GSE's format: tools can read it, and the agent applies an
edit of it."""
import json
import os
import signal

import pytest

from crowd import KINDS, Member
from holdfast import wait_until
from installation import Agent, Installation, is_alive

START, STOP, HOST, UNHOST, RESTART = 0, 1, 3, 4, 7

MEMBERS = ["procName", "setupPath", "pidPath", "contact", "startCmd", "stopCmd", "restartCmd", "reloadCmd", "killCmd",
           "versionCmd", "healthCmd", "type", "cpulmt", "memlmt", "user", "password", "userPwd", "valuekey",
           "startCheckBeginTime", "startCheckEndTime", "opTimeOut", "operateType", "timestamp"]
EDITED = "because it was"


@pytest.fixture(name="home")
def installation(holdfast, tmp_path):
    return Installation(holdfast, tmp_path)


@pytest.fixture(name="member")
def members(tmp_path):
    made = []

    def make(name, start=KINDS["foreground"], **more):
        made.append(Member(tmp_path / name, start, **more))
        made[-1].extra = {}
        return made[-1]
    yield make
    for m in made:
        m.end()


class Listed:
    """An agent, its file, and what is asked of it."""

    def __init__(self, home, **env):
        self.home, self.env = home, env
        self.agent = Agent.__new__(Agent)
        self.agent.start = lambda: Agent.start(self.agent, **env)
        self.agent.__init__(home, "127.0.0.1", home.token(cloud_id=0, biz_id=2))
        self.agent.wait_online()
        self.path = self.agent.folder / ".proc"

    def do(self, m, op, code=0, **policy):
        result = self.home.do(m.request(self.agent.ip, op, **policy))
        assert result["error_code"] == code, result
        return result

    def rows(self):
        return json.loads(self.path.read_text(encoding="utf-8"))["proc"]

    def names(self):
        return sorted(r["valuekey"] for r in self.rows())

    def write(self, rows):
        """As an editor or a script does it, with blanks of its own."""
        self.path.write_text(json.dumps({"proc": rows}, indent=1), encoding="utf-8")

    def stop(self):
        assert self.agent.program.stop() == 0

    def again(self):
        self.agent.start()
        self.agent.wait_online()

    def logs(self, word):
        return [r for r in self.agent.program.logs() if word in r["text"]]

    def hosted(self):
        return {r["process"]["name"]: r["process"]["hosted"] for r in self.home.processes(namespace="crowd")}

    def wait_hosted(self, **expected):
        """The server is told a moment after the agent is online."""
        wait_until(lambda: self.hosted() == expected, f"{expected} are hosted", 60)


@pytest.mark.quick
def test_a_record_is_there_if_and_only_if_it_is_hosted(home, member):
    listed, m = Listed(home), member("web_1")
    wait_until(lambda: listed.path.exists() and listed.rows() == [], "an empty list is there")
    assert oct(listed.path.stat().st_mode & 0o777) == "0o600"
    m.control = {"stop_cmd": "kill $(cat pid) \"it's\" 中文", "kill_cmd": ""}
    listed.do(m, START, op_timeout=17)  # no waiting from here on: after the answer the record is there
    row = listed.rows()[0]
    assert list(row) == MEMBERS
    assert row.pop("timestamp") > 1600000000
    assert row == {
        "procName": "proc-test", "setupPath": str(m.folder), "pidPath": str(m.pid_file), "contact": "crowd",
        "startCmd": m.start, "stopCmd": m.control["stop_cmd"], "restartCmd": "", "reloadCmd": "", "killCmd": "",
        "versionCmd": "", "healthCmd": "", "type": 1, "cpulmt": 0, "memlmt": 0, "user": "root", "password": "",
        "userPwd": ":::root@@@", "valuekey": "crowd:web_1", "startCheckBeginTime": 1, "startCheckEndTime": 1,
        "opTimeOut": 17, "operateType": START}
    listed.do(m, UNHOST)
    assert listed.rows() == [] and is_alive(m.begun()[-1])
    listed.do(m, HOST, stop_check_secs=None)
    assert listed.rows()[0]["operateType"] == HOST and listed.rows()[0]["startCheckEndTime"] == 0
    m.control = {"stop_cmd": ""}
    listed.do(m, HOST)
    assert listed.rows()[0]["stopCmd"] == "" and len(listed.rows()) == 1
    listed.do(m, RESTART)
    assert listed.rows()[0]["operateType"] == RESTART
    listed.do(m, STOP)
    assert listed.rows() == []


def test_one_that_is_given_up_is_taken_out(home, member):
    listed, m = Listed(home), member("hopeless")
    listed.do(m, START, start_retries=0)
    assert listed.names() == ["crowd:hopeless"]
    os.kill(m.begun()[-1], signal.SIGKILL)
    wait_until(lambda: listed.rows() == [], "it is no longer in the list", 60)


@pytest.mark.parametrize("how", ["stop", "kill"])
def test_nobody_has_edited_what_the_agent_wrote(home, member, how):
    listed = Listed(home)
    for i in range(3):
        listed.do(member(f"p{i}"), START)
    before = listed.path.read_bytes()
    listed.agent.program.stop() if how == "stop" else listed.agent.kill()
    listed.again()
    assert listed.logs(EDITED) == [] and listed.logs("was gone") == []
    assert listed.path.read_bytes() == before


def test_what_somebody_has_edited_is_done(home, member):
    listed = Listed(home)
    out, other, stays, new = member("out"), member("other"), member("stays"), member("new")
    for m in (out, other, stays):
        listed.do(m, START)
    pids = [m.begun()[-1] for m in (out, other, stays)]
    listed.stop()
    rows = {r["valuekey"]: r for r in listed.rows()}
    changed = {**rows["crowd:other"], "startCmd": rows["crowd:other"]["startCmd"] + " --slot other"}
    added = {**rows["crowd:stays"], "valuekey": "crowd:new", "setupPath": str(new.folder), "startCmd": new.start,
             "pidPath": str(new.pid_file)}
    listed.write([added, rows["crowd:stays"], changed])
    listed.again()
    listed.wait_hosted(out=False, other=True, stays=True, new=True)
    new.wait_pid()
    assert all(is_alive(p) for p in pids) and all(len(m.begun()) == 1 for m in (out, other, stays))
    assert sorted(r["process"] for r in listed.logs(EDITED)) == ["new", "other", "out"]
    wait_until(lambda: listed.names() == ["crowd:new", "crowd:other", "crowd:stays"], "the list is as it should be")
    (told,) = wait_until(lambda: home.events("agent_proc_file_edited"), "the event is there")
    text = json.dumps(told)
    for part in ("1 added (crowd:new)", "1 changed (crowd:other)", "1 taken out (crowd:out)"):
        assert part in text
    os.kill(out.begun()[-1], signal.SIGKILL)
    os.kill(other.begun()[-1], signal.SIGKILL)
    wait_until((other.folder / "other").exists, "it is started by the command that stands there now", 60)
    assert len(out.begun()) == 1
    listed.stop()
    listed.again()
    assert listed.logs(EDITED) == []  # it is done once


def test_an_older_list_that_is_put_back_is_an_edit(home, member):
    listed = Listed(home)
    first, second = member("first"), member("second")
    listed.do(first, START)
    older = listed.path.read_bytes()
    listed.do(second, START)
    listed.stop()
    listed.path.write_bytes(older)
    listed.again()
    listed.wait_hosted(first=True, second=False)
    assert is_alive(second.begun()[-1])


@pytest.mark.parametrize("text", ["", "{\"proc\": [", "not JSON", "{}"])
def test_what_can_not_be_read_is_kept_aside(home, member, text):
    listed, m = Listed(home), member("web")
    listed.do(m, START)
    listed.stop()
    listed.path.write_text(text, encoding="utf-8")
    listed.again()
    wait_until(lambda: listed.path.exists() and listed.names() == ["crowd:web"], "the list is written anew")
    assert (listed.agent.folder / ".proc.bad").read_text(encoding="utf-8") == text
    assert listed.logs("can not be read: it is kept as .proc.bad and written anew")
    listed.wait_hosted(web=True)


def test_a_record_that_can_not_be_read_takes_nothing_out(home, member):
    listed, m = Listed(home), member("web")
    listed.do(m, START)
    listed.stop()
    listed.write([{**listed.rows()[0], "setupPath": "relative"}])
    listed.again()
    said = listed.logs("some of the list of hosted processes can not be read")
    assert "proc[0].setupPath: must be an absolute path" in said[0]["error"]
    listed.wait_hosted(web=True)
    wait_until(lambda: listed.names() == ["crowd:web"], "the list is written anew")


def test_a_list_that_is_gone_says_nothing(home, member):
    listed, m = Listed(home), member("web")
    listed.do(m, START)
    listed.stop()
    listed.path.unlink()
    listed.again()
    wait_until(lambda: listed.path.exists() and listed.names() == ["crowd:web"], "the list is written anew")
    assert listed.logs("was gone and is written anew")
    listed.wait_hosted(web=True)


def test_processes_of_a_gse_agent_are_taken_over(home, member, tmp_path):
    runs, down = member("runs"), member("down")
    old = [{"procName": "proc-test", "setupPath": str(m.folder), "pidPath": str(m.pid_file), "contact": "crowd",
            "startCmd": m.start, "stopCmd": "", "type": 1, "cpulmt": 0, "memlmt": 0, "user": "root",
            "valuekey": f"crowd:{m.name}", "startCheckBeginTime": 1, "startCheckEndTime": 0, "opTimeOut": 10,
            "operateType": 0, "timestamp": 1782360282, "userPwd": ":::root@@@", "password": ""}
           for m in (runs, down)]
    (tmp_path / "etc").mkdir(mode=0o700)
    path = tmp_path / "etc" / ".proc"
    path.write_text(json.dumps({"proc": old}), encoding="utf-8")
    path.chmod(0o644)
    pid = os.spawnl(os.P_NOWAIT, runs.folder / "proc-test", str(runs.folder / "proc-test"), "--life-ms", "120000")
    runs.pid_file.write_text(str(pid), encoding="ascii")
    listed = Listed(home, HOLDFAST_AGENT_PROC_FILE=path)
    down.wait_pid()
    listed.wait_hosted(runs=True, down=True)
    wait_until(lambda: home.processes(name="runs")[0]["process"]["pid"] == pid, "the one that runs is known")
    assert runs.begun() == []  # and was not started a second time
    listed.path = path
    wait_until(lambda: [list(r) for r in listed.rows()] == [MEMBERS, MEMBERS], "it is written anew")
    assert {r["timestamp"] for r in listed.rows()} == {1782360282}
    assert not (listed.agent.folder / ".proc").exists()
    os.kill(pid, signal.SIGKILL)
    runs.wait_pid()


def test_a_place_where_nothing_can_be_written_holds_up_no_result(home, member, tmp_path):
    path = tmp_path / "etc" / ".proc"
    listed, m = Listed(home, HOLDFAST_AGENT_PROC_FILE=path), member("web")
    listed.do(m, START)
    listed.do(m, UNHOST)
    said = listed.logs("can not be written for other tools")
    assert len(said) == 1 and str(tmp_path / "etc") in said[0]["error"]
    path.parent.mkdir(mode=0o700)
    listed.path = path
    wait_until(lambda: path.exists() and listed.rows() == [], "it is written as soon as it can be", 60)
    listed.do(m, HOST)
    assert listed.names() == ["crowd:web"]
    assert listed.logs("can be written again")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a file of another user")
def test_a_link_of_another_user_is_not_followed(home, member, tmp_path):
    etc, victim = tmp_path / "etc", tmp_path / "victim"
    etc.mkdir(mode=0o700)
    victim.write_text("precious", encoding="utf-8")
    (etc / ".proc").symlink_to(victim)
    os.chown(etc / ".proc", 65534, 65534, follow_symlinks=False)
    listed, m = Listed(home, HOLDFAST_AGENT_PROC_FILE=etc / ".proc"), member("web")
    listed.do(m, START)
    assert victim.read_text(encoding="utf-8") == "precious" and (etc / ".proc").is_symlink()
    assert "symbolic link" in listed.logs("is not read")[0]["error"]
    assert len(listed.logs("can not be written for other tools")) == 1


@pytest.mark.parametrize("fault", ["renameat:1:EIO", "openat:2:ENOSPC"])
def test_a_failure_is_made_good(home, member, fault):
    listed, m = Listed(home, HOLDFAST_FAULT=fault), member("web")
    listed.do(m, START)
    wait_until(lambda: listed.path.exists() and listed.names() == ["crowd:web"], "it is written in the end", 60)
    assert not (listed.agent.folder / ".proc.new").exists()
