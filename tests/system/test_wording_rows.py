# SPDX-License-Identifier: MIT
"""Every sentence of ours that a caller can read has a Chinese one, and tools/wording-rows knows which has none."""
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOL = ROOT / "tools/wording-rows"

CODES = '{ 829, "NOT_RUNNING", 409, { "not running", "进程未运行" } },\n'
ROWS = ('{ { "must be {0}, not {1}", "必须是<0>，不能是 {1}" } },\n'
        '{ { "a list", "列表" } },\n'
        '{ { "Permission denied", "权限不足" } },\n'
        '{ { "{0} runs other programs", "{0} 会运行其他程序" } },\n'
        '{ { "half of it: {0}", "half of it 还在：{0}" } },\n')


def run(root):
    done = subprocess.run([TOOL, root], capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, done.stderr


def said(folder, source):
    """What comes of a source of the agent that says this."""
    for name, text in {"src/model/code.c": CODES, "src/model/wordings.c": ROWS, "src/agent/core_x.c": source}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return run(folder)


def test_all_we_say_is_said_in_chinese():
    assert run(ROOT) == (0, "")


@pytest.mark.parametrize("source", [
    'op_end(op, 829, "not running");',
    'err_set(err, 1, "spec.a[%d]: must be a list, not %s", i, kind);',
    'err_set(err, 1, "must be %s, "\n        "not %s", what, kind);',
    'err_sys(err, "spec.a[%d]", i);',
    'op_end(op, 1, "%s runs other programs", name);',
    'LOG(a->log, LOG_INFO, "this is for the log alone");',
    '/* "this is a comment" */',
], ids=["a code's", "behind a path", "in two pieces", "the system's", "a name in front", "logged", "a comment"])
def test_what_has_a_row_is_found(tmp_path, source):
    assert said(tmp_path, source) == (0, "")


@pytest.mark.parametrize("source, sentence", [
    ('op_end(op, 829, "nobody is there");', "nobody is there"),
    ('err_set(err, 1, "spec.a: must be %lld or more", n);', "spec.a: must be @ or more"),
    ('return is_bad ? "has gone bad" : NULL;', "has gone bad"),
    ('op_end(op, 1, "not running%s%s", colon, why);', "not running: @"),
    ('op_end(op, 1, "half of it: %s", why);', "half of it: @"),
], ids=["alone", "behind a path", "returned", "with more behind it", "not all of its words"])
def test_what_has_none_is_named(tmp_path, source, sentence):
    code, errors = said(tmp_path, source)
    assert code == 1 and f"src/agent/core_x.c:1: {sentence}" in errors
