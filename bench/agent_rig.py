# SPDX-License-Identifier: MIT
"""What bench/agent measures with: a board on which processes note their beginning,
the floor, and a whole installation of Holdfast.  All of it in one temporary folder."""
import http.client
import json
import mmap
import os
import pathlib
import signal
import socket
import subprocess
import tempfile
import time

import lib

SERVER_BIN = lib.PROGRAMS.parent / "src/bin"
WORK = "agent_work"
GIVE_UP_S = 150
CALM_S = 0.2  # before crashes: what they follow is over then
CRASH_PAUSE_S = 0.004  # between two crashes
CRASH_APART_S = 0.01  # the same, where none is waited for
CRASH_LOOK_S = 0.004  # a shorter interval would wake up between an exit and the next start, and delay the start
APP, IP = "bench", "127.0.0.1"
MULTI = "/api/c/compapi/v2/gse/operate_proc_multi/"
RESULT = "/api/c/compapi/v2/gse/get_proc_operate_result_v2/"
START, HOST, UNHOST = 0, 3, 4
POLICY = {"auto_type": 1, "start_check_secs": 1, "start_retries": 1000, "start_interval": 1, "op_timeout": 60}
EXTRA = {"keep_trying": True}


def wait_until(what, condition, step_s=0.005, give_up_s=GIVE_UP_S):
    """The first true value of the condition."""
    end = time.monotonic() + give_up_s
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(step_s)
    lib.die(f"waited {give_up_s} s in vain: {what}")


