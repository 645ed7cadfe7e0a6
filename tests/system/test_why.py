# SPDX-License-Identifier: MIT
"""holdfast why: what is told of processes that are as they should be, and of others."""
import json
import os
import signal

import pytest

from holdfast import wait_until
from one_host import OneHost

FAST = {"start_check_secs": 1, "stop_check_secs": 1, "start_interval": 1}
NAME = "gse/proc-test"


class World(OneHost):
    """why() asks as a person does."""

    def why(self, *args):
        return self.cli("why", NAME, *args)

    def wait_why(self, text, what):
        """The first answer with that text."""
        def asked():
            p = self.why()
            return p if text in p.out else None
        return wait_until(asked, what, timeout=60)

    def do(self, op, code=0, **policy):
        result = self.home.do(self.daemon.request(self.agent.ip, op, **{**FAST, **policy}))
        assert result["error_code"] == code, result
        return result

    def process(self):
        """As the API tells it."""
        return self.home.processes(name="proc-test")[0]["process"]


@pytest.fixture
def world(holdfast, tmp_path):
    w = World(holdfast, tmp_path)
    yield w
    w.daemon.end()


def facts(out):
    """{label: value} of one block; a value that goes on below is joined with blanks."""
    found, label = {}, None
    for line in out.splitlines()[1:]:
        assert line.startswith("  "), line
        if line[2] != " ":
            label, _, value = line.strip().partition("  ")
            found[label] = value.strip()
        else:
            found[label] += " " + line.strip()
    return found


def test_of_one_that_runs_it_is_told_how_long_and_as_what(world):
    world.do(0)
    pid = world.daemon.wait_pid()
    p = world.wait_why(f"as pid {pid}", "it runs")
    told = facts(p.out)
    assert p.code == 0 and p.err == "", p.out
    assert p.out.splitlines()[0] == f"{NAME} on 127.0.0.1"
    assert told["why"].startswith("running for ") and told["why"].endswith(f" as pid {pid}")
    assert told["state"].startswith("running since 20") and told["wanted"] == "running"
    assert told["hosted"] == "yes" and told["pid"] == str(pid)
    assert "last exit" not in told and "last failure" not in told
    zh = world.why("--lang", "zh").out
    assert f"PID {pid}" in zh and "已运行" in zh and "running" not in zh
    assert f" as pid {pid}" in world.cli("ps").out
    assert "Every process of the hosts online is as wanted." in world.cli("status").out


def test_of_one_that_came_back_the_last_exit_is_told(world):
    world.do(0)
    first = world.daemon.wait_pid()
    os.kill(first, signal.SIGSEGV)
    second = world.daemon.wait_pid(but=first)
    p = world.wait_why("restarted once", "the restart is told")
    told = facts(p.out)
    assert p.code == 0
    assert f"as pid {second}; restarted once, after signal 11 (SIGSEGV)" in told["why"]
    assert told["last exit"].startswith("signal 11 (SIGSEGV)") and told["last exit"].endswith(f"pid {first}")
    assert told["restarts"] == "1"
    assert "已自动重启 1 次，原因：信号 11（SIGSEGV）" in world.why("--lang", "zh").out
    assert "after signal 11 (SIGSEGV)" in world.cli("ps").out
    assert "as wanted." in world.cli("status").out  # it is well again
    cause = world.process()["cause"]
    assert (cause["exit_signal"], cause["exit_pid"]) == (11, first)


def test_of_one_that_is_restarted_again_and_again_it_is_told_how_often(world):
    world.do(0)
    pid = world.daemon.wait_pid()
    for n in range(1, 6):
        os.kill(pid, signal.SIGKILL)
        wait_until(lambda n=n: world.process()["restarts"] == n, f"it is restarted {n} times", timeout=60)
        pid = world.daemon.wait_pid(but=pid)
    p = world.wait_why("restarted 5 times in 10 minutes", "the rate is told")
    assert p.code == 1 and "in 10 minutes, last after signal 9 (SIGKILL)" in p.out
    assert "10 分钟内已自动重启 5 次" in world.why("--lang", "zh").out
    assert "restarted 5 times in 10 minutes" in world.cli("ps").out
    events = world.cli("events").out
    assert events.count("proc-test was restarted 5 times in 10 minutes") == 1
    assert events.count("has ended: killed by signal 9") == 5


@pytest.mark.quick
def test_of_one_that_was_given_up_it_is_told_why(world):
    world.do(0, start_retries=2)
    world.daemon.script("start.sh", "echo no license for today\nexit 7")
    os.kill(world.daemon.wait_pid(), signal.SIGKILL)
    p = world.wait_why("given up after", "it is given up")
    told = facts(p.out)
    assert p.code == 1
    assert told["why"].startswith("given up after 7 tries, no longer hosted; ended ")
    assert "signal 9 (SIGKILL); start failed " in told["why"] and told["why"].endswith("(65535)")
    assert told["hosted"] == "no, given up" and told["wanted"] == "running" and told["tries"] == "7 of 7"
    assert told["last failure"].startswith("start, 20") and "65535 COMMAND" in told["last failure"]
    assert "no license for today" in told["last failure"] + told["last output"]
    zh = world.why("--lang", "zh").out
    assert "自动拉起 7 次后放弃，已取消托管" in zh and "信号 9（SIGKILL）" in zh and "启动失败" in zh
    status = world.cli("status").out
    assert "1 not as wanted:" in status and "given up after 7 tries" in status


