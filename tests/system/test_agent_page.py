# SPDX-License-Identifier: MIT
"""docs/agent.md: every example in it is started by a real agent, and runs."""
import getpass
import json
import pathlib
import re

import pytest

from holdfast import wait_until
from installation import end_all

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs/agent.md"

# What the programs of the examples do: nothing, in the ways that the page speaks of.
PROGRAM = """#!/usr/bin/python3
import os, signal, socket, sys, time
args = sys.argv[1:]
if "--once" in args:
    sys.exit(0)
if "--daemon" in args and (os.fork() or os.setsid() and os.fork()):
    os._exit(0)
if "--pid-file" in args:
    with open(args[args.index("--pid-file") + 1], "w") as f:
        f.write(str(os.getpid()))
signal.signal(signal.SIGHUP, signal.SIG_IGN)
if "NOTIFY_SOCKET" in os.environ:
    name = os.environ["NOTIFY_SOCKET"]
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as s:
        s.sendto(b"READY=1", name.replace("@", "\\0", 1) if name[0] == "@" else name)
while True:
    time.sleep(60)
"""


def examples():
    """{"web": its spec} of each block that is one."""
    found = {}
    for block in re.findall(r"^```yaml\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.M | re.S):
        name = re.match(r"# (\w+)\.yaml\b", block)
        if name:
            assert name[1] not in found
            found[name[1]] = block
    return found


def test_the_page_names_every_field_it_explains_by_its_own_name():
    """A field that was renamed must not live on here."""
    known = (PAGE.parent / "reference/objects.md").read_text(encoding="utf-8")
    page = PAGE.read_text(encoding="utf-8")
    words = set(re.findall(r"`(?:holdfast|resource|control|identity)\.(\w+)", page))
    words.discard("sock")  # of control.sock
    for row in re.findall(r"^\|[^|\n]+\|([^|\n]+)\|$", page.split("## From the GSE agent")[0], re.M):
        words |= set(re.findall(r"`(?!process_)([a-z]+_[a-z_]+)(?:: [^`]*)?`", row))
    assert len(words) >= 30, words
    assert [w for w in words if f"`{w}`" not in known] == []


@pytest.fixture
def agent(holdfast, tmp_path):
    program = holdfast.start("holdfast-agent", "--data-dir", tmp_path / "agent")
    program.wait_log(text="ready")
    yield program
    end_all({p for f in tmp_path.glob("*/*.pid") if (p := int(f.read_text(encoding="ascii") or 0)) > 1})


def test_every_example_runs(agent, holdfast, tmp_path):
    env = {"HOLDFAST_LOCAL_SOCKET": tmp_path / "agent/control.sock", "HOME": tmp_path, "LC_ALL": "C"}

    def cli(*args):
        p = holdfast.run("holdfast", "--local", *args, env=env, timeout=120)
        assert p.process.returncode == 0, (args, p.out, p.err)
        return p

    def processes():
        return {p["process"]["name"]: p["process"] for p in json.loads(cli("ps", "--json").out)["processes"]}

    specs = examples()
    assert len(specs) >= 7
    for name, text in specs.items():
        (tmp_path / name / "bin").mkdir(parents=True)
        program = tmp_path / name / "bin" / name
        program.write_text(PROGRAM, encoding="utf-8")
        program.chmod(0o755)
        (tmp_path / name / "env").write_text("X=1\n", encoding="ascii")
        (tmp_path / name / f"{name}.conf").touch()
        text = text.replace("/srv/", f"{tmp_path}/").replace("user: app", f"user: {getpass.getuser()}")
        if "pid_file:" not in text and "identity:" not in text:  # else it is in /run/holdfast, of every agent here
            text += f"pid_file: {tmp_path}/{name}/{name}.pid\n"
        (tmp_path / f"{name}.yaml").write_text(text, encoding="utf-8")
        cli("start", "demo/" + name, "--spec", tmp_path / f"{name}.yaml", "--no-wait")
    resident = set(specs) - {"backup"}
    wait_until(lambda: all(processes().get(n, {}).get("hosted") for n in specs), "all are hosted", 60)
    assert {n for n, p in processes().items() if p["status"] == 1} == resident
    cli("reload", "proxy", "api")
    cli("stop", *sorted(resident))
    assert {p["status"] for p in processes().values()} == {2}
