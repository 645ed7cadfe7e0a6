# SPDX-License-Identifier: MIT
"""holdfast-server from the outside: settings, health, signals."""
import json
import os
import signal
import socket
import ssl
import subprocess
import urllib.error
import urllib.request

import pytest

from conftest import read_all, status_of

GET = b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"


@pytest.mark.quick
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


NO_EFFECT = "a setting has no effect and can be deleted"


@pytest.mark.parametrize("how", ["flag", "environment", "file"])
def test_a_setting_without_effect_is_accepted_and_reported_once(server, tmp_path, how):
    file = tmp_path / "server.yaml"
    file.write_text("link: { threads: 2 }\n" if how == "file" else "{}\n", encoding="ascii")
    s = server("--config", str(file), *(["--link-threads", "2"] if how == "flag" else []),
               env={"HOLDFAST_SERVER_LINK_THREADS": "2"} if how == "environment" else None)
    rows = s.program.logs(text=NO_EFFECT)
    assert [(row["level"], row["setting"]) for row in rows] == [("warn", "link.threads")]
    assert status_of(s.exchange(GET)) == 200


def test_settings_that_have_an_effect_are_not_reported(server):
    assert server("--link-ping-seconds", "1").program.logs(text=NO_EFFECT) == []


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
    assert "\n                             `data_dir`\n" in program.out  # continued in the second column
    for name in "holdfast-server", "holdfast-agent":
        lines = holdfast.run(name, "--help").out.splitlines()
        assert [line for line in lines if len(line) > 80 and " " in line.strip()] == []  # a URL stays whole
    assert holdfast.run("holdfast-server", "--version").out.startswith("holdfast-server 0.")


def test_an_address_in_use_is_named(server, holdfast):
    s = server()
    program = holdfast.run("holdfast-server", "--listen", f"127.0.0.1:{s.port}")
    assert program.process.returncode == 1
    assert f"127.0.0.1:{s.port}" in program.err and "Address already in use" in program.err


@pytest.mark.quick
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


def make_pair(folder, name, days=1):
    """A certificate for 127.0.0.1 that signs itself, and its key."""
    cert, key = folder / f"{name}-c.pem", folder / f"{name}-k.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                    "-keyout", key, "-out", cert, "-subj", f"/CN={name}", "-days", str(days),
                    "-addext", "subjectAltName=IP:127.0.0.1"], check=True, capture_output=True)
    return cert, key


def start_tls(holdfast, cert, key):
    program = holdfast.start("holdfast-server", "--listen", "127.0.0.1:0", "--tls-cert", cert, "--tls-key", key)
    return program, int(program.wait_log(text="ready")["listen"].rsplit(":", 1)[1])


def shown_cert(port):
    return ssl.PEM_cert_to_DER_cert(ssl.get_server_certificate(("127.0.0.1", port)))


def der_of(pem):
    return ssl.PEM_cert_to_DER_cert(pem.read_text())


@pytest.mark.quick
@pytest.mark.filterwarnings("ignore:ssl.TLSVersion.TLSv1_1 is deprecated")
def test_tls_is_served_with_the_certificate_given(holdfast, tmp_path):
    cert, key = make_pair(tmp_path, "localhost")
    program = holdfast.start("holdfast-server", "--listen", "127.0.0.1:0", "--tls-cert", cert, "--tls-key", key)
    url = program.wait_log(text="ready")["health"]
    assert url.startswith("https://")
    with urllib.request.urlopen(url, context=ssl.create_default_context(cafile=cert)) as answer:
        assert json.load(answer)["status"] == "ok"
    with pytest.raises(urllib.error.HTTPError, match="400"):
        urllib.request.urlopen(url.replace("https", "http"))
    old = ssl.create_default_context(cafile=cert)
    old.maximum_version = ssl.TLSVersion.TLSv1_1
    with pytest.raises(OSError):
        urllib.request.urlopen(url, context=old)


def ask_health(s):
    s.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
    got = b""
    while b"uptime" not in got:
        piece = s.recv(65536)
        assert piece, got
        got += piece
    return status_of(got)


