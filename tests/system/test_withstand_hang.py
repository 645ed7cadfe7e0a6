# SPDX-License-Identifier: MIT
"""A user that makes a path, a child or the close of a descriptor hang stops neither the processes of others nor the
agent: leases, a file system that does not answer, SIGSTOP before exec, sockets that linger."""
import contextlib
import ctypes
import errno
import hashlib
import os
import pathlib
import pwd
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

import pytest

from crowd import PROGRAM, Member
from holdfast import wait_until
from installation import Installation

START, STOP, QUERY = 0, 1, 2
USER = "games"  # of Debian's own, and used by nothing else here
QUICK_S = 4  # with a sanitizer and a busy machine; a lease is broken after 45 s, the rest never
MNT_FORCE, MNT_DETACH = 1, 2
FUSE_LOOKUP, FUSE_FORGET, FUSE_GETATTR, FUSE_OPEN, FUSE_READ, FUSE_INIT = 1, 2, 3, 14, 15, 26
MAX_BYTES = 65536

pytestmark = [pytest.mark.alone, pytest.mark.skipif(os.getuid() != 0, reason="only root starts processes of others")]


class Host:
    """An agent with a process of root's that must be supervised whatever happens."""

    def __init__(self, holdfast, folder, **env):
        os.chmod(folder, 0o755)
        self.folder = folder
        (folder / "home").mkdir()
        self.home = Installation(holdfast, folder / "home")
        self.agent = self.home.add_agent(**env)
        self.calm = Member(folder / "calm")
        self.begin(self.calm)

    def begin(self, member, code=0):
        result = self.home.do(member.request(self.agent.ip, START))
        assert result["error_code"] == code, result
        return result

    def send(self, member, op, **policy):
        """The id of a task that need not end soon."""
        return self.home.operate(member.request(self.agent.ip, op, **policy))

    def assert_others_are_supervised(self):
        """A process of another user is restarted at once, and operations on it are done."""
        n = len(self.calm.begun())
        began = time.monotonic()
        os.kill(self.calm.begun()[-1], signal.SIGKILL)
        self.calm.wait_pid(n + 1, timeout=QUICK_S)
        result = self.home.do(self.calm.request(self.agent.ip, QUERY), timeout=QUICK_S)
        assert result["error_code"] == 0 and time.monotonic() - began < QUICK_S, result


@pytest.fixture(name="folder")
def open_folder():
    # Not tmp_path: other users can not enter that while other tests begin.
    with tempfile.TemporaryDirectory(prefix="hang-", ignore_cleanup_errors=True) as folder:
        yield pathlib.Path(folder)


@pytest.fixture(name="host")
def one_host(folder, holdfast):
    # Outside of the namespaces there is nothing to set up: the test does not run there.
    return Host(holdfast, folder) if os.environ.get("HOLDFAST_TEST_ALONE") else None


def as_user(code, *args):
    """Runs Python as the user; it prints a line when it is ready."""
    user = pwd.getpwnam(USER)

    def become():
        os.setgroups([])
        os.setresgid(user.pw_gid, user.pw_gid, user.pw_gid)
        os.setresuid(user.pw_uid, user.pw_uid, user.pw_uid)

    p = subprocess.Popen([sys.executable, "-c", code, *map(str, args)], stdin=subprocess.PIPE,
                         stdout=subprocess.PIPE, preexec_fn=become)
    assert p.stdout.readline() == b"ready\n"
    return p


LEASE = """
import fcntl, os, signal, sys
signal.signal(signal.SIGIO, signal.SIG_IGN)
fd = os.open(sys.argv[1], os.O_RDWR)
fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_WRLCK)
print("ready", flush=True)
signal.pause()
"""


@contextlib.contextmanager
def lease(path):
    """A write lease of the user on his file: an open of it waits for 45 s."""
    p = as_user(LEASE, path)
    try:
        yield
    finally:
        p.kill()
        p.wait()


