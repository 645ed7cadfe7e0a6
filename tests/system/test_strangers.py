# SPDX-License-Identifier: MIT
"""Callers without credentials can not keep out those that have some."""
import json
import socket
import threading

import pytest

from conftest import read_all
from holdfast import wait_until
from installation import ESB, Installation, UnixConnection

MIB = 1 << 20
RESULT = ESB.format("get_proc_operate_result_v2")
OPERATE = ESB.format("operate_proc_v2")


@pytest.fixture
def home(holdfast, tmp_path):
    return Installation(holdfast, tmp_path)


class Attack:
    """Bodies that do not end, from some addresses of the loopback network."""

    def __init__(self, home):
        self.home, self.sockets = home, []

    def connect(self, address):
        s = socket.create_connection(("127.0.0.1", self.home.port), 20, (address, 0))
        self.sockets.append(s)
        return s

    def chunked(self, address, sent=1):
        s = self.connect(address)
        s.sendall(b"POST %s HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n" % OPERATE.encode())
        s.sendall(b"%x\r\n" % (8 * MIB))
        s.sendall(b" " * sent)

    def many(self, addresses, each, sent=1):
        for address in addresses:
            for _ in range(each):
                self.chunked(address, sent)

    def wait_held(self, at_least):
        """Until the server has read as much of them."""
        wait_until(lambda: body_bytes(self.home) >= at_least, "the bodies are read")

    def close(self):
        for s in self.sockets:
            s.close()


@pytest.fixture
def attack(home):
    made = Attack(home)
    yield made
    made.close()


def body_bytes(home):
    c = UnixConnection(str(home.data / "admin.sock"), 20)
    c.request("GET", "/metrics")
    text = c.getresponse().read().decode()
    c.close()
    return int(next(line for line in text.splitlines() if line.startswith("holdfast_http_body_bytes ")).split()[1])


def ask(home, address, body, header=None):
    """The answer's code to a request from that address."""
    data = json.dumps(body).encode()
    head = f"POST {RESULT} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: {len(data)}\r\n"
    if header:
        head += f"X-Bkapi-Authorization: {json.dumps(header)}\r\n"
    with socket.create_connection(("127.0.0.1", home.port), 20, (address, 0)) as s:
        s.sendall(head.encode() + b"\r\n" + data)
        answer = read_all(s)
    return json.loads(answer.split(b"\r\n\r\n", 1)[1])["code"]


def credentials(home):
    return {"bk_app_code": home.code, "bk_app_secret": home.secret, "bk_username": "admin"}


def is_served(home, address, by_header, padding=0):
    """Of a task that is not there is said so, to callers that are let in."""
    body = {"task_id": "none", "unknown": "x" * padding}
    code = ask(home, address, body, credentials(home)) if by_header else ask(home, address, {**body, **credentials(home)})
    assert code != 1306429
    return code == ask(home, "127.0.0.99", {"task_id": "none"}, credentials(home))


@pytest.mark.parametrize("by_header", [True, False])
def test_chunked_bodies_that_do_not_end_lock_nobody_out(home, attack, by_header):
    attack.many(["127.0.0.2"], 16)
    attack.wait_held(16)
    for address in "127.0.0.3", "127.0.0.2", "127.0.0.1":
        assert is_served(home, address, by_header)
        assert is_served(home, address, by_header, padding=60000)


@pytest.mark.parametrize("attackers", [1, 8])
def test_who_fills_the_room_of_strangers_makes_room_for_others(home, attack, attackers):
    addresses = [f"127.0.0.{2 + i}" for i in range(attackers)]
    attack.many(addresses, 8 // attackers, 8 * MIB - 1)
    attack.wait_held(60 * MIB)
    for address in "127.0.0.77", addresses[0]:
        assert is_served(home, address, by_header=True)
        assert is_served(home, address, by_header=False, padding=60000)
    assert body_bytes(home) <= 64 * MIB


def test_many_small_bodies_of_one_address_are_no_way_around_it(home, attack):
    attack.many(["127.0.0.2"], 900, 64 * 1024)
    attack.wait_held(50 * MIB)
    attack.many(["127.0.0.3"], 200, 64 * 1024)
    for address in "127.0.0.77", "127.0.0.2":
        assert is_served(home, address, by_header=False, padding=60000)
    assert body_bytes(home) <= 64 * MIB


def test_an_app_that_was_never_seen_is_looked_up_before_its_body_is_judged(home, attack):
    """Its body is larger than what strangers may send, and the app was never used before."""
    attack.many(["127.0.0.2"], 8, 8 * MIB - 1)
    attack.wait_held(60 * MIB)
    app = home.admin("POST", "/v1/apps", {"code": "fresh"})
    body = json.dumps({"unknown": "x" * (9 * MIB)}).encode()
    header = json.dumps({"bk_app_code": app["code"], "bk_app_secret": app["secret"], "bk_username": "admin"})
    with attack.connect("127.0.0.2") as s:
        sender = threading.Thread(target=s.sendall, args=(
            f"POST {OPERATE} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: {len(body)}\r\n"
            f"X-Bkapi-Authorization: {header}\r\n\r\n".encode() + body,))
        sender.start()
        answer = json.loads(read_all(s).split(b"\r\n\r\n", 1)[1])
        sender.join()
    assert answer["code"] != 1306429 and "required" in answer["message"], answer
