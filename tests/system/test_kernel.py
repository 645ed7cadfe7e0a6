# SPDX-License-Identifier: MIT
"""What the kernel offers, and what is done where it does not: supervision is the same
without each of its facilities, and what a spec asks of it (caps, limits, variables from a
file, nice) is kept or refused, never passed over."""
import contextlib
import os
import pathlib
import signal
import time

import pytest

from crowd import KINDS, Member
from holdfast import wait_until
from installation import Agent, Installation, is_alive

START, STOP, UNHOST, KILL = 0, 1, 4, 9
WITHOUT = ["", "pidfd", "pidfd_info", "cgroup", "cgroup_kill", "children_file", "inotify",
           "pidfd cgroup children_file inotify"]

pytestmark = pytest.mark.skipif(os.getuid() != 0, reason="only root starts processes of others")


@pytest.fixture(autouse=True)
def no_groups_are_left(tmp_path):
    """An agent that is killed leaves its groups to the next one; here there is none."""
    yield
    for path, _, _ in os.walk("/sys/fs/cgroup", topdown=False):  # others come and go meanwhile
        if "/holdfast-" in path and tmp_path.name in path:
            with contextlib.suppress(OSError):
                os.rmdir(path)


def env_of(without, cgroups="all"):
    return {"HOLDFAST_AGENT_WITHOUT": without, "HOLDFAST_AGENT_CGROUPS": cgroups}


def at_once(home, members, op):
    """One operation on the member of each host; all succeed."""
    tasks = [home.operate(m.request(ip, op)) for ip, m in members.items()]
    for task in tasks:
        for key, result in home.result(task).items():
            assert result["error_code"] == 0, (key, result)


def kill_last(members):
    for m in members.values():
        os.kill(m.begun()[-1], signal.SIGKILL)


def family(member):
    """The last that began and its two children; None: not yet.  Those of one before are on their own."""
    last = member.begun()[-1]
    pids = [last] + [p for p in member.pids() if parent(p) == last]
    return pids if len(pids) == 3 else None


def parent(pid):
    return int(pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()[1])


def lacks(agent, facility):
    return agent.program.logs(text="a facility of the kernel is not used", facility=facility)


def test_supervision_is_the_same_without_each_facility(holdfast, tmp_path):
    home = Installation(holdfast, tmp_path)
    agents = {f"127.0.0.{i + 1}": without for i, without in enumerate(WITHOUT)}
    agents = {ip: Agent(home, ip, home.token(biz_id=2), **env_of(without)) for ip, without in agents.items()}
    envs = {ip: env_of(without) for ip, without in zip(agents, WITHOUT)}
    kinds = ["foreground", "daemon"]
    members = {ip: Member(tmp_path / f"m{i}", KINDS[kinds[i % 2]], "--children 2") for i, ip in enumerate(agents)}
    try:
        for (ip, agent), without in zip(agents.items(), WITHOUT):
            agent.wait_online(60)
            for facility in without.split():
                assert lacks(agent, facility), (ip, facility)
        at_once(home, members, START)
        kill_last(members)  # of a child of the agent
        for m in members.values():
            m.wait_pid(2)
        for ip, agent in agents.items():
            agent.kill()
            agent.start(**envs[ip])
        for agent in agents.values():
            agent.wait_online(60)
        kill_last(members)  # of one that is no child any more
        for m in members.values():
            m.wait_pid(3)
        families = {m.name: wait_until(lambda m=m: family(m), f"{m.name} has its children") for m in members.values()}
        at_once(home, members, KILL)
        for name, pids in families.items():
            wait_until(lambda pids=pids: not any(map(is_alive, pids)), f"{name} and its children are gone")
        at_once(home, members, START)
        at_once(home, members, STOP)
        for m in members.values():
            assert not is_alive(m.begun()[-1]) and not m.doubles(), m.name
    finally:
        for m in members.values():
            m.end()
        for agent in agents.values():
            agent.program.stop()


def groups(agent):
    """The groups of its processes that are there, in all hierarchies."""
    name = agent.folder.parent.name
    return sorted(path for path, _, _ in os.walk("/sys/fs/cgroup")
                  if "/holdfast-" in path and name in path and os.path.basename(path).startswith("crowd"))


