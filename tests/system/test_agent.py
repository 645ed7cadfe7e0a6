# SPDX-License-Identifier: MIT
"""The agent's program: settings, its folder, signals, an ordinary user.  What it does
for a server is in test_operations.py."""
import base64
import hashlib
import os
import signal
import socket
import subprocess
import tempfile

import pytest

from holdfast import bin_dir, free_port, wait_until


def run(*args, **more):
    """What it says when it ends by itself."""
    return subprocess.run([bin_dir() / "holdfast-agent", *args], capture_output=True, text=True,
                          timeout=20, check=False, **more)


@pytest.fixture(name="data")
def data_folder(tmp_path):
    return tmp_path / "data"


def make_token():
    """A join token of the right form: secret, CA, and 4 bytes against typing errors.
    No server listens, so its content does not matter."""
    head, body = b"hf1.", bytes(21 + 32)
    check = hashlib.sha256(head + body).digest()[:4]
    return (head + base64.urlsafe_b64encode(body + check).rstrip(b"=")).decode()


def start(holdfast, data, *args):
    """An agent whose server is away."""
    return holdfast.start("holdfast-agent", "--data-dir", str(data), "--servers",
                          f"127.0.0.1:{free_port()}", "--join-token", make_token(), *args)


def test_help_names_every_setting():
    text = run("--help").stdout
    for setting in ["data-dir", "servers", "join-token", "join-token-file", "ip", "agent-id",
                    "log-file", "log-level", "output-max-bytes", "operations-at-once", "proc-file",
                    "local-socket", "local-group"]:
        assert f"--{setting} " in text


@pytest.mark.quick
@pytest.mark.parametrize("args, says", [
    (["--join-token", "x"], "servers: none is named"),
    (["--local-socket", "relative"], "local.socket: must be an absolute path"),
    (["--servers", "a:1", "--join-token", "x", "--join-token-file", "/y"], "only one of them"),
    (["--servers", "a:1", "--data-dir", "relative"], "data_dir: must be an absolute path"),
    (["--servers", "a:1", "--output-max-bytes", "1"], "output.max_bytes: must be"),
    (["--serves", "a:1"], "--serves"),
])
def test_bad_settings_are_named_and_nothing_is_made(args, says, tmp_path):
    ended = run(*args, cwd=tmp_path)
    assert ended.returncode == 2
    assert says in ended.stderr
    assert list(tmp_path.iterdir()) == []


def test_without_token_and_certificate_it_says_what_to_do(data):
    ended = run("--servers", "127.0.0.1:1", "--data-dir", str(data))
    assert ended.returncode == 1
    assert "join token" in ended.stderr


def test_a_token_file_that_others_can_read_is_refused(data, tmp_path):
    token = tmp_path / "token"
    token.write_text(make_token() + "\n", encoding="ascii")
    token.chmod(0o644)
    ended = run("--servers", "127.0.0.1:1", "--data-dir", str(data), "--join-token-file",
                str(token))
    assert ended.returncode == 1
    assert "join_token_file" in ended.stderr and str(token) in ended.stderr


@pytest.mark.quick
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_ends_in_order_and_starts_again(holdfast, data, number):
    for _ in range(2):
        agent = start(holdfast, data)
        agent.wait_log(text="ready")
        agent.signal(number)
        assert agent.wait() == 0
        assert agent.logs(text="stopped")


def test_a_folder_has_one_agent(holdfast, data):
    start(holdfast, data).wait_log(text="ready")
    ended = run("--servers", "127.0.0.1:1", "--data-dir", str(data))
    assert ended.returncode == 1
    assert f"{data}/journal is in use by another process" in ended.stderr


def test_a_folder_that_others_can_write_to_is_refused(data):
    data.mkdir()
    data.chmod(0o777)
    ended = run("--servers", "127.0.0.1:1", "--data-dir", str(data))
    assert ended.returncode == 1
    assert "others can write to it" in ended.stderr
    assert list(data.iterdir()) == []


def test_a_damaged_journal_is_named_and_left_as_it_is(holdfast, data):
    agent = start(holdfast, data)
    agent.wait_log(text="ready")
    assert agent.stop() == 0
    journal = data / "journal"
    damaged = bytearray(journal.read_bytes())
    damaged[30] ^= 0xFF
    journal.write_bytes(damaged)
    ended = run("--servers", "127.0.0.1:1", "--data-dir", str(data))
    assert ended.returncode == 1
    assert str(journal) in ended.stderr and "byte 20" in ended.stderr
    assert "move the file away" in ended.stderr
    assert journal.read_bytes() == damaged


def test_its_log_is_opened_again(holdfast, data, tmp_path):
    log = tmp_path / "log"
    agent = start(holdfast, data, "--log-file", str(log))
    wait_until(lambda: "ready" in log.read_text(encoding="utf-8"), "it is ready")
    log.rename(tmp_path / "log.1")
    agent.signal(signal.SIGHUP)
    wait_until(lambda: "opened again" in log.read_text(encoding="utf-8"), "a new log is there")


def check_ordinary_user(data):
    agent = subprocess.Popen(
        ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups",
         bin_dir() / "holdfast-agent", "--data-dir", data, "--servers", "127.0.0.1:1",
         "--join-token", make_token()], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert "data in" in agent.stdout.readline()
        assert "not root, so only processes of nobody (uid 65534)" in agent.stdout.readline()
    finally:
        agent.terminate()
        assert agent.wait(20) == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_an_ordinary_user_is_told_what_can_not_be_done():
    with tempfile.TemporaryDirectory(prefix="agent-") as folder:
        os.chown(folder, 65534, 65534)
        check_ordinary_user(folder)


@pytest.mark.parametrize("name", ["holdfast-agent", "holdfast-server"])
def test_the_service_manager_is_told(holdfast, tmp_path, name):
    (tmp_path / "token").touch(mode=0o600)
    (tmp_path / "token").write_text(make_token())
    args = {"holdfast-agent": ["--servers", "127.0.0.1:9", "--join-token-file", "token"],
            "holdfast-server": ["--listen", "127.0.0.1:0"]}[name]
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(str(tmp_path / "notify"))
        manager.settimeout(20)
        program = holdfast.start(name, "--data-dir", tmp_path / "data", *args, cwd=tmp_path,
                                 env={"NOTIFY_SOCKET": tmp_path / "notify"})
        assert manager.recv(100) == b"READY=1"
        program.signal(signal.SIGTERM)
        assert manager.recv(100) == b"STOPPING=1"
        assert program.wait() == 0
