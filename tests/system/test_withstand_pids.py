# SPDX-License-Identifier: MIT
"""Pids that mean somebody else, and paths that lead somewhere else: nobody is taken for
a process of ours who is not, nobody is signalled, and nothing is written through a link
of the managed user's."""
import contextlib
import ctypes
import json
import os
import pathlib
import shutil
import subprocess
import threading
import time

import pytest

from crowd import KINDS, PROGRAM, Member, victim
from holdfast import wait_until
from installation import Installation, is_alive

START, STOP, QUERY, UNHOST, KILL = 0, 1, 2, 4, 9
USER, THIRD = "games", "man"  # of Debian's own
SWAPS_S = 3

pytestmark = pytest.mark.skipif(os.getuid() != 0, reason="only root starts processes of others")


def query(home, member):
    result = home.do(member.request("127.0.0.1", QUERY))
    assert result["error_code"] == 0, result
    return json.loads(result["content"])["process"][0]["instance"][0]["pid"]


def do(home, member, op, code=0):
    result = home.do(member.request("127.0.0.1", op))
    assert result["error_code"] == code, result
    return result


def state(pid):
    return pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()[0]


class Strangers:
    """Processes that are none of the agent's business, and must not notice it."""

    def __init__(self, folder):
        self.folder, self.processes = folder, []

    def add(self, name=PROGRAM, **more):
        """One that runs a program of that name, of a folder of its own."""
        path = self.folder / f"stranger-{len(self.processes)}"
        path.mkdir()
        shutil.copy(victim(), path / name)
        self.processes.append(subprocess.Popen([path / name], stdout=subprocess.DEVNULL, **more))
        return self.processes[-1].pid

    def add_as(self, pid, name):
        """The same, with this very pid; nobody else must fork now."""
        for _ in range(200):
            pathlib.Path("/proc/sys/kernel/ns_last_pid").write_text(str(pid - 1), encoding="ascii")
            if self.add(name) == pid:
                return
            self.processes.pop().kill()
            shutil.rmtree(self.folder / f"stranger-{len(self.processes)}")
        pytest.fail(f"pid {pid} was never given again")

    def are_well(self):
        return all(state(p.pid) in "SR" for p in self.processes)

    def end(self):
        for p in self.processes:
            p.kill()
            p.wait()


@pytest.fixture(name="strangers")
def some_strangers(open_folder):
    made = Strangers(open_folder)
    yield made
    made.end()


@pytest.fixture(name="open_folder")
def folder_for_all(tmp_path_factory):
    """Other users can get there, unlike where pytest's own folders are."""
    path = pathlib.Path("/tmp") / f"withstand-{os.getpid()}-{time.monotonic_ns()}"
    path.mkdir(mode=0o755)
    yield path
    shutil.rmtree(path)


# --- The same pid again --------------------------------------------------

def die_unseen(home, agent, member):
    """The agent is killed, then the process; nothing of it is left but its pid in files."""
    pid = member.wait_pid()
    agent.kill()
    member.kill()
    wait_until(lambda: not os.path.exists(f"/proc/{pid}"), "its pid is free")
    return pid


@pytest.mark.alone
@pytest.mark.parametrize("name", ["other-name", PROGRAM])
def test_a_pid_of_the_journal_that_is_used_again_is_not_touched(holdfast, open_folder, strangers, name):
    home = Installation(holdfast, open_folder)
    agent, m = home.add_agent(), Member(open_folder / "m")
    do(home, m, START)
    pid = die_unseen(home, agent, m)
    m.pid_file.unlink()
    strangers.add_as(pid, name)
    agent.start()
    agent.wait_online()
    second = m.wait_pid(2)  # so the stranger was not taken for it
    wait_until(lambda: query(home, m) == second, "it is known by its new pid")
    do(home, m, KILL)
    do(home, m, KILL, 829)
    assert strangers.are_well() and not is_alive(second) and m.doubles() == []


@pytest.mark.alone
def test_a_pid_of_a_pid_file_that_is_used_again_is_not_touched(holdfast, open_folder, strangers):
    home = Installation(holdfast, open_folder)
    agent, m = home.add_agent(), Member(open_folder / "m", KINDS["daemon"])
    do(home, m, START)
    pid = die_unseen(home, agent, m)
    strangers.add_as(pid, "other-name")
    assert int(m.pid_file.read_text()) == pid
    agent.start()
    agent.wait_online()
    second = m.wait_pid(2)
    wait_until(lambda: query(home, m) == second, "it is known by its new pid")
    do(home, m, STOP)
    m.pid_file.write_text(f"{pid}\n")
    do(home, m, KILL, 829)
    assert strangers.are_well() and m.pids() == []


