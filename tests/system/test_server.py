# SPDX-License-Identifier: MIT
"""holdfast-server from the outside: settings, health, signals."""
import json
import signal
import ssl
import subprocess
import urllib.request

import pytest

from conftest import read_all, status_of

GET = b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"


def test_the_health_page_tells_machines_and_people(server):
    s = server()
    with urllib.request.urlopen(f"http://{s.host}:{s.port}/healthz") as answer:
        assert answer.headers["Content-Type"] == "application/json; charset=utf-8"
        health = json.load(answer)
    assert health["status"] == "ok" and health["requests"] == 1 and health["connections"] == 1
    with urllib.request.urlopen(f"http://{s.host}:{s.port}/") as answer:
        page = answer.read().decode()
    assert health["version"] in page and "服务正在运行" in page


@pytest.mark.parametrize("method, path, status", [
    ("HEAD", "/healthz", 200), ("GET", "/healthz?x=1", 200), ("GET", "/healthz/", 404),
    ("GET", "/nope", 404), ("POST", "/healthz", 405), ("DELETE", "/", 405)])
def test_other_requests_get_their_status(server, method, path, status):
    answer = server().exchange(f"{method} {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
    assert status_of(answer) == status
    assert (answer.split(b"\r\n\r\n", 1)[1] == b"") == (method == "HEAD")


@pytest.mark.parametrize("args, env, status, text", [
    (["--nope"], {}, 2, "--nope: no such option, see --help"),
    (["--http-connections", "0"], {}, 2,
     "--http-connections: http.connections: must be an integer from 1 to 1000000, not 0"),
    (["--tasks-days", "0"], {}, 2, "--tasks-days: tasks.days: must be an integer from 1 to 3650, not 0"),
    ([], {"HOLDFAST_SERVER_LOG_LEVEL": "loud"}, 2, "HOLDFAST_SERVER_LOG_LEVEL: log.level: must be one of"),
    (["--config", "/nowhere/x.yaml"], {}, 2, "open /nowhere/x.yaml: No such file or directory"),
    (["--listen", "0.0.0.0:0"], {}, 1, "is not a loopback address; off loopback the server needs TLS: set tls.cert and tls.key"),
    (["--listen", "127.0.0.1:99999"], {}, 1, "the port must be 0 to 65535"),
    (["--listen", "example.com:80"], {}, 1, "example.com:80"),
    (["--tls-cert", "/nowhere/c.pem"], {}, 1, "tls.cert and tls.key: either both or none"),
    (["--tls-cert", "/nowhere/c.pem", "--tls-key", "/nowhere/k.pem"], {}, 1, "/nowhere/c.pem"),
    (["--data-dir", "var/x"], {}, 1, "data_dir: var/x: write an absolute path"),
    (["--log-file", "/nowhere/log"], {}, 1, "open log file /nowhere/log: No such file or directory"),
])
def test_what_can_not_be_set_is_said_in_one_line(holdfast, args, env, status, text):
    program = holdfast.run("holdfast-server", *args, env=env)
    assert program.process.returncode == status
    assert len(program.err.splitlines()) == 1
    assert program.err.startswith("holdfast-server: ") and text in program.err


def test_a_setting_in_the_file_is_refused_with_its_line(holdfast, tmp_path):
    (tmp_path / "s.yaml").write_text("listen: 127.0.0.1:0\nlog:\n  levle: info\n")
    program = holdfast.run("holdfast-server", "--config", tmp_path / "s.yaml")
    assert program.process.returncode == 2
    assert f"{tmp_path}/s.yaml:3: log.levle: no such setting" in program.err


def test_it_says_where_it_is_once_it_is_there(server):
    s = server()
    s.program.wait_until(lambda: f"http://127.0.0.1:{s.port}/, " in s.program.out, "the line on standard output")


def test_refusals_are_counted_and_written_down_by_reason(server):
    s = server()
    for _ in range(3):
        s.exchange(b"nonsense\r\n\r\n")
    with urllib.request.urlopen(f"http://{s.host}:{s.port}/healthz") as answer:
        assert json.load(answer)["refused"] == 3
    assert s.program.stop() == 0
    assert s.program.logs(text="turned clients away, by reason")[0]["bad_head"] == 3


def test_fewer_files_than_connections_is_worth_a_word(server):
    s = server("--http-connections", "1000000")
    assert s.program.logs(level="warn")[0]["http.connections"] == 1000000


def test_help_and_version_go_to_standard_output(holdfast):
    program = holdfast.run("holdfast-server", "--help")
    assert program.process.returncode == 0 and program.err == ""
    assert "--http-connections-per-address N" in program.out
    assert holdfast.run("holdfast-server", "--version").out.startswith("holdfast-server 0.")


def test_an_address_in_use_is_named(server, holdfast):
    s = server()
    program = holdfast.run("holdfast-server", "--listen", f"127.0.0.1:{s.port}")
    assert program.process.returncode == 1
    assert f"127.0.0.1:{s.port}" in program.err and "Address already in use" in program.err


def test_sigterm_finishes_the_request_in_work_then_ends(server):
    s = server()
    with s.connect() as busy, s.connect() as idle:
        busy.sendall(GET[:20])
        idle.sendall(GET.replace(b"close", b"keep-alive"))
        assert status_of(idle.recv(4096)) == 200
        s.program.signal(signal.SIGTERM)
        s.program.wait_log(text="stopping")
        assert read_all(idle) == b""
        busy.sendall(GET[20:])
        assert status_of(read_all(busy)) == 200
    assert s.program.wait() == 0
    assert s.program.logs()[-1]["text"] == "stopped"


def test_a_second_signal_ends_at_once(server):
    s = server()
    with s.connect() as busy:
        busy.sendall(GET[:20])
        s.program.signal(signal.SIGINT)
        s.program.wait_log(text="stopping")
        s.program.signal(signal.SIGINT)
        assert s.program.wait() == 0


def test_sighup_opens_the_log_again(holdfast, tmp_path):
    log, old = tmp_path / "log", tmp_path / "log.1"
    program = holdfast.start("holdfast-server", "--listen", "127.0.0.1:0", "--log-file", log)
    program.wait_until(lambda: log.exists() and "ready" in log.read_text(), "it is ready")
    log.rename(old)
    program.signal(signal.SIGHUP)
    program.wait_until(log.exists, "the log is there again")
    assert program.stop() == 0
    assert "stopped" in log.read_text() and "stopped" not in old.read_text()


@pytest.mark.filterwarnings("ignore:ssl.TLSVersion.TLSv1_1 is deprecated")
def test_tls_is_served_with_the_certificate_given(holdfast, tmp_path):
    cert, key = tmp_path / "c.pem", tmp_path / "k.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                    "-keyout", key, "-out", cert, "-subj", "/CN=localhost", "-days", "1",
                    "-addext", "subjectAltName=IP:127.0.0.1"], check=True, capture_output=True)
    program = holdfast.start("holdfast-server", "--listen", "127.0.0.1:0", "--tls-cert", cert, "--tls-key", key)
    url = program.wait_log(text="ready")["health"]
    assert url.startswith("https://")
    with urllib.request.urlopen(url, context=ssl.create_default_context(cafile=cert)) as answer:
        assert json.load(answer)["status"] == "ok"
    with pytest.raises(OSError):
        urllib.request.urlopen(url.replace("https", "http"))
    old = ssl.create_default_context(cafile=cert)
    old.maximum_version = ssl.TLSVersion.TLSv1_1
    with pytest.raises(OSError):
        urllib.request.urlopen(url, context=old)
