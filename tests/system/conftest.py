# SPDX-License-Identifier: MIT
"""A running server for the tests of this folder."""
import socket

import pytest


class Server:
    """holdfast-server on a free port of the loopback address."""

    def __init__(self, program):
        self.program = program
        self.host, port = program.wait_log(text="ready")["listen"].rsplit(":", 1)
        self.port = int(port)

    def connect(self, timeout=10):
        return socket.create_connection((self.host, self.port), timeout)

    def exchange(self, request, timeout=10):
        """Sends the bytes, ends its side, and returns all that comes back."""
        with self.connect(timeout) as s:
            try:
                s.sendall(request)
                s.shutdown(socket.SHUT_WR)
            except OSError:
                pass  # refused before it was all sent; the answer is what counts
            return read_all(s)

    def rss_kb(self):
        with open(f"/proc/{self.program.pid}/status", encoding="ascii") as f:
            return next(int(line.split()[1]) for line in f if line.startswith("VmRSS"))


def read_all(s):
    """Everything until the other side ends; a reset is an end."""
    got = b""
    while True:
        try:
            piece = s.recv(65536)
        except ConnectionResetError:
            return got
        if not piece:
            return got
        got += piece


def status_of(answer):
    """The status code an answer begins with, 0 for none."""
    return int(answer[9:12]) if answer.startswith(b"HTTP/1.1 ") else 0


@pytest.fixture
def server(holdfast):
    """Starts a server with more arguments, if given."""
    def start(*args, env=None):
        return Server(holdfast.start("holdfast-server", "--listen", "127.0.0.1:0", *args, env=env))
    return start
