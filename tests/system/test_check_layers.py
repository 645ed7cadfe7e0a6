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
    "uses what is below": ("src/model/a.c", C + '#include "base/err.h"\n#include "wire/json.h"\n'),
    "uses itself": ("src/base/a.c", C + '#include "base/err.h"\n'),
    "server uses link": ("src/server/a.c", C + '#include "link/hello.h"\n'),
    "bin uses all": ("src/bin/a.c", C + '#include "api/routes.h"\n#include "agent/core.h"\n'),
    "door of libevent": ("src/base/loop.c", C + "#include <event2/event.h>\n"),
    "door of OpenSSL": ("src/wire/cert.c", C + "#include <openssl/x509v3.h>\n"),
    "door of SQLite": ("src/store/db_sqlite.c", C + "#include <sqlite3.h>\n"),
    "jansson in a test": ("tests/fuzz/fuzz_json.c", C + "#include <jansson.h>\n"),
    "unit test uses its own": ("tests/unit/wire/test_a.c", C + '#include "wire/a.h"\n#include "tests/lib/r.h"\n'),
    "unit test has a header of its own": ("tests/unit/wire/test_a.c", C + '#include "world.h"\n'),
    "contract test uses all": ("tests/contract/test_a.c", C + '#include "api/a.h"\n'),
    "banned word in a comment": ("src/base/a.c", C + '/* strcpy(a, b) */ const char *s = "atoi(";\n'),
    "name that contains one": ("src/base/a.c", C + "int x = my_strcpy(a), y = sys_open(b);\n"),
    "member of that name": ("src/base/a.c", C + "int x = io->read(a) + io.write(b);\n"),
    "own function of that name": ("src/base/a.c", C + "static int\nbind(int a)\n{\n    return bind(a);\n}\n"),
    "system call in sys.c": ("src/base/sys.c", C + "int f = open(a, b);\n"),
    "system call in a test": ("tests/unit/base/test_a.c", C + "int f = open(a, b);\n"),
    "eventfd of the queue": ("src/base/queue.c", C + "int n = read(a, b, c);\n"),
    "file of 600 lines": ("src/base/a.c", C + "\n" * 599),
    "table in a long file": ("src/base/a.c", C + "\n" * 500 + table(300)),
    "header of 120 lines": ("src/base/a.h", C + "\n" * 119),
    "function of 60 lines": ("src/base/a.c", C + function(60)),
    "script with #!": ("tools/a", "#!/bin/sh\n" + SH),
    "no source": ("docs/a.md", "text\n"),
    "what was built": ("build/gcc/a.c", "int x;\n"),
}

BAD = {
    "reaches up": ("src/base/a.c", C + '#include "wire/json.h"\n', 2, "src/base may not use wire/"),
    "agent sees store": ("src/agent/a.c", C + '\n#include "store/db.h"\n', 3, "src/agent may not use store/"),
    "agent sees server": ("src/agent/a.c", C + '#include "server/core.h"\n', 2, "may not use server/"),
    "agent sees api": ("src/agent/a.h", C + '#include "api/routes.h"\n', 2, "may not use api/"),
    "store sees agent": ("src/store/a.c", C + '#include "agent/core.h"\n', 2, "may not use agent/"),
    "server sees api": ("src/server/a.c", C + '#include "api/routes.h"\n', 2, "may not use api/"),
    "cli sees store": ("src/cli/a.c", C + '#include "store/db.h"\n', 2, "may not use store/"),
    "api sees sim": ("src/api/a.c", C + '#include "sim/sim.h"\n', 2, "may not use sim/"),
    "no folder named": ("src/base/a.c", C + '#include "err.h"\n', 2, "name the folder"),
    "unknown folder": ("src/misc/a.c", C, 1, "row in MAY_USE"),
    "src sees tests": ("src/base/a.c", C + '#include "tests/lib/r.h"\n', 2, "src/ may not use tests/"),
    "unit test reaches up": ("tests/unit/base/test_a.c", C + '#include "wire/a.h"\n', 2,
                             "tests/unit/base may not use wire/"),
    "unit test sees another": ("tests/unit/base/test_a.c", C + '#include "tests/system/a.h"\n', 2,
                               "only tests/lib"),
    "libevent": ("src/wire/a.c", C + "#include <event2/event.h>\n", 2, "belongs in src/base/loop.c"),
    "OpenSSL": ("src/wire/a.c", C + "#include <openssl/ssl.h>\n", 2, "belongs in src/wire/tls.c"),
    "libyaml": ("src/wire/a.c", C + "#include <yaml.h>\n", 2, "src/wire/yaml.c alone"),
    "SQLite": ("src/store/a.c", C + "#include <sqlite3.h>\n", 2, "src/store/db_sqlite.c alone"),
    "libpq": ("src/store/a.c", C + "#include <libpq-fe.h>\n", 2, "src/store/db_postgres.c alone"),
    "libcurl": ("src/api/a.c", C + "#include <curl/curl.h>\n", 2, "belongs in"),
    "jansson": ("src/wire/a.c", C + "#include <jansson.h>\n", 2, "tests/ or bench/"),
    "system call": ("src/wire/a.c", C + "int f = open(a, b);\n", 2, "sys_open()"),
    "system call in the queue": ("src/base/queue.c", C + "int f = socket(a, b, c);\n", 2, "sys_socket()"),
    "long file": ("src/base/a.c", C + "\n" * 600, 600, "601 lines"),
    "long header": ("src/base/a.h", C + "\n" * 120, 120, "121 lines"),
    "long function": ("src/base/a.c", C + "\n" + function(61), 3, "61 lines"),
    "C without licence": ("bench/a.c", "int x;\n", 1, "SPDX"),
    "Python without licence": ("tests/a.py", "import os\n", 1, "SPDX"),
    "shell without licence": ("tools/a.sh", "echo\n", 1, "SPDX"),
    "script without licence": ("tools/a", "#!/bin/sh\necho\n", 2, "SPDX"),
    "hidden script without licence": (".ci/a", "#!/bin/bash\necho\n", 2, "SPDX"),
    "empty source": ("src/base/a.c", "", 1, "SPDX"),
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
    done = check(tmp_path, "src/base/a.c", "int x = atoi(y);\n")
    assert "banned" in done.stdout and "SPDX" in done.stdout
    assert "2 to mend" in done.stdout
