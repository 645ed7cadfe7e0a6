# SPDX-License-Identifier: MIT
"""tools/check-layers names every breach of a rule, and nothing else."""
import pathlib
import subprocess
import sys

import pytest

CHECK = pathlib.Path(__file__).resolve().parents[2] / "tools/check-layers"
C = "/* SPDX-License-Identifier: MIT */\n"
SH = "# SPDX-License-Identifier: MIT\n"


def function(lines):
    """A function of so many lines, brackets and head included."""
    return "int f(int a,\n      int b)\n{\n" + "    a++;\n" * (lines - 4) + "}\n"


def table(lines):
    return "/* clang-format off */\nint t[] = {\n" + "    1,\n" * (lines - 4) + "};\n/* clang-format on */\n"


GOOD = {
    "uses what is below": ("src/model/a.c", C + '#include "base/text/err.h"\n#include "wire/json/json.h"\n'),
    "uses itself": ("src/base/mem/a.c", C + '#include "base/text/err.h"\n'),
    "uses a sub-folder below": ("src/agent/shell/b.c", C + '#include "agent/exec/spawn.h"\n'),
    "unit test uses its folder": ("tests/unit/api/v1/test_a.c", C + '#include "tests/unit/api/world.h"\n'),
    "server uses link": ("src/server/fleet/a.c", C + '#include "link/hello.h"\n'),
    "bin uses all": ("src/bin/a.c", C + '#include "api/pipeline/routes.h"\n#include "agent/supervise/core.h"\n'),
    "door of libevent": ("src/base/io/loop.c", C + "#include <event2/event.h>\n"),
    "door of OpenSSL": ("src/wire/tls/cert.c", C + "#include <openssl/x509v3.h>\n"),
    "door of SQLite": ("src/store/db_sqlite.c", C + "#include <sqlite3.h>\n"),
    "jansson in a test": ("tests/fuzz/fuzz_json.c", C + "#include <jansson.h>\n"),
    "unit test uses its own": ("tests/unit/wire/test_a.c", C + '#include "wire/a.h"\n#include "tests/lib/r.h"\n'),
    "unit test has a header of its own": ("tests/unit/wire/test_a.c", C + '#include "world.h"\n'),
    "contract test uses all": ("tests/contract/test_a.c", C + '#include "api/a.h"\n'),
    "banned word in a comment": ("src/base/mem/a.c", C + '/* strcpy(a, b) */ const char *s = "atoi(";\n'),
    "name that contains one": ("src/base/mem/a.c", C + "int x = my_strcpy(a), y = sys_open(b);\n"),
    "member of that name": ("src/base/mem/a.c", C + "int x = io->read(a) + io.write(b);\n"),
    "own function of that name": ("src/base/mem/a.c", C + "static int\nbind(int a)\n{\n    return bind(a);\n}\n"),
    "system call in sys.c": ("src/base/os/sys.c", C + "int f = open(a, b);\n"),
    "system call in a test": ("tests/unit/base/test_a.c", C + "int f = open(a, b);\n"),
    "eventfd of the queue": ("src/base/io/queue.c", C + "int n = read(a, b, c);\n"),
    "file of 800 lines": ("src/base/mem/a.c", C + "\n" * 799),
    "table in a long file": ("src/base/mem/a.c", C + "\n" * 700 + table(300)),
    "header of 200 lines": ("src/base/mem/a.h", C + "\n" * 199),
    "function of 80 lines": ("src/base/mem/a.c", C + function(80)),
    "is_ that returns bool": ("src/base/mem/a.h", C + "static inline bool\nfoo_is_x(int a);\nbool is_y(int a);\n"),
    "call of an is_": ("src/base/mem/a.c", C + "    return is_x(a);\n"),
    "header included": ("src/base/mem/a.c", C + "#include <string.h>\nint n = strlen(a);\n"),
    "member named as a function": ("src/base/mem/a.c", C + "int n = list->free(a);\n"),
    "script with #!": ("tools/a", "#!/bin/sh\n" + SH),
    "no source": ("docs/a.md", "text\n"),
    "what was built": ("build/gcc/a.c", "int x;\n"),
}