def mount_fuse(path):
    """For all users; the descriptor that its requests are read from."""
    if not os.path.exists("/dev/fuse"):
        pytest.skip("there is no FUSE")
    libc = ctypes.CDLL(None, use_errno=True)
    path.mkdir()
    fd = os.open("/dev/fuse", os.O_RDWR)
    options = f"fd={fd},rootmode=40755,user_id=0,group_id=0,allow_other"
    if libc.mount(b"dead", os.fsencode(path), b"fuse", 0, options.encode()):
        pytest.skip("FUSE can not be mounted: " + os.strerror(ctypes.get_errno()))
    return fd


def umount(path, flags):
    ctypes.CDLL(None).umount2(os.fsencode(path), flags)


@contextlib.contextmanager
def dead_folder(path):
    """A FUSE file system that no process serves, as one whose daemon is stopped."""
    fd = mount_fuse(path)
    try:
        yield path
    finally:
        os.close(fd)
        umount(path, MNT_DETACH)


INIT_ANSWER = struct.pack("<IIIIHHII", 7, 31, 65536, 0, 12, 9, 65536, 1).ljust(64, b"\0")


def answer(fd, unique, body, error=0):
    os.write(fd, struct.pack("<IiQ", 16 + len(body), -error, unique) + body)


@contextlib.contextmanager
def silent_folder(path):
    """A FUSE file system whose daemon takes requests and does not answer: a thread that waits for it can not be killed.
    Also the list of these requests."""
    fd = mount_fuse(path)
    taken = []

    def serve():
        with contextlib.suppress(OSError):  # ENODEV: it is unmounted
            while True:
                _, opcode, unique = struct.unpack_from("<IIQ", os.read(fd, 1 << 20))
                if opcode != FUSE_INIT:
                    taken.append(opcode)
                    continue
                answer(fd, unique, INIT_ANSWER)

    server = threading.Thread(target=serve)
    server.start()
    try:
        yield path, taken
    finally:
        umount(path, MNT_FORCE)  # the calls that wait get an error
        umount(path, MNT_DETACH)
        server.join()
        os.close(fd)


class SlowFolder:
    """A FUSE file system without files that takes its time to say so: `lookup_s` for each look at a name."""

    def __init__(self, path, lookup_s):
        self.path, self.fd, self.lookup_s = path, mount_fuse(path), lookup_s
        self.server = threading.Thread(target=self.serve)
        self.server.start()

    def __enter__(self):
        return self

    def __exit__(self, *failure):
        umount(self.path, MNT_FORCE)
        umount(self.path, MNT_DETACH)
        self.server.join()
        os.close(self.fd)

    def serve(self):
        attributes = struct.pack("<QII6Q3I7I", 3600, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0o40755, 2, 0, 0, 0, 4096, 0)
        init = struct.pack("<IIIIHHII", 7, 31, 65536, 0, 12, 9, 65536, 1).ljust(64, b"\0")
        with contextlib.suppress(OSError):  # ENODEV: it is unmounted
            while True:
                _, opcode, unique = struct.unpack_from("<IIQ", os.read(self.fd, 1 << 20))
                body = {FUSE_INIT: init, FUSE_GETATTR: attributes}.get(opcode, b"")
                if not body:
                    time.sleep(self.lookup_s)
                with contextlib.suppress(FileNotFoundError):  # the request was interrupted
                    os.write(self.fd, struct.pack("<IiQ", 16 + len(body), 0 if body else -errno.ENOENT, unique) + body)


@contextlib.contextmanager
def folder_with_inode(path, inode):
    """A FUSE file system with a file of the user's, "f", which has this inode number.  Its daemon answers nothing more about
    that file once the event is set."""
    fd, is_silent, user = mount_fuse(path), threading.Event(), pwd.getpwnam(USER)

    def attributes(node):
        number, mode = (1, 0o40755) if node == 1 else (inode, 0o100644)
        return struct.pack("<6Q10I", number, 0, 0, 0, 0, 0, 0, 0, 0, mode, 1, user.pw_uid, user.pw_gid, 0, 4096, 0)

    def serve():
        with contextlib.suppress(OSError):  # ENODEV: it is unmounted
            while True:
                _, opcode, unique, node = struct.unpack_from("<IIQQ", os.read(fd, 1 << 20))
                if opcode == FUSE_FORGET or node != 1 and is_silent.is_set():
                    continue
                if opcode == FUSE_INIT:
                    answer(fd, unique, INIT_ANSWER)
                elif opcode == FUSE_LOOKUP:
                    answer(fd, unique, struct.pack("<QQQQII", 2, 0, 3600, 0, 0, 0) + attributes(2))
                elif opcode == FUSE_GETATTR:
                    answer(fd, unique, struct.pack("<QII", 0, 0, 0) + attributes(node))
                elif opcode == FUSE_OPEN:
                    answer(fd, unique, struct.pack("<QII", 1, 0, 0))
                else:
                    answer(fd, unique, b"", errno.ENOSYS)

    server = threading.Thread(target=serve)
    server.start()
    try:
        yield path, is_silent
    finally:
        umount(path, MNT_FORCE)
        umount(path, MNT_DETACH)
        server.join()
        os.close(fd)


