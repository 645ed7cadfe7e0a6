# SPDX-License-Identifier: MIT
"""What bench/fleet measures with: a server, simulated agents linked to it, a client of the
API, and one that sends queries all the time.  All of it is in one temporary folder."""
import http.client
import json
import pathlib
import re
import socket
import subprocess
import tempfile
import threading
import time

import agent_rig
import lib
from agent_rig import SERVER_BIN, end, free_ports, wait_until

APP, SPACE = "bench", "sim"
OPERATE = "/api/c/compapi/v2/gse/operate_proc_v2/"
STATUS = "/api/c/compapi/v2/gse/get_proc_status_v2/"
NO_OP = 2  # a query: the agent looks, and answers
PROBE_PAUSE_S = 0.005
GIVE_UP_S = 300
PAGE_KB = 4


def agent_id(i):
    return f"{SPACE}-{i:05}"


def rss_kb(pid):
    text = pathlib.Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    return int(re.search(r"VmRSS:\s*(\d+)", text)[1])


def kernel_kb():
    """Of the whole machine: sockets' buffers and what its caches of small objects hold."""
    sockets = re.search(r"TCP: .* mem (\d+)", pathlib.Path("/proc/net/sockstat").read_text(encoding="ascii"))
    slab = re.search(r"Slab:\s*(\d+)", pathlib.Path("/proc/meminfo").read_text(encoding="ascii"))
    return int(sockets[1]) * PAGE_KB + int(slab[1])


def cpu_s(pid):
    """Of all threads; see agent_rig.Home.cpu_s."""
    return time.clock_gettime(~pid << 3 | 2)


class Server:
    def __init__(self, folder):
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=folder))
        self.port, self.link_port = free_ports(2)
        self.process = None
        self.start()
        self.secret = self.admin("POST", "/v1/apps", {"code": APP})["secret"]

    def start(self):
        with open(self.folder / "server.err", "ab") as err:
            self.process = subprocess.Popen(
                [SERVER_BIN / "holdfast-server", "--listen", f"127.0.0.1:{self.port}",
                 "--link-listen", f"127.0.0.1:{self.link_port}", "--data-dir", str(self.folder / "server"),
                 "--log-file", str(self.folder / "server.log"), "--rate-per-second", "1000000"],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=err)
        wait_until("the server answers", self.is_up, 0.01, 60)

    def is_up(self):
        if self.process.poll() is not None:
            lib.die(f"the server ended with {self.process.returncode}; see {self.folder}")
        try:
            return self.admin("GET", "/v1/status")
        except OSError:
            return False

    def stop(self, number):
        """Milliseconds that it took."""
        since = time.monotonic()
        self.process.send_signal(number)
        self.process.wait(60)
        return (time.monotonic() - since) * 1000

    def admin(self, method, path, body=None):
        connection = agent_rig.UnixConnection(str(self.folder / "server/admin.sock"))
        return agent_rig.Home.exchange(connection, method, path, body)[0]

    def token(self, n):
        return self.admin("POST", "/v1/tokens", {"cloud_id": 0, "biz_id": 2, "uses": n})["token"]

    def client(self):
        return Client(self.port, self.secret)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        end(self.process, self.process.terminate)


class Client:
    """Of the API, with one connection that stays."""

    def __init__(self, port, secret):
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        self.headers = {"X-Bkapi-Authorization": json.dumps({"bk_app_code": APP, "bk_app_secret": secret})}

    def raw(self, method, path, body=None):
        self.connection.request(method, path, None if body is None else json.dumps(body).encode(), self.headers)
        answer = self.connection.getresponse()
        text = answer.read()
        if answer.status != 200:
            lib.die(f"{method} {path}: {answer.status} {text.decode()[:300]}")
        return json.loads(text)

    def ask(self, path, body):
        answer = self.raw("POST", path, body)
        if not answer["result"]:
            lib.die(f"{path}: {str(answer)[:300]}")
        return answer["data"]

    def operate(self, n):
        """One operation that does nothing, on n agents: (ms until accepted, ms from then until
        every result could be read)."""
        body = {"meta": {"namespace": SPACE, "name": "proc-00"}, "op_type": NO_OP,
                "agent_id_list": [agent_id(i) for i in range(n)],
                "spec": {"identity": {"proc_name": "proc-00", "setup_path": "/sim", "pid_path": "/sim/p",
                                      "user": "root"}}}
        since = time.monotonic()
        task = self.ask(OPERATE, body)["task_id"]
        accepted = time.monotonic()
        seen = wait_until(f"task {task} ends", lambda: self.ended(task), 0.005, GIVE_UP_S)
        done = time.monotonic()
        if seen["total"] != n or seen["failed"]:
            lib.die(f"task {task}: {seen}")
        return (accepted - since) * 1000, (done - accepted) * 1000

    def ended(self, task):
        seen = self.raw("GET", f"/v1/tasks/{task}?items=none")
        return seen if not seen["left"] else None

    def status(self, i, name="proc-00"):
        hosts = {"meta": {"namespace": SPACE, "name": name}, "agent_id_list": [agent_id(i)]}
        return self.ask(STATUS, hosts)["proc_infos"][0]["status"]


class Prober(threading.Thread):
    """Asks for the status of one process again and again: how long each answer took."""

    def __init__(self, server):
        super().__init__(daemon=True)
        self.client, self.over, self.samples = server.client(), threading.Event(), []

    def run(self):
        while not self.over.is_set():
            since = time.monotonic()
            self.client.status(0)
            self.samples.append((time.monotonic() - since) * 1000)
            time.sleep(PROBE_PAUSE_S)

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.join()

    def p99(self):
        return agent_rig.percentile(self.samples, 0.99)


class Agents:
    """A fleet of simulated ones.  Their keys stay in the folder, so that they join once."""

    def __init__(self, server, folder, n, procs, token=None):
        self.n, self.path = n, str(pathlib.Path(folder) / "control")
        pathlib.Path(self.path).unlink(missing_ok=True)
        with open(pathlib.Path(folder) / "sim.err", "ab") as err:
            self.process = subprocess.Popen(
                [SERVER_BIN / "holdfast-sim", "--agents", str(n), "--procs", str(procs), "--processes", "2",
                 "--at-once", str(n), "--server", f"127.0.0.1:{server.link_port}", "--dir", str(folder / "agents"),
                 "--control", self.path, "--json", *(["--token", token] if token else [])],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=err)
        self.socket = wait_until("the agents can be told", self.connect, 0.01, 120)
        self.lines = self.socket.makefile("rw")

    def connect(self):
        if self.process.poll() is not None:
            lib.die(f"holdfast-sim ended with {self.process.returncode}")
        s = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            s.connect(self.path)
            return s
        except OSError:
            s.close()
            return None

    def tell(self, line):
        self.lines.write(line + "\n")
        self.lines.flush()
        answer = json.loads(self.lines.readline())
        if "error" in answer:
            lib.die(f"holdfast-sim: {line}: {answer['error']}")
        return answer

    def wait_up(self, what):
        """When the last of them had its session."""
        def all_up():
            report = self.tell("report")
            return report if report["up"] == self.n else None
        return wait_until(f"{self.n:,} agents {what}", all_up, 0.02, GIVE_UP_S)["up_ns"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()
        end(self.process, self.process.terminate)
