# SPDX-License-Identifier: MIT
"""No room: on the disk, for descriptors, for processes.  What is hosted is kept alive as
far as that is possible at all, what is asked for waits or is refused in clear words, and
all goes on when there is room again."""
import errno
import os
import resource
import subprocess

import pytest

from crowd import KINDS, Member
from holdfast import wait_until
from installation import Agent, Installation, is_alive

START, STOP, QUERY, UNHOST, KILL = 0, 1, 2, 4, 9
ROOM = 4 << 20

pytestmark = pytest.mark.skipif(os.getuid() != 0, reason="only root can mount, and set limits of others")


def code(home, task):
    return next(iter(home.poll(task).values()))["error_code"]


def start(home, member):
    result = home.do(member.request("127.0.0.1", START))
    assert result["error_code"] == 0, result
    return member.wait_pid()


def fill(folder):
    """Not a byte is left."""
    path = folder / "full"
    for size in (1 << 16, 1):
        try:
            with open(path, "ab", buffering=0) as f:
                while f.write(b"x" * size):
                    pass
        except OSError:
            continue
    return path


def says(agent, *words):
    return [row for row in agent.program.logs() if all(w in str(row) for w in words)]


def small_disk(holdfast, folder):
    """An installation with an agent whose data folder is a file system of its own."""
    home = Installation(holdfast, folder)
    data = folder / "agent-127.0.0.1"
    data.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={ROOM},mode=700", "none", data], check=True)
    return home, data, Agent(home, "127.0.0.1", home.token(cloud_id=0, biz_id=2)).wait_online()


def use_up_the_journal(home, agent, folder):
    """Commands until what the agent has kept for them is full; the last one, and its task."""
    for n in range(200):
        late = Member(folder / f"late-{n}", KINDS["foreground"] + " #" + "x" * 16000)
        task = home.operate(late.request("127.0.0.1", START))
        wait_until(lambda t=task: code(home, t) != 115 or says(agent, "No space left", "journal"), "it is taken, or not")
        if says(agent, "No space left", "journal") and not late.begun():
            return late, task  # one that has begun was taken before
    raise AssertionError("there is room for ever")


@pytest.mark.alone
@pytest.mark.parametrize("dies", [False, True])
def test_on_a_full_disk_processes_are_kept_and_commands_wait(holdfast, tmp_path, dies):
    home, data, agent = small_disk(holdfast, tmp_path)
    fore, daemon = Member(tmp_path / "fore"), Member(tmp_path / "daemon", KINDS["daemon"])
    pids = [start(home, fore), start(home, daemon)]
    filler = fill(data)
    late, task = use_up_the_journal(home, agent, tmp_path)
    assert code(home, task) in (115, 65535, 101) and late.begun() == []
    for m in (fore, daemon):
        m.kill()
        m.wait_pid(2)
    if dies:
        agent.kill()
        agent.start()
        wait_until(lambda: agent.program.process.poll() is not None or agent.program.logs(text="ready"),
                   "it runs, or says why not")
        assert agent.program.process.poll() is None or "No space left" in agent.program.err
    filler.unlink()
    if agent.program.process.poll() is not None:
        agent.start()
    agent.wait_online(60)
    ended = next(iter(home.result(task).values()))
    assert ended["error_code"] == 0 or "No space left" in ended["error_msg"], ended
    assert len(late.begun()) == (ended["error_code"] == 0)
    for m, old in zip((fore, daemon), pids):
        assert not is_alive(old)
        assert [len(m.begun()), m.doubles(), m.pids()] == [2, [], [m.begun()[-1]]]
        m.kill()  # and it is still looked after
        m.wait_pid(3)


