# SPDX-License-Identifier: MIT
"""Pids of other processes, and paths that lead elsewhere: no foreign process is taken for
one of ours, none is signalled, and nothing is written through a link of the managed
user's."""
import contextlib
import ctypes
import json
import os
import pathlib
import pwd
import shutil
import struct
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


def stat_fields(pid):
    """Those that follow the name: the state first."""
    return pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()


def state(pid):
    return stat_fields(pid)[0]


def wait_until_older(pid):
    """Until a process that begins now has a later start time than pid: the kernel counts it in ticks of 10 ms."""
    begun, per_s = int(stat_fields(pid)[19]), os.sysconf("SC_CLK_TCK")
    wait_until(lambda: int(time.clock_gettime(time.CLOCK_BOOTTIME) * per_s) > begun, f"a tick after {pid} began")


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
        """The same, with this very pid; no other process may fork now."""
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


def of_all(path, world):
    path.write_text(f"{world['own']}\n", encoding="ascii")
    path.chmod(0o666)


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
    "a file of everybody's": of_all,
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
        is_doubtful = what.startswith("a file of ")
        seen = home.do(m.request("127.0.0.1", QUERY))["error_code"] if is_doubtful else query(home, m)
        expected = (807, [807, 807]) if is_doubtful else (-1, [829, 829])
        if (seen, codes) != expected or not strangers.are_well():
            wrong.append((what, seen, codes))
    assert wrong == [] and agent.program.process.poll() is None


def test_an_old_pid_file_gives_way_when_the_process_is_started(holdfast, open_folder, strangers):
    """Of commands like kill $(cat FILE) the stranger must not hear."""
    home = Installation(holdfast, open_folder)
    home.add_agent()
    m, stranger = Member(open_folder / "m", user=USER), strangers.add("other-name", user=USER)
    m.pid_file.write_text(f"{stranger}\n", encoding="ascii")
    shutil.chown(m.pid_file, USER)
    wait_until_older(stranger)
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
        assert killed in (0, 829) and (killed == 829 or m.pids() == []), killed  # 829 ends what is left of the start
        assert len(m.begun()) == 1 and m.doubles() == []
    finally:
        m.end()


# --- Pid files that others can write to -----------------------------------

def attack(*commands):
    """Actions of a user without special rights."""
    subprocess.run(["/bin/sh", "-ec", "\n".join(commands)], user=THIRD, group=THIRD, extra_groups=[], check=True)


ATTACKS = {  # folders and files before the attack, and the attack; "run/pid" is the pid file of the spec
    "file": ("chmod 666 run/pid", "echo {pid} > run/pid"),
    "folder": ("chmod 777 run", "rm -f run/pid; echo {pid} > run/pid"),
    "group": ("chgrp man run; chmod 775 run", "rm -f run/pid; echo {pid} > run/pid"),
    "parent": ("chmod 777 .", "mkdir new; echo {pid} > new/pid; mv run old; mv new run"),
    "owner": ("chown man run/pid", "echo {pid} > run/pid"),
    "old file": ("chmod 777 run; echo {pid} > run/other", "mv -f run/other run/pid"),
}


def member_with_pid_file(folder, user):
    """Its pid file names no process."""
    m = Member(folder, user=user)
    (m.folder / "run").mkdir()
    m.pid_path = m.folder / "run/pid"
    m.pid_path.write_text("4194304\n", encoding="ascii")
    for path in (m.pid_path.parent, m.pid_path):
        shutil.chown(path, user, pwd.getpwnam(user).pw_gid)
    return m


def assert_pid_file_is_not_used(home, member, why):
    for op in (STOP, KILL, QUERY, START):
        text = do(home, member, op, 807)["error_msg"]
        assert f"pid file {member.pid_path} is not used: " in text and why in text, text


@pytest.mark.parametrize("user", ["root", USER])
@pytest.mark.parametrize("how", list(ATTACKS))
def test_another_user_can_not_make_stop_end_a_process(holdfast, open_folder, strangers, user, how):
    home = Installation(holdfast, open_folder)
    home.add_agent()
    m, target = member_with_pid_file(open_folder / "m", user), strangers.add(user=user)
    before, during = (part.format(pid=target) for part in ATTACKS[how])
    subprocess.run(["/bin/sh", "-ec", before], cwd=m.folder, check=True)
    do(home, m, STOP, 829)
    attack(f"cd {m.folder}", during)
    assert_pid_file_is_not_used(home, m, "")
    assert strangers.are_well() and m.pids() == []