def owned_by_user(path, text=""):
    path.write_text(text)
    os.chown(path, pwd.getpwnam(USER).pw_uid, pwd.getpwnam(USER).pw_gid)


@pytest.mark.parametrize("op", [START, STOP, QUERY])
def test_a_lease_on_a_pid_file_holds_up_nobody_else(host, op):
    m = Member(host.folder / "leased", user=USER)
    owned_by_user(m.pid_file, "12345\n")
    with lease(m.pid_file):
        host.send(m, op)
        host.assert_others_are_supervised()


@pytest.mark.parametrize("was_started", [False, True])
def test_a_lease_on_a_program_holds_up_nobody_else(host, was_started):
    """Of a program that was started before, the agent knows that it needs no shell, and executes it itself."""
    m = Member(host.folder / "leased", user=USER)
    os.chown(m.folder / "proc-test", pwd.getpwnam(USER).pw_uid, -1)
    if was_started:
        host.begin(m)
        assert host.home.do(m.request(host.agent.ip, STOP))["error_code"] == 0
    with lease(m.folder / "proc-test"):
        host.send(m, START)
        host.assert_others_are_supervised()


def test_a_start_in_a_folder_that_hangs_ends_after_5_s_and_holds_up_nobody(host):
    m = Member(host.folder / "dead-cwd", user=USER)
    with dead_folder(host.folder / "fuse") as folder:
        m.folder, began = folder, time.monotonic()
        m.start = "/bin/sleep 60"
        m.pid_path = host.folder / "dead-cwd.pid"
        task = host.send(m, START, op_timeout=30)
        host.assert_others_are_supervised()
        result = next(iter(host.home.result(task, timeout=20).values()))
        assert result["error_code"] == 822 and "did not reach its program" in result["error_msg"], result
        assert time.monotonic() - began < 15


def test_pid_files_that_hang_hold_up_nobody(host):
    """More of them than operations may act at a time."""
    members = [Member(host.folder / f"dead-{i}", user=USER, program=host.calm.folder / PROGRAM) for i in range(120)]
    with dead_folder(host.folder / "fuse") as folder:
        for m in members:
            m.pid_path = folder / f"{m.name}.pid"
        requests = [m.request(host.agent.ip, START) for m in members]
        host.home.operate({"proc_operate_req": requests}, name="operate_proc_multi")
        host.assert_others_are_supervised()
        assert all(not m.begun() for m in members)


def test_paths_that_hang_and_are_to_be_checked_by_a_policy_hold_up_nobody(folder, holdfast):
    host = Host(holdfast, folder, HOLDFAST_AGENT_POLICY_PATHS=str(folder))
    members = [Member(host.folder / f"dead-{i}", user=USER) for i in range(8)]
    with dead_folder(host.folder / "fuse") as dead:
        for m in members:
            m.folder, m.start, m.pid_path = dead, "/bin/sleep 60", dead / "pid"
            host.home.operate({**m.request(host.agent.ip, START),
                               "meta": {"namespace": "crowd", "name": str(members.index(m))}})
        host.assert_others_are_supervised()


