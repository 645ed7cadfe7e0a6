# SPDX-License-Identifier: MIT
"""Other supervisors, as Debian packages them, on the work of bench/agent.

A service script is `exec` of the program, as each of them has it in its manual, and
all settings are their defaults but for what is needed to run this many.  Those that
must have their processes in the foreground are compared with ours that are there."""
import contextlib
import copy
import os
import pathlib
import shutil
import subprocess
import tempfile
import time

import agent_rig

WELL_S = 2.5  # a service that has run this long is well, for all of them
MONIT_PROCESSES, MONIT_DEFAULT_S = 20, 120


def read(path):
    try:
        return pathlib.Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def parents():
    """{pid: its parent}"""
    stats = ((pid, read(f"/proc/{pid}/stat")) for pid in filter(str.isdigit, os.listdir("/proc")))
    return {int(pid): int(text.rsplit(")", 1)[1].split()[1]) for pid, text in stats if text}


def family(pid):
    """The process and all that descend from it."""
    tree, found = parents(), [pid]
    for one in found:
        found += [child for child, parent in tree.items() if parent == one]
    return found


class Peer:
    """One of them: what it is called, how it is told, how it is run."""

    processes, crashes, kind, note = 1000, 100, "foreground", ""
    default_note = ""  # of the rows of the default policy

    def is_installed(self):
        return shutil.which(self.program) is not None

    def configure(self, board, folder):
        """Writes what it needs; the command to run."""
        raise NotImplementedError

    def by_default(self, processes):
        """The same with so many processes, and nothing else that is not its default."""
        one = copy.copy(self)
        one.processes = processes
        return one

    def measure(self, board):
        """{"crash": [ms], "start": ms, "killed": ms, ...}"""
        with self.running(board) as (pid, started):
            return self.observe(board, pid, started)

    @contextlib.contextmanager
    def running(self, board):
        """Its pid, and the milliseconds until the last of its processes had begun."""
        board.clear()
        folder = pathlib.Path(tempfile.mkdtemp(dir=board.folder))
        command = self.configure(board, folder)
        since_ns = time.monotonic_ns()
        process = subprocess.Popen([shutil.which(command[0]), *map(str, command[1:])], cwd=folder,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                   start_new_session=True)
        try:
            yield process.pid, board.wait_all([0] * self.processes, since_ns, f"{self.package} starts {self.processes}")
        finally:
            self.end(board, process)

    def observe(self, board, pid, started):
        time.sleep(WELL_S)
        seen = {"crash": board.crash_each(range(self.crashes)), "start": started}
        time.sleep(WELL_S)
        seen |= self.memory(board, pid)
        seen["killed"] = board.kill_all(self.processes)
        return seen

    @staticmethod
    def memory(board, pid):
        own = [one for one in family(pid) if not board.is_ours(one)]
        sizes = {"Rss": 0, "Private_Dirty": 0}
        for text in (read(f"/proc/{one}/smaps_rollup") for one in own):
            for line in text.splitlines()[1:]:
                name, size = line.split(":")
                if name in sizes:
                    sizes[name] += int(size.split()[0])
        return {"memory_mb": sizes["Rss"] / 1024, "private_mb": sizes["Private_Dirty"] / 1024,
                "supervisors": len(own)}

    @staticmethod
    def end(board, process):
        """The eldest first, so that it starts none anew."""
        own = [pid for pid in family(process.pid) if not board.is_ours(pid)]
        for pid in own:
            agent_rig.kill(pid)
        process.wait()
        board.sweep()


def write_scripts(board, folder, n):
    """A folder for each service, with its run script; where they all are."""
    for i in range(n):
        run = folder / "services" / str(i) / "run"
        run.parent.mkdir(parents=True)
        run.write_text(f"#!/bin/sh\nexec {board.home(i)}/{agent_rig.WORK} {board.path} {i}\n", encoding="ascii")
        run.chmod(0o755)
    return folder / "services"


class Runit(Peer):
    package, program = "runit", "runsvdir"

    def configure(self, board, folder):
        return ["runsvdir", write_scripts(board, folder, self.processes)]


class S6(Peer):
    package, program, crashes = "s6", "s6-svscan", 20
    note = "; it restarts a service once a second at most, by default"
    default_note = " (it waits a second)"

    def configure(self, board, folder):
        return ["s6-svscan", "-c", self.processes + 100, write_scripts(board, folder, self.processes)]


class Supervisor(Peer):
    package, program, crashes = "supervisor", "supervisord", 20
    default_note = " (it starts one when it wakes up next: after a second, or here by the next death)"

    def configure(self, board, folder):
        lines = ["[supervisord]", f"logfile={folder}/log", f"pidfile={folder}/pid", f"childlogdir={folder}",
                 "nodaemon=true", "minfds=10000", "user=root"]
        for i in range(self.processes):
            lines += [f"[program:work-{i}]", "stdout_logfile=NONE", "stderr_logfile=NONE",
                      f"command={board.home(i)}/{agent_rig.WORK} {board.path} {i}"]
        settings = folder / "supervisord.conf"
        settings.write_text("\n".join(lines) + "\n", encoding="ascii")
        return ["supervisord", "-c", settings]


class Monit(Peer):
    package, program, kind = "monit", "monit", "daemonized"
    processes, crashes, cycle_s = MONIT_PROCESSES, 5, 1
    note = f"; it looks once a second, its shortest cycle; {MONIT_PROCESSES} processes only"
    default_note = f" (it looks every {MONIT_DEFAULT_S} s, as Debian has set it)"

    def by_default(self, processes):
        one = super().by_default(processes)
        one.cycle_s = MONIT_DEFAULT_S
        return one

    def configure(self, board, folder):
        lines = [f"set daemon {self.cycle_s}", f"set logfile {folder}/log", f"set pidfile {folder}/pid",
                 f"set idfile {folder}/id", f"set statefile {folder}/state"]
        for i in range(self.processes):
            pid_file = board.pid_file(i)
            lines.append(f'check process work-{i} with pidfile {pid_file} start program = '
                         f'"{board.home(i)}/{agent_rig.WORK} {board.path} {i} {pid_file}"')
        settings = folder / "monitrc"
        settings.touch(mode=0o600)
        settings.write_text("\n".join(lines) + "\n", encoding="ascii")
        return ["monit", "-I", "-c", settings]

    def observe(self, board, pid, started):
        time.sleep(WELL_S)
        return {"crash": board.crash_each(range(self.crashes))} | self.memory(board, pid)


PEERS = [Runit(), S6(), Supervisor(), Monit()]
