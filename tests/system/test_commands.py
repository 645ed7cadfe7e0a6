# SPDX-License-Identifier: MIT
"""./run and ./test as a user at a terminal sees them.

Most of it happens in a copy of the two scripts where building takes no time: what
stands for ninja there copies the programs under test."""
import json
import os
import pathlib
import pty
import re
import select
import shlex
import shutil
import signal
import socket
import subprocess
import tempfile

import pytest

from holdfast import TIMEOUT, bin_dir, free_port, wait_until

ROOT = pathlib.Path(__file__).resolve().parents[2]
NOBODY = 65534
BUILD_TIMEOUT = 300  # of everything, optimised, beside other tests

NINJA = r"""#!/bin/sh
mkdir -p "$2/src/bin" "$2/examples"
cp --remove-destination {bin}/holdfast {bin}/holdfast-server {bin}/holdfast-agent "$2/src/bin"
cp --remove-destination {bin}/../../examples/heartd "$2/examples"
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
            except OSError:  # the other side is closed
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
        self.program("ninja", NINJA.format(bin=self.copy_programs(root / "build/src/bin")))

    @staticmethod
    def copy_programs(to):
        """To where every user may read them."""
        examples = to.parents[1] / "examples"
        to.mkdir(parents=True)
        examples.mkdir()
        for name in ("holdfast", "holdfast-server", "holdfast-agent"):
            shutil.copy(bin_dir() / name, to)
        shutil.copy(bin_dir().parents[1] / "examples/heartd", examples)
        return to

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


def test_help_and_what_is_misspelt_build_nothing(project):
    done = project.call("run", "--help")
    assert done.returncode == 0 and "Usage: ./run" in done.stdout and not done.stderr
    for args, text in [(["--prot", "1"], "no such option: --prot (see --help)"), (["--port", "x"], "must be a number"),
                       (["--port", "65535"], "must be a number"), (["--data"], "needs a value")]:
        done = project.call("run", *args)
        assert done.returncode == 2 and text in done.stderr and not done.stdout
    assert not (project.root / "build").exists()


class Run:
    """./run on a terminal, ready; `shell` does what its reader would paste."""

    def __init__(self, terminal, command, data, *args, timeout=TIMEOUT, cwd="/", env=None):
        self.data, self.port = data, free_port(2)
        self.terminal = terminal(*command, "--port", self.port, "--data", data, *args, cwd=cwd, env=env)
        self.terminal.wait_text("holdfast --help", timeout)
        self.lines = [line.strip() for line in self.terminal.seen()]

    def line(self, start):
        return next(line for line in self.lines if line.startswith(start))

    def secret(self):
        return self.line("app secret").split()[-1]

    def shell(self, *lines):
        done = subprocess.run(["bash", "-c", "\n".join(lines)], text=True, capture_output=True, timeout=TIMEOUT,
                              check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def end(self):
        self.terminal.press(b"\x03")
        assert self.terminal.wait() == 0, self.terminal.text
        assert self.terminal.seen()[-2] == "ended"
        for port in (self.port, self.port + 1):
            with socket.socket() as s:
                assert s.connect_ex(("127.0.0.1", port)) != 0, "the port is closed"


def paste(run):
    """The two lines as they are printed, the second again until it is done: the one result."""
    operate, read = run.line("answer=$("), run.line("curl -s ")
    answer = run.shell(operate)
    assert json.loads(answer)["data"]["task_id"].startswith("GSETASK:")

    def ended():
        got = json.loads(run.shell(f"answer={shlex.quote(answer)}", read))
        result = got["data"]["0:127.0.0.1:demo:heartd"]
        return result if result["error_code"] != 115 else None
    return wait_until(ended, "the task ends")


def heartd_pids(data):
    pids = []
    for entry in os.listdir("/proc"):
        try:
            line = pathlib.Path("/proc", entry, "cmdline").read_bytes() if entry.isdigit() else b""
        except OSError:
            continue
        if b"heartd\0-d" in line and str(data).encode() in line:
            pids.append(int(entry))
    return pids


@pytest.fixture
def data(tmp_path_factory):
    """A folder that every user can use; what ./run's agent started there is ended."""
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder).chmod(0o777)
        yield pathlib.Path(folder, "var")
        for pid in heartd_pids(folder):
            os.kill(pid, signal.SIGKILL)


