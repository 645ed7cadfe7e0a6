# SPDX-License-Identifier: MIT
"""/metrics: what a scraper reads is what was done, in a form that Prometheus takes."""
import base64
import http.client
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import threading

import pytest

from holdfast import wait_until
from installation import Installation

ROOT = pathlib.Path(__file__).resolve().parents[2]
SAMPLE = re.compile(r'^([a-z_]+)(?:\{(.*)\})? (-?[0-9.]+)$')
LABEL = re.compile(r'([a-z_]+)="((?:[^"\\]|\\.)*)"(?:,|$)')
STATUS = "/api/c/compapi/v2/gse/get_proc_status_v2/"


def promtool(*args, stdin=None):
    """What Debian's promtool says; ./test puts it into build/tools."""
    program = os.environ.get("HOLDFAST_PROMTOOL") or shutil.which("promtool")
    if not program and (ROOT / "build/tools/promtool").exists():
        program = ROOT / "build/tools/promtool"
    if not program:
        pytest.skip("promtool is not to be had here")
    done = subprocess.run([program, *args], input=stdin, capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, done.stdout + done.stderr


class Scrape:
    def __init__(self, text):
        self.text, self.types, self.values = text, {}, {}
        for line in text.splitlines():
            if line.startswith("# TYPE "):
                _, _, name, kind = line.split(" ")
                assert name not in self.types, line
                self.types[name] = kind
            elif not line.startswith("#"):
                m = SAMPLE.match(line)
                assert m, line
                key = (m[1], frozenset(LABEL.findall(m[2] or "")))
                assert key not in self.values, line
                self.values[key] = float(m[3])

    def sum(self, name, **labels):
        """Of all samples with these labels."""
        wanted = set(labels.items())
        return sum(v for (n, have), v in self.values.items() if n == name and wanted <= have)

    def kind(self, name):
        return self.types.get(name) or self.types[re.sub("_(bucket|sum|count)$", "", name)]

    def growing(self):
        return {k: v for k, v in self.values.items() if self.kind(k[0]) != "gauge"}

    def histograms(self):
        """(labels, buckets in their order, sum, count) of each."""
        for (name, labels), n in self.values.items():
            base = name[:-6] if name.endswith("_count") else None
            if self.types.get(base) != "histogram":
                continue
            buckets = {dict(have)["le"]: v for (other, have), v in self.values.items()
                       if other == base + "_bucket" and {x for x in have if x[0] != "le"} == labels}
            yield base, buckets, self.values[base + "_sum", labels], n


class World(Installation):
    def __init__(self, holdfast, folder):
        super().__init__(holdfast, folder)
        secret = self.admin("POST", "/v1/apps", {"code": "prometheus", "permissions": {"rights": ["metrics"]}})["secret"]
        self.word = {"Authorization": "Basic " + base64.b64encode(f"prometheus:{secret}".encode()).decode()}

    def read(self, headers=None):
        c = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        c.request("GET", "/metrics", headers=self.word if headers is None else headers)
        answer = c.getresponse()
        text = answer.read().decode()
        c.close()
        return answer.status, answer.getheader("Content-Type"), text

    def scrape(self):
        status, kind, text = self.read()
        assert (status, kind) == (200, "text/plain; version=0.0.4; charset=utf-8"), text
        return Scrape(text)


@pytest.fixture
def world(holdfast, tmp_path, monkeypatch):
    monkeypatch.setenv("HOLDFAST_SERVER_LINK_PING_SECONDS", "1")
    return World(holdfast, tmp_path)


def ask_status(world, n, failures):
    """n queries on one connection, as a client does."""
    body = json.dumps({"bk_app_code": world.code, "bk_app_secret": world.secret, "bk_username": "admin",
                       "meta": {"namespace": "gse", "name": "none"}, "agent_id_list": [world.agent.id]})
    c = http.client.HTTPConnection("127.0.0.1", world.port, timeout=60)
    try:
        for _ in range(n):
            c.request("POST", STATUS, body)
            answer = json.loads(c.getresponse().read())
            assert answer["result"] is True, answer
    except (AssertionError, OSError, ValueError) as e:
        failures.append(e)
    finally:
        c.close()


def check_sound(scrapes):
    """Histograms add up; nothing that counts goes back."""
    for s in scrapes:
        found = list(s.histograms())
        assert found
        for name, buckets, total, n in found:
            ups = sorted(buckets, key=float)
            assert ups[-1] == "+Inf" and buckets["+Inf"] == n, name
            counts = [buckets[up] for up in ups]
            assert counts == sorted(counts), name
            least = sum((counts[i] - counts[i - 1]) * float(ups[i - 1]) for i in range(1, len(ups)))
            assert least <= total * 1.000001 and (n or not total), name
    for before, after in zip(scrapes, scrapes[1:]):
        for key, v in before.growing().items():
            assert after.values[key] >= v, key


@pytest.mark.quick
def test_what_was_done_is_counted_while_it_is_scraped(world):
    world.agent = world.add_agent()
    scrapes, failures = [world.scrape()], []
    load = [threading.Thread(target=ask_status, args=(world, 50, failures)) for _ in range(4)]
    for t in load:
        t.start()
    task = world.operate({"meta": {"namespace": "gse", "name": "none"}, "op_type": 2,
                          "agent_id_list": [world.agent.id, "no-such-agent"],
                          "spec": {"identity": {"proc_name": "none", "setup_path": "/tmp", "pid_path": "/tmp/none.pid"},
                                   "control": {"start_cmd": "./none"}}})
    while any(t.is_alive() for t in load):
        scrapes.append(world.scrape())
    codes = sorted(r["error_code"] for r in world.result(task).values())
    assert not failures, failures
    assert world.esb("get_proc_status_v2", {"meta": 7})["result"] is False
    assert world.call("POST", STATUS, {"bk_app_code": "tests", "bk_app_secret": "wrong"})[2]["result"] is False
    assert world.call("GET", "/v1/nothing")[0] == 404
    scrapes.append(world.scrape())
    first, last = scrapes[0], scrapes[-1]

    def more(name, **labels):
        return last.sum(name, **labels) - first.sum(name, **labels)

    def calls(route, outcome, **labels):
        return more("holdfast_api_requests_total", route=route, outcome=outcome, **labels)

    assert calls("get_proc_status_v2", "ok", dialect="esb") == 200
    assert calls("get_proc_status_v2", "failed", dialect="esb") == 1
    assert calls("get_proc_status_v2", "refused", dialect="esb") == 1
    assert calls("none", "refused", dialect="v1") == 1
    assert calls("/metrics", "ok", dialect="v1", method="GET") == len(scrapes) - 1  # each counts from the next on
    assert calls("operate_proc_v2", "ok") == 1
    assert more("holdfast_api_request_duration_seconds_count") == more("holdfast_api_requests_total")
    assert more("holdfast_tasks_accepted_total") == 1
    assert more("holdfast_operation_duration_seconds_count", operation="query") == 2
    for code in set(codes):
        assert more("holdfast_operation_results_total", operation="query", code=str(code)) == codes.count(code)
    assert (last.sum("holdfast_tasks_open"), last.sum("holdfast_targets_open")) == (0, 0)
    for way, name in (("out", "command"), ("in", "taken"), ("in", "result"), ("out", "stored")):
        assert more("holdfast_link_frames_total", direction=way, type=name) >= 1  # said again where it is slow
    assert more("holdfast_link_frame_bytes_total", direction="in", type="result") > 16
    assert more("holdfast_store_commit_duration_seconds_count") >= 2  # the task; its results
    assert more("holdfast_store_failed_calls_total") == 0
    assert last.sum("process_resident_memory_bytes") > 1e6 and last.sum("process_open_fds") > 5
    check_sound(scrapes)
    assert promtool("check", "metrics", stdin=last.text) == (0, "")


def test_agents_are_counted_as_they_come_and_go(world):
    world.agent = world.add_agent()
    s = world.scrape()
    assert (s.sum("holdfast_agents_known"), s.sum("holdfast_agents_connected")) == (1, 1)
    version = world.agent.row["version"]
    assert s.sum("holdfast_agents_connected_by_version", version=version) == 1
    assert s.sum("holdfast_link_joined_total") == 1

    def told():
        now = world.scrape()
        return now if now.sum("holdfast_agents_reporting") else None
    s = wait_until(told, "the agent tells of itself with a pong", timeout=60)
    assert s.sum("holdfast_agents_memory_bytes") == s.sum("holdfast_agents_memory_max_bytes") > 1e6
    assert s.sum("holdfast_agents_journal_bytes") > 0
    shaken = s.sum("holdfast_link_handshakes_total")
    world.agent.kill()
    wait_until(lambda: world.scrape().sum("holdfast_agents_connected") == 0, "it is gone")
    s = world.scrape()
    assert (s.sum("holdfast_agents_known"), s.sum("holdfast_agents_reporting")) == (1, 0)
    assert s.sum("holdfast_agents_connected_by_version") == 0
    world.agent.start()
    world.agent.wait_online()
    assert world.scrape().sum("holdfast_link_handshakes_total") > shaken
    with socket.create_connection(("127.0.0.1", world.link_port), 10) as stranger:
        stranger.sendall(b"GET / HTTP/1.0\r\n\r\n")
        wait_until(lambda: world.scrape().sum("holdfast_link_refused_total", reason="handshake") >= 1,
                   "a client without TLS is counted")


def test_a_scraper_needs_its_right(world):
    assert world.read({})[0] == 401
    word = base64.b64encode(f"{world.code}:{world.secret}".encode()).decode()
    status, _, text = world.read({"Authorization": "Basic " + word})
    assert status == 403 and "metrics" in text
    answer = world.admin("POST", "/v1/apps", {"code": "few", "permissions": {"rights": ["metrics"], "businesses": [2]}},
                         status=400)
    assert "metrics cannot have limits" in answer["error"]["message"]


def blocks(kind):
    text = (ROOT / "docs/metrics.md").read_text(encoding="utf-8")
    return re.findall(rf"<!-- promtool check {kind} -->\n```yaml\n(.*?)```", text, re.S)


@pytest.mark.parametrize("kind", ["config", "rules"])
def test_what_the_document_says_is_taken_by_prometheus(kind, tmp_path):
    (tmp_path / "holdfast.secret").write_text("x")
    shutil.copy(ROOT / "docs/metrics.md", tmp_path / "holdfast-ca.pem")  # that it is there is all that is looked at
    found = blocks(kind)
    assert found
    for i, text in enumerate(found):
        path = tmp_path / f"{kind}{i}.yml"
        path.write_text(text, encoding="utf-8")
        status, said = promtool("check", kind, str(path))
        assert status == 0 and "SUCCESS" in said, said


def test_alerts_and_questions_use_metrics_that_there_are():
    text = (ROOT / "docs/metrics.md").read_text(encoding="utf-8")
    there = set(re.findall(r"^\| `(\w+)` ", (ROOT / "docs/reference/metrics.md").read_text(encoding="utf-8"), re.M))
    used = set(re.findall(r"\b(?:holdfast_(?!agents_\*)[a-z_]+[a-z]|process_[a-z_]+)\b(?!\*)", text))
    used = {re.sub("_(bucket|count|sum)$", "", name) for name in used} - {"process_cancel_restart"}
    assert len(used) > 15 and used <= there, used - there