def percentile(samples, share):
    """The nearest rank, which is one of the samples."""
    ordered = sorted(samples)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def kill(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def cgroup_of(pid):
    """Its folder of cgroup version 2, where that is mounted."""
    mounts = [line.split() for line in pathlib.Path("/proc/mounts").read_text(encoding="utf-8").splitlines()]
    lines = pathlib.Path(f"/proc/{pid}/cgroup").read_text(encoding="utf-8").splitlines()
    return pathlib.Path(next(mount[1] for mount in mounts if mount[2] == "cgroup2") +
                        next(line[3:] for line in lines if line.startswith("0::")))


class Board:
    """(when it began, its pid) of each process, and the folder each lives in: its own, with
    the program in it, as programs are installed."""

    def __init__(self, folder, n):
        self.folder, self.n = pathlib.Path(folder), n
        self.folder.mkdir()
        self.path = self.folder / "board"
        self.round, self.pid_name = 0, "pid-0"
        self.path.write_bytes(bytes(16 * n + mmap.PAGESIZE))
        with open(self.path, "r+b") as f:
            self.slots = memoryview(mmap.mmap(f.fileno(), 0)).cast("Q")
        program = self.folder / WORK
        program.write_bytes((lib.PROGRAMS / WORK).read_bytes())
        program.chmod(0o755)
        for i in range(n):
            home = self.home(i)
            home.mkdir(parents=True)
            os.link(program, home / WORK)

    def home(self, i):
        return self.folder / "homes" / str(i)

    def pid_file(self, i):
        return self.home(i) / self.pid_name

    def command(self, i, daemonized, workers=0):
        """Without quotes: the agent would run it by a shell, which the floor has not."""
        more = f" {self.pid_file(i)}" if daemonized else " -" if workers else ""
        return f"./{WORK} {self.path} {i}{more}{f' {workers}' if workers else ''}"

    def pids(self, n=None):
        return self.slots[1:2 * (n or self.n):2].tolist()

    def began_ns(self, n):
        return self.slots[0:2 * n:2].tolist()

    def clear(self):
        """As on a host on which nothing has run yet: pid files have new names, because a
        file system may be slow to give away again what was just deleted."""
        self.round += 1
        self.pid_name = f"pid-{self.round}"
        for i in range(2 * self.n):
            self.slots[i] = 0

    def wait_all(self, old, since_ns, what):
        """Milliseconds until the last of them that is not `old` any more had begun."""
        n = len(old)
        wait_until(what, lambda: all(a and a != b for a, b in zip(self.pids(n), old)))
        return (max(self.began_ns(n)) - since_ns) / 1e6

    def crash(self, i):
        """Milliseconds from SIGKILL until its successor had begun."""
        old = self.slots[2 * i + 1]
        since_ns = time.monotonic_ns()
        os.kill(old, signal.SIGKILL)
        wait_until(f"process {i} is back", lambda: self.slots[2 * i + 1] != old, CRASH_LOOK_S)
        return (self.slots[2 * i] - since_ns) / 1e6

    def crash_each(self, indexes):
        samples = []
        time.sleep(CALM_S)
        for i in indexes:
            samples.append(self.crash(i))
            time.sleep(CRASH_PAUSE_S)
        return samples

    def crash_apart(self, indexes):
        """The same, but kills the next one without waiting until the last is back: for those that
        may take long."""
        killed = {}
        time.sleep(CALM_S)
        for i in indexes:
            killed[i] = self.slots[2 * i + 1], time.monotonic_ns()
            os.kill(killed[i][0], signal.SIGKILL)
            time.sleep(CRASH_APART_S)
        wait_until("all are back", lambda: all(self.slots[2 * i + 1] != pid for i, (pid, _) in killed.items()))
        return [(self.slots[2 * i] - since_ns) / 1e6 for i, (_, since_ns) in killed.items()]

    def kill_all(self, n):
        """All at once; milliseconds until all were back."""
        old = self.pids(n)
        since_ns = time.monotonic_ns()
        for pid in old:
            os.kill(pid, signal.SIGKILL)
        return self.wait_all(old, since_ns, f"{n} killed processes are back")

    def running(self):
        """Whatever runs a program of this folder, which is all that was started."""
        return [pid for pid in map(int, filter(str.isdigit, os.listdir("/proc"))) if self.is_ours(pid)]

    def sweep(self):
        for pid in self.running():
            kill(pid)
        wait_until("no process is left", lambda: not self.running(), 0.02, 20)

    def is_ours(self, pid):
        try:
            return os.readlink(f"/proc/{pid}/exe").startswith(f"{self.folder}/")
        except OSError:
            return False


# --- The floor ----------------------------------------------------------

class Floor:
    VARIANTS = ("fork", "vfork", "threads")
    QUICKEST = ("vfork", "threads")  # for one: a copy of the supervisor is never the faster here

    def __init__(self, board, variant, n, daemonized=False):
        self.board, self.n = board, n
        board.clear()
        self.process = subprocess.Popen(
            [lib.PROGRAMS / "agent_floor", variant, board.folder / "homes", board.path, str(n),
             *([board.pid_name] if daemonized else [])], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        if self.process.stdout.readline() != "ready\n":
            lib.die("agent_floor ended early")

    def start(self):
        since_ns = time.monotonic_ns()
        self.process.stdin.write("start\n")
        self.process.stdin.flush()
        return self.board.wait_all([0] * self.n, since_ns, f"the floor starts {self.n}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        end(self.process, lambda: self.process.stdin.close())
        self.process.stdout.close()
        self.board.sweep()


def end(process, ask):
    ask()
    try:
        process.wait(20)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


# --- Holdfast -----------------------------------------------------------

class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=60)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


def free_ports(n):
    held = [socket.create_server(("127.0.0.1", 0)) for _ in range(n)]
    ports = [s.getsockname()[1] for s in held]
    for s in held:
        s.close()
    return ports


class Home:
    """A server and an agent of this host, the agent linked to it by TLS; how its processes are
    kept: policy, extra (spec.holdfast), how many have limits, the workers that each forks."""

    def __init__(self, board, *options):
        self.board, self.folder = board, pathlib.Path(tempfile.mkdtemp(dir=board.folder))
        self.port, self.link_port = free_ports(2)
        self.programs, self.limited = [], 0
        self.policy, self.extra, self.workers = POLICY, EXTRA, 0
        self.server = self.launch("holdfast-server", "--listen", f"127.0.0.1:{self.port}",
                                  "--link-listen", f"127.0.0.1:{self.link_port}",
                                  "--data-dir", self.folder / "server", "--log-file", self.folder / "server.log")
        self.socket = str(self.folder / "server/admin.sock")
        wait_until("the server answers", self.is_up, 0.02, 30)
        self.secret = self.admin("POST", "/v1/apps", {"code": APP})["secret"]
        token = self.folder / "token"
        token.touch(mode=0o600)
        token.write_text(self.admin("POST", "/v1/tokens", {"cloud_id": 0, "biz_id": 2})["token"] + "\n")
        os.sync()  # until a program that was just built is on the disk, its pages count as dirty memory of the process
        self.agent = self.launch("holdfast-agent", "--data-dir", self.folder / "agent",
                                 "--servers", f"127.0.0.1:{self.link_port}", "--join-token-file", token,
                                 "--ip", IP, "--log-file", self.folder / "agent.log", *options)
        wait_until("the agent is online", lambda: self.status()["online"] == 1, 0.02, 30)

    def launch(self, name, *args):
        with open(self.folder / f"{name}.err", "wb") as err:
            process = subprocess.Popen([SERVER_BIN / name, *map(str, args)], stdin=subprocess.DEVNULL,
                                       stdout=subprocess.DEVNULL, stderr=err)
        self.programs.append(process)
        return process

    # --- asking

    def is_up(self):
        try:
            return self.admin("GET", "/v1/status")
        except OSError:
            return False

    def status(self):
        return self.admin("GET", "/v1/status")

    @staticmethod
    def exchange(connection, method, path, body=None, headers=None):
        """Its JSON, and when it had all come."""
        connection.request(method, path, None if body is None else json.dumps(body).encode(), headers or {})
        answer = connection.getresponse()
        text = answer.read()
        now_ns = time.monotonic_ns()
        connection.close()
        if answer.status != 200:
            lib.die(f"{method} {path}: {answer.status} {text.decode()[:300]}")
        return json.loads(text), now_ns

    def admin(self, method, path, body=None):
        return self.exchange(UnixConnection(self.socket), method, path, body)[0]

    def ask(self, path, body):
        headers = {"X-Bkapi-Authorization": json.dumps({"bk_app_code": APP, "bk_app_secret": self.secret})}
        answer, now_ns = self.exchange(http.client.HTTPConnection("127.0.0.1", self.port, timeout=120),
                                       "POST", path, body, headers)
        if not answer["result"]:
            lib.die(f"{path}: {answer}")
        return answer["data"], now_ns

    # --- operations

    def request(self, i, op, daemonized):
        home = str(self.board.home(i))
        resource = {"cpu": 90, "mem": 90} if i < self.limited else {}
        return {"meta": {"namespace": "bench", "name": f"work-{i:05}"}, "op_type": op,
                "hosts": [{"ip": IP, "bk_cloud_id": 0}],
                "spec": {"identity": {"proc_name": WORK, "setup_path": home,
                                      "pid_path": str(self.board.pid_file(i)), "user": "root"},
                         "control": {"start_cmd": self.board.command(i, daemonized, self.workers), "stop_cmd": ""},
                         "resource": resource, "alive_monitor_policy": self.policy, "holdfast": self.extra}}

    def operate(self, op, n, daemonized=False):
        """(task id, when it was accepted)"""
        batch = {"proc_operate_req": [self.request(i, op, daemonized) for i in range(n)]}
        data, now_ns = self.ask(MULTI, batch)
        return data["task_id"], now_ns

    def wait_task(self, task):
        def ended():
            rows = self.ask(RESULT, {"task_id": task})[0].values()
            return rows if all(row["error_code"] != 115 for row in rows) else None
        rows = wait_until(f"task {task} ends", ended, 0.05)
        bad = [row for row in rows if row["error_code"] != 0]
        if bad:
            lib.die(f"{len(bad)} of {len(rows)} failed, the first: {bad[0]['error_code']} {bad[0]['error_msg'][:300]}")

    def do(self, op, n, daemonized=False):
        self.wait_task(self.operate(op, n, daemonized)[0])

    def begin(self, n, daemonized=False):
        """(task id, milliseconds from (accepted, asked) until all ran)"""
        self.board.clear()
        asked_ns = time.monotonic_ns()
        task, accepted_ns = self.operate(START, n, daemonized)
        accepted_ms = self.board.wait_all([0] * n, accepted_ns, f"the agent starts {n}")
        return task, (accepted_ms, accepted_ms + (accepted_ns - asked_ns) / 1e6)

    def start(self, n, daemonized=False):
        """The same milliseconds; then waits until all is known."""
        task, took = self.begin(n, daemonized)
        self.wait_task(task)
        return took

    def settle(self, n, daemonized=False):
        """All known by the pids they have now, their tries forgotten: as if just started."""
        wait_until("the restarts are known", lambda: self.known_pids() == set(self.board.pids(n)), 0.05)
        self.do(HOST, n, daemonized)

    def known_pids(self):
        pids, after = set(), ""
        while True:
            page = self.admin("GET", f"/v1/processes?limit=1000{after}")
            pids |= {row["process"]["pid"] for row in page["processes"] if row["process"]["status"] == 1}
            if not page.get("next"):
                return pids
            after = "&after=" + page["next"]

    def drop(self, n):
        """None of them runs, and none is wanted."""
        self.do(UNHOST, n)
        self.board.sweep()
        wait_until("the ends are known", lambda: not self.known_pids(), 0.1)

    def why_without(self, facility):
        """Why the agent does without something of the kernel; "": it does not."""
        run = subprocess.run([SERVER_BIN / "holdfast", f"--local={self.folder}/agent/control.sock", "facts", "--json"],
                             stdout=subprocess.PIPE, text=True)
        if run.returncode:
            lib.die("the agent does not tell its facts")
        return {fact["name"]: fact["why"] for fact in json.loads(run.stdout)["facts"] if not fact["used"]}.get(
            facility, "")

    # --- what the agent costs

    def memory_kb(self):
        """(resident, private and dirty)"""
        text = pathlib.Path(f"/proc/{self.agent.pid}/smaps_rollup").read_text(encoding="ascii")
        sizes = {line.split(":")[0]: int(line.split()[1]) for line in text.splitlines()[1:]}
        return sizes["Rss"], sizes["Private_Dirty"]

    def cpu_s(self):
        """Of all its threads; /proc/PID/stat tells the same in hundredths of a second,
        which is too coarse for a thousandth of a core."""
        return time.clock_gettime(~self.agent.pid << 3 | 2)

    def idle_percent(self, seconds, sleep=time.sleep):
        """Of a core."""
        before, since = self.cpu_s(), time.monotonic()
        sleep(seconds)
        return (self.cpu_s() - before) / (time.monotonic() - since) * 100

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in reversed(self.programs):
            end(process, process.terminate)
        self.board.sweep()
