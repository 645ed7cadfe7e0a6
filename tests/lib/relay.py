# SPDX-License-Identifier: MIT
"""A TCP relay between an agent and its server that can misbehave as networks do."""
import selectors
import socket
import struct
import threading


class Relay:
    """Forwards to a port of the loopback address; `connections` counts those that came.

    stall() forwards nothing any more without closing anything (as when a cable is pulled out);
    reset() breaks all connections with a reset; resume() ends a stall."""

    def __init__(self, to_port):
        self.to_port, self.connections, self.stalled = to_port, 0, False
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.selector, self.pairs, self.lock = selectors.DefaultSelector(), {}, threading.Lock()
        self.selector.register(self.listener, selectors.EVENT_READ)
        self.ended = False
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _accept(self):
        near, _ = self.listener.accept()
        try:
            far = socket.create_connection(("127.0.0.1", self.to_port), 10)
        except OSError:
            near.close()
            return
        self.connections += 1
        for a, b in ((near, far), (far, near)):
            self.pairs[a] = b
            self.selector.register(a, selectors.EVENT_READ)

    def _drop(self, sock):
        other = self.pairs.pop(sock)
        del self.pairs[other]
        for s in (sock, other):
            self.selector.unregister(s)
            s.close()

    def _drop_all(self):
        while self.pairs:
            self._drop(next(iter(self.pairs)))

    def _forward(self, sock):
        try:
            data = sock.recv(65536)
            if data:
                self.pairs[sock].sendall(data)
        except OSError:
            data = b""
        if not data:
            self._drop(sock)

    def _run(self):
        while not self.ended:
            events = self.selector.select(0.02)
            with self.lock:
                for key, _ in events:
                    if key.fileobj is self.listener:
                        self._accept()
                    elif not self.stalled and key.fileobj in self.pairs:
                        self._forward(key.fileobj)

    def stall(self):
        """A connection that is there stays there, and so does one that comes."""
        with self.lock:
            self.stalled = True

    def resume(self):
        with self.lock:
            self.stalled = False

    def reset(self):
        with self.lock:
            for sock in list(self.pairs):
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self._drop_all()

    def close(self):
        self.ended = True
        self.thread.join(10)
        self._drop_all()
        self.listener.close()