@pytest.mark.parametrize("cgroups", ["all", "when_needed"])
def test_no_empty_group_is_left(holdfast, tmp_path, cgroups):
    """Whatever ends a process, and however late the last of its group goes."""
    home = Installation(holdfast, tmp_path)
    agent = home.add_agent(**env_of("", cgroups))
    if lacks(agent, "cgroup"):
        pytest.skip("no cgroup can be made here: " + lacks(agent, "cgroup")[0]["reason"])
    late = f"sh -c 'sleep 15' & exec {KINDS['foreground']}"
    members = [Member(tmp_path / "stopped"), Member(tmp_path / "late", late), Member(tmp_path / "unhosted"),
               Member(tmp_path / "orphan"), Member(tmp_path / "failed", "exit 3"), Member(tmp_path / "unbegun")]
    for m in members:
        m.extra = {"caps": {"processes": 100}} if cgroups == "when_needed" else {}
    try:
        for m in members[:4]:
            result = home.do(m.request(agent.ip, START))
            if "not possible on this host" in result["error_msg"]:
                pytest.skip(result["error_msg"])
            assert result["error_code"] == 0, result
        assert len(groups(agent)) >= 4
        assert home.do(members[4].request(agent.ip, START))["error_code"] != 0
        gone = members[5].request(agent.ip, START)
        gone["spec"]["identity"]["setup_path"] = str(tmp_path / "not-there")
        assert home.do(gone)["error_code"] != 0
        for m, op in zip(members, (STOP, STOP, UNHOST)):
            assert home.do(m.request(agent.ip, op))["error_code"] == 0
        os.kill(members[2].begun()[-1], signal.SIGKILL)
        agent.kill()
        os.kill(members[3].begun()[-1], signal.SIGKILL)  # while there is no agent
        agent.start(**env_of("", cgroups))
        agent.wait_online()
        members[3].wait_pid(2)
        assert home.do(members[3].request(agent.ip, STOP))["error_code"] == 0
        wait_until(lambda: not groups(agent), "all groups are gone", 60)
    finally:
        for m in members:
            m.end()


def test_in_its_cgroup_nobody_outlives_a_kill(holdfast, tmp_path):
    """One that has left its parent and its session is found by the cgroup alone."""
    home = Installation(holdfast, tmp_path)
    members, agents = {}, []
    for i, without in enumerate(["", "cgroup_kill"]):
        agents.append(home.add_agent(f"127.0.0.{i + 1}", **env_of(without)))
        members[agents[-1].ip] = Member(
            tmp_path / f"m{i}", "setsid setsid ./proc-test --life-ms 60000 & exec ./proc-test {}")
    try:
        if lacks(agents[0], "cgroup"):
            pytest.skip("no cgroup can be made here: " + lacks(agents[0], "cgroup")[0]["reason"])
        at_once(home, members, START)
        for m in members.values():
            wait_until(lambda m=m: len(m.pids()) == 2, "both of them run")
        at_once(home, members, KILL)
        for m in members.values():
            wait_until(lambda m=m: not m.pids(), "both are gone")
        for agent in agents:
            agent.program.stop()
    finally:
        for m in members.values():
            m.end()


@pytest.mark.quick
def test_a_spec_has_its_limits_its_nice_and_its_file(holdfast, tmp_path):
    home = Installation(holdfast, tmp_path)
    agent = home.add_agent()
    file = tmp_path / "env"
    m = Member(tmp_path / "m", "ulimit -n > n; nice > nice; echo $ONE $TWO > env; exec ./proc-test {}")
    m.extra = {"env_file": str(file), "environment": {"TWO": "of the spec"}, "nice": 7, "rlimits": {"nofile": 99}}
    m.control = {"stop_cmd": "nice > nice-of-stop; echo $ONE > env-of-stop; kill $(cat pid)"}
    request = m.request(agent.ip, START)
    try:
        file.write_text("# variables\nONE='of the file'\nTWO=of the file\n", encoding="ascii")
        file.chmod(0o600)
        assert home.do(request)["error_code"] == 0
        assert [(m.folder / name).read_text(encoding="ascii") for name in ("n", "nice", "env")] == \
            ["99\n", "7\n", "of the file of the spec\n"]
        assert home.do(m.request(agent.ip, STOP))["error_code"] == 0
        assert (m.folder / "nice-of-stop").read_text(encoding="ascii") == f"{os.nice(0)}\n"  # as the agent's own
        assert (m.folder / "env-of-stop").read_text(encoding="ascii") == "of the file\n"
        file.write_text("ONE=1\nsecret\n", encoding="ascii")
        result = home.do(request)
        assert result["error_code"] != 0 and f"env_file {file}: line 2: " in result["error_msg"], result
        assert "secret" not in result["error_msg"]
    finally:
        m.end()