def test_a_signal_waits_for_paths_that_are_slow_to_be_checked_by_a_policy(folder, holdfast):
    """It is not refused because the loop does not wait for them; and one that is forbidden still is."""
    (folder / "allowed").mkdir()
    host = Host(holdfast, folder, HOLDFAST_AGENT_POLICY_PATHS=f"{folder}/allowed,{folder}/calm,{folder}/fuse")
    folders = [f"allowed/{i}" for i in range(20)] + [f"forbidden-{i}" for i in range(20)]
    members = [Member(host.folder / f, user=USER, program=host.calm.folder / PROGRAM) for f in folders]
    with SlowFolder(host.folder / "fuse", 0.02) as slow:
        for m in members:
            m.pid_path = slow.path / f"{m.name}.pid"
        requests = [m.request(host.agent.ip, STOP, op_timeout=300) for m in members]
        task = host.home.operate({"proc_operate_req": requests}, name="operate_proc_multi")
        host.assert_others_are_supervised()
        codes = {key.split(":")[-1]: r["error_code"] for key, r in host.home.result(task, timeout=200).items()}
        assert codes == {m.name: 829 if m.folder.parent.name == "allowed" else 823 for m in members}


def test_paths_of_root_that_hang_refuse_no_signal_to_other_processes_of_root(folder, holdfast):
    """On a disk of their own: more of them than an owner has threads."""
    host = Host(holdfast, folder, HOLDFAST_AGENT_POLICY_PATHS="/tmp")
    with tempfile.TemporaryDirectory(prefix="disk-", ignore_cleanup_errors=True) as disk:
        members = [Member(pathlib.Path(disk, f"hung-{i}")) for i in range(3)]
        with dead_folder(pathlib.Path(disk, "fuse")) as dead:
            for m in members:
                m.pid_path = dead / m.name
                host.send(m, STOP)
            host.assert_others_are_supervised()
            result = host.home.do(host.calm.request(host.agent.ip, STOP))
            assert result["error_code"] == 0, result


MD5 = {"": "d41d8cd98f00b204e9800998ecf8427e", "abc": "900150983cd24fb0d6963f7d28e17f72"}


def begin_with_file(host, member, path):
    """Starts it with a configmap whose file should have "abc" in it."""
    body = member.request(host.agent.ip, START)
    body["spec"]["configmap"] = [{"path": str(path), "md5": MD5["abc"]}]
    result = host.home.do(body)
    assert result["error_code"] == 0, result


def test_sigterm_ends_the_agent_whatever_hangs(host):
    members = [Member(host.folder / f"dead-{i}", user=USER) for i in range(3)]
    with dead_folder(host.folder / "fuse") as folder:
        members[0].pid_path = folder / "pid"
        members[1].folder, members[1].start = folder, "/bin/sleep 60"
        members[1].pid_path = host.folder / "other.pid"
        for m in members[:2]:
            host.send(m, START)
        begin_with_file(host, members[2], folder / "conf")
        host.assert_others_are_supervised()
        began = time.monotonic()
        os.kill(host.agent.program.pid, signal.SIGTERM)
        wait_until(lambda: host.agent.program.process.poll() is not None, "the agent ends", 10)
        assert host.agent.program.process.returncode == 0 and time.monotonic() - began < QUICK_S


LEASES = """
import fcntl, os, signal, sys, time
signal.signal(signal.SIGIO, signal.SIG_IGN)
while not os.path.exists(sys.argv[1]):
    time.sleep(0.01)
os.dup2(os.open(sys.argv[2], os.O_RDONLY), 0)
for fd, kind in ((0, fcntl.F_RDLCK), (1, fcntl.F_WRLCK)):
    while True:
        try:
            fcntl.fcntl(fd, fcntl.F_SETLEASE, kind)
            break
        except OSError:  # an agent has it open
            time.sleep(0.01)
time.sleep(600)
"""


def leases_on(inode):
    with open("/proc/locks", encoding="ascii") as locks:
        return sum(" LEASE " in line and line.split()[5].endswith(f":{inode}") for line in locks)


def output_of(host, member):
    return host.agent.folder / "output" / f"crowd%3A{member.name}"


