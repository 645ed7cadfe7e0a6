# SPDX-License-Identifier: MIT
"""The long ones: minutes of load, and a server killed again and again."""
import os
import random
import signal
import threading
import time

import pytest

from conftest import Server, status_of
from holdfast import free_port, wait_until

OK = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
LAST = b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
MINUTES = float(os.environ.get("HOLDFAST_SOAK_MINUTES", "5"))

REQUESTS = [LAST, OK * 3 + LAST, OK * 100 + LAST, LAST[:20], b"nonsense\r\n\r\n", b"\x16\x03\x01",
            b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n" + b"y" * 100000,
            b"GET /healthz HTTP/1.1\r\nX: " + b"y" * 20000, b""]


def fds_of(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))


def client(server, seed, end, wrong):
    rng = random.Random(seed)
    while time.monotonic() < end:
        request = rng.choice(REQUESTS)
        try:
            answer = server.exchange(request, timeout=30)
        except OSError:
            continue
        if request.endswith(LAST) and answer.count(b"HTTP/1.1 200 ") != request.count(b"GET "):
            wrong.append((seed, request[:40], answer[:200]))


@pytest.mark.long
def test_minutes_of_mixed_load_leave_nothing_behind(server):
    s = server()
    wrong, end = [], time.monotonic() + MINUTES * 60
    for _ in range(20):
        s.exchange(LAST)
    fds = fds_of(s.program.pid)
    threads = [threading.Thread(target=client, args=(s, seed, end, wrong)) for seed in range(8)]
    for t in threads:
        t.start()
    wait_until(lambda: time.monotonic() > end - MINUTES * 30, "half of the time", timeout=MINUTES * 60)
    rss = s.rss_kb()
    for t in threads:
        t.join()
    assert not wrong
    s.program.wait_until(lambda: fds_of(s.program.pid) <= fds, "its descriptors are closed")
    assert s.rss_kb() < rss * 1.2 + 8192, "it grows"
    assert s.program.stop() == 0


@pytest.mark.long
def test_killed_again_and_again_it_comes_back(holdfast):
    port, end, kills = free_port(), time.monotonic() + MINUTES * 30, 0
    rng = random.Random(1)
    while time.monotonic() < end:
        program = holdfast.start("holdfast-server", "--listen", f"127.0.0.1:{port}")
        server = Server(program)
        for _ in range(rng.randrange(20)):
            assert status_of(server.exchange(LAST)) == 200
        program.signal(signal.SIGKILL)
        assert program.wait() == -9
        holdfast.programs.remove(program)
        program.close()
        kills += 1
    assert kills > 10
