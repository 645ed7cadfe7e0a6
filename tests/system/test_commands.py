# SPDX-License-Identifier: MIT
"""./run and ./test as somebody at a terminal meets them.

Most of it happens in a copy of the two scripts where building takes no time: what
stands for ninja there writes a server that says how it was called."""
import os
import pathlib
import pty
import re
import select
import shutil
import signal
import subprocess
import tempfile
import urllib.request

import pytest

from holdfast import TIMEOUT, free_port, wait_until

ROOT = pathlib.Path(__file__).resolve().parents[2]
NOBODY = 65534
BUILD_TIMEOUT = 300  # of everything, optimised, beside other tests

NINJA = r"""#!/bin/sh
mkdir -p "$2/src/bin"
printf '#!/bin/sh\necho "$PWD: server $*"\n' >"$2/src/bin/holdfast-server"
chmod +x "$2/src/bin/holdfast-server"
"""
MESON = r"""#!/bin/sh
[ "$1" = setup ] && : >"$2/build.ninja"
echo 1.0
"""


class Terminal:
    """A command with a terminal of its own."""

    def __init__(self, *args, cwd, env=None):
        self.master, slave = pty.openpty()
        self.process = subprocess.Popen(["setsid", "--ctty", *map(str, args)], stdin=slave, stdout=slave, stderr=slave,
                                        cwd=cwd, env={**os.environ, "NO_COLOR": "1", **(env or {})})
        os.close(slave)
        self.text = ""

    def read(self):
        """All that was printed so far."""
        while select.select([self.master], [], [], 0)[0]:
            try:
                piece = os.read(self.master, 65536)
            except OSError:  # nobody has the other side any more
                piece = b""
            if not piece:
                break
            self.text += piece.decode(errors="replace")
        return self.text

    def wait_text(self, text, timeout=TIMEOUT):
        wait_until(lambda: text in self.read() or self.ended(), text, timeout)
        assert text in self.read()

    def ended(self):
        self.read()
        return self.process.poll() is not None

    def wait(self, timeout=TIMEOUT):
        """The exit status."""
        wait_until(self.ended, f"the end of:\n{self.text}", timeout)
        self.read()
        return self.process.returncode

    def press(self, key):
        os.write(self.master, key)

    def seen(self):
        """What stays on the screen: lines without what was printed over."""
        return [re.sub(r".*\r\x1b\[K|\r", "", line) for line in self.read().split("\r\n")]

    def close(self):
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        os.close(self.master)


@pytest.fixture
def terminal():
    """Runs a command on a terminal; by the end of the test it is gone."""
    opened = []

    def start(*args, **more):
        opened.append(Terminal(*args, **more))
        return opened[-1]
    yield start
    for each in opened:
        each.close()


class Project:
    """The two scripts, and programs that stand for those that build."""

    def __init__(self, root):
        self.root = root / "project"
        (self.root / "tools").mkdir(parents=True)
        (self.root / "tests/fuzz").mkdir(parents=True)
        (self.root / "tests/fuzz/fuzz_bytes.c").touch()
        (root / "bin").mkdir()
        for name in ("run", "test", "tools/lib.sh"):
            shutil.copy(ROOT / name, self.root / name)
        self.env = {"PATH": f"{root / 'bin'}:{os.environ['PATH']}"}
        self.bin = root / "bin"
        self.program("meson", MESON)
        self.program("ninja", NINJA)

    def program(self, name, text):
        (self.bin / name).write_text(text)
        (self.bin / name).chmod(0o755)

    def call(self, *args, **more):
        return subprocess.run([self.root / args[0], *args[1:]], env={**os.environ, **self.env}, text=True,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=TIMEOUT, **more)


@pytest.fixture
def project():
    # Not tmp_path: other users can not enter that.
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder).chmod(0o755)
        yield Project(pathlib.Path(folder))


def test_run_on_a_terminal_builds_and_becomes_the_server(project, terminal, tmp_path):
    run = terminal(project.root / "run", "--config", "x.yaml", cwd=tmp_path, env=project.env)
    assert run.wait() == 0, run.text
    seen = run.seen()
    assert re.fullmatch(r"building build/release \(gcc\): done in \d+\.\d s", seen[0])
    assert seen[1:] == ["starting holdfast-server", f"{tmp_path}: server --config x.yaml", ""]


def test_run_hands_on_the_options_and_the_folder_of_its_caller_as_they_are(project, tmp_path):
    (tmp_path / "link").symlink_to(project.root)
    for way in (project.root / "run", "link/run"):
        done = subprocess.run([way, "--log-file", "a b"], cwd=tmp_path, env={**os.environ, **project.env},
                              text=True, capture_output=True, timeout=TIMEOUT)
        assert (done.stderr, done.returncode) == ("", 0)
        assert done.stdout.endswith(f"\nstarting holdfast-server\n{tmp_path}: server --log-file a b\n")
    assert project.call("run", cwd=tmp_path).stdout.endswith(f"{tmp_path}: server \n")


def test_run_help_has_the_options_of_the_server_once_it_is_built(project):
    before = project.call("run", "--help")
    assert "Usage: ./run" in before.stdout and "docs/reference/server-settings.md" in before.stdout
    assert not (project.root / "build").exists()
    project.call("run")
    after = project.call("run", "--help")
    assert "Usage: ./run" in after.stdout and after.stdout.endswith(": server --help\n")
    assert (before.returncode, after.returncode) == (0, 0)


@pytest.mark.parametrize("on_terminal", [True, False])
def test_a_build_that_fails_is_shown_and_nothing_is_started(project, terminal, on_terminal):
    project.program("ninja", "#!/bin/sh\necho 'FAILED: a.o'\necho 'a.c:1: error: no'\nexit 3\n")
    if on_terminal:
        run = terminal(project.root / "run", cwd="/", env=project.env)
        status, text = run.wait(), run.text
    else:
        done = project.call("run")
        status, text = done.returncode, done.stdout
    assert status == 3
    assert "a.c:1: error: no" in text and "build/release (gcc): failed" in text and "starting" not in text