@pytest.mark.alone
def test_stop_kill_and_unhost_work_on_a_full_disk_and_survive_a_restart(holdfast, tmp_path):
    home, data, agent = small_disk(holdfast, tmp_path)
    doomed, killed, left = [Member(tmp_path / name) for name in ("doomed", "killed", "left")]
    pids = [start(home, m) for m in (doomed, killed, left)]
    fill(data)
    with pytest.raises(OSError):
        (data / "one-more").write_bytes(b"x")
    for op, member in ((STOP, doomed), (KILL, killed), (UNHOST, left)):
        result = home.do(member.request("127.0.0.1", op))
        assert result["error_code"] == 0, result
    assert [is_alive(pid) for pid in pids] == [False, False, True]
    agent.kill()
    fill(data)  # whatever became free
    agent.start()
    agent.wait_online(60)
    left.kill()  # it is not hosted any more, so it stays down
    again = home.do(doomed.request("127.0.0.1", QUERY))
    assert again["error_code"] == 0, again
    wait_until(lambda: not left.pids(), "it is gone")
    states = {row["process"]["name"]: row["process"] for row in home.processes()}
    assert [states[m.name]["hosted"] for m in (doomed, killed, left)] == [False, False, False], states
    assert [len(m.begun()) for m in (doomed, killed, left)] == [1, 1, 1]
    assert home.do(doomed.request("127.0.0.1", START))["error_code"] == 0  # and the next start works, too


def open_fds(pid):
    return sorted(int(n) for n in os.listdir(f"/proc/{pid}/fd"))


def test_out_of_descriptors_it_waits_and_goes_on(holdfast, tmp_path):
    home = Installation(holdfast, tmp_path)
    agent, kept, late = home.add_agent(), Member(tmp_path / "kept"), Member(tmp_path / "late")
    try:
        first = start(home, kept)
        before = resource.prlimit(agent.program.pid, resource.RLIMIT_NOFILE)
        # Every number below is in use, or will be: the limit is a number, not a count.
        lowest = next(n for n in range(1 << 16) if n not in open_fds(agent.program.pid))
        resource.prlimit(agent.program.pid, resource.RLIMIT_NOFILE, (lowest, before[1]))
        kept.kill()
        task = home.operate(late.request("127.0.0.1", START))
        agent.program.wait_until(lambda: says(agent, "Too many open files"), "it says what is wrong")
        assert not is_alive(first) and agent.program.process.poll() is None
        resource.prlimit(agent.program.pid, resource.RLIMIT_NOFILE, before)
        second = kept.wait_pid(2)
        ended = next(iter(home.result(task).values()))
        assert ended["error_code"] == 0 or "Too many open files" in ended["error_msg"], ended
        result = home.do(kept.request("127.0.0.1", STOP))
        assert result["error_code"] == 0 and not is_alive(second), result
        assert kept.doubles() == [] and len(kept.begun()) == 2
    finally:
        kept.end()
        late.end()


@pytest.mark.parametrize("error", ["EAGAIN", "ENOMEM"])
def test_no_room_for_a_process_is_said_and_a_hosted_one_comes_back(holdfast, tmp_path, error):
    home = Installation(holdfast, tmp_path)
    agent, kept, other = home.add_agent(), Member(tmp_path / "kept"), Member(tmp_path / "other")
    try:
        start(home, kept)
        agent.kill()
        agent.start(HOLDFAST_FAULT=f"clone3:2:{error}", HOLDFAST_AGENT_CGROUPS="off")  # its own try is the first
        agent.wait_online()
        kept.kill()
        kept.wait_pid(2)  # the second try, after the first has failed
        assert len(kept.begun()) == 2 and kept.doubles() == []
        agent.kill()
        agent.start(HOLDFAST_FAULT=f"clone3:2:{error}", HOLDFAST_AGENT_CGROUPS="off")  # its own try is the first
        agent.wait_online()
        result = home.do(other.request("127.0.0.1", START))
        assert result["error_code"] not in (0, 115), result
        assert os.strerror(getattr(errno, error)) in result["error_msg"], result
        assert other.begun() == []
        start(home, other)
    finally:
        kept.end()
        other.end()
