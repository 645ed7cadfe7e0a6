# SPDX-License-Identifier: MIT
"""What system and fault tests use: programs, ports, waiting.

    def test_it_answers(holdfast):
        port = free_port()
        server = holdfast.start("holdfast-server", "--listen", f"127.0.0.1:{port}")
        server.wait_until(lambda: answers(port), "the health page answers")

A program is stopped at the end of its test, and the test fails if a sanitizer
has said anything (tests/conftest.py).  Wait for a condition, never sleep.
"""
import json
import os
import pathlib
import random
import re
import signal
import socket
import subprocess
import tempfile
import time

SANITIZER = re.compile(
    r"^.*(ERROR: \w+Sanitizer|WARNING: \w+Sanitizer|SUMMARY: \w+Sanitizer|runtime error:).*$", re.M)

# Sanitizers and loaded machines are slow; a condition that holds is not waited for.
TIMEOUT = 20


def bin_dir():
    """Where the programs under test are: $HOLDFAST_BIN, or the build of ./test."""
    default = pathlib.Path(__file__).resolve().parents[2] / "build/gcc/src/bin"
    return pathlib.Path(os.environ.get("HOLDFAST_BIN", default))


def wait_until(fn, what, timeout=TIMEOUT):
    """Calls fn until it returns something true, and returns that.  Network errors
    mean "not yet".  Fails saying `what` did not happen, and fn's last answer."""
    end = time.monotonic() + timeout
    pause = 0.002
    while True:
        try:
            last = fn()
        except OSError as e:
            last = e
        else:
            if last:
                return last
        if time.monotonic() >= end:
            raise AssertionError(f"not within {timeout} s: {what} (last seen: {last!r})")
        time.sleep(pause)
        pause = min(pause * 1.5, 0.05)


# Tests that run side by side take ports of their own: one that is free may be taken before it is used.
# A test in namespaces of its own (alone.py) is of the worker that started it.
WORKER = int(os.environ.setdefault("HOLDFAST_TEST_WORKER", os.environ.get("PYTEST_XDIST_WORKER", "gw0")[2:]))
PORTS, WORKERS = range(12000, 30000), 8


def is_free(port):
    with socket.socket() as s:
        try:
            s.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def free_port(n=1):
    """The first of n TCP ports of the loopback address that are not in use now, below those
    that the kernel gives to clients: one of these may be taken before it is used."""
    while True:
        width = len(PORTS) // WORKERS
        port = PORTS[0] + WORKER % WORKERS * width + random.randrange(width - n)
        if all(is_free(port + i) for i in range(n)):
            return port


def sanitizer_reports(text):
    """The lines in which a sanitizer says that something is wrong."""
    return [m[0] for m in SANITIZER.finditer(text)]


class Program:
    """A program of ours that runs, its output in files."""

    def __init__(self, name, args, env, cwd):
        self.name = name
        self.folder = tempfile.TemporaryDirectory(prefix=f"{name}-")
        own = {"HOLDFAST_SERVER_DATA_DIR": pathlib.Path(self.folder.name, "data"),
               "HOLDFAST_SERVER_LINK_LISTEN": "127.0.0.1:0"}  # unless its arguments say otherwise
        self.out_path = pathlib.Path(self.folder.name, "stdout")
        self.err_path = pathlib.Path(self.folder.name, "stderr")
        with open(self.out_path, "wb") as out, open(self.err_path, "wb") as err:
            self.process = subprocess.Popen(
                [str(bin_dir() / name), *map(str, args)], stdin=subprocess.DEVNULL, stdout=out,
                stderr=err, env={**os.environ, **{k: str(v) for k, v in {**own, **env}.items()}}, cwd=cwd,
                start_new_session=True)
        self.pid = self.process.pid

    @property
    def out(self):
        return self.out_path.read_text(encoding="utf-8", errors="replace")

    @property
    def err(self):
        return self.err_path.read_text(encoding="utf-8", errors="replace")

    def logs(self, **fields):
        """The lines of stderr that are JSON, as dicts; only those with these fields."""
        found = []
        for line in self.err.splitlines():
            try:
                row = json.loads(line)
            except ValueError:
                continue
            if isinstance(row, dict) and all(row.get(k) == v for k, v in fields.items()):
                found.append(row)
        return found

    def wait_until(self, fn, what, timeout=TIMEOUT):
        """wait_until() that also fails at once, with stderr, if the program ends."""
        def check():
            ended = self.process.poll() is not None  # before asking: a last answer counts
            try:
                answer = fn()
            except OSError:
                if not ended:
                    raise
                answer = None
            if ended and not answer:
                raise AssertionError(f"{self.name} ended ({self.process.returncode}) before: {what}\n"
                                     + self.err[-4000:])
            return answer
        return wait_until(check, what, timeout)

    def wait_log(self, timeout=TIMEOUT, **fields):
        """The first log line with these fields, once there is one."""
        return self.wait_until(lambda: self.logs(**fields), f"{self.name} logs {fields}", timeout)[0]

    def wait(self, timeout=TIMEOUT):
        """Waits for the end; the exit status, or minus the signal."""
        try:
            return self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"{self.name} has not ended within {timeout} s") from None

    def signal(self, number):
        if self.process.poll() is None:
            self.process.send_signal(number)

    def stop(self, timeout=TIMEOUT):
        """SIGTERM, and SIGKILL if that does not do; the exit status.  A program
        that has to be killed is a failure of the test that stops it."""
        self.signal(signal.SIGTERM)
        try:
            return self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"{self.name} did not end within {timeout} s of SIGTERM\n"
                                 + self.err[-4000:]) from None

    def kill(self):
        """SIGKILL, as a crash of the machine would."""
        self.signal(signal.SIGKILL)
        return self.process.wait()

    def close(self):
        self.kill()
        self.folder.cleanup()


class Holdfast:
    """All programs that one test has started."""

    def __init__(self):
        self.programs = []

    def start(self, name, *args, env=None, cwd=None):
        """Starts a program of $HOLDFAST_BIN; env is added to ours."""
        program = Program(name, args, env or {}, cwd)
        self.programs.append(program)
        return program

    def run(self, name, *args, env=None, cwd=None, timeout=TIMEOUT):
        """Starts a program and waits for its end: .process.returncode, .out, .err."""
        program = self.start(name, *args, env=env, cwd=cwd)
        program.wait(timeout)
        return program

    def close(self):
        """Stops what still runs, newest first; what is wrong with how they ended."""
        wrong = []
        for program in reversed(self.programs):
            try:
                program.stop()
            except AssertionError as e:
                wrong.append(str(e))
            reports = sanitizer_reports(program.err)
            if reports:
                wrong.append(f"{program.name}: sanitizer report\n{program.err[-8000:]}")
            program.close()
        return wrong
