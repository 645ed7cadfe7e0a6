# SPDX-License-Identifier: MIT
"""What a hostile or broken client sends is refused or served right; nothing hangs,
and memory stays bounded."""
import os

import pytest

from conftest import read_all, status_of
from holdfast import wait_until

# ASan keeps what is freed for a while, which is not the server's memory.
FREES = {"ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":quarantine_size_mb=1:thread_local_quarantine_size_kb=64"}

OK = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
LAST = b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
HEAD = b"GET /healthz HTTP/1.1\r\nHost: x\r\n"

# Each is followed by another request on the same connection, which must not be
# answered: what comes after bytes that can be read two ways is not a request.
SMUGGLING = {
    "length and coding": (b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n"
                          b"0\r\n\r\nG", 400),
    "coding and length": (b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nContent-Length: 6\r\n\r\n"
                          b"0\r\n\r\nG", 400),
    "two lengths": (HEAD + b"Content-Length: 0\r\nContent-Length: 44\r\n\r\n", 400),
    "the same length twice": (HEAD + b"Content-Length: 0\r\nContent-Length: 0\r\n\r\n", 400),
    "a list of lengths": (HEAD + b"Content-Length: 0, 0\r\n\r\n", 400),
    "+5": (HEAD + b"Content-Length: +5\r\n\r\nabcde", 400),
    "-1": (HEAD + b"Content-Length: -1\r\n\r\n", 400),
    "0x5": (HEAD + b"Content-Length: 0x5\r\n\r\nabcde", 400),
    "an empty length": (HEAD + b"Content-Length:\r\n\r\n", 400),
    "2^64": (HEAD + b"Content-Length: 18446744073709551616\r\n\r\n", 400),
    "xchunked": (HEAD + b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n", 501),
    "chunked twice": (HEAD + b"Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n", (400, 501)),
    "two codings": (HEAD + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n", (400, 501)),
    "a coding in 1.0": (b"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
    "space before the colon": (HEAD + b"Content-Length : 0\r\n\r\n", 400),
    "tab before the colon": (HEAD + b"Content-Length\t: 0\r\n\r\n", 400),
    "NUL in a value": (HEAD + b"X: a\0b\r\n\r\n", 400),
    "NUL in a name": (HEAD + b"X\0: a\r\n\r\n", 400),
    "a folded line": (HEAD + b"X: a\r\n b\r\n\r\n", 400),
    "a folded first line": (b"GET /healthz HTTP/1.1\r\n Host: x\r\n\r\n", 400),
    "bare LF": (b"GET /healthz HTTP/1.1\nHost: x\n\n", 400),
    "bare LF in a header": (HEAD + b"X: a\nY: b\r\n\r\n", 400),
    "bare CR": (HEAD + b"X: a\rY: b\r\n\r\n", 400),
    "no colon": (HEAD + b"nonsense\r\n\r\n", 400),
    "an empty name": (HEAD + b": x\r\n\r\n", 400),
    "no host": (b"GET /healthz HTTP/1.1\r\n\r\n", 400),
    "two hosts": (HEAD + b"Host: y\r\n\r\n", 400),
    "HTTP/0.9": (b"GET /healthz\r\n\r\n", 400),
    "HTTP/2": (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505),
    "a tab in the first line": (b"GET\t/healthz HTTP/1.1\r\nHost: x\r\n\r\n", 400),
    "two spaces": (b"GET  /healthz HTTP/1.1\r\nHost: x\r\n\r\n", 400),
    "a bad escape": (b"GET /health%zz HTTP/1.1\r\nHost: x\r\n\r\n", 400),
    "NUL in the path": (b"GET /health%00 HTTP/1.1\r\nHost: x\r\n\r\n", 400),
    "dots in the path": (b"GET /x/%2e%2e/healthz HTTP/1.1\r\nHost: x\r\n\r\n", 400),
    "TLS to a plain port": (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(64) + b"\r\n\r\n", 400),
    "10,000 headers": (HEAD + b"".join(b"X-%d: y\r\n" % i for i in range(10000)) + b"\r\n", 431),
    "1 MB header": (HEAD + b"X: " + b"y" * 1000000 + b"\r\n\r\n", 431),
    "1 MB first line": (b"GET /" + b"y" * 1000000 + b" HTTP/1.1\r\nHost: x\r\n\r\n", (414, 431)),
    "a body where none is taken": (HEAD + b"Content-Length: 5\r\n\r\nabcde", 413),
    "41 MB announced": (HEAD + b"Content-Length: 41943040\r\n\r\n", 413),
    "another expectation": (HEAD + b"Expect: tea\r\n\r\n", 417),
}


@pytest.fixture(scope="module")
def shared(request):
    """One server for all cases: a case must not harm the ones after it."""
    from conftest import Server
    from holdfast import Holdfast
    programs = Holdfast()
    yield Server(programs.start("holdfast-server", "--listen", "127.0.0.1:0"))
    wrong = programs.close()
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("name", SMUGGLING)
def test_what_can_be_read_two_ways_is_refused(shared, name):
    request, statuses = SMUGGLING[name]
    answer = shared.exchange(request + LAST)
    statuses = statuses if isinstance(statuses, tuple) else (statuses,)
    assert status_of(answer) in statuses, answer[:300]
    assert answer.count(b"HTTP/1.1 ") <= 1, "what followed was taken for a request"


@pytest.mark.parametrize("request_, answers", [
    (OK * 3 + LAST, 4), (b"\r\n" + LAST, 1), (LAST + OK, 1),
    (b"GET /healthz HTTP/1.0\r\n\r\n" + OK, 1), (b"GET http://x/healthz HTTP/1.1\r\nHost: x\r\n\r\n" + LAST, 2),
    (b"GET /healthz HTTP/1.0\r\nConnection: keep-alive\r\n\r\n" + LAST, 2),
    (b"GET /health%7a HTTP/1.1\r\nHost: x\r\n\r\n" + LAST, 2)])
def test_what_is_right_is_served_in_order(shared, request_, answers):
    answer = shared.exchange(request_)
    assert answer.count(b"HTTP/1.1 200 ") == answers == answer.count(b"HTTP/1.1 ")


@pytest.mark.parametrize("n", [64, 65, 128, 129, 512])
def test_all_of_many_requests_are_served_although_their_sender_has_ended(shared, n):
    head = b"GET /healthz HTTP/1.1\r\nHost: x\r\nX: "
    request = head + b"y" * (128 - len(head) - 4) + b"\r\n\r\n"  # so that pieces of 16 KiB end with one
    assert shared.exchange(request * n).count(b"HTTP/1.1 200 ") == n


def test_requests_come_byte_by_byte(shared):
    with shared.connect() as s:
        for i in range(len(LAST)):
            s.sendall(LAST[i:i + 1])
        assert status_of(read_all(s)) == 200


def test_slow_headers_end_at_their_deadline(server):
    s = server("--http-header-seconds", "1")
    with s.connect() as slow, s.connect() as silent:
        slow.sendall(b"GET /healthz HTTP/1.1\r\n")
        assert status_of(read_all(slow)) == 408
        assert read_all(silent) == b""  # it has asked for nothing
    assert status_of(s.exchange(LAST)) == 200


def test_an_idle_connection_is_closed(server):
    s = server("--http-idle-seconds", "1")
    with s.connect() as c:
        c.sendall(OK)
        assert status_of(read_all(c)) == 200  # and then the end, without Connection: close


def test_connections_are_capped_in_all_and_per_address(server):
    s = server("--http-connections", "4", "--http-connections-per-address", "3")
    kept = [s.connect() for _ in range(3)]
    wait_until(lambda: status_of(s.exchange(LAST)) == 503, "a fourth one of this address is refused")
    kept.pop().close()
    wait_until(lambda: status_of(s.exchange(LAST)) == 200, "there is room again")
    for c in kept:
        c.close()


def test_memory_stays_bounded_under_abuse(server):
    s = server(env=FREES)
    s.exchange(LAST)
    before = s.rss_kb()
    for _ in range(50):
        s.exchange(SMUGGLING["1 MB header"][0])
        s.exchange(SMUGGLING["10,000 headers"][0])
    conns = []
    for _ in range(200):  # heads that never end
        c = s.connect()
        c.sendall(HEAD + b"X: " + b"y" * 8000)
        conns.append(c)
    assert status_of(s.exchange(LAST)) == 200
    assert s.rss_kb() - before < 32 * 1024, "ASan's own share included"
    for c in conns:
        c.close()
    s.program.wait_until(lambda: b'"connections":1,' in s.exchange(LAST), "all of them are gone")


def test_a_reader_that_does_not_read_does_not_stop_others(server):
    s = server(env=FREES)
    s.exchange(LAST)
    before = s.rss_kb()
    with s.connect() as slow:
        slow.settimeout(1)
        try:
            while True:
                slow.sendall(OK * 100)
        except OSError:
            pass  # it stopped reading from us: back-pressure
        assert status_of(s.exchange(LAST)) == 200
        assert s.rss_kb() - before < 16 * 1024


def kb_each(server, request, repeat, n=150, times=3):
    """What a connection costs that sends this, as often as it can or once, and reads nothing."""
    s = server(env=FREES)
    s.exchange(LAST)
    before, conns = s.rss_kb(), []
    for _ in range(n):
        c = s.connect()
        c.setblocking(False)
        conns.append(c)
    for c in conns * times:
        try:
            c.send(request)
            while repeat:
                c.send(request)
        except BlockingIOError:
            pass
    assert status_of(s.exchange(LAST)) == 200
    cost = (s.rss_kb() - before) / n
    for c in conns:
        c.close()
    return cost


def test_many_that_pipeline_and_do_not_read_cost_little_more_than_a_long_head(server):
    long_head = kb_each(server, HEAD + b"X: " + b"y" * 15000, repeat=False, times=1)
    assert kb_each(server, OK * 1000, repeat=True) < long_head * 3, "64 KB of each were kept once: four times as much"