@pytest.mark.alone
def test_a_pid_that_is_used_again_while_nothing_is_hosted_is_not_touched(holdfast, open_folder, strangers):
    home = Installation(holdfast, open_folder)
    m = Member(open_folder / "m", KINDS["daemon"])
    home.add_agent()
    do(home, m, START)
    do(home, m, UNHOST)
    pid = m.wait_pid()
    m.kill()
    wait_until(lambda: query(home, m) == -1 and not os.path.exists(f"/proc/{pid}"), "its end is known")
    strangers.add_as(pid, "other-name")
    assert query(home, m) == -1
    do(home, m, STOP, 829)
    do(home, m, KILL, 829)
    assert strangers.are_well()


# --- Lies in a pid file ---------------------------------------------------

def named(pid):
    return lambda path, world: path.write_text(f"{pid(world)}\n", encoding="ascii")


def huge(path, _):
    path.touch()
    os.truncate(path, 100 << 20)


def thread_of(pid):
    """A thread that is not the first of its process."""
    return next(t for t in map(int, os.listdir(f"/proc/{pid}/task")) if t != pid)


def of_a_third(path, world):
    path.write_text(f"{world['own']}\n", encoding="ascii")
    shutil.chown(path, THIRD)


LIES = {
    "empty": lambda path, _: path.touch(),
    "huge": huge,
    "binary": lambda path, _: path.write_bytes(bytes(range(256))),
    "pid 1": named(lambda w: 1),
    "pid 0": named(lambda w: 0),
    "negative": named(lambda w: -w["roots"]),
    "everybody": named(lambda w: -1),
    "the agent": named(lambda w: w["agent"]),
    "a thread of the agent": named(lambda w: thread_of(w["agent"])),
    "another user's": named(lambda w: w["roots"]),
    "another name's": named(lambda w: w["other"]),
    "nobody's": named(lambda w: 4194304),
    "too large": named(lambda w: 1 << 70),
    "a pipe": lambda path, _: os.mkfifo(path),
    "a folder": lambda path, _: path.mkdir(),
    "a file of a third user's": of_a_third,
    "a link": lambda path, w: path.symlink_to(w["file"]),
}


def test_lies_in_a_pid_file_harm_nobody_and_hold_up_nothing(holdfast, open_folder, strangers):
    home = Installation(holdfast, open_folder)
    agent = home.add_agent()
    world = {"agent": agent.program.pid, "roots": strangers.add(), "own": strangers.add(user=USER),
             "other": strangers.add("other-name", user=USER), "file": open_folder / "real"}
    world["file"].write_text(f"{world['own']}\n", encoding="ascii")
    truth, wrong = Member(open_folder / "truth", user=USER), []
    truth.pid_path = world["file"]
    assert query(home, truth) == world["own"]  # so it is the lie that makes the difference
    for what, lie in LIES.items():
        m = Member(open_folder / what.replace(" ", "-").replace("'", ""), user=USER)
        lie(m.pid_file, world)
        if what not in ("a link", "a file of a third user's"):
            shutil.chown(m.pid_file, USER)
        codes = [home.do(m.request("127.0.0.1", op))["error_code"] for op in (STOP, KILL)]
        if query(home, m) != -1 or codes != [829, 829] or not strangers.are_well():
            wrong.append((what, codes))
    assert wrong == [] and agent.program.process.poll() is None


def test_an_old_pid_file_gives_way_when_the_process_is_started(holdfast, open_folder, strangers):
    """Of commands like kill $(cat FILE) the stranger must not hear."""
    home = Installation(holdfast, open_folder)
    home.add_agent()
    m, stranger = Member(open_folder / "m", user=USER), strangers.add("other-name", user=USER)
    m.pid_file.write_text(f"{stranger}\n", encoding="ascii")
    shutil.chown(m.pid_file, USER)
    do(home, m, START)
    assert int(m.pid_file.read_text(encoding="ascii")) == m.wait_pid() == query(home, m)
    assert strangers.are_well()