def test_a_file_on_fuse_in_place_of_leased_output_holds_up_nobody(folder, holdfast):
    """It has the inode number of the output and a lease too, and a descriptor before that of the output."""
    env = {"HOLDFAST_AGENT_OUTPUT_MAX_BYTES": str(MAX_BYTES)}
    host = Host(holdfast, folder, **env)
    m, noisy, go = Member(folder / "leaser", user=USER), Member(folder / "noisy"), folder / "go"
    (folder / "leases.py").write_text(LEASES)
    m.start = f"{sys.executable} {folder}/leases.py {go} {folder}/fuse/f & exec {m.start}"
    noisy.start = f"head -c {4 * MAX_BYTES} /dev/zero; exec {noisy.start}"
    host.begin(m)
    inode = output_of(host, m).stat().st_ino
    with folder_with_inode(folder / "fuse", inode) as (_, is_silent):
        host.agent.kill()
        go.touch()
        wait_until(lambda: leases_on(inode) == 2, "there are leases on both files while no agent runs")
        is_silent.set()
        host.agent.start(**env)
        host.agent.wait_online()
        host.assert_others_are_supervised()
        wait_until(lambda: leases_on(inode) == 1, "the lease on the output is removed")
        host.begin(noisy)
        wait_until(lambda: output_of(host, noisy).stat().st_size <= MAX_BYTES, "the output of another user is trimmed")
        os.kill(host.agent.program.pid, signal.SIGTERM)
        wait_until(lambda: host.agent.program.process.poll() is not None, "the agent ends", 10)
        assert host.agent.program.process.returncode == 0


def test_an_upgrade_is_refused_while_a_file_hangs(host):
    m = Member(host.folder / "silent", user=USER)
    with silent_folder(host.folder / "fuse") as (folder, taken):
        begin_with_file(host, m, folder / "conf")
        wait_until(lambda: taken, "a worker waits for the file")
        host.agent.program.signal(signal.SIGUSR2)
        said = host.agent.program.wait_log(text="not upgraded; the agent goes on as it is", timeout=30)
        assert said["error"] == "a path of a process does not answer; try again, or restart the agent", said
        host.assert_others_are_supervised()
    host.agent.program.signal(signal.SIGUSR2)
    host.agent.program.wait_until(lambda: len(host.agent.program.logs(text="ready")) == 2, "the new program is ready", 60)
    host.assert_others_are_supervised()


def test_files_of_configmaps_that_hang_hold_up_nobody(host):
    """More of them than there are threads, and of the same user's processes none that starts."""
    members = [Member(host.folder / f"dead-{i}", user=USER, program=host.calm.folder / PROGRAM) for i in range(4)]
    watched, path = Member(host.folder / "watched"), host.folder / "watched.conf"
    path.touch()
    try:
        with dead_folder(host.folder / "fuse") as folder:
            for m in members:
                begin_with_file(host, m, folder / m.name)
            begin_with_file(host, watched, path)
            wait_until(lambda: [e["data"][0]["event"]["content"] for e in host.home.events("process_config_changed")] ==
                       [f"{path} of watched is not as it should be: md5 {MD5['']}, expected {MD5['abc']}"],
                       "the file of another user's process is read")
            host.assert_others_are_supervised()
    finally:
        for m in (watched, *members):
            m.end()


STOPPER = """
import os, signal
print("ready", flush=True)
while True:
    with open("/proc/loadavg") as f:
        last = int(f.read().split()[4])
    for pid in range(last - 1, last + 4):
        if pid == os.getpid() or pid < 2:
            continue
        try:
            os.kill(pid, signal.SIGSTOP)
        except OSError:
            continue
        try:
            os.readlink(f"/proc/{pid}/exe")
        except PermissionError:
            continue  # it still shares the memory of the agent, so it has not reached exec
        except OSError:
            continue
        os.kill(pid, signal.SIGCONT)
"""


@pytest.mark.alone(timeout=400)
def test_a_child_that_is_stopped_before_exec_ends_after_5_s_and_holds_up_nobody(host):
    m = Member(host.folder / "stopped", user=USER)
    long = m.folder.joinpath(*["x"] * 900)
    m.start = "/bin/true"
    os.makedirs(long)  # so that the child takes a while to get there
    m.folder = long
    stopper = as_user(STOPPER)
    try:
        task = start_until_one_hangs(host, m)
        host.assert_others_are_supervised()
        result = next(iter(host.home.result(task, timeout=40).values()))
        assert result["error_code"] == 822 and "did not reach its program" in result["error_msg"], result
    finally:
        stopper.kill()
        stopper.wait()


