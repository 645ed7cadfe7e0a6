# SPDX-License-Identifier: MIT
"""The store has no room, is locked by another program, or belongs to another server: callers get
an error, reads still work, nothing that was accepted is lost, and the server recovers by itself."""
import base64
import concurrent.futures
import http.client
import json
import os
import re
import signal
import sqlite3
import subprocess

import pytest

from daemon import Daemon
from holdfast import free_port, wait_until
from installation import Installation

FAST = {"start_check_secs": 1, "stop_check_secs": 1}
ROOM = "8m"


class World:
    def __init__(self, holdfast, folder):
        self.home = Installation(holdfast, folder)
        self.daemon = Daemon(folder / "daemon")
        self.daemon.script("effect.sh", "while [ -e hold ]; do sleep 0.05; done\necho $1 >> effects")
        self.agent = self.home.add_agent()
        self.first = self.home.operate(self.daemon.request(self.agent.ip, 0, **FAST))
        assert self.code(self.first) == 0

    def body(self, word):
        body = self.daemon.request(self.agent.ip, 8, **FAST)
        body["spec"]["control"]["reload_cmd"] = f"./effect.sh {word}"
        return body

    def answer(self, word):
        return self.home.esb("operate_proc_v2", self.body(word))

    def task(self, word):
        answer = self.answer(word)
        assert answer["result"] is True, answer
        return answer["data"]["task_id"]

    def code(self, task):
        return next(iter(self.home.result(task).values()))["error_code"]

    def code_now(self, task):
        return next(iter(self.home.poll(task).values()))["error_code"]

    def effects(self):
        path = self.daemon.folder / "effects"
        return path.read_text(encoding="ascii").split() if path.exists() else []

    def open_requests(self, secret):
        """The requests that the server has, this one included."""
        word = base64.b64encode(f"prometheus:{secret}".encode()).decode()
        connection = http.client.HTTPConnection("127.0.0.1", self.home.port, timeout=30)
        connection.request("GET", "/metrics", headers={"Authorization": "Basic " + word})
        text = connection.getresponse().read().decode()
        connection.close()
        return int(re.search(r"^holdfast_http_open_requests (\d+)$", text, re.M)[1])

    def check_refused(self, answer, why):
        """The caller is told to try again, the log says why."""
        assert answer["result"] is False and "try again" in answer["message"], answer
        assert any(why in line for line in self.home.server.err.splitlines() if answer["request_id"] in line), why

    def check_reads(self):
        assert self.home.call("GET", "/healthz")[0] == 200
        assert self.home.online(self.agent.ip)
        assert self.code_now(self.first) == 0
        assert len(self.home.processes(name="proc-test")) == 1


@pytest.fixture
def make_world(holdfast, tmp_path):
    made = []

    def make():
        made.append(World(holdfast, tmp_path))
        return made[-1]
    yield make
    for w in made:
        w.daemon.end()


def fill(folder):
    """A file that takes all the room there is."""
    path = folder / "filler"
    with open(path, "wb", buffering=0) as f:
        for size in (1 << 20, 1 << 12, 1):
            try:
                while True:
                    f.write(b"x" * size)
            except OSError:
                pass
    return path


@pytest.mark.alone
def test_on_a_full_disk_requests_are_refused_and_all_goes_on_when_there_is_room(tmp_path, make_world):
    data = tmp_path / "server"
    data.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={ROOM},mode=700", "none", data], check=True)
    w = make_world()
    hold = w.daemon.folder / "hold"
    hold.touch()
    running = w.task("while-it-fills")
    filler = fill(data)
    refused = {}

    def refusal():
        word = f"refused{len(refused)}"
        answer = w.answer(word)
        refused[word] = answer
        return answer["result"] is False and answer
    answer = wait_until(refusal, "there is no room for a task")  # what is left of the log's pages is used first
    w.check_refused(answer, "no space left")
    hold.unlink()
    w.home.server.wait_log(text="the store fails, what was to be written waits")
    w.check_reads()
    assert w.code_now(running) == 115  # a result is shown when it is stored
    filler.unlink()
    assert w.code(running) == 0
    later = w.task("later")
    assert w.code(later) == 0
    w.home.kill()
    w.home.start()
    assert w.code(running) == w.code(later) == w.code(w.first) == 0
    accepted = [a["data"]["task_id"] for a in refused.values() if a["result"]]
    assert all(w.code(task) == 0 for task in accepted)
    done = [word for word, a in refused.items() if a["result"]]
    assert sorted(w.effects()) == sorted(["while-it-fills", "later", *done])


def status_of(w, *args):
    p = w.home.holdfast.run("holdfast", "status", *args, "--socket", w.home.data / "admin.sock")
    return p.process.returncode, p.out


