# SPDX-License-Identifier: MIT
"""Processes that misbehave, and what is not there: each has its answer, and nothing is
left behind.  What many of them do, and lies about pids, is in test_withstand_*.py."""
import contextlib
import json
import os
import pathlib
import pwd
import re
import shutil
import signal
import subprocess
import tempfile
import time

import pytest

from crowd import KINDS, PROGRAM, Member, program_pids, victim
from holdfast import Holdfast, wait_until
from installation import Installation, is_alive

START, STOP, QUERY, HOST, RESTART, KILL = 0, 1, 2, 3, 7, 9
FLOOD = 300 << 20  # many times what is kept of one
OTHER_USER = "games"  # exists in Debian, and has no other processes here

pytestmark = pytest.mark.skipif(os.getuid() != 0, reason="only root starts processes of others")


class Host:
    """One installation for all tests of this file: what one does must not harm another."""

    def __init__(self, folder):
        self.folder, self.programs, self.members = pathlib.Path(folder), Holdfast(), []
        self.home = Installation(self.programs, self.folder / "home")
        self.agent = self.home.add_agent()

    def member(self, name, *args, **more):
        self.members.append(Member(self.folder / name, *args, **more))
        return self.members[-1]

    def do(self, member, op, code=0, **policy):
        result = self.home.do(member.request(self.agent.ip, op, **policy))
        assert result["error_code"] == code, result
        return result

    def query(self, member):
        content = json.loads(self.do(member, QUERY)["content"])
        return content["process"][0]["instance"][0]

    def shows(self, member):
        return self.home.processes(namespace="crowd", name=member.name)[0]["process"]

    def close(self):
        wrong = self.programs.close()
        for m in self.members:
            m.end()
        assert not wrong, "\n".join(wrong)


@pytest.fixture(name="host", scope="module")
def one_host():
    with tempfile.TemporaryDirectory(prefix="withstand-") as folder:
        os.chmod(folder, 0o755)
        os.mkdir(folder + "/home")
        host = Host(folder)
        yield host
        host.close()


def test_one_that_ignores_sigterm_is_ended_all_the_same(host):
    m = host.member("deaf", options="--ignore-term")
    host.do(m, START)
    pid = m.wait_pid()
    host.do(m, STOP, op_timeout=2)
    assert not is_alive(pid) and m.pids() == [] and len(m.begun()) == 1


def test_one_that_forks_twice_is_known_by_its_last_pid(host):
    m = host.member("twice", KINDS["daemon"])
    host.do(m, START)
    assert host.query(m)["pid"] == m.wait_pid() == int(m.pid_file.read_text())
    os.kill(m.wait_pid(), signal.SIGKILL)
    second = m.wait_pid(2)
    wait_until(lambda: host.query(m)["pid"] == second, "its successor is known")
    host.do(m, STOP)
    assert m.pids() == []


