# SPDX-License-Identifier: MIT
"""Every n-th system call of the server fails, or kills it: it says so or goes on,
and the next start finds nothing in its way."""
import pytest

from holdfast import free_port

ERRORS = ["EIO", "ENOMEM", "EMFILE"]


def served(program, port):
    import urllib.request
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=5) as answer:
        return answer.status == 200


def calls_of_a_start(holdfast, args):
    """How many calls a start makes: the first n that a fault does not reach."""
    for n in range(1, 200):
        program = holdfast.start("holdfast-server", *args, env={"HOLDFAST_FAULT": f"any:{n}:kill"})
        program.wait_until(lambda: program.process.poll() is not None or program.logs(text="ready"), "an end")
        if program.process.poll() is None:
            program.stop()
            return n - 1
        assert program.wait() == -9
    raise AssertionError("no start without a fault")


def test_killed_at_every_call_it_starts_again(holdfast, tmp_path):
    config = tmp_path / "s.yaml"
    config.write_text("log: { level: debug }\n")
    args = ["--config", config, "--listen", f"127.0.0.1:{free_port()}"]
    assert calls_of_a_start(holdfast, args) >= 5  # open, read, socket, bind, listen at least


@pytest.mark.parametrize("error", ERRORS)
def test_every_failing_call_is_survived_or_said(holdfast, tmp_path, error):
    config = tmp_path / "s.yaml"
    config.write_text("log: { level: debug }\n")
    port = free_port()
    args = ["--config", config, "--listen", f"127.0.0.1:{port}"]
    told = 0
    for n in range(1, calls_of_a_start(holdfast, args) + 1):
        program = holdfast.start("holdfast-server", *args, env={"HOLDFAST_FAULT": f"any:{n}:{error}"})
        program.wait_until(lambda: program.process.poll() is not None or served(program, port),
                           f"call {n} fails: an end or an answer")
        if program.process.poll() is None:
            assert program.stop() == 0
            continue
        assert program.wait() in (1, 2)
        assert program.err.startswith("holdfast-server: "), f"call {n}: {program.err!r}"
        told += 1
    assert told >= 4  # config, socket, bind, listen can not be done without


@pytest.mark.parametrize("call", ["accept", "recv", "send"])
def test_a_failing_connection_harms_no_other(holdfast, call):
    for n in range(1, 4):
        port = free_port()
        program = holdfast.start("holdfast-server", "--listen", f"127.0.0.1:{port}",
                                 env={"HOLDFAST_FAULT": f"{call}:{n}:EIO"})
        program.wait_log(text="ready")
        for _ in range(4):
            try:
                served(program, port)
            except OSError:
                pass  # the one that was hit
        program.wait_until(lambda: served(program, port), "others are served")