def status_with(w, code, text=""):
    """What status says once it ends with this code and has this text: one check of the store serves all that ask
    within a second, and one that waits for a lock is told of before it has ended."""
    def look():
        got = status_of(w)
        return got[1] if got[0] == code and text in got[1] else None
    return wait_until(look, f"status ends with {code} {text}")


@pytest.mark.alone
def test_status_says_that_the_store_is_full(tmp_path, make_world):
    data = tmp_path / "server"
    data.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={ROOM},mode=700", "none", data], check=True)
    w = make_world()
    assert json.loads(status_of(w, "--json")[1])["wrong"] == []
    filler = fill(data)
    text = status_with(w, 1)
    assert "the server cannot write to its store: " in text and "no space left" in text, text
    assert "服务端无法写入其存储：" in status_of(w, "--lang", "zh")[1] and "没有剩余空间" in status_of(w, "--lang", "zh")[1]
    code, text = status_of(w, "--json")
    wrong, = json.loads(text)["wrong"]
    assert code == 1 and wrong["kind"] == "store" and "no space left" in wrong["text"], wrong
    filler.unlink()
    assert "store" not in status_with(w, 0)


@pytest.mark.alone
def test_status_says_that_the_store_is_read_only(tmp_path, make_world):
    w = make_world()
    subprocess.run(["mount", "--bind", w.home.data, w.home.data], check=True)
    subprocess.run(["mount", "-o", "remount,bind,ro", w.home.data], check=True)
    text = status_with(w, 1)
    assert "the server cannot write to its store: " in text and "may only be read" in text, text
    subprocess.run(["umount", w.home.data], check=True)
    status_with(w, 0)


def test_status_says_that_the_store_is_locked(make_world):
    w = make_world()
    lock = Lock(w.home.data / "holdfast.db")
    code, text = status_of(w)
    assert code == 1 and "the store does not answer: a write has waited for " in text, text
    status_with(w, 1, "locked by another program")
    lock.end()
    status_with(w, 0)


class Lock:
    """Another program that writes to the database and takes its time."""

    def __init__(self, path):
        self.db = sqlite3.connect(path, isolation_level=None, timeout=20)
        self.db.execute("BEGIN IMMEDIATE")

    def end(self):
        self.db.execute("ROLLBACK")
        self.db.close()


def test_while_another_program_has_the_lock_requests_wait_or_are_refused(make_world):
    w = make_world()
    path = w.home.data / "holdfast.db"
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        lock = Lock(path)
        waiting = pool.submit(w.task, "waited")
        w.check_reads()
        assert not waiting.done()
        lock.end()
        assert w.code(waiting.result(timeout=60)) == 0
        lock = Lock(path)
        answers = [pool.submit(w.answer, f"refused{i}") for i in range(8)]
        w.check_reads()
        answers = [a.result(timeout=60) for a in answers]  # not one after the other
        for answer in answers:
            w.check_refused(answer, "locked by another program")
        lock.end()
    assert w.code(w.task("later")) == 0
    assert w.effects() == ["waited", "later"]


def test_a_second_server_on_the_data_is_refused_by_naming_the_first(holdfast, tmp_path):
    home = Installation(holdfast, tmp_path)
    second = holdfast.run("holdfast-server", "--listen", f"127.0.0.1:{free_port()}", "--data-dir", home.data)
    assert second.process.returncode == 1
    assert second.err.count("\n") == 1
    assert f"holdfast.db: in use by process {home.server.pid}: end that one first" in second.err, second.err
    assert home.call("GET", "/healthz")[0] == 200
    home.admin("POST", "/v1/apps", {"code": "later"})  # its socket is still there
    home.kill()
    home.start()  # what a dead one has locked is free


def test_a_stop_answers_what_it_has_accepted_and_the_next_goes_on(make_world):
    w = make_world()
    hold = w.daemon.folder / "hold"
    hold.touch()
    running = w.task("across")
    secret = w.home.admin("POST", "/v1/apps", {"code": "prometheus", "permissions": {"rights": ["metrics"]}})["secret"]
    lock = Lock(w.home.data / "holdfast.db")  # so that a request is in work
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        asked = pool.submit(w.task, "asked")
        wait_until(lambda: w.open_requests(secret) == 2, "the request is in work")
        w.check_reads()
        os.kill(w.home.server.pid, signal.SIGTERM)
        w.home.server.wait_log(text="stopping")
        lock.end()
        task = asked.result(timeout=60)
    assert w.home.server.wait() == 0
    hold.unlink()
    w.home.start()
    assert w.code(running) == w.code(task) == 0
    assert sorted(w.effects()) == ["across", "asked"]