def test_caps_hold_or_the_start_is_refused(holdfast, tmp_path):
    home = Installation(holdfast, tmp_path)
    agent = home.add_agent("127.0.0.1")
    off = home.add_agent("127.0.0.2", **env_of("cgroup_caps"))
    big = Member(tmp_path / "big", options="--start-ms 1500 --grow 100000000")
    big.extra = {"caps": {"mem_bytes": 32 << 20}}
    many = Member(tmp_path / "many", options="--forks 40")
    many.extra = {"caps": {"processes": 10, "cpu": 50}}
    try:
        result = home.do(many.request(off.ip, START))
        assert result["error_code"] == 101 and "spec.holdfast.caps.cpu: not possible on this host, " in \
            result["error_msg"], result
        result = home.do(many.request(agent.ip, START))
        if "spec.holdfast.caps" in result["error_msg"]:
            pytest.skip("no caps here: " + result["error_msg"])
        assert result["error_code"] == 0, result
        wait_until(lambda: len(many.pids()) >= 9, "as many as there may be")
        assert len(many.pids()) <= 10
        assert home.do(many.request(agent.ip, KILL))["error_code"] == 0
        wait_until(lambda: not many.pids(), "all are gone")
        home.do(big.request(agent.ip, START))
        cli = ("why", "crowd/big", "--socket", home.data / "admin.sock")
        env = {"HOME": tmp_path, "XDG_CONFIG_HOME": "", "LC_ALL": "C"}
        wait_until(lambda: "out of memory" in holdfast.run("holdfast", *cli, env=env).out,
                   "the kernel ends it, and it is said why", timeout=60)
        home.do(big.request(agent.ip, KILL))  # it may just be down, which is as good
        wait_until(lambda: not big.pids(), "it is gone")
        agent.program.stop()
    finally:
        big.end()
        many.end()


def cpu_group(pid):
    """The folder of the group whose processor time is capped, with v1 or v2."""
    for line in pathlib.Path(f"/proc/{pid}/cgroup").read_text(encoding="ascii").splitlines():
        _, controllers, path = line.split(":", 2)
        if "cpu" in controllers.split(","):
            return next(p for p in (f"/sys/fs/cgroup/cpu{path}", f"/sys/fs/cgroup/cpu,cpuacct{path}")
                        if os.path.isdir(p))
        v2 = f"/sys/fs/cgroup{path}"
        if not controllers and os.path.exists(v2 + "/cpu.stat") and os.path.exists(v2 + "/cpu.max"):
            return v2
    raise AssertionError("no group")


def cpu_stat(group):
    lines = (pathlib.Path(group) / "cpu.stat").read_text(encoding="ascii").splitlines()
    return {key: int(value) for key, value in (line.split() for line in lines)}


def cpu_seconds(pids):
    """What they have used; fields 14 and 15 of their stat."""
    ticks = 0
    for pid in pids:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def test_a_cap_of_the_processor_binds(holdfast, tmp_path):
    """Three that burn all they get have a tenth of the machine together."""
    home = Installation(holdfast, tmp_path)
    agent = home.add_agent()
    m = Member(tmp_path / "m", options="--burn --children 2")
    m.extra = {"caps": {"cpu": 10}}
    try:
        result = home.do(m.request(agent.ip, START))
        if "spec.holdfast.caps" in result["error_msg"]:
            pytest.skip("no caps here: " + result["error_msg"])
        assert result["error_code"] == 0, result
        pids = wait_until(lambda: family(m), "all three burn")
        stat = cpu_stat(cpu_group(pids[0]))
        begun, used = time.monotonic(), cpu_seconds(pids)
        wait_until(lambda: cpu_stat(cpu_group(pids[0]))["nr_throttled"] >= stat["nr_throttled"] + 20,
                   "the kernel holds them back")
        share = (cpu_seconds(pids) - used) / (time.monotonic() - begun) / os.cpu_count()
        assert share < 0.15, share
        assert home.do(m.request(agent.ip, KILL))["error_code"] == 0
    finally:
        m.end()
