# SPDX-License-Identifier: MIT
"""TLS handshakes that stall do not block others."""
import os
import pathlib
import resource
import socket
import ssl
import subprocess
import time

import pytest

from holdfast import wait_until
from installation import Installation, UnixConnection

N, ADDRESSES = 4000, [f"127.0.0.{i}" for i in (2, 3, 4, 5)]
SHAKING_MAX = 500  # of each of the two
# Nothing; the beginning of a record; a whole record with the beginning of a ClientHello.
SAID = {"nothing": b"", "half a record": b"\x16\x03\x01\x02\x00\x01", "half a hello": bytes([22, 3, 1, 0, 5, 1, 0, 16, 0, 3])}
SOON = 2.0 * 2  # seconds; the second half is for sanitizers and others on the machine


@pytest.fixture(autouse=True)
def many_files():
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if hard < 3 * N:
        pytest.skip(f"ulimit -Hn is {hard}")
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


class Attack:
    def __init__(self, port, said, addresses):
        self.sockets = []
        for i in range(N):
            s = socket.create_connection(("127.0.0.1", port), 20, (addresses[i % len(addresses)], 0))
            self.sockets.append(s)
            try:
                s.sendall(said)
            except OSError:
                pass  # closed by now

    def close(self):
        for s in self.sockets:
            s.close()


@pytest.fixture(name="attack")
def fixture_attack():
    made = []

    def begin(*args):
        made.append(Attack(*args))
        return made[0]
    yield begin
    for a in made:
        a.close()


def shake(port, address):
    """How many seconds a handshake takes of one that comes from there."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    begun = time.monotonic()
    with socket.create_connection(("127.0.0.1", port), 45, (address, 0)) as s, context.wrap_socket(s):
        return time.monotonic() - begun


def client_hello():
    """As bytes: what a client says first."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    out = ssl.MemoryBIO()
    with pytest.raises(ssl.SSLWantReadError):
        context.wrap_bio(ssl.MemoryBIO(), out).do_handshake()
    return out.read()


def memory(program, what):
    """In KiB; VmRSS is of now, VmHWM the most there was since forget_peak()."""
    status = pathlib.Path(f"/proc/{program.process.pid}/status").read_text(encoding="ascii")
    return int(next(line for line in status.splitlines() if line.startswith(what + ":")).split()[1])


def forget_peak(program):
    pathlib.Path(f"/proc/{program.process.pid}/clear_refs").write_text("5", encoding="ascii")


def metric(home, name):
    c = UnixConnection(str(home.data / "admin.sock"), 20)
    c.request("GET", "/metrics")
    text = c.getresponse().read().decode()
    c.close()
    return int(next(line for line in text.splitlines() if line.startswith(name + " ")).split()[1])


@pytest.mark.parametrize("said", SAID)
def test_an_agent_gets_through_behind_half_open_handshakes_of_others(holdfast, tmp_path, attack, said):
    home = Installation(holdfast, tmp_path)
    agent = home.add_agent()
    agent.program.stop()
    attack(home.link_port, SAID[said], ADDRESSES)
    assert shake(home.link_port, "127.0.0.77") < SOON
    assert metric(home, "holdfast_link_shaking_connections") <= SHAKING_MAX
    agent.start()
    agent.wait_online(timeout=15)  # with all that its start takes
    assert metric(home, "holdfast_link_strange_connections") <= 2 * SHAKING_MAX


@pytest.mark.parametrize("said", ["nothing", "half a record"])
def test_an_agent_gets_through_behind_half_open_handshakes_of_its_own_address(holdfast, tmp_path, attack, said):
    home = Installation(holdfast, tmp_path)
    attack(home.link_port, SAID[said], ["127.0.0.9"])
    assert shake(home.link_port, "127.0.0.9") < SOON
    assert metric(home, "holdfast_link_shaking_connections") <= 1


class TlsHome(Installation):
    """The API has TLS."""

    def __init__(self, holdfast, folder, **env):
        self.env = env
        super().__init__(holdfast, folder)

    def start(self, **env):
        cert, key = self.folder / "c.pem", self.folder / "k.pem"
        if not cert.exists():
            subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                            "-keyout", key, "-out", cert, "-subj", "/CN=x", "-days", "1"], check=True, capture_output=True)
        self.server = self.holdfast.start(
            "holdfast-server", "--listen", f"127.0.0.1:{self.port}", "--link-listen", f"127.0.0.1:{self.link_port}",
            "--data-dir", self.data, "--tls-cert", cert, "--tls-key", key, env={**self.env, **env})
        self.server.wait_log(text="ready")


@pytest.mark.parametrize("said", SAID)
def test_a_client_gets_through_behind_half_open_handshakes_of_others(holdfast, tmp_path, attack, said):
    home = TlsHome(holdfast, tmp_path)
    attack(home.port, SAID[said], ADDRESSES)
    assert shake(home.port, "127.0.0.77") < SOON
    assert metric(home, "holdfast_http_shaking_connections") <= SHAKING_MAX


@pytest.mark.parametrize("said", ["nothing", "half a record"])
def test_a_client_gets_through_behind_half_open_handshakes_of_its_own_address(holdfast, tmp_path, attack, said):
    """More of them than one address may have connections."""
    home = TlsHome(holdfast, tmp_path)
    attack(home.port, SAID[said], ["127.0.0.9"])
    wait_until(lambda: metric(home, "holdfast_http_connections") >= 1000, "the address has all it may have")
    wait_until(lambda: shake(home.port, "127.0.0.9"), "there is room for another one of it", SOON)
    assert metric(home, "holdfast_http_connections") <= 1000


# KiB of memory that all of them may take together, by decision 34: a connection without a ClientHello has a few hundred
# bytes (here with room for what else the server does), and one in a handshake less than 128 KiB.
MEMORY = {"half a record": 4 * N, "a hello": 128 * SHAKING_MAX}


@pytest.mark.parametrize("port", ["link_port", "port"])
@pytest.mark.parametrize("said", MEMORY)
def test_half_open_handshakes_take_so_much_memory_and_no_more(holdfast, tmp_path, attack, port, said):
    """ASan holds freed memory back, which is none that a handshake takes."""
    asan = os.environ.get("ASAN_OPTIONS", "") + ":quarantine_size_mb=1"
    home = TlsHome(holdfast, tmp_path, ASAN_OPTIONS=asan)
    at = getattr(home, port)
    shake(at, "127.0.0.77")  # what the first handshake of all needs is not of the attack
    forget_peak(home.server)
    before = memory(home.server, "VmRSS")
    attack(at, SAID.get(said) or client_hello(), ADDRESSES)
    if said == "a hello":
        name = "holdfast_link_shaking_connections" if port == "link_port" else "holdfast_http_shaking_connections"
        wait_until(lambda: metric(home, name) > SHAKING_MAX * 3 // 4, "the places are taken")
    shake(at, "127.0.0.77")  # all that came before are accepted
    assert memory(home.server, "VmHWM") - before < MEMORY[said]
