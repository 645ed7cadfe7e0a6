# SPDX-License-Identifier: MIT
"""tools/route-tests knows which endpoint no test names."""
import pathlib
import subprocess

import pytest

TOOL = pathlib.Path(__file__).resolve().parents[2] / "tools/route-tests"

ROUTES = """\
const struct route routes[] = {
    { SERVED_GSE | SERVED_PROC, "one_proc", ANY, APP_READ, 0, NULL, NULL, a,
      "One." },
    { SERVED_GSE, "two", ANY, APP_READ, 0, NULL, NULL, a, "GSE's two." },
    { SERVED_JOB, "two", ANY, APP_READ, 0, NULL, NULL, a, "Job's two." },
    { SERVED_V1, "/v1/hosts", METHOD_GET, APP_READ, 0, NULL, NULL, a, "Hosts." },
    { SERVED_V1, "/v1/hosts", METHOD_PUT, APP_READ, 0, NULL, NULL, a, "A host." },
    { SERVED_V1, "/v1/tasks/*", METHOD_GET, APP_READ, 0, NULL, NULL, a, "A task." },
};
"""
TESTS = {
    "one": 'static void one_is_fine(void **state)\n{\n    ask("one_proc");\n}\n',
    "gse's": 'static void two_is_fine(void **state)\n{\n    ask("gse/two");\n}\n',
    "job's": 'static void jobs_is_fine(void **state)\n{\n    ask("job/two");\n}\n',
    "get": 'static void hosts_are_listed(void **state)\n{\n    ask("GET", "/v1/hosts?a=b");\n}\n',
    "put": 'static void a_host_is_put(void **state)\n{\n    ask("PUT", "/v1/hosts");\n}\n',
    "task": 'static void a_task_is_shown(void **state)\n{\n    ask("GET", "/v1/tasks/%s");\n}\n',
}
NAMES = {"one": "one_proc", "gse's": "two", "job's": "two", "get": "/v1/hosts", "put": "/v1/hosts", "task": "/v1/tasks/*"}


def run(folder, tests):
    (folder / "src/api/pipeline").mkdir(parents=True)
    (folder / "src/api/pipeline/routes.c").write_text(ROUTES, encoding="utf-8")
    for i, text in enumerate(tests):
        path = folder / f"tests/unit/api/test_{i}.c"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    done = subprocess.run([TOOL, folder], capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, done.stdout, done.stderr


def test_every_row_is_listed_with_its_tests(tmp_path):
    status, out, err = run(tmp_path, TESTS.values())
    assert (status, err) == (0, "")
    assert out.count("tests/contract/test_bad_input.c") == len(TESTS)
    for name in ("one_is_fine", "a_host_is_put", "a_task_is_shown"):
        assert out.count(name) == 1, out


@pytest.mark.parametrize("missing", TESTS)
def test_a_row_that_no_test_names_is_an_error(tmp_path, missing):
    status, _, err = run(tmp_path, [text for name, text in TESTS.items() if name != missing])
    assert status == 1 and err == f"src/api/pipeline/routes.c: {NAMES[missing]}: no test names it; write one for what it is for\n"


def test_a_helper_counts_for_those_who_use_it(tmp_path):
    (tmp_path / "tests/lib").mkdir(parents=True)
    (tmp_path / "tests/lib/kit.py").write_text('def call(n):\n    return ask("one_proc")\n', encoding="utf-8")
    (tmp_path / "tests/lib/idle.py").write_text('def call(n):\n    return ask("one_proc_not")\n', encoding="utf-8")
    user = "import kit\n\n\ndef test_it():\n    kit.call(1)\n"
    (tmp_path / "tests/system").mkdir()
    (tmp_path / "tests/system/test_kit.py").write_text(user, encoding="utf-8")
    status, out, _ = run(tmp_path, [text for name, text in TESTS.items() if name != "one"])
    assert status == 0 and "tests/system/test_kit.py: by tests/lib/kit.py" in out