def test_one_that_forks_without_end_is_killed_with_all_it_made(host):
    most = 150
    m = host.member("storm", options=f"--storm {most}", user=OTHER_USER)
    host.do(m, START)
    wait_until(lambda: len(m.pids()) > most // 2, "there are many")
    assert host.query(m)["pid"] == m.wait_pid()
    host.do(m, KILL)
    wait_until(lambda: not m.pids(), "none of them is left, so none can fork")
    assert len(m.begun()) == 1


def test_a_flood_of_output_is_bounded_and_holds_up_nobody(host):
    m, other = host.member("flood", options=f"--flood={FLOOD}"), host.member("calm")
    host.do(m, START)
    host.do(other, START)
    assert host.query(other)["pid"] == other.wait_pid()
    wait_until(lambda: written_by(m.wait_pid()) >= FLOOD, "all of it is written", 60)
    wait_until(lambda: output_bytes(host) < FLOOD // 4, "the rest is thrown away", 60)
    assert host.query(m)["pid"] == m.wait_pid()
    host.do(m, STOP)
    assert m.pids() == []


def written_by(pid):
    with open(f"/proc/{pid}/io", encoding="ascii") as f:
        return next(int(line.split()[1]) for line in f if line.startswith("wchar"))


def output_bytes(host):
    """What the output of all takes up on the disk."""
    return sum(f.stat().st_blocks * 512 for f in (host.agent.folder / "output").rglob("*") if f.is_file())


@pytest.mark.parametrize("op", [STOP, KILL])
def test_one_that_is_stopped_by_a_signal_can_be_ended(host, op):
    m = host.member(f"stopped-{op}")
    host.do(m, START)
    os.kill(m.wait_pid(), signal.SIGSTOP)
    assert host.query(m)["pid"] == m.wait_pid()
    host.do(m, op, op_timeout=2)
    assert m.pids() == [] and len(m.begun()) == 1


def test_a_zombie_that_its_parent_forgets_is_dead_and_comes_back(host):
    m = host.member("zombie", "./proc-test --daemonize --no-reap --pid-file $PWD/pid {}")
    host.do(m, START)
    first = m.wait_pid()
    assert host.query(m)["pid"] == first
    assert parent(first) not in (1, host.agent.program.pid)
    os.kill(first, signal.SIGKILL)
    second = m.wait_pid(2)
    assert not is_alive(first)
    wait_until(lambda: host.query(m)["pid"] == second, "its successor is known")
    host.do(m, STOP)
    assert not is_alive(second)
    host.do(m, STOP, 829)


def test_how_an_adopted_process_ended_is_known_once_its_parent_has_reaped_it(host):
    """The restart does not wait for that; the exit code is corrected when the kernel tells it."""
    m = host.member("reaped-late")
    with subprocess.Popen([m.folder / PROGRAM, "--slot", "slot", "--pid-file", m.pid_file], cwd=m.folder) as first:
        wait_until(m.pid_file.exists, "it has written its pid")
        host.do(m, HOST)
        wait_until(lambda: host.shows(m)["pid"] == first.pid, "it is adopted")
        first.kill()
        second = m.wait_pid(2)
        wait_until(lambda: host.shows(m)["pid"] == second, "its successor is known")
        cause = host.shows(m)["cause"]
        assert (cause["exit_pid"], cause["exit_code"], cause.get("exit_signal")) == (first.pid, -1, None), cause
        time.sleep(1)  # the parent does something else
        first.wait()
    if kernel_tells_how():
        wait_until(lambda: host.shows(m)["cause"].get("exit_signal") == signal.SIGKILL, "the kernel has told how")
    assert host.shows(m)["pid"] == second
    host.do(m, STOP)


def kernel_tells_how():
    """Linux 6.15: PIDFD_GET_INFO has the exit code of any process."""
    return tuple(int(n) for n in re.findall(r"\d+", os.uname().release)[:2]) >= (6, 15)


def stat_of(pid):
    return pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()


def state(pid):
    return stat_of(pid)[0]


def parent(pid):
    return int(stat_of(pid)[1])


@pytest.mark.parametrize("how", ["renamed", "replaced"])
def test_one_that_changes_its_name_is_still_the_same(host, how):
    """Found by its name once; from then on it is its identity that counts."""
    m = host.member(how)
    shutil.copy(victim(), m.folder / "thing")
    os.unlink(m.folder / PROGRAM)
    then = "--usr1-name elsewhere" if how == "renamed" else f"--usr1-exec {victim()}"
    m.start = m.start.replace("./proc-test", "./thing --name proc-test " + then)
    host.do(m, START)
    pid = m.wait_pid()
    assert host.query(m)["pid"] == pid
    comm = pathlib.Path(f"/proc/{pid}/comm")
    os.kill(pid, signal.SIGUSR1)
    wait_until(lambda: comm.read_text() == ("elsewhere\n" if how == "renamed" else "victim\n"), "it has another name")
    assert host.query(m)["pid"] == pid
    host.do(m, START, 828)
    host.agent.kill()
    host.agent.start()
    host.agent.wait_online()
    assert host.query(m)["pid"] == pid and len(m.begun()) == 1
    host.do(m, STOP)
    assert not is_alive(pid)


@pytest.mark.parametrize("kind", ["foreground", "daemon"])
def test_a_start_script_that_is_slow_is_waited_for(host, kind):
    """Longer than the check takes, and not as long as it may run."""
    m = host.member("slow-" + kind)
    m.start = f"while [ ! -e {m.folder}/go ]; do sleep 0.1; done; " + KINDS[kind].format(
        "--life-ms 60000 --slot slot") + ("" if kind == "daemon" else "; true")
    task = host.home.operate(m.request(host.agent.ip, START, start_check_secs=1, op_timeout=30))
    wait_until(lambda: script_runs(m), "the script runs")
    other = host.member("beside-" + kind)
    host.do(other, START)  # takes longer than the check of the slow one
    assert next(iter(host.home.poll(task).values()))["error_code"] == 115
    (m.folder / "go").touch()
    assert next(iter(host.home.result(task).values()))["error_code"] == 0
    assert host.query(m)["pid"] == m.wait_pid() and len(m.begun()) == 1
    host.do(m, STOP)


def script_runs(m):
    return [p for p in program_pids(os.path.realpath("/bin/sh")) if os.readlink(f"/proc/{p}/cwd") == str(m.folder)]


def test_output_that_a_daemon_keeps_open_does_not_hold_up_its_command(host):
    """The end of a command is its exit: with a daemon its output is never closed."""
    m = host.member("inherited", "echo begin; ./proc-test --daemonize --pid-file $PWD/pid {}; echo end")
    host.do(m, START, op_timeout=10)
    pid = m.wait_pid()
    opened = os.readlink(f"/proc/{pid}/fd/1")
    assert opened.startswith(str(host.agent.folder / "output")), opened
    host.do(m, STOP)


MISSING = {
    "binary": (lambda m: os.unlink(m.folder / PROGRAM), (65535,), PROGRAM),
    "directory": (lambda m: setattr(m, "folder", m.folder / "nowhere"), (65535, 101), "nowhere"),
    "user": (lambda m: setattr(m, "user", "no-such-user"), (122,), "no-such-user"),
    "right to the directory": (lambda m: (os.chmod(m.folder, 0o700), setattr(m, "user", OTHER_USER)), (65535, 101),
                               "right"),
}


@pytest.mark.parametrize("what", MISSING)
@pytest.mark.parametrize("op", [START, RESTART])
def test_what_is_not_there_is_named_and_nothing_is_left(host, what, op):
    spoil, codes, text = MISSING[what]
    m = host.member(f"no-{what.split()[0]}-{op}")
    folder = m.folder
    before = open_fds(host)
    spoil(m)
    result = host.home.do(m.request(host.agent.ip, op))
    assert result["error_code"] in codes and text in result["error_msg"], result
    shown = host.query(m)
    assert shown["pid"] == -1 and shown["isAuto"] is False
    assert program_pids(folder / PROGRAM) == [] and not (folder / "pid").exists()
    wait_until(lambda: open_fds(host) <= before, "its descriptors are closed")


def open_fds(host):
    """How many it has open, without the one by which it keeps each file of output from being leased."""
    links = []
    for fd in pathlib.Path(f"/proc/{host.agent.program.pid}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):  # it was closed meanwhile
            links.append(os.readlink(fd))
    return len(links) - len({link for link in links if link.startswith(str(host.agent.folder / "output/"))})


def test_the_users_these_tests_rest_on_are_there():
    assert pwd.getpwnam(OTHER_USER).pw_uid > 0