def test_sighup_reads_the_certificate_again_and_open_connections_live_on(holdfast, tmp_path):
    (cert, key), (new_cert, new_key) = make_pair(tmp_path, "old"), make_pair(tmp_path, "new")
    old = der_of(cert)
    program, port = start_tls(holdfast, cert, key)
    context = ssl.create_default_context(cafile=cert)
    with socket.create_connection(("127.0.0.1", port), 10) as plain, \
            context.wrap_socket(plain, server_hostname="127.0.0.1") as s:
        assert ask_health(s) == 200 and shown_cert(port) == old
        cert.write_bytes(new_cert.read_bytes())
        key.write_bytes(new_key.read_bytes())
        program.signal(signal.SIGHUP)
        program.wait_log(text="the certificate of the API was read again")
        assert shown_cert(port) == der_of(new_cert)
        assert ask_health(s) == 200
    assert program.stop() == 0


@pytest.mark.parametrize("what, why", [
    ("no file", "No such file"), ("not a certificate", "c.pem"), ("another key", "key"), ("empty", "c.pem")])
def test_a_certificate_that_can_not_be_used_leaves_the_old_one(holdfast, tmp_path, what, why):
    (cert, key), (_, new_key) = make_pair(tmp_path, "old"), make_pair(tmp_path, "new")
    old = der_of(cert)
    program, port = start_tls(holdfast, cert, key)
    if what == "no file":
        cert.unlink()
    elif what == "another key":
        key.write_bytes(new_key.read_bytes())
    else:
        cert.write_text("" if what == "empty" else "nonsense")
    program.signal(signal.SIGHUP)
    line = program.wait_log(text="the certificate of the API stays as it was")
    assert why in json.dumps(line), line
    assert shown_cert(port) == old
    assert program.stop() == 0


def test_help_says_what_signals_do(holdfast):
    for name in "holdfast-server", "holdfast-agent":
        text = holdfast.run(name, "--help").out
        assert "SIGHUP" in text.split("\nSignals:\n")[1]


TORN = {"empty": b"", "torn": None, "of another size": b"x" * 5000, "of another version": b"tickets 2\n"}


@pytest.mark.parametrize("what", [*TORN, "a folder", "no permission", "open to others"])
def test_ticket_keys_that_can_not_be_read_are_made_anew(holdfast, tmp_path, what):
    data, path = tmp_path / "data", tmp_path / "data/tickets"
    args = "--listen", "127.0.0.1:0", "--link-listen", "127.0.0.1:0", "--data-dir", data
    first = holdfast.start("holdfast-server", *args)
    first.wait_log(text="ready")
    assert first.stop() == 0
    before = path.read_bytes()
    if what == "a folder":
        path.unlink()
        path.mkdir()
    elif what in TORN:
        path.write_bytes(before[:50] if TORN[what] is None else TORN[what])
    else:
        path.chmod(0 if what == "no permission" else 0o644)
    program = holdfast.start("holdfast-server", *args)
    program.wait_log(text="ready")
    if what != "no permission" or os.geteuid() != 0:  # root reads it all the same
        line, = program.logs(text="the file of ticket keys is not used: the keys are new ones, and each agent needs a "
                                  "full handshake once")
        assert str(path) in json.dumps(line)
        if what != "a folder":
            assert path.read_bytes() != before and len(path.read_bytes()) == len(before)
    assert program.stop() == 0


@pytest.mark.parametrize("request_", [
    b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n", b"POST /v1/apps HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nabcde",
    b"HEAD /", b"PRI * HTTP/2.0\r\n\r\n"])
def test_plain_http_to_a_port_with_tls_is_told_so(holdfast, tmp_path, request_):
    _, port = start_tls(holdfast, *make_pair(tmp_path, "a"))
    with socket.create_connection(("127.0.0.1", port), 10) as s:
        s.sendall(request_)
        answer = read_all(s)
    assert answer.startswith(b"HTTP/1.1 400 ") and b"this port speaks TLS: use https://" in answer, answer


@pytest.mark.parametrize("lang, plain, tls", [
    ("en", "uses plain HTTP on that port, not TLS: use http://", "uses TLS on that port, not plain HTTP: use https://"),
    ("zh", "使用明文 HTTP，而非 TLS：请用 http://", "使用 TLS，而非明文 HTTP：请用 https://")])
def test_the_command_line_says_which_of_http_and_https_is_meant(holdfast, server, tmp_path, lang, plain, tls):
    _, port = start_tls(holdfast, *make_pair(tmp_path, "a"))
    other = server()
    for args in ["status"], ["events", "--follow"]:
        p = holdfast.run("holdfast", *args, "--server", f"http://127.0.0.1:{port}", "--lang", lang)
        assert p.process.returncode > 1 and tls in p.err, p.err
        p = holdfast.run("holdfast", *args, "--server", f"https://127.0.0.1:{other.port}", "--lang", lang)
        assert p.process.returncode > 1 and plain in p.err, p.err