BAD = {
    "reaches up": ("src/base/mem/a.c", C + '#include "wire/json/json.h"\n', 2, "src/base may not use wire/"),
    "agent sees store": ("src/agent/shell/a.c", C + '\n#include "store/db.h"\n', 3, "src/agent may not use store/"),
    "agent sees server": ("src/agent/shell/a.c", C + '#include "server/core.h"\n', 2, "may not use server/"),
    "agent sees api": ("src/agent/shell/a.h", C + '#include "api/pipeline/routes.h"\n', 2, "may not use api/"),
    "store sees agent": ("src/store/a.c", C + '#include "agent/supervise/core.h"\n', 2, "may not use agent/"),
    "server sees api": ("src/server/fleet/a.c", C + '#include "api/pipeline/routes.h"\n', 2, "may not use api/"),
    "cli sees store": ("src/cli/a.c", C + '#include "store/db.h"\n', 2, "may not use store/"),
    "api sees fleetsim": ("src/api/v1/a.c", C + '#include "fleetsim/fleet_agent.h"\n', 2, "may not use fleetsim/"),
    "sub-folder reaches up": ("src/agent/exec/a.c", C + '#include "agent/shell/agent.h"\n', 2,
                              "src/agent/exec may not use agent/shell"),
    "unknown sub-folder": ("src/wire/misc/a.c", C, 1, "place in SUBFOLDERS"),
    "unit test sees another folder": ("tests/unit/base/mem/test_a.c", C + '#include "tests/unit/wire/a.h"\n', 2,
                                      "its own folder"),
    "no folder named": ("src/base/mem/a.c", C + '#include "err.h"\n', 2, "name the folder"),
    "unknown folder": ("src/misc/a.c", C, 1, "row in MAY_USE"),
    "src sees tests": ("src/base/mem/a.c", C + '#include "tests/lib/r.h"\n', 2, "src/ may not use tests/"),
    "unit test reaches up": ("tests/unit/base/test_a.c", C + '#include "wire/a.h"\n', 2,
                             "tests/unit/base may not use wire/"),
    "unit test sees another": ("tests/unit/base/test_a.c", C + '#include "tests/system/a.h"\n', 2,
                               "its own folder"),
    "libevent": ("src/wire/net/a.c", C + "#include <event2/event.h>\n", 2, "belongs in src/base/io/loop.c"),
    "OpenSSL": ("src/wire/net/a.c", C + "#include <openssl/ssl.h>\n", 2, "belongs in src/wire/tls/tls.c"),
    "libyaml": ("src/wire/net/a.c", C + "#include <yaml.h>\n", 2, "src/wire/json/yaml.c alone"),
    "SQLite": ("src/store/a.c", C + "#include <sqlite3.h>\n", 2, "src/store/db_sqlite.c alone"),
    "libpq": ("src/store/a.c", C + "#include <libpq-fe.h>\n", 2, "src/store/db_postgres.c alone"),
    "libcurl": ("src/api/v1/a.c", C + "#include <curl/curl.h>\n", 2, "belongs in"),
    "jansson": ("src/wire/net/a.c", C + "#include <jansson.h>\n", 2, "tests/ or bench/"),
    "system call": ("src/wire/net/a.c", C + "int f = open(a, b);\n", 2, "sys_open()"),
    "system call in the queue": ("src/base/io/queue.c", C + "int f = socket(a, b, c);\n", 2, "sys_socket()"),
    "is_ that does something": ("src/base/mem/a.c", C + "void foo_is_dirty(int a);\n", 2, "does not return bool"),
    "has_ that returns int": ("src/base/mem/a.c", C + "static const int has_come(int a)\n", 2, "does not return bool"),
    "header not included": ("src/base/mem/a.c", C + "#include <stdio.h>\n\nint n = strlen(a);\n", 4, "<string.h>"),
    "long file": ("src/base/mem/a.c", C + "\n" * 800, 800, "801 lines"),
    "long header": ("src/base/mem/a.h", C + "\n" * 200, 200, "201 lines"),
    "long function": ("src/base/mem/a.c", C + "\n" + function(81), 3, "81 lines"),
    "C without licence": ("bench/a.c", "int x;\n", 1, "SPDX"),
    "Python without licence": ("tests/a.py", "import os\n", 1, "SPDX"),
    "shell without licence": ("tools/a.sh", "echo\n", 1, "SPDX"),
    "script without licence": ("tools/a", "#!/bin/sh\necho\n", 2, "SPDX"),
    "hidden script without licence": (".ci/a", "#!/bin/bash\necho\n", 2, "SPDX"),
    "empty source": ("src/base/mem/a.c", "", 1, "SPDX"),
}
for name in "strcpy strcat sprintf vsprintf strncpy strtok atoi gets system popen".split():
    BAD[f"banned {name}"] = ("tests/unit/base/test_a.c", C + f"int x = {name} (a);\n", 2, f"{name}() is banned")