def start_until_one_hangs(host, member):
    """The task of a start whose child was stopped in time."""
    for _ in range(300):
        task = host.send(member, START, auto_type=2, op_timeout=30)
        end = time.monotonic() + 2
        while any(r["error_code"] == 115 for r in host.home.poll(task).values()):
            if time.monotonic() > end:
                return task
    raise AssertionError("no child was stopped before exec")


def notify_name(agent):
    """Of its socket for readiness, which is abstract."""
    return "holdfast/notify/" + hashlib.sha256(os.fsencode(agent.folder)).hexdigest()[:16]


LINGER = """
import collections, resource, signal, socket, struct, sys
signal.signal(signal.SIGALRM, lambda *_: None)
signal.setitimer(signal.ITIMER_REAL, 0.005, 0.005)  # where the last close is our own, it must not wait
hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4096), hard))
listener = socket.create_server(("127.0.0.1", 0))
listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
sender, peers = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM), collections.deque(maxlen=700)
def lingering(seconds):
    s = socket.create_connection(listener.getsockname())
    peers.append(listener.accept()[0])
    s.setblocking(False)
    try:
        while s.send(bytes(65536)):
            pass
    except BlockingIOError:
        pass
    s.setblocking(True)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, seconds))
    return s
n = 0
while True:
    s = lingering(600)
    try:
        for _ in range(10 if n == 0 else 0):
            sender.sendto(b"X=1", 0, "\\0" + sys.argv[1])  # so that our close comes before that of the agent
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, struct.pack("i", s.fileno()))]
        sender.sendmsg([b"READY=1"], rights, 0, "\\0" + sys.argv[1])
    except OSError:  # it is refused, or the agent is just replaced
        s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 0, 0))
    s.close()
    n += 1
    if n == 1:
        print("ready", flush=True)
"""


@contextlib.contextmanager
def lingering_sockets(agent):
    """The user sends TCP sockets to the agent's socket for readiness, without end.  The thread that closes the last
    reference to one of them waits for 600 s."""
    p = as_user(LINGER, notify_name(agent))
    try:
        yield
    finally:
        p.kill()
        p.wait()


def fuse_answer(opcode, node):
    """Of a file system with one file, "f", of the user."""
    user = pwd.getpwnam(USER)
    attr = struct.pack("<6Q10I", node if opcode != FUSE_LOOKUP else 2, 8192, 16, 0, 0, 0, 0, 0, 0,
                       0o40755 if node == 1 and opcode != FUSE_LOOKUP else 0o100644, 1, user.pw_uid, user.pw_gid, 0, 4096, 0)
    return {FUSE_INIT: struct.pack("<IIIIHHII", 7, 31, 65536, 0, 12, 9, 65536, 1).ljust(64, b"\0"),
            FUSE_LOOKUP: struct.pack("<QQQQII", 2, 0, 3600, 3600, 0, 0) + attr,
            FUSE_GETATTR: struct.pack("<QII", 3600, 0, 0) + attr,
            FUSE_OPEN: struct.pack("<QII", 1, 0, 0)}.get(opcode)


@contextlib.contextmanager
def file_that_is_never_read(path):
    """A file on FUSE that can be opened and mapped; a read of it takes for ever.  Also the list of these reads."""
    fd = mount_fuse(path)
    taken = []

    def serve():
        with contextlib.suppress(OSError):  # ENODEV: it is unmounted
            while True:
                _, opcode, unique, node = struct.unpack_from("<IIQQ", os.read(fd, 1 << 20))
                body = fuse_answer(opcode, node)
                if opcode == FUSE_READ:
                    taken.append(opcode)
                elif body is None:
                    os.write(fd, struct.pack("<IiQ", 16, -errno.ENOSYS, unique))
                else:
                    os.write(fd, struct.pack("<IiQ", 16 + len(body), 0, unique) + body)

    server = threading.Thread(target=serve)
    server.start()
    try:
        yield path / "f", taken
    finally:
        umount(path, MNT_FORCE)
        umount(path, MNT_DETACH)
        server.join()
        os.close(fd)


