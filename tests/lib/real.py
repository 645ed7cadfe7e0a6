# SPDX-License-Identifier: MIT
"""A host for programs of the distribution: namespaces in which they find what they need, and
an agent without a server.  For tests that run alone (alone.py): tools/real-programs has
unpacked the programs into build/real/root, which is /mnt/real here, and the test's own folder
is /mnt, so that any user gets there.

    host = RealHost(holdfast, tmp_path)
    host.start_agent()
    host.ok("start", Nginx(host))
"""
import contextlib
import ctypes
import fcntl
import json
import os
import pathlib
import signal
import subprocess

import pytest

from holdfast import wait_until
from installation import is_alive
from own_root import mount

TOP = pathlib.Path(__file__).resolve().parents[2] / "build/real"
HOME = pathlib.Path("/mnt")
ROOT = HOME / "real"
CLONE_NEWIPC = 0x08000000
ACCOUNTS = {"postgres": 991, "sshd": 992}  # that packages would make
POLICY = {"auto_type": 1, "start_check_secs": 1, "stop_check_secs": 1, "op_timeout": 10}


def need(which):
    """Skips the test where the programs of that set could not be had; CI has to have them."""
    if not (TOP / f"{which}.unpacked").exists():
        said = f"the programs are not there: tools/real-programs {which}"
        if os.environ.get("CI") == "true":
            pytest.fail(said)
        pytest.skip(said)


def libraries():
    """For LD_LIBRARY_PATH: what the machine has not installed."""
    return ":".join(str(p) for base in ("usr/lib", "lib") for p in sorted((ROOT / base).glob("*-linux-gnu*")))


def own_accounts(folder):
    """Hides /etc/passwd, group and shadow behind some with the users that programs want."""
    passwd = [line for line in pathlib.Path("/etc/passwd").read_text(encoding="utf-8").splitlines()
              if line.split(":")[0] not in ACCOUNTS]
    group = [line for line in pathlib.Path("/etc/group").read_text(encoding="utf-8").splitlines()
             if line.split(":")[0] not in ACCOUNTS]
    for name, number in ACCOUNTS.items():
        passwd.append(f"{name}:x:{number}:{number}::/nonexistent:/bin/sh")
        group.append(f"{name}:x:{number}:")
    shadow = [line.split(":")[0] + ":*:19000:0:99999:7:::" for line in passwd]
    for name, lines, mode in (("passwd", passwd, 0o644), ("group", group, 0o644), ("shadow", shadow, 0o600)):
        path = folder / f"etc-{name}"
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        path.chmod(mode)
        mount("--bind", path, f"/etc/{name}")


def own_folders(folder):
    folder.chmod(0o755)
    mount("--bind", folder, HOME)
    ROOT.mkdir()
    mount("--bind", TOP / "root", ROOT)
    for path in ("/run", "/dev/shm", "/var/spool"):
        if os.path.isdir(path):
            mount("-t", "tmpfs", "none", path)
    os.chmod("/dev/shm", 0o1777)
    for path in ("/run/sshd", "/var/spool/cron/crontabs"):
        os.makedirs(path, mode=0o755)
    if os.path.isdir("/etc/cron.d"):
        mount("-t", "tmpfs", "none", "/etc/cron.d")


def own_shared_memory():
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWIPC):
        raise OSError(ctypes.get_errno(), "unshare(CLONE_NEWIPC)")


class Running:
    """A process as /proc shows it; two are the same if pid and start time are."""

    def __init__(self, pid):
        text = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
        fields = text.rsplit(")", 1)[1].split()
        self.pid, self.name = pid, text.split("(", 1)[1].rsplit(")", 1)[0]
        self.state, self.parent, self.begun = fields[0], int(fields[1]), int(fields[19])
        command = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()
        self.command = command.replace(b"\0", b" ").decode("utf-8", "replace").strip()

    def __eq__(self, other):
        return isinstance(other, Running) and (self.pid, self.begun) == (other.pid, other.begun)

    def __hash__(self):
        return hash((self.pid, self.begun))

    def __repr__(self):
        return f"{self.pid} (of {self.parent}) {self.name}: {self.command}"


