# SPDX-License-Identifier: MIT
"""Version, health and configuration of real processes: asked, told, explained."""
import json
import os

import pytest

from holdfast import wait_until
from one_host import OneHost

FAST = {"start_check_secs": 1, "stop_check_secs": 1, "start_interval": 1, "op_timeout": 4}
NAME = "gse/proc-test"
EMPTY, ABC = "d41d8cd98f00b204e9800998ecf8427e", "900150983cd24fb0d6963f7d28e17f72"


class World(OneHost):
    def do(self, op, extra=None, files=(), code=0):
        body = self.daemon.request(self.agent.ip, op, **FAST)
        body["spec"]["holdfast"] = extra or {}
        body["spec"]["configmap"] = list(files)
        result = self.home.do(body)
        assert result["error_code"] == code, result
        return result

    def query(self):
        return json.loads(self.do(2)["content"])["process"][0]["instance"][0]

    def why(self, *args):
        return self.cli("why", NAME, *args).out

    def wait_why(self, text, what):
        return wait_until(lambda: text in self.why() and self.why(), what, timeout=60)

    def events(self, name):
        return [e["data"][0]["event"]["content"] for e in self.home.events(name)]

    def wait_event(self, name):
        return wait_until(lambda: self.events(name), name, timeout=60)


@pytest.fixture
def world(holdfast, tmp_path):
    w = World(holdfast, tmp_path)
    yield w
    w.daemon.end()


def test_version_and_health_are_told_when_asked(world):
    world.do(0)
    wait_until(lambda: world.home.processes(name="proc-test")[0]["process"].get("version") == "1.2.3",
               "the version is told after the start")
    row = world.query()
    assert (row["version"], row["health"]) == ("1.2.3", "fine"), row
    told = world.wait_why("version", "and shown")
    assert "1.2.3" in told
    world.daemon.script("health.sh", "echo slow; exec sleep 600")
    world.daemon.script("version.sh", "echo no such option; exit 2")
    row = world.query()  # in 4 s, not in 600
    assert (row["version"], row["health"]) == ("", "took longer than 4 s and was ended"), row
    assert row["pid"] == world.daemon.named_pid()


@pytest.mark.quick
def test_one_that_turns_unhealthy_is_told_of_and_restarted(world):
    world.do(0, {"health_interval": 1, "unhealthy_restarts": 2})
    first = world.daemon.wait_pid()
    world.daemon.script("health.sh", "test -e cured && exit 0\necho no database\nexit 1")
    assert world.wait_event("process_unhealthy")[0] == "proc-test is unhealthy: no database"
    second = world.daemon.wait_pid(but=first)
    assert world.wait_event("process_restart_success")[0] == "check proc-test unhealthy, and restart it success"
    (world.daemon.folder / "cured").touch()
    wait_until(lambda: world.query()["health"] == "", "it is well again")
    assert second in world.daemon.pids() or world.daemon.starts() > 2  # or it was too late for the second
    assert world.query()["isAuto"] is True


def test_one_that_is_unhealthy_is_explained(world):
    world.do(0, {"health_interval": 1})
    pid = world.daemon.wait_pid()
    world.daemon.script("health.sh", "echo no database; exit 1")
    told = world.wait_why("unhealthy for ", "it is explained")
    assert f"as pid {pid}; unhealthy for " in told and ": no database" in told
    zh = world.why("--lang", "zh")
    assert "不健康已" in zh and "unhealthy" not in zh
    world.daemon.script("health.sh", "echo fine")
    assert world.wait_event("process_healthy") == ["proc-test is healthy again"]
    assert len(world.events("process_unhealthy")) == 1 and world.daemon.pids() == [pid]


def test_a_file_of_its_configmap_that_differs_is_told_of(world):
    path = world.daemon.folder / "proc-test.conf"
    path.write_text("abc", encoding="ascii")
    files = [{"path": "", "md5": ""}, {"path": str(path), "md5": ABC}]
    world.do(0, files=files)
    pid = world.daemon.wait_pid()
    new = world.daemon.folder / "new"
    new.touch()
    os.rename(new, path)
    assert world.wait_event("process_config_changed") == [
        f"{path} of proc-test is not as it should be: md5 {EMPTY}, expected {ABC}"]
    told = world.wait_why("configuration is not as it should be", "it is explained")
    assert EMPTY in told and "配置文件与预期不符" in world.why("--lang", "zh")
    path.unlink()
    world.wait_why("is not there", "nor is it there")
    world.agent.kill()  # what has been told is not told again
    world.agent.start()
    world.agent.wait_online()
    path.mkdir()
    world.wait_why("is a folder", "nor is it a file")
    path.rmdir()
    path.write_text("abc", encoding="ascii")
    world.wait_event("process_config_restored")
    assert len(world.events("process_config_changed")) == 1
    assert world.daemon.pids() == [pid]  # nothing was done about it
