# SPDX-License-Identifier: MIT
"""tests/lib/holdfast.py notices what a test must not overlook."""
import signal

import pytest

from holdfast import Holdfast, free_port, sanitizer_reports, wait_until


@pytest.fixture
def script(tmp_path, monkeypatch):
    """Makes a shell script that stands for a program of ours."""
    monkeypatch.setenv("HOLDFAST_BIN", str(tmp_path))

    def make(text):
        path = tmp_path / "program"
        path.write_text("#!/bin/sh\n" + text)
        path.chmod(0o755)
        return "program"
    return make


def test_logs_are_the_json_lines_of_stderr(script, holdfast):
    name = script("""echo plain >&2; echo '{"msg":"a"}' >&2; echo '{"msg":"b","n":1}' >&2""")
    program = holdfast.run(name)
    assert program.logs() == [{"msg": "a"}, {"msg": "b", "n": 1}]
    assert program.wait_log(msg="b")["n"] == 1


def test_waiting_for_a_program_that_ended_fails_at_once_with_its_stderr(script, holdfast):
    program = holdfast.start(script("echo why >&2; exit 3"))
    with pytest.raises(AssertionError, match=r"(?s)ended \(3\) before: it answers.*why"):
        program.wait_until(lambda: False, "it answers")


def test_waiting_says_what_for_and_what_it_saw():
    with pytest.raises(AssertionError, match=r"not within 0 s: a door \(last seen: 0\)"):
        wait_until(lambda: 0, "a door", timeout=0)


def test_a_network_error_means_not_yet():
    answers = iter([ConnectionRefusedError(), None, "yes"])

    def ask():
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return answer
    assert wait_until(ask, "an answer") == "yes"


@pytest.mark.parametrize("line", [
    "==1==ERROR: AddressSanitizer: heap-use-after-free on address 0x1",
    "==1==ERROR: LeakSanitizer: detected memory leaks",
    "src/base/mem/buf.c:3:4: runtime error: signed integer overflow",
])
def test_a_sanitizer_report_is_wrong_even_if_the_program_ends_well(script, line):
    programs = Holdfast()
    programs.run(script(f"echo '{line}' >&2"))
    assert sanitizer_reports(line) == [line]
    assert any(line in wrong for wrong in programs.close())


def test_what_ignores_sigterm_is_killed_and_named(script):
    program = Holdfast().start(script("trap '' TERM; echo ready; while :; do sleep 0.01; done"))
    program.wait_until(lambda: program.out, "the trap is set")
    with pytest.raises(AssertionError, match="did not end within 0.1 s of SIGTERM"):
        program.stop(timeout=0.1)
    assert program.wait() == -signal.SIGKILL


def test_what_still_runs_is_stopped(script):
    programs = Holdfast()
    program = programs.start(script("exec sleep 60"))
    assert programs.close() == []
    assert program.wait() == -signal.SIGTERM


def test_free_ports_differ_or_are_free():
    assert 1024 <= free_port() <= 65535