def check(root, path, text):
    file = root / path
    file.parent.mkdir(parents=True)
    file.write_text(text)
    done = subprocess.run([sys.executable, CHECK, root], capture_output=True, text=True)
    assert done.stderr == ""
    return done


@pytest.mark.parametrize("path, text", GOOD.values(), ids=GOOD.keys())
def test_is_silent(tmp_path, path, text):
    done = check(tmp_path, path, text)
    assert (done.stdout, done.returncode) == ("", 0)


@pytest.mark.parametrize("path, text, line, message", BAD.values(), ids=BAD.keys())
def test_names_the_place_and_the_rule(tmp_path, path, text, line, message):
    done = check(tmp_path, path, text)
    first = done.stdout.splitlines()[0]
    assert first.startswith(f"{path}:{line}: ")
    assert message in first
    assert done.returncode == 1


def test_a_missing_licence_does_not_hide_the_rest(tmp_path):
    done = check(tmp_path, "src/base/mem/a.c", "int x = atoi(y);\n")
    assert "banned" in done.stdout and "SPDX" in done.stdout
    assert "2 to fix" in done.stdout


def tree(root, files):
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(C + text)
    return subprocess.run([sys.executable, CHECK, root], capture_output=True, text=True, check=False)


def test_a_header_of_the_module_counts_as_included(tmp_path):
    done = tree(tmp_path, {"src/base/mem/a.h": "#include <string.h>\n",
                           "src/base/mem/a.c": '#include "base/mem/a.h"\nint n = strlen(a);\n'})
    assert (done.stdout, done.returncode) == ("", 0)


def test_a_circle_of_modules_is_named_once(tmp_path):
    done = tree(tmp_path, {"src/base/mem/a.h": "", "src/base/mem/a.c": '#include "base/mem/b.h"\n',
                           "src/base/mem/b.h": '#include "base/mem/c.h"\n', "src/base/mem/c.h": '#include "base/mem/a.h"\n'})
    assert done.stdout.splitlines() == [
        "src/base/mem/a.c:2: modules include each other: base/mem/a > base/mem/b > base/mem/c > base/mem/a",
        "check-layers: 1 to fix"]
    assert done.returncode == 1


def test_modules_that_point_one_way_are_no_circle(tmp_path):
    done = tree(tmp_path, {"src/base/mem/a.h": '#include "base/mem/b.h"\n', "src/base/mem/a.c": '#include "base/mem/a.h"\n',
                           "src/base/mem/b.h": '#include "base/mem/c.h"\n', "src/base/mem/c.h": ""})
    assert (done.stdout, done.returncode) == ("", 0)