LOCKED = """
import ctypes, mmap, os, sys, threading
libc = ctypes.CDLL(None)
libc.mmap.restype, libc.mmap.argtypes = ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
address = libc.mmap(None, 4096, mmap.PROT_READ, mmap.MAP_PRIVATE, os.open(sys.argv[1], os.O_RDONLY), 0)
memory = os.open("/proc/self/mem", os.O_RDONLY)
def lock_for_write():
    os.read(0, 1)
    libc.mmap(None, 4096, mmap.PROT_READ, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1, 0)
threading.Thread(target=lock_for_write).start()  # threads that want mmap_lock after this one wait for it
print("ready", flush=True)
os.pread(memory, 16, address)  # has mmap_lock while it waits for the file
"""


def has_thread_that_no_signal_wakes(pid):
    """As one that waits for mmap_lock."""
    states = [path.read_text(encoding="utf-8").rsplit(")", 1)[1].split()[0]
              for path in pathlib.Path(f"/proc/{pid}/task").glob("*/stat")]
    return "D" in states


def say_ready(agent, pid):
    """As if the process sent it: root may set the pid of the sender."""
    user = pwd.getpwnam(USER)
    word = [(socket.SOL_SOCKET, socket.SCM_CREDENTIALS, struct.pack("iII", pid, user.pw_uid, user.pw_gid))]
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as s:
        s.sendmsg([b"READY=1"], word, 0, "\0" + notify_name(agent))


def test_a_process_whose_memory_can_not_be_read_holds_up_nobody_when_it_is_ready(host):
    """Its arguments are in that memory.  It has the user of a process that is waited for, so its name counts."""
    m = Member(host.folder / "awaited", user=USER)
    m.extra = {"ready": {"when": "notify", "timeout": 60}}
    with file_that_is_never_read(host.folder / "fuse") as (path, taken):
        p = as_user(LOCKED, path)
        try:
            wait_until(lambda: taken, "it reads the file")
            p.stdin.write(b"\n")
            p.stdin.flush()
            wait_until(lambda: has_thread_that_no_signal_wakes(p.pid), "its memory is locked")
            host.send(m, START)
            m.wait_pid()
            for _ in range(3):
                say_ready(host.agent, p.pid)
            host.assert_others_are_supervised()
            began = time.monotonic()
            os.kill(host.agent.program.pid, signal.SIGTERM)
            wait_until(lambda: host.agent.program.process.poll() is not None, "the agent ends", 10)
            assert host.agent.program.process.returncode == 0 and time.monotonic() - began < QUICK_S
        finally:
            p.kill()
            m.end()
    p.wait()


@pytest.mark.parametrize("without", ["", "passrights"])
def test_descriptors_that_are_sent_to_the_agent_hold_up_nobody(folder, holdfast, without):
    """An older kernel, the one without passrights, does not refuse them for us."""
    host = Host(holdfast, folder, HOLDFAST_AGENT_WITHOUT=without)
    m = Member(host.folder / "notifies", options="--notify")
    m.extra = {"ready": {"when": "notify", "timeout": 60}}
    env = {"HOLDFAST_LOCAL_SOCKET": str(host.agent.folder / "control.sock")}
    try:
        with lingering_sockets(host.agent):
            host.begin(m)
            for _ in range(3):
                status = holdfast.run("holdfast", "--local", "status", env=env, timeout=QUICK_S)
                assert status.process.returncode == 0, status.err
            host.assert_others_are_supervised()
            host.agent.program.signal(signal.SIGUSR2)
            host.agent.program.wait_until(lambda: len(host.agent.program.logs(text="ready")) == 2,
                                          "the new program is ready", 30)
            host.assert_others_are_supervised()
            began = time.monotonic()
            os.kill(host.agent.program.pid, signal.SIGTERM)
            wait_until(lambda: host.agent.program.process.poll() is not None, "the agent ends", 10)
            assert host.agent.program.process.returncode == 0 and time.monotonic() - began < QUICK_S
    finally:
        m.end()