def test_what_run_prints_works_as_it_is_printed(project, terminal, data):
    run = Run(terminal, [project.root / "run"], data, env=project.env)
    assert re.fullmatch(r"building build/release \(gcc\): done in \d+\.\d s", run.lines[0])
    assert paste(run)["error_code"] == 0
    pid, = heartd_pids(data)
    assert paste(run)["error_code"] == 828
    export = run.line("export HOLDFAST_SOCKET=")
    assert f" {pid} " in run.shell(export, "holdfast ps")
    assert f" {pid} " in run.shell(export, "holdfast --local ps")
    secret = run.secret()
    run.end()
    assert heartd_pids(data) == [pid], "it lives on"
    again = Run(terminal, [project.root / "run"], data, env=project.env)
    assert again.secret() == secret
    assert f" {pid} " in again.shell(again.line("export"), "holdfast ps")
    again.shell(again.line("export"), "holdfast stop demo/heartd")
    assert heartd_pids(data) == []
    again.end()
    anew = Run(terminal, [project.root / "run"], data, "--fresh", env=project.env)
    assert anew.secret() != secret
    assert "no processes yet" in anew.shell(anew.line("export"), "holdfast ps")
    anew.end()


@pytest.mark.skipif(os.getuid() != 0, reason="only root can change the user")
def test_run_works_as_an_ordinary_user_and_says_what_he_can_not(project, terminal, data):
    subprocess.run(["chown", "-R", "nobody", project.root], check=True)
    run = Run(terminal, ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups", project.root / "run"], data,
              env={**project.env, "HOME": "/nonexistent"})
    assert "can start processes of nobody alone" in run.line("agent")
    assert paste(run)["error_code"] == 0
    pid, = heartd_pids(data)
    assert os.stat(f"/proc/{pid}").st_uid == NOBODY
    run.end()


def test_two_do_not_share_a_folder_and_nothing_is_lost_by_trying(project, terminal, data):
    run = Run(terminal, [project.root / "run"], data, env=project.env)
    before = (data / "server.yaml").read_text()
    for args in ([], ["--fresh"]):
        done = project.call("run", "--port", str(free_port(2)), "--data", str(data), *args)
        assert done.returncode == 1 and f"another ./run uses {data}" in done.stderr
    assert (data / "server.yaml").read_text() == before
    assert "no processes yet" in run.shell(run.line("export"), "holdfast ps")
    run.end()


def test_what_is_killed_is_started_again(project, terminal, data):
    run = Run(terminal, [project.root / "run"], data, env=project.env)
    assert paste(run)["error_code"] == 0
    pid, = heartd_pids(data)
    for name in ("agent", "server"):
        program, = [p for p in children(run.terminal.process.pid) if f"holdfast-{name}" in p[1]]
        os.kill(program[0], signal.SIGKILL)
        run.terminal.wait_text(f"holdfast-{name} has ended (exit status 137); starting it again")
        wait_until(lambda: '"online":true' in run.shell(run.line("export"), "holdfast host list --json || :"),
                   "all is as it was")
        assert heartd_pids(data) == [pid]
    run.end()


def children(pid):
    """(pid, command line) of each."""
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as f:
        pids = [int(p) for p in f.read().split()]
    return [(p, pathlib.Path(f"/proc/{p}/cmdline").read_text(encoding="utf-8")) for p in pids]


def test_run_says_why_it_can_not(project, data):
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        s.listen()
        port = s.getsockname()[1]
        done = project.call("run", "--port", str(port), "--data", str(data))
    assert done.returncode == 1
    assert "Address already in use" in done.stderr and str(port) in done.stderr


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
    assert "a.c:1: error: no" in text and "build/release (gcc): failed" in text and "running" not in text


@pytest.mark.parametrize("command, args", [("run", []), ("test", ["fuzz"])])
def test_control_c_ends_a_build_with_a_word(project, terminal, command, args):
    project.program("ninja", "#!/bin/sh\necho compiling all of it\nexec sleep 60\n")
    script = terminal(project.root / command, *args, cwd="/", env=project.env)
    script.wait_text("compiling all of it")
    script.press(b"\x03")
    assert script.wait() == 130
    assert script.seen()[-2:] == [f"{command}: interrupted", ""]