@pytest.mark.parametrize("kind", ["one", "self-parent", "empty", "huge", "binary", "4194304"])
def test_a_daemon_that_writes_nonsense_is_answered_with_what_was_found(holdfast, open_folder, kind):
    home = Installation(holdfast, open_folder)
    home.add_agent()
    m = Member(open_folder / "m", KINDS["daemon"], f"--pid-kind {kind}", life_ms=30000)
    try:
        started = home.do(m.request("127.0.0.1", START, start_check_secs=3))
        assert started["error_code"] == 836, started
        assert started["error_msg"].startswith("start process (") and str(m.pid_file) in started["error_msg"], started
        killed = home.do(m.request("127.0.0.1", KILL))["error_code"]  # 0: it was seen before it wrote the file
        assert killed in (0, 829) and (killed == 0) == (m.pids() == []), killed
        assert len(m.begun()) == 1 and m.doubles() == []
    finally:
        m.end()


# --- Paths that are swapped under our hands -------------------------------

AT_FDCWD, RENAME_EXCHANGE = -100, 2
LIBC = ctypes.CDLL(None, use_errno=True)


class Swapper(threading.Thread):
    """Exchanges two paths as fast as it can, as the managed user could."""

    def __init__(self, one, other):
        super().__init__(daemon=True)
        self.names, self.is_over, self.times = (os.fsencode(one), os.fsencode(other)), threading.Event(), 0

    def run(self):
        while not self.is_over.is_set():
            self.times += not LIBC.renameat2(AT_FDCWD, self.names[0], AT_FDCWD, self.names[1], RENAME_EXCHANGE)

    @contextlib.contextmanager
    def swapping(self):
        self.start()
        try:
            yield
        finally:
            self.is_over.set()
            self.join()
        assert self.times > 100


def make_roots(open_folder, pid):
    """A folder of root's with a pid file, and how it looks."""
    folder = open_folder / "roots"
    folder.mkdir()
    (folder / "pid").write_text(f"{pid}\n", encoding="ascii")
    return folder


def looks(folder):
    return [(f.name, f.read_bytes(), (s := f.stat()).st_mtime_ns, s.st_uid, s.st_mode) for f in folder.iterdir()]


@pytest.mark.parametrize("user", ["root", USER])
@pytest.mark.parametrize("part", ["file", "folder"])
def test_a_pid_path_that_is_swapped_for_a_link_leads_to_nobody(holdfast, open_folder, strangers, user, part):
    """The stranger fits by name and, with root, by user: only the way to its pid is wrong."""
    home = Installation(holdfast, open_folder)
    home.add_agent()
    roots = make_roots(open_folder, strangers.add())
    before = looks(roots)
    m = Member(open_folder / "m", user=user)
    m.pid_path = roots / "pid"
    assert (query(home, m) == strangers.processes[0].pid) == (user == "root")  # so it is the way that is wrong
    shutil.chown(m.folder, USER)
    run, fake = m.folder / "run", m.folder / "fake"
    run.mkdir()
    shutil.chown(run, USER)
    m.pid_path = run / "pid"
    if part == "file":
        (run / "pid").write_text("none\n", encoding="ascii")
        fake.symlink_to(roots / "pid")
    else:
        fake.symlink_to(roots)
    os.chown(fake, *os.stat(run)[4:6], follow_symlinks=False)
    codes, end = set(), time.monotonic() + SWAPS_S
    with Swapper(run / "pid" if part == "file" else run, fake).swapping():
        while time.monotonic() < end:
            for op in (QUERY, KILL, START, STOP):
                result = home.do(m.request("127.0.0.1", op))
                codes.add((op, result["error_code"]))
                assert query(home, m) != strangers.processes[0].pid
    assert strangers.are_well() and looks(roots) == before, codes
    m.end()


def test_a_log_path_that_is_a_link_is_not_written_to(holdfast, open_folder):
    home = Installation(holdfast, open_folder)
    agent = home.add_agent()
    roots = make_roots(open_folder, 1)
    before = looks(roots)
    m = Member(open_folder / "m", options="--flood=100000", user=USER)
    (m.folder / "log").symlink_to(roots / "pid")
    do(home, m, START)
    m.wait_pid()
    output = [f for f in (agent.folder / "output").rglob("*") if f.is_file()]
    assert output and all(f.parent.stat().st_uid == 0 and not f.parent.stat().st_mode & 0o022 for f in output)
    wait_until(lambda: sum(f.stat().st_size for f in output) >= 100000, "its output is where nobody else can meddle")
    do(home, m, STOP)
    assert looks(roots) == before