def let_write_by_acl(path, user, mask):
    """What `setfacl -m user:USER:rwx,mask:MASK` does; the group's bits of the mode become the mask."""
    user_obj, named_user, group_obj, mask_tag, other, nobody = 0x01, 0x02, 0x04, 0x10, 0x20, 0xffffffff
    rows = [(user_obj, 7, nobody), (named_user, 7, pwd.getpwnam(user).pw_uid), (group_obj, 5, nobody),
            (mask_tag, mask, nobody), (other, 5, nobody)]
    acl = struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *row) for row in rows)
    os.setxattr(path, "system.posix_acl_access", acl)
    assert path.stat().st_mode & 0o777 == 0o705 | mask << 3


# Files of the user that name another process are put where the pid file was.
ACL_ATTACKS = {"run/pid": "cat run/other > run/pid", "run": "mv -f run/other run/pid", ".": "mv run old; mv spare run"}


@pytest.mark.parametrize("user", ["root", USER])
@pytest.mark.parametrize("where", list(ACL_ATTACKS))
def test_another_user_whom_an_acl_lets_write_can_not_either(holdfast, open_folder, strangers, user, where):
    home = Installation(holdfast, open_folder)
    home.add_agent()
    m, target = member_with_pid_file(open_folder / "m", user), strangers.add(user=user)
    (m.folder / "spare").mkdir()
    for path in (m.folder / "run/other", m.folder / "spare/pid"):
        path.write_text(f"{target}\n", encoding="ascii")
        for part in (path, path.parent, m.folder):
            shutil.chown(part, user, pwd.getpwnam(user).pw_gid)
    do(home, m, STOP, 829)
    let_write_by_acl(m.folder / where, THIRD, 7)
    attack(f"cd {m.folder}", ACL_ATTACKS[where])
    assert m.pid_path.read_text(encoding="ascii") == f"{target}\n"
    assert_pid_file_is_not_used(home, m, "ACL")
    assert strangers.are_well() and m.pids() == []


def test_an_acl_whose_mask_lets_nobody_write_is_no_reason_to_mistrust_a_pid_file(holdfast, open_folder, strangers):
    home = Installation(holdfast, open_folder)
    home.add_agent()
    m, target = member_with_pid_file(open_folder / "m", USER), strangers.add(user=USER)
    m.pid_path.write_text(f"{target}\n", encoding="ascii")
    let_write_by_acl(m.pid_path, THIRD, 5)
    with pytest.raises(subprocess.CalledProcessError):
        attack(f"echo 1 > {m.pid_path}")
    assert query(home, m) == target
    assert strangers.are_well()


def test_a_process_we_started_stays_known_whatever_becomes_of_its_pid_file(holdfast, open_folder, strangers):
    home = Installation(holdfast, open_folder)
    agent = home.add_agent()
    m, target = Member(open_folder / "m", KINDS["daemon"]), strangers.add()
    m.start = f"umask 0; {m.start}"  # it leaves a file that all users can write to
    do(home, m, START)
    pid = m.wait_pid()
    m.pid_file.chmod(0o666)
    attack(f"echo {target} > {m.pid_file}")
    assert query(home, m) == pid
    agent.kill()
    agent.start()
    agent.wait_online()
    wait_until(lambda: query(home, m) == pid, "it is known from the journal")
    do(home, m, STOP)
    assert strangers.are_well() and m.pids() == []


def test_with_user_root_a_pid_file_of_another_owner_names_processes_of_that_owner(holdfast, open_folder, strangers):
    home = Installation(holdfast, open_folder)
    home.add_agent()
    m, own, roots = Member(open_folder / "m"), strangers.add(user=THIRD), strangers.add()
    m.pid_path = open_folder / "third/pid"
    m.pid_path.parent.mkdir()
    shutil.chown(m.pid_path.parent, THIRD)
    attack(f"echo {roots} > {m.pid_path}")
    assert f"runs as uid {0}" in do(home, m, STOP, 807)["error_msg"]
    assert strangers.are_well()
    attack(f"echo {own} > {m.pid_path}")
    assert query(home, m) == own
    do(home, m, STOP)
    strangers.processes.pop(0).wait(timeout=10)
    assert strangers.are_well()


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
    wait_until(lambda: sum(f.stat().st_size for f in output) >= 100000, "its output is where no other user can write")
    do(home, m, STOP)
    assert looks(roots) == before
