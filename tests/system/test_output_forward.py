# SPDX-License-Identifier: MIT
"""Output that goes to syslog or journald as well, and output files that an operator rotates."""
import json
import os
import shutil
import signal
import socket

import pytest

from holdfast import wait_until
from installation import end_all
from test_logs import House


class Receiver:
    """A syslog daemon or journald, as far as a datagram socket is one."""

    def __init__(self, path):
        self.path, self.all, self.socket = path, [], None

    def listen(self):
        self.path.unlink(missing_ok=True)
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(str(self.path))
        self.socket.setblocking(False)

    def close(self):
        self.socket.close()

    def received(self):
        while True:
            try:
                self.all.append(self.socket.recv(100000).decode())
            except BlockingIOError:
                return self.all

    def wait(self, text):
        return wait_until(lambda: next((m for m in self.received() if text in m), None), f"{text} is forwarded", 60)


@pytest.fixture(name="house")
def forwarding_house(holdfast, tmp_path, monkeypatch):
    monkeypatch.setenv("HOLDFAST_SYSLOG_SOCKET", str(tmp_path / "syslog"))
    monkeypatch.setenv("HOLDFAST_JOURNAL_SOCKET", str(tmp_path / "journal"))
    made = House(holdfast, tmp_path)
    yield made
    end_all(made.pids)


def start(house, name, output, code=0):
    """It writes what it reads from a pipe; the pid is that of the process itself."""
    pipe = house.folder / (name + ".in")
    if not pipe.exists():
        os.mkfifo(pipe)
    path = house.write_spec(name, house.folder / name,
                            f"(exec cat 0<> {pipe}) & echo begins; exec ./proc-test --life-ms 120000 > /dev/null")
    spec = json.loads(path.read_text(encoding="utf-8"))
    spec["holdfast"] = {"output": output}
    path.write_text(json.dumps(spec), encoding="utf-8")
    p = house.cli("start", "ns/" + name, "--host", "127.0.0.1", "--spec", str(path), code=code)
    pids = [row["process"]["pid"] for row in house.home.processes(name=name)]
    house.pids += [pid for pid in pids if pid > 1]
    return pids[0] if pids else p


def say(house, name, text):
    with open(house.folder / (name + ".in"), "a", encoding="ascii") as pipe:
        pipe.write(text + "\n")


def test_lines_go_to_syslog_and_stay_in_the_file(house):
    syslog = Receiver(house.folder / "syslog")
    syslog.listen()
    pid = start(house, "web", "syslog")
    first = syslog.wait("begins")
    assert first.startswith("<30>") and first.endswith(f" ns.web[{pid}]: begins")
    syslog.close()
    say(house, "web", "while it is away")
    syslog.listen()
    assert syslog.wait("while it is away").endswith(f" ns.web[{pid}]: while it is away")
    assert house.logs("web") == "begins\nwhile it is away\n"
    house.agent.kill()
    say(house, "web", "no agent")
    house.agent.start()
    house.agent.wait_online()
    say(house, "web", "a new agent")
    assert syslog.wait("a new agent").endswith(f" ns.web[{pid}]: a new agent")
    assert [m.split(": ")[1] for m in syslog.all] == ["begins", "while it is away", "a new agent"]


def test_lines_go_to_the_journal(house):
    journal = Receiver(house.folder / "journal")
    journal.listen()
    pid = start(house, "web", "journal")
    assert sorted(journal.wait("begins").splitlines()) == [
        "HOLDFAST_PROCESS=ns/web", "MESSAGE=begins", "PRIORITY=6", "SYSLOG_IDENTIFIER=ns.web", f"SYSLOG_PID={pid}"]


def test_an_unknown_output_is_refused(house):
    p = start(house, "web", "sysklogd", code=2)
    assert "holdfast.output" in p.err and "file, syslog" in p.err


def test_copytruncate_loses_nothing_of_what_comes_later(house):
    syslog = Receiver(house.folder / "syslog")
    syslog.listen()
    start(house, "web", "syslog")
    follow = house.holdfast.start("holdfast", *house.args("logs", "ns/web", "-f", "--lines", "100"), env=house.env)
    expected = ["begins", 100 * "b"]
    say(house, "web", expected[-1])
    for i in range(4):
        follow.wait_until(lambda: follow.out.splitlines() == expected, f"{expected[-1]} is followed")
        syslog.wait(expected[-1])
        shutil.copy(house.output_file("web"), house.folder / f"rotated.{i}")
        os.truncate(house.output_file("web"), 0)
        for text in (f"line {i}", f"and a much longer line {i}, longer than what there was before it " + 60 * "x"):
            say(house, "web", text)
            expected.append(text)
            follow.wait_until(lambda: follow.out.splitlines() == expected, f"{text} is followed")
    follow.signal(signal.SIGINT)
    assert follow.wait() == 0
    assert follow.out.splitlines() == expected
    assert house.logs("web").splitlines() == expected[-2:]
    syslog.wait(expected[-1])
    assert [m.split(": ", 1)[1] for m in syslog.all] == expected


def test_a_file_that_is_moved_away_is_made_anew_at_the_next_start(house):
    syslog = Receiver(house.folder / "syslog")
    syslog.listen()
    start(house, "web", "syslog")
    syslog.wait("begins")
    house.output_file("web").rename(house.folder / "moved")
    house.agent.program.signal(signal.SIGHUP)
    say(house, "web", "still there")
    wait_until(lambda: "still there" in (house.folder / "moved").read_text(encoding="ascii"), "it writes to the moved file")
    assert not house.output_file("web").exists()
    house.cli("stop", "ns/web")
    start(house, "web", "syslog")
    wait_until(lambda: len([m for m in syslog.received() if m.endswith(": begins")]) == 2, "the new file is forwarded")
    say(house, "web", "in the new file")
    syslog.wait("in the new file")
    assert "in the new file" in house.logs("web")