class RealHost:
    def __init__(self, holdfast, folder):
        need("suite")
        own_folders(folder)
        own_accounts(folder)
        own_shared_memory()
        self.holdfast, self.not_theirs, self.env = holdfast, {1, os.getpid()}, {}
        self.data = HOME / f"agent-{os.urandom(4).hex()}"  # names its cgroups, which all hosts of tests share
        self.agent = None

    # --- the agent

    def start_agent(self, **env):
        """Or starts it again, with the same settings."""
        self.env = env or self.env
        self.agent = self.holdfast.start("holdfast-agent", "--data-dir", self.data, "--log-level", "debug", env=self.env)
        self.not_theirs.add(self.agent.pid)
        self.agent.wait_log(text="ready")

    def lacks(self, facility):
        return self.agent.logs(text="a facility of the kernel is not used", facility=facility)

    def upgrade_agent(self):
        """It becomes its program file again, in the same process."""
        before = len(self.agent.logs(text="ready"))
        self.agent.signal(signal.SIGUSR2)
        self.agent.wait_until(lambda: len(self.agent.logs(text="ready")) > before, "the new program is ready", 60)

    def cli(self, *args):
        env = {"HOME": HOME, "XDG_CONFIG_HOME": "", "LC_ALL": "C", "TZ": "UTC",
               "HOLDFAST_LOCAL_SOCKET": self.data / "control.sock"}
        return self.holdfast.run("holdfast", "--local", *args, env=env, timeout=60)

    def operate(self, operation, *programs):
        """What came of it for each: code, text and the rest of `items`."""
        if operation in ("start", "host") and len(programs) == 1:
            said = self.cli(operation, programs[0].label, "--spec", programs[0].spec_file(), "--json")
        else:
            said = self.cli(operation, *(p.label for p in programs), "--json")
        try:
            return json.loads(said.out)["items"]
        except (ValueError, KeyError):
            raise AssertionError(f"{operation}: {said.out} {said.err}") from None

    def ok(self, operation, *programs):
        items = self.operate(operation, *programs)
        assert all(i["code"] == 0 for i in items), [(i["code"], i["text"]) for i in items]

    def view(self, program):
        rows = [r["process"] for r in json.loads(self.cli("ps", "--json").out)["processes"]]
        found = [r for r in rows if r["name"] == program.name]
        return found[0] if found else {"pid": -1, "status": 0, "hosted": False, "restarts": 0}

    def why(self, program):
        return self.cli("why", program.label).out

    # --- what runs

    def running(self):
        """All that the agent has started, and what these have."""
        found = []
        for entry in os.listdir("/proc"):
            if entry.isdigit() and int(entry) not in self.not_theirs:
                with contextlib.suppress(OSError):
                    found.append(Running(int(entry)))
        return [r for r in found if r.state not in "ZX"]

    def client(self, *args, **more):
        """A program of the test's own, which counts for nothing."""
        process = subprocess.Popen(list(map(str, args)), env={**os.environ, "LD_LIBRARY_PATH": libraries()}, **more)
        self.not_theirs.add(process.pid)
        return process

    def close(self):
        """The agent first, or it would start them again."""
        wrong = []
        if self.agent:
            try:
                self.agent.stop()
            except AssertionError as e:
                wrong.append(str(e))
        pids = [r.pid for r in self.running()] + list(self.not_theirs - {1, os.getpid()})
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        wait_until(lambda: not any(is_alive(p) for p in pids), "what the test has started is gone")
        for path, _, _ in os.walk("/sys/fs/cgroup", topdown=False):
            if "/holdfast-" in path and self.data.name in path:
                with contextlib.suppress(OSError):
                    os.rmdir(path)
        return wrong


@contextlib.contextmanager
def lock():
    """Only one test at a time prepares what all use."""
    with open(TOP / "lock", "wb") as f:
        fcntl.flock(f, fcntl.LOCK_EX)
        yield