@pytest.mark.skipif(os.getuid() != 0, reason="only root can change the user")
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
                    env={**project.env, "HOLDFAST_FUZZ_SECONDS": "60"})
    test.wait_text(" s left")  # of which second is a matter of luck
    (tmp_path / "go").touch()
    assert test.wait() == 0, test.text
    assert "bytes: 7 runs in 60 s" in test.seen() and test.seen()[-2] == "1 passed, 0 failed"
    assert not any("left" in line for line in test.seen())


# Their names must not have in them what they look for with -k.
ARGUMENTS = {
    "an option": ("--nonsense", "no such option: --nonsense (see --help)"),
    "an option of long": ("long -x", "no such option: -x (see --help)"),
    "a quick test": ("quick system -k nosuchtest", "system has no quick test by the name: -k nosuchtest"),
    "a suite": ("untit", "there is no suite 'untit'; ./test --list names them"),
    "a unit test": ("unit wire/confg", "there is no suite and no test of unit by the name 'wire/confg' "
                                       "(tests/unit/wire/test_confg.c)"),
    "a suite after a unit test": ("unit base/mem/buf contrct", "no test of unit by the name 'contrct'"),
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


@pytest.fixture
def listed():
    done = subprocess.run([ROOT / "test", "--list"], text=True, capture_output=True, timeout=TIMEOUT)
    return done.stdout


def test_the_list_says_what_is_long(listed):
    assert re.search(r"^unit +\d+ +\d+ +tests/unit", listed, re.M)
    assert re.search(r"^fuzz +- +\d+ +long +every parser", listed, re.M)


def test_budgets_of_a_cold_clone_are_25_minutes_and_quick_ones_leave_time_to_build(listed):
    rows = re.findall(r"^(build \w+|[a-z-]+) +(\d+|-) +(\d+) ", listed, re.M)
    assert {name for name, _, _ in rows} >= {"unit", "system", "fault", "fuzz", "build gcc", "build clang"}
    assert sum(int(seconds) for _, _, seconds in rows) <= 25 * 60
    assert sum(int(quick) for _, quick, _ in rows if quick != "-") <= 5 * 60 - 60


@pytest.mark.parametrize("budget, marked", [("1000", False), ("0", True)])
def test_the_summary_marks_what_is_over_its_budget_and_that_is_no_failure(project, budget, marked):
    script = project.root / "test"
    script.write_text(re.sub(r"(fuzz_\*\.c +\| +- \|) +\d+ ", rf"\1 {budget} ", script.read_text()))
    project.program("target", "#!/bin/sh\necho 'stat::number_of_executed_units: 7'\n")
    project.program("ninja", '#!/bin/sh\nmkdir -p "$2/tests/fuzz" && cp "${0%ninja}target" "$2/tests/fuzz/fuzz_bytes"\n')
    done = project.call("test", "fuzz")
    row, = re.findall(rf"^fuzz +ok +1 +0 +0 +\d+\.\d +{budget}(.*)$", done.stdout, re.M)
    assert (row.strip() == "over budget") == marked
    assert done.returncode == 0 and done.stdout.endswith("\n1 passed, 0 failed\n")
    assert re.search(r"^build clang +ok +\d+\.\d +\d+$", done.stdout, re.M)


def test_warnings_are_errors_in_ci_alone(project):
    project.program("meson", '#!/bin/sh\necho "$@" >>"${0%/*}/meson.log"\n: >build/clang/build.ninja\necho 1.0\n')
    project.program("ninja", "#!/bin/sh\necho 'a.c:1:2: warning: careful'\n")
    for ci, word in (("true", "-Dwerror=true"), ("", "-Dwerror=false")):
        project.env["CI"] = ci
        done = project.call("test", "fuzz")
        setups = [line for line in (project.bin / "meson.log").read_text().splitlines() if line.startswith("setup ")]
        assert word in setups[-1]
        assert "a.c:1:2: warning: careful" in done.stdout and "1 warnings" in done.stdout


def test_the_real_thing_is_built_started_and_ended_on_a_terminal(terminal, data):
    run = Run(terminal, [ROOT / "run"], data, timeout=BUILD_TIMEOUT)
    assert paste(run)["error_code"] == 0
    run.end()