@pytest.mark.parametrize("command, args", [("run", []), ("test", ["fuzz"])])
def test_control_c_ends_a_build_with_a_word(project, terminal, command, args):
    project.program("ninja", "#!/bin/sh\necho compiling all of it\nexec sleep 60\n")
    script = terminal(project.root / command, *args, cwd="/", env=project.env)
    script.wait_text("compiling all of it")
    script.press(b"\x03")
    assert script.wait() == 130
    assert script.seen()[-2:] == [f"{command}: interrupted", ""]


@pytest.mark.skipif(os.getuid() != 0, reason="only root can be somebody else")
@pytest.mark.parametrize("command, ours, theirs", [
    ("run", [], ""), ("run", [], "build"), ("run", ["build"], "build/log"), ("run", ["build"], "build/release"),
    ("test", [], ""), ("test", [], "build"), ("test", ["build"], "build/test")])
def test_a_folder_of_somebody_else_is_named(project, command, ours, theirs):
    for path in ours:
        (project.root / path).mkdir()
        os.chown(project.root / path, NOBODY, NOBODY)
    (project.root / theirs).mkdir(exist_ok=True)
    done = project.call(command, user=NOBODY, group=NOBODY, extra_groups=[])
    assert done.returncode == 1
    assert done.stderr == f"{command}: cannot write to {project.root / theirs}: run as its owner, root\n"


def test_fuzzing_counts_down_on_a_terminal_and_leaves_no_trace_of_it(project, terminal, tmp_path):
    project.program("target", f"#!/bin/sh\nuntil [ -e {tmp_path}/go ]; do sleep 0.02; done\n"
                              "echo 'stat::number_of_executed_units: 7'\n")
    project.program("ninja", '#!/bin/sh\nmkdir -p "$2/tests/fuzz" && cp "${0%ninja}target" "$2/tests/fuzz/fuzz_bytes"\n')
    test = terminal(project.root / "test", "fuzz", "bytes", cwd="/",
                    env={**project.env, "HOLDFAST_FUZZ_SECONDS": "9"})
    test.wait_text("fuzzing bytes... 9 s left")
    (tmp_path / "go").touch()
    assert test.wait() == 0, test.text
    assert "bytes: 7 runs in 9 s" in test.seen() and test.seen()[-2] == "1 passed, 0 failed"
    assert not any("left" in line for line in test.seen())


# Their names must not have in them what they look for with -k.
ARGUMENTS = {
    "an option": ("--nonsense", "no such option: --nonsense (see --help)"),
    "an option of long": ("long -x", "no such option: -x (see --help)"),
    "a suite": ("untit", "there is no suite 'untit'; ./test --list names them"),
    "a unit test": ("unit wire/confg", "there is no suite and no test of unit by the name 'wire/confg' "
                                       "(tests/unit/wire/test_confg.c)"),
    "a suite after a unit test": ("unit base/buf contrct", "no test of unit by the name 'contrct'"),
    "a contract": ("contract contract/x", "no test of contract by the name 'contract/x' (tests/contract/test_x.c)"),
    "a fuzz target": ("fuzz jsn", "no test of fuzz by the name 'jsn' (tests/fuzz/fuzz_jsn.c)"),
    "an argument of which suite": ("docs unit wire/config", "there is no suite 'wire/config', and an argument goes "
                                                            "with one suite, not with docs unit"),
    "an argument where there is none": ("docs contrct", "there is no suite 'contrct', and docs takes no arguments"),
    "a system test": ("system -k nosuchtest", "system has no test by the name, or it is one for ./test long: "
                                              "-k nosuchtest"),
    "an option of pytest": ("system --nonsense", "unrecognized arguments: --nonsense"),
    "a file of pytest": ("system test_nowhere.py", "file or directory not found: test_nowhere.py"),
}


@pytest.mark.parametrize("args, text", ARGUMENTS.values(), ids=ARGUMENTS.keys())
def test_what_is_misspelt_is_said_before_anything_runs(args, text):
    done = subprocess.run([ROOT / "test", *args.split()], text=True, stdin=subprocess.DEVNULL, capture_output=True,
                          timeout=TIMEOUT)
    assert (done.stdout, done.returncode) == ("", 1)
    assert done.stderr.startswith("test: ") and text in done.stderr


def test_the_list_says_what_is_long():
    done = subprocess.run([ROOT / "test", "--list"], text=True, capture_output=True, timeout=TIMEOUT)
    assert re.search(r"^unit +tests/unit", done.stdout, re.M)
    assert re.search(r"^fuzz +long +every parser", done.stdout, re.M)


def test_the_real_server_is_built_started_and_ended_on_a_terminal(terminal, tmp_path):
    version = terminal(ROOT / "run", "--version", cwd=tmp_path)
    assert version.wait(BUILD_TIMEOUT) == 0, version.text
    assert re.fullmatch(r"holdfast-server \d+\.\d+\.\d+", version.seen()[-2])
    port = free_port()
    (tmp_path / "here.yaml").write_text(f"listen: 127.0.0.1:{port}\nlog: {{ file: here.log }}\n")
    server = terminal(ROOT / "run", "--config", "here.yaml", cwd=tmp_path)

    def answers():
        assert not server.ended(), server.text
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=5) as answer:
            return answer.status == 200
    wait_until(answers, "the health page", BUILD_TIMEOUT)
    server.press(b"\x03")
    assert server.wait() == 0, server.text
    assert "stopped" in (tmp_path / "here.log").read_text()
