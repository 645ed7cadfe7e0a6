# SPDX-License-Identifier: MIT
"""tools/count-tests counts what ran, as cmocka and pytest write it."""
import json
import pathlib
import subprocess
import sys

import pytest

COUNT = pathlib.Path(__file__).resolve().parents[2] / "tools/count-tests"

WELL = """\
[==========] Running 3 test(s).
[ RUN      ] echoes over unix
[       OK ] echoes over unix
[ RUN      ] echoes over tcp
[       OK ] echoes over tcp
[ RUN      ] plain_name
[       OK ] plain_name
[==========] 3 test(s) run.
"""
BADLY = """\
[==========] tests: Running 3 test(s).
[ RUN      ] echoes over unix
[  FAILED  ] echoes over unix
[ RUN      ] echoes over tcp
[       OK ] echoes over tcp
[ RUN      ] later
[  SKIPPED ] later
[==========] tests: 3 test(s) run.
"""
BADLY_STDERR = """\
[  ERROR   ] --- 0 != 0x1
[   LINE   ] --- ../../tests/unit/wire/test_a.c:3: error: Failure!
[  PASSED  ] 1 test(s).
[  SKIPPED ] tests: 1 test(s), listed below:
[  SKIPPED ] later
[  FAILED  ] tests: 1 test(s), listed below:
[  FAILED  ] echoes over unix

 1 FAILED TEST(S)
"""

PROGRAMS = {
    "each test of a program": ([("OK", WELL, "[  PASSED  ] 3 test(s).\n")], "3 0 0"),
    "of each program": ([("OK", WELL, ""), ("OK", WELL, "")], "6 0 0"),
    "what failed once, though it is named twice": ([("FAIL", BADLY, BADLY_STDERR)], "1 1 1"),
    "no summary as a test": ([("FAIL", "", "[  FAILED  ] 2 test(s), listed below:\n")], "0 1 0"),
    "a set-up that failed": ([("FAIL", "[ RUN      ] a b\n", "[  ERROR   ] a b\n")], "0 1 0"),
    "a leak after all went well": ([("FAIL", WELL, "==1==ERROR: LeakSanitizer: detected memory leaks\n")], "3 1 0"),
    "a program without cmocka": ([("OK", "", ""), ("SKIP", "", ""), ("TIMEOUT", "", "")], "1 1 1"),
    "nothing": ([], ""),
}

CASES = {
    "well": ('<testcase classname="a" name="x[1 2]"/><testcase classname="a" name="y"/>', "2 0 0"),
    "badly, and twice": ('<testcase classname="a" name="x"><failure/></testcase>'
                         '<testcase classname="a" name="x"><error/></testcase>', "0 1 0"),
    "skipped": ('<testcase classname="a" name="x"><skipped/></testcase>', "0 0 1"),
}


def count(kind, path, text):
    path.write_text(text)
    done = subprocess.run([sys.executable, COUNT, kind, path], capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.mark.parametrize("programs, counts", PROGRAMS.values(), ids=PROGRAMS.keys())
def test_it_counts_of_meson(tmp_path, programs, counts):
    lines = [json.dumps({"name": "x", "result": result, "stdout": out, "stderr": err}) + "\n"
             for result, out, err in programs]
    assert count("meson", tmp_path / "log.json", "".join(lines)) == counts


@pytest.mark.parametrize("cases, counts", CASES.values(), ids=CASES.keys())
def test_it_counts_of_pytest(tmp_path, cases, counts):
    text = f"<testsuites><testsuite>{cases}</testsuite></testsuites>"
    assert count("junit", tmp_path / "log.xml", text) == counts
