# SPDX-License-Identifier: MIT
"""What a process may use: one that takes too much, with its children, is stopped and comes
back.  Spikes, and the rest of the rules, are in tests/unit/agent/supervise/test_core_limit.c."""
import os
import pathlib
import tempfile

import pytest

from daemon import Daemon
from holdfast import Holdfast, wait_until
from installation import Installation

FAST = {"start_check_secs": 1, "stop_check_secs": 1, "start_interval": 1, "start_retries": 20}
QUICK = {"HOLDFAST_AGENT_LIMITS_INTERVAL_SECONDS": "1", "HOLDFAST_AGENT_LIMITS_GRACE_SECONDS": "0"}
OTHER_USER = "games"  # exists in Debian, and has no other processes here
EXCEED, BACK = "process_resource_limit_exceed", "process_restart_success"
LIMIT = 2  # percent, which a burner gets on any machine, however busy
MEM_BYTES = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")

pytestmark = pytest.mark.skipif(os.getuid() != 0, reason="only root starts processes of others")


class World:
    """One installation for all tests of this file, in a folder that others may enter."""

    def __init__(self, folder):
        self.folder, self.programs, self.daemons = pathlib.Path(folder), Holdfast(), {}
        self.home = Installation(self.programs, self.folder / "home")
        self.agent = self.home.add_agent()
        self.agent.kill()
        self.agent.start(**QUICK)
        self.agent.wait_online()

    def request(self, name, op, user="root", bytes_max=0, **resource):
        body = self.daemons[name].request(self.agent.ip, op, **FAST)
        body["meta"]["name"] = name
        body["spec"]["resource"] = resource
        body["spec"]["identity"]["user"] = user
        body["spec"]["holdfast"] = {"limit_memory": bytes_max}
        return body

    def start(self, name, options, kind="daemon", **more):
        self.daemons[name] = Daemon(self.folder / name, kind, options)
        return self.home.operate(self.request(name, 0, **more))

    def started(self, *tasks):
        for task in tasks:
            assert all(r["error_code"] == 0 for r in self.home.result(task).values())

    def events(self, kind, name):
        return [e["data"][0] for e in self.home.events(kind)
                if e["data"][0]["dimension"]["process_index"] == f"gse:{name}"]

    def wait_event(self, kind, name):
        return wait_until(lambda: self.events(kind, name), f"{name}: {kind}", 60)[0]["event"]["content"]

    def why(self, name, *args):
        env = {"HOME": self.folder, "XDG_CONFIG_HOME": "", "LC_ALL": "C", "TZ": "UTC"}
        return self.programs.run("holdfast", "why", f"gse/{name}", "--socket", self.home.data / "admin.sock", *args,
                                 env=env).out

    def close(self):
        wrong = self.programs.close()
        for d in self.daemons.values():
            d.end()
        assert not wrong, "\n".join(wrong)


@pytest.fixture(name="world", scope="module")
def one_world():
    with tempfile.TemporaryDirectory(prefix="limits-") as folder:
        os.chmod(folder, 0o755)
        os.mkdir(folder + "/home")
        world = World(folder)
        yield world
        world.close()


def values(text, what, unit=" %"):
    return [float(x) for x in text.split(f" is stopped: {what} ")[1].split(unit)[0].split(", ")]


def test_what_uses_too_much_is_stopped_and_comes_back(world):
    """By processor, with its children; by memory; and one that has no limit is only shown."""
    most = 100 * (96 << 20) / MEM_BYTES
    world.started(world.start("hot", "--children 2 --burn", cpu=LIMIT),
                  world.start("big", f"--children 1 --grow {160 << 20}", mem=most),
                  world.start("free", "--burn"))
    text = world.wait_event(EXCEED, "hot")
    assert text.endswith(f" % of the machine, its limit is {LIMIT} %"), text
    assert len(values(text, "cpu")) == 3 and all(x > LIMIT for x in values(text, "cpu")), text
    text = world.wait_event(EXCEED, "big")
    assert len(values(text, "mem")) == 3 and all(x > most for x in values(text, "mem")), text
    for name in ("hot", "big"):
        world.wait_event(BACK, name)
        assert world.daemons[name].starts() >= 2
    wait_until(lambda: ", for it used too much (mem " in world.why("big"), "the reason is told")
    assert "资源超限（占用整机内存 " in world.why("big", "--lang", "zh")

    def told():
        view = world.home.processes(name="free")[0]["process"]
        return view if view.get("cpu", 0) > 1 and view.get("mem_bytes", 0) > 0 else None
    view = wait_until(told, "what it uses is told", 60)
    assert 0 < view["mem"] < 100 and view["cpu"] <= 101
    assert "% of the CPU, " in world.why("free")
    assert not world.events(EXCEED, "free")
    for name in ("hot", "big", "free"):
        assert world.home.do(world.request(name, 9))["error_code"] in (0, 829)


def test_more_bytes_than_limit_memory_stop_it_and_it_comes_back(world):
    world.started(world.start("bytes", f"--children 1 --grow {96 << 20}", bytes_max=64 << 20))
    text = world.wait_event(EXCEED, "bytes")
    assert text.endswith(" MiB, its limit is 64 MiB"), text
    assert len(values(text, "memory", " MiB")) == 3 and all(x > 96 for x in values(text, "memory", " MiB")), text
    world.wait_event(BACK, "bytes")
    assert world.daemons["bytes"].starts() >= 2
    wait_until(lambda: ", for it used too much (memory " in world.why("bytes"), "the reason is told")
    assert world.home.do(world.request("bytes", 9))["error_code"] in (0, 829)


def test_no_double_start_when_a_limit_meets_a_restart(world):
    """A restart is asked for while it is being stopped for what it uses: never two run."""
    slot = world.folder / "slot"
    world.started(world.start("twice", f"--burn --slot {slot}", cpu=LIMIT))
    world.wait_event(EXCEED, "twice")
    assert world.home.do(world.request("twice", 7, cpu=LIMIT))["error_code"] == 0
    lines = slot.read_text(encoding="ascii").splitlines()
    assert len(lines) >= 2 and not any(line.startswith("double") for line in lines), lines
    assert world.home.do(world.request("twice", 9))["error_code"] in (0, 829)


def test_a_crowd_that_forks_without_end_is_ended_as_a_whole(world):
    """As many as the user may have, all of them forking; few are children of the first."""
    most = 60
    world.started(world.start("storm", f"--storm {most}", "foreground", user=OTHER_USER, cpu=LIMIT))
    daemon = world.daemons["storm"]
    wait_until(lambda: len(daemon.pids()) > most // 2, "there are many")
    old = set(daemon.pids())
    world.wait_event(EXCEED, "storm")
    world.wait_event(BACK, "storm")
    assert not old & set(daemon.pids())
    body = world.request("storm", 9, user=OTHER_USER)
    body["spec"]["control"]["kill_cmd"] = ""  # all of it, at once
    world.home.do(body)
    wait_until(lambda: not daemon.pids(), "none is left")
