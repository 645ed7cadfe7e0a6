# SPDX-License-Identifier: MIT
"""tools/check-messages names each sentence that cannot be translated, and nothing else."""
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOL = ROOT / "tools/check-messages"
ERR_H = "int err_set(struct err *err, int code, const char *fmt, ...) MSG_FORMAT(3, 4);\n"


def check(root, source, rows, table="agent"):
    for path, text in {"src/base/err.h": ERR_H, "src/agent/a.c": source, f"src/model/translations/{table}.h": rows}.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    stamp = root / "stamp"
    stamp.unlink(missing_ok=True)
    run = subprocess.run([sys.executable, TOOL, "--root", root, "--stamp", stamp], capture_output=True, text=True,
                         timeout=60, check=False)
    assert stamp.exists() == (run.returncode == 0)
    return run


def row(english, chinese):
    return f'    {{ {{ "{english}", "{chinese}" }} }},\n'


GOOD = {
    "a row for each": ('err_set(e, 1, "no user %s", n);', row("no user %s", "没有用户 %s")),
    "in pieces": ('err_set(e, 1, "no user "\n    "%s", n);', row("no user %s", "没有用户 %s")),
    "one of two": ('err_set(e, 1, c ? "a file" : "a folder");', row("a file", "文件") + row("a folder", "目录")),
    "another order": ('err_set(e, 1, "%s has %lld", a, b);', row("%s has %lld", "有 %2$lld 的是 %1$s")),
    "a constant": ('return MSG("a file");', row("a file", "文件")),
    "no words": ('err_set(e, 1, "%s:%s", a, b);', ""),
    "in a comment": ('/* err_set(e, 1, "no user"); */', ""),
    "a format handed on": ("int f(const char *fmt) { err_set(e, 1, fmt); }", ""),
    "a maker of the file": ('MSG_FORMAT(1, 2) static void say(const char *fmt, ...);\nsay("a file");', row("a file", "文件")),
    "a percent sign": ('err_set(e, 1, "%d %% used", n);', row("%d %% used", "已用 %d %%")),
}

BAD = {
    "no row": ('\nerr_set(e, 1, "no user %s", n);', "", 'src/agent/a.c:2: "no user %s" has no row in src/model/translations/agent.h'),
    "a constant without a row": ('x = MSG("a file");', "", 'src/agent/a.c:1: "a file" has no row'),
    "no Chinese": ('err_set(e, 1, "a file");', row("a file", ""), "agent.h:1: \"a file\" has no Chinese text"),
    "English twice": ('err_set(e, 1, "a file");', row("a file", "a file"), '"a file" has no Chinese text'),
    "an argument less": ('err_set(e, 1, "no user %s", n);', row("no user %s", "没有用户"), "have different arguments"),
    "another type": ('err_set(e, 1, "user %lld", n);', row("user %lld", "用户 %d"), "have different arguments"),
    "types in another order": ('err_set(e, 1, "%s has %d", a, b);', row("%s has %d", "%d 属于 %s"), "have different arguments"),
    "a row of no use": ("", row("a file", "文件"), 'agent.h:1: no source makes "a file": delete the row'),
    "two rows": ('err_set(e, 1, "a file");', row("a file", "文件") * 2, '"a file" has a row already, at src/model/translations/agent.h:1'),
    "no literal": ("err_set(e, 1, text);", "", "the format of a message must be a literal"),
    "a macro in it": ('err_set(e, 1, "no user " WHO);', "", "the format of a message must be a literal"),
    "nine arguments": ('err_set(e, 1, "%d%d%d%d%d%d%d%d%d a");', row("%d%d%d%d%d%d%d%d%d a", "%d%d%d%d%d%d%d%d%d 个"),
                       "cannot be the format of a message"),
    "a width from outside": ('err_set(e, 1, "%*d a", n, m);', row("%*d a", "%*d 个"), "cannot be the format of a message"),
}


@pytest.mark.parametrize("name", GOOD)
def test_what_is_right_passes(name, tmp_path):
    run = check(tmp_path, *GOOD[name])
    assert (run.returncode, run.stderr) == (0, "")


@pytest.mark.parametrize("name", BAD)
def test_what_is_wrong_is_named(name, tmp_path):
    source, rows, expected = BAD[name]
    run = check(tmp_path, source, rows)
    assert run.returncode == 1
    assert expected in run.stderr
    assert run.stderr.endswith("check-messages: 1 to fix\n")


def test_a_sentence_of_gse_is_the_same_in_each_language(tmp_path):
    assert check(tmp_path, 'err_set(e, 1, "a file");', row("a file", "a file"), "gse").returncode == 0
    run = check(tmp_path, 'err_set(e, 1, "a file");', row("a file", "文件"), "gse")
    assert '"a file" is a sentence of GSE' in run.stderr
    own = '    { { "no %s", "no %s" },\n      { "there is no %s", "没有" } },\n'
    run = check(tmp_path, 'err_set(e, 1, "no %s", a);', own, "gse")
    assert '"no %s" and "没有" have different arguments' in run.stderr


def test_the_tree_is_right():
    run = subprocess.run([sys.executable, TOOL], capture_output=True, text=True, timeout=60, check=False)
    assert (run.returncode, run.stderr) == (0, "")
