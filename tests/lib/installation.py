# SPDX-License-Identifier: MIT
"""A whole installation for tests: server, agents, an app, and clients as BlueKing's are.

    def test_it_runs(holdfast, tmp_path):
        home = Installation(holdfast, tmp_path)
        host = home.add_agent()
        task = home.operate(seed_request(host, op_type=0))
        home.result(task)
"""
import base64
import http.client
import json
import os
import pathlib
import signal
import socket
import time
import urllib.parse

from holdfast import free_port, wait_until

ESB = "/api/c/compapi/v2/gse/{}/"
GATEWAY = "/api/bk-gse/prod/api/v2/proc/{}"


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path, timeout):
        super().__init__("localhost", timeout=timeout)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


def exchange(connection, method, path, body=None, headers=None):
    """(status, headers, JSON) of one request."""
    data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
    try:
        connection.request(method, path, data, headers or {})
        answer = connection.getresponse()
        text = answer.read()
    finally:
        connection.close()
    return answer.status, dict(answer.getheaders()), json.loads(text)


class Agent:
    """holdfast-agent with a folder of its own, so that it can be started again."""

    def __init__(self, home, ip, token, folder=None, **env):
        self.home, self.ip = home, ip
        self.folder = pathlib.Path(home.folder, folder or "agent-" + ip)
        self.token_file = pathlib.Path(home.folder, "token-" + self.folder.name)
        self.token_file.touch(mode=0o600)
        self.token_file.write_text(token + "\n", encoding="ascii")
        self.start(**env)

    def start(self, **env):
        self.program = self.home.holdfast.start(
            "holdfast-agent", "--data-dir", self.folder, "--servers", f"127.0.0.1:{self.home.link_port}",
            "--join-token-file", self.token_file, "--ip", self.ip, "--log-level", "debug", env=env)

    def wait_online(self, timeout=30):
        self.row = self.program.wait_until(lambda: self.home.online(self.ip), f"agent {self.ip} is online", timeout)
        self.id = self.row["agent_id"]
        return self

    def kill(self):
        """SIGKILL to the agent alone."""
        self.program.kill()


class Installation:
    def __init__(self, holdfast, folder):
        self.holdfast, self.folder = holdfast, pathlib.Path(folder)
        self.data = self.folder / "server"
        self.events_file = self.folder / "events.jsonl"
        self.port, self.link_port = free_port(), free_port()
        self.start()
        app = self.admin("POST", "/v1/apps", {"code": "tests"})
        self.code, self.secret = app["code"], app["secret"]

    def start(self, **env):
        self.server = self.holdfast.start(
            "holdfast-server", "--listen", f"127.0.0.1:{self.port}", "--link-listen", f"127.0.0.1:{self.link_port}",
            "--data-dir", self.data, "--events-file", self.events_file, "--log-level", "debug", env=env)
        self.server.wait_until(lambda: self.call("GET", "/healthz")[0] == 200, "the server answers")

    def kill(self):
        self.server.kill()

    # --- asking

    def call(self, method, path, body=None, headers=None, timeout=30):
        return exchange(http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout), method, path, body,
                        headers)

    def admin(self, method, path, body=None, status=200):
        """One request on the admin socket; its answer must have this status."""
        got, _, answer = exchange(UnixConnection(str(self.data / "admin.sock"), 30), method, path, body)
        assert got == status, answer
        return answer

    def v1(self, method, path, body=None, status=200):
        word = base64.b64encode(f"{self.code}:{self.secret}".encode()).decode()
        got, _, answer = self.call(method, path, body, {"Authorization": "Basic " + word})
        assert got == status, answer
        return answer

    def auth(self):
        return {"X-Bkapi-Authorization": json.dumps({"bk_app_code": self.code, "bk_app_secret": self.secret})}

    def esb(self, name, body, path=ESB):
        """As the ESB's SDK does: credentials in the body, no content type."""
        credentials = {"bk_app_code": self.code, "bk_app_secret": self.secret, "bk_username": "admin"}
        status, _, answer = self.call("POST", path.format(name), {**credentials, **body})
        assert status == 200, answer
        return answer

    def gateway(self, name, body, path=GATEWAY):
        status, _, answer = self.call("POST", path.format(name), body, self.auth())
        assert status == 200, answer
        return answer

    # --- agents

    def token(self, **ask):
        return self.admin("POST", "/v1/tokens", ask)["token"]

    def add_agent(self, ip="127.0.0.1", cloud_id=0, biz_id=2, **env):
        return Agent(self, ip, self.token(cloud_id=cloud_id, biz_id=biz_id), **env).wait_online()

    def hosts(self):
        return {row["ip"]: row for row in self.admin("GET", "/v1/hosts")["hosts"]}

    def online(self, ip):
        row = self.hosts().get(ip)
        return row if row and row["online"] else None

    def processes(self, **fields):
        rows, after = [], ""
        while True:
            page = self.admin("GET", "/v1/processes?limit=1000&after=" + urllib.parse.quote(after, safe=""))
            rows += page["processes"]
            after = page.get("next")
            if not after:
                break
        return [r for r in rows if all(r["process"].get(k) == v for k, v in fields.items())]

    def events(self, name=None):
        if not self.events_file.exists():
            return []
        rows = [json.loads(line) for line in self.events_file.read_text(encoding="utf-8").splitlines()]
        return [r for r in rows if name is None or ("data" in r and r["data"][0]["event_name"] == name)]

    # --- operations

    def operate(self, body, by="esb", name="operate_proc_v2"):
        answer = getattr(self, by)(name, body)
        assert answer["result"] is True and answer["code"] == 0, answer
        return answer["data"]["task_id"]

    def poll(self, task, by="esb"):
        answer = getattr(self, by)("get_proc_operate_result_v2", {"task_id": task})
        assert answer["result"] is True and answer["code"] == 0, answer
        return answer["data"]

    def result(self, task, by="esb", timeout=60):
        """The finished results, as a client gets them: by polling."""
        def ended():
            data = self.poll(task, by)
            return data if all(r["error_code"] != 115 for r in data.values()) else None
        return wait_until(ended, f"task {task} ends", timeout)

    def do(self, body, by="esb", timeout=60):
        """Operates, waits, and gives the one result."""
        data = self.result(self.operate(body, by), by, timeout)
        assert len(data) == 1, data
        return next(iter(data.values()))


def is_alive(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as f:
            return f.read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def end_all(pids, timeout=10):
    """SIGKILL to processes that a test has started through an agent."""
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    end = time.monotonic() + timeout
    while any(is_alive(p) for p in pids) and time.monotonic() < end:
        time.sleep(0.01)