def test_of_a_start_that_met_another_process_it_is_told_what_was_found(world):
    world.daemon.script("start.sh", f"echo {world.home.server.pid} > proc-test.pid")
    world.do(0, code=836)
    p = world.wait_why("start failed", "the failure is told")
    told = facts(p.out)
    assert p.code == 1
    assert told["why"].startswith("not running; start failed ")
    assert "holdfast-server" in told["why"] and "proc-test" in told["why"]
    assert told["last failure"].startswith("start, ") and "holdfast-server" in told["last failure"]
    zh = world.why("--lang", "zh").out
    assert "启动失败" in zh and "holdfast-server" in zh and "未运行" in zh


def test_of_a_start_by_another_name_it_is_told_what_was_found(world):
    world.daemon.script("start.sh", "echo listening\nexec sleep 60")
    result = world.do(0, code=822, op_timeout=3)
    late = "the command ran longer than 3 s and was ended: the command names "
    found = "whose exe is sleep, expected proc-test"
    assert result["error_msg"].startswith(late) and result["error_msg"].endswith(f"{found}; its output: [listening\n]")
    told = facts(world.wait_why("start failed", "the failure is told").out)
    assert late in told["why"] and found in told["why"] and told["last output"] == "| listening"
    zh = world.why("--lang", "zh").out
    assert "命令执行超过 3 秒，已被终止：命令 指向 " in zh and "其程序是 sleep，应为 proc-test" in zh


def test_what_the_first_failed_restart_said_is_the_last_output(world):
    world.daemon.script("start.sh", "echo all is well\nexec ./proc-test --life-ms 120000")
    world.do(0, start_retries=1)
    pid = world.daemon.wait_pid()
    (world.daemon.folder / "start.sh").rename(world.daemon.folder / "moved.sh")
    os.kill(pid, signal.SIGKILL)
    world.wait_why("given up after", "it is given up")
    told = facts(world.why().out)  # the last words of the one that died are read a little later
    assert "exit code 127" in told["last failure"] and "start.sh" in told["last output"], told
    assert "all is well" not in told["last output"]


def test_one_that_ran_once_and_has_finished_is_no_trouble(world):
    world.daemon.script("start.sh", "echo backup done")
    world.do(0, auto_type=2)
    p = world.wait_why("finished", "the end is told")
    told = facts(p.out)
    assert p.code == 0, p.out
    assert told["why"].startswith("finished ") and told["why"].endswith(" ago, as it should")
    assert "按预期运行完成" in world.why("--lang", "zh").out
    assert "as wanted." in world.cli("status").out
    world.daemon.script("start.sh", "exit 3")
    world.do(0, code=65535, auto_type=2)
    p = world.wait_why("start failed", "the failure is told")
    assert p.code == 1 and "as it should" not in p.out  # that was the run before


def test_one_that_ran_once_and_failed_is_told_with_its_output(world):
    world.daemon.script("start.sh", "echo no space left in /backup\nexit 3")
    world.do(0, code=65535, auto_type=2)
    p = world.wait_why("no space left in /backup", "its last words are told")
    why = facts(p.out)["why"]
    assert p.code == 1 and why.startswith("not running, ended ") and ": exit code 3; start failed " in why
    assert "启动失败：命令执行失败" in world.why("--lang", "zh").out


def test_one_that_was_stopped_is_as_wanted(world):
    world.do(0)
    world.do(1)
    p = world.wait_why("as wanted", "the stop is told")
    told = facts(p.out)
    assert p.code == 0 and told["why"].startswith("stopped for ") and told["why"].endswith(", as wanted")
    assert told["hosted"] == "no" and told["wanted"] == "stopped" and "pid" not in told
    assert "已按期望停止" in world.why("--lang", "zh").out


def test_what_is_known_of_a_host_that_is_away_outlives_the_server(world):
    world.do(0)
    first = world.daemon.wait_pid()
    os.kill(first, signal.SIGKILL)
    pid = world.daemon.wait_pid(but=first)
    world.wait_why("restarted once", "the restart is told")
    world.agent.kill()
    wait_until(lambda: not world.home.online(world.agent.ip), "the host is offline", timeout=60)
    before = world.process()["cause"]
    assert world.home.server.stop() == 0
    world.home.start()
    p = world.why()
    told = facts(p.out)
    assert p.code == 1  # its state is unknown
    assert told["why"].startswith("nothing heard of the agent for ")
    assert f" as pid {pid}; restarted once, after signal 9 (SIGKILL)" in told["why"]
    assert world.process()["cause"] == before
    assert "Agent 已失联" in world.why("--lang", "zh").out
    status = world.cli("status")
    assert status.code == 1 and ": 127.0.0.1" in status.out, status.out


@pytest.mark.quick
def test_json_is_what_the_api_says(world):
    world.do(0)
    world.wait_why("running for", "it runs")
    page = json.loads(world.why("--json").out)
    assert [p["process"]["name"] for p in page["processes"]] == ["proc-test"]
    view = page["processes"][0]["process"]
    assert view["why"].startswith("running for ") and view["cause"]["since_s"] > 0
    assert view["cause"] == world.process()["cause"]


def test_what_nobody_has_is_no_success(world):
    for args in (["gse/other"], ["gse/other", "--host", "127.0.0.1"]):
        p = world.cli("why", *args)
        assert p.code == 1 and p.out == "" and "no such process" in p.err
    p = world.cli("why", "gse/other", "--json")
    assert p.code == 1 and json.loads(p.out)["processes"] == []
    assert world.cli("why", "gse/other", "--host", "10.9.9.9").code == 1
    for wrong in (["gse"], ["/x"], ["gse/"], []):
        p = world.cli("why", *wrong)
        assert p.code == 2 and "NAMESPACE/NAME" in p.err, wrong
