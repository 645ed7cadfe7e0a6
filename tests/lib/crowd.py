# SPDX-License-Identifier: MIT
"""Processes that note themselves when they begin, and whether they are alone.

A member has a folder of its own with the victim in it and a slot (victim.c's --slot):
a line for each beginning, and another word there if the one before still lived.  So
a double start shows without looking at the right moment."""
import os
import pathlib
import random
import shutil
import signal
import threading

from holdfast import bin_dir, wait_until
from installation import end_all, is_alive

PROGRAM = "proc-test"
KINDS = {
    "foreground": "./proc-test {}",
    "daemon": "./proc-test --daemonize --pid-file $PWD/pid {}",
    "shell": "true; ./proc-test {}",  # a shell that stays as its parent
}
POLICY = {"auto_type": 1, "start_check_secs": 1, "stop_check_secs": 1, "op_timeout": 10, "start_interval": 1}


def victim():
    return bin_dir().parents[1] / "tests/victim"


class Member:
    """One process: its folder, how it is started, and what is asked about it."""

    def __init__(self, folder, start=KINDS["foreground"], options="", user="root", life_ms=120000, program=None):
        self.folder, self.user = pathlib.Path(folder), user
        self.folder.mkdir(parents=True)
        self.folder.chmod(0o755)
        self.slot, self.pid_file = self.folder / "slot", self.folder / "pid"
        self.slot.touch()
        if user != "root":
            for path in (self.folder, self.slot):
                shutil.chown(path, user)
        if program:
            os.link(program, self.folder / PROGRAM)
        else:
            shutil.copy(victim(), self.folder / PROGRAM)
        self.start = start.format(f"--life-ms {life_ms} --slot slot {options}").rstrip()
        self.pid_path, self.proc_name, self.control, self.extra = self.pid_file, PROGRAM, {}, {"keep_trying": True}
        self.kills = 0

    @property
    def name(self):
        return self.folder.name

    def request(self, ip, op, **policy):
        identity = {"proc_name": self.proc_name, "setup_path": str(self.folder), "pid_path": str(self.pid_path),
                    "log_path": str(self.folder / "log"), "user": self.user}
        spec = {"identity": identity, "control": {"start_cmd": self.start, **self.control},
                "alive_monitor_policy": {**POLICY, **policy}, "holdfast": self.extra}
        return {"meta": {"namespace": "crowd", "name": self.name}, "op_type": op, "spec": spec,
                "hosts": [{"ip": ip, "bk_cloud_id": 0}]}

    def lines(self):
        return [line.split() for line in self.slot.read_text(encoding="ascii").splitlines()]

    def begun(self):
        """The pids of all that began, the last one last."""
        return [int(pid) for _, pid in self.lines()]

    def doubles(self):
        return [int(pid) for word, pid in self.lines() if word != "begun"]

    def pids(self):
        """All that run the program of this folder now; a shell around it does not."""
        return program_pids(self.folder / PROGRAM)

    def wait_pid(self, n=1, timeout=60):
        """The pid of the n-th that began."""
        return wait_until(lambda: len(b := self.begun()) >= n and b[n - 1:], f"{self.name} begins", timeout)[0]

    def kill(self):
        """SIGKILL to the last that began, unless that was done already: whether it was."""
        begun = self.begun()
        if len(begun) != self.kills + 1:
            return False
        handle = os.pidfd_open(begun[-1])
        try:
            assert os.readlink(f"/proc/{begun[-1]}/exe") == str(self.folder / PROGRAM)
            signal.pidfd_send_signal(handle, signal.SIGKILL)
        finally:
            os.close(handle)
        self.kills += 1
        return True

    def end(self):
        end_all(self.pids())


def program_pids(path):
    found = []
    for entry in os.listdir("/proc"):
        try:
            if entry.isdigit() and os.readlink(f"/proc/{entry}/exe") == str(path) and is_alive(int(entry)):
                found.append(int(entry))
        except OSError:
            continue
    return found


class Crowd:
    """Many members, of all kinds in turn."""

    def __init__(self, folder, n, kinds=tuple(KINDS), life_ms=120000):
        folder = pathlib.Path(folder)
        folder.mkdir()
        program = folder / PROGRAM
        shutil.copy(victim(), program)
        self.members = [Member(folder / f"{kinds[i % len(kinds)]}-{i}", KINDS[kinds[i % len(kinds)]],
                               life_ms=life_ms, program=program) for i in range(n)]

    def operate(self, home, ip, op, timeout=120, **policy):
        """One operation on all of them; (code, text) that are not a success."""
        elements = [m.request(ip, op, **policy) for m in self.members]
        results = home.result(home.operate({"proc_operate_req": elements}, name="operate_proc_multi"), timeout=timeout)
        assert len(results) == len(self.members)
        return [(key, r["error_code"], r["error_msg"]) for key, r in results.items() if r["error_code"]]

    def kill_some(self, rng, n):
        for m in rng.sample(self.members, n):
            m.kill()

    def wait_back(self, timeout=120):
        """Each that was killed has begun again."""
        def are_back():
            return all(len(m.begun()) > m.kills for m in self.members)
        wait_until(are_back, "all that were killed are back", timeout)

    def wrong(self):
        """What should not have happened to them, each with its name."""
        found = []
        for m in self.members:
            begun = m.begun()
            if m.doubles():
                found.append(f"{m.name}: {m.doubles()} began while another was there")
            if len(begun) != m.kills + 1:
                found.append(f"{m.name}: began {len(begun)} times, was killed {m.kills} times")
            if not is_alive(begun[-1]):
                found.append(f"{m.name}: {begun[-1]} is dead")
        return found


class Killer(threading.Thread):
    """Kills members at random until it is ended, whatever supervises them."""

    def __init__(self, crowd, seed, at_once, pause_s):
        super().__init__(daemon=True)
        self.crowd, self.rng, self.at_once, self.pause_s = crowd, random.Random(seed), at_once, pause_s
        self.is_over, self.failure = threading.Event(), None

    def run(self):
        try:
            while not self.is_over.wait(self.pause_s):
                self.crowd.kill_some(self.rng, self.at_once)
        except Exception as e:  # told by end(), in the test's own thread
            self.failure = e

    def end(self):
        self.is_over.set()
        self.join()
        assert not self.failure, repr(self.failure)
