# SPDX-License-Identifier: MIT
"""What processes and commands say, from their mouth to `holdfast logs`."""
import getpass
import json
import os
import pty
import shutil
import signal
import tempfile
import time

import pytest

from crowd import program_pids
from holdfast import bin_dir, wait_until
from installation import Installation, end_all

MAX_BYTES = 65536


class House:
    """An installation with one host, whose processes are scripts."""

    def __init__(self, holdfast, folder):
        self.holdfast, self.folder = holdfast, folder
        self.home = Installation(holdfast, folder)
        self.agent = self.home.add_agent()
        self.env = {"HOME": folder, "XDG_CONFIG_HOME": "", "LC_ALL": "C", "TZ": "UTC"}
        self.pids = []

    def args(self, *args):
        return [*args, "--socket", str(self.home.data / "admin.sock")]

    def cli(self, *args, code=0):
        p = self.holdfast.run("holdfast", *self.args(*args), env=self.env)
        assert p.process.returncode == code, (p.out, p.err)
        return p

    def write_spec(self, name, folder, start, **control):
        """`start` runs in a folder with the program proc-test, which it should become."""
        folder.mkdir(exist_ok=True)
        shutil.copy(bin_dir().parents[1] / "tests/victim", folder / "proc-test")
        spec = {"identity": {"proc_name": "proc-test", "setup_path": str(folder),
                             "pid_path": str(folder / "pid"), "user": getpass.getuser()},
                "control": {"start_cmd": start, **control},
                "monitor_policy": {"auto_type": 1, "start_check_secs": 1, "stop_check_secs": 1}}
        path = self.folder / f"{name}.json"
        path.write_text(json.dumps(spec), encoding="utf-8")
        return path

    def start(self, name, start, code=0, host="127.0.0.1", **control):
        spec = self.write_spec(name, self.folder / f"{name}-{host}", start, **control)
        said = self.cli("start", "ns/" + name, "--host", host, "--spec", str(spec), code=code)
        rows = self.home.processes(name=name)
        self.pids += [row["process"]["pid"] for row in rows if row["process"]["pid"] > 1]
        return said

    def logs(self, name, *args):
        return self.cli("logs", "ns/" + name, *args).out

    def output_file(self, name):
        return self.agent.folder / "output" / f"ns%3A{name}"


@pytest.fixture
def house(holdfast, tmp_path, monkeypatch):
    monkeypatch.setenv("HOLDFAST_AGENT_OUTPUT_MAX_BYTES", str(MAX_BYTES))
    made = House(holdfast, tmp_path)
    yield made
    end_all(made.pids)


RUN = "exec ./proc-test --life-ms 120000 > /dev/null"


@pytest.mark.quick
def test_the_last_lines_of_a_process(house):
    house.start("web", f"seq 1 300; {RUN}")
    assert house.logs("web") == "".join(f"{i}\n" for i in range(201, 301))
    assert house.logs("web", "--lines", "2") == "299\n300\n"
    assert house.logs("web", "--lines", "0", "--host", "127.0.0.1").startswith("1\n2\n")
    view = json.loads(house.logs("web", "--lines", "1", "--json"))
    assert view == {"host": house.agent.id, "output": "300\n", "next": 1092, "has_gap": False}
    assert house.home.v1("GET", "/v1/logs?namespace=ns&name=web&at=1088")["output"] == "300\n"


def test_what_a_command_said_that_failed(house):
    said = house.start("bad", "echo reading; echo no such file >&2; exit 3", code=1)
    assert "no such file" in said.out + said.err
    assert house.logs("bad", "--host", house.agent.id) == "reading\nno such file\n"
    house.start("web", f"echo on; {RUN}", stop_cmd="echo I will not; exit 1", reload_cmd="echo read again")
    assert "I will not" in house.cli("stop", "ns/web", code=1).out
    house.cli("reload", "ns/web")
    assert house.logs("web") == "on\n"
    assert house.logs("web", "--command", "stop") == "I will not\n"
    assert house.logs("web", "--command", "reload") == "read again\n"
    p = house.cli("logs", "ns/web", "--command", "kill", code=1)
    assert "no output of that command of it is kept on this host" in p.err


@pytest.mark.quick
def test_what_is_wrong_is_said(house):
    assert "no host has such a process" in house.cli("logs", "ns/none", code=1).err
    assert "--command ls: must be stop, reload, kill, version or health" in house.cli("logs", "ns/none", "--command", "ls", code=2).err
    assert "NAMESPACE/NAME" in house.cli("logs", "none", code=2).err
    assert "--follow and --json" in house.cli("logs", "ns/none", "-f", "--json", code=2).err
    assert "--follow 与 --json" in house.cli("logs", "ns/none", "-f", "--json", "--lang", "zh", code=2).err
    assert "lines: must be" in house.cli("logs", "ns/none", "--lines", "-1", code=2).err


def test_where_several_hosts_have_it_one_must_be_named(house):
    other = house.home.add_agent(ip="127.0.0.2")
    house.start("web", f"echo here; {RUN}")
    house.start("web", f"echo there; {RUN}", host="127.0.0.2")
    p = house.cli("logs", "ns/web", code=2)
    assert "host: required (--host), for 2 hosts have ns/web" in p.err
    assert house.agent.id in p.err and other.id in p.err
    assert house.logs("web", "--host", "127.0.0.1") == "here\n"
    assert house.logs("web", "--host", other.id) == "there\n"


def test_a_host_that_is_away_is_named_at_once(house):
    house.start("web", f"echo on; {RUN}")
    house.agent.kill()
    wait_until(lambda: not house.home.online("127.0.0.1"), "the server knows that the agent is gone")
    p = house.cli("logs", "ns/web", code=1)
    assert house.agent.id in p.err and "OFFLINE" in p.err
    house.agent.start()
    house.agent.wait_online()
    assert house.logs("web") == "on\n"


def test_who_follows_misses_nothing_over_rotations_and_restarts(house):
    """It says 1,000 lines of 37 bytes each time it is told a number: the file is trimmed again
    and again meanwhile, and the agent killed and started anew in the midst of it."""
    pipe = house.folder / "in"
    os.mkfifo(pipe)
    house.start("web", f'(while read n; do seq -f %036.0f $n $((n + 999)); done < {pipe}) & {RUN}')
    p = house.holdfast.start("holdfast", *house.args("logs", "ns/web", "-f", "--lines", "5000"), env=house.env)
    with open(pipe, "w", encoding="ascii") as tell:
        for n in range(1, 12001, 1000):
            tell.write(f"{n}\n")
            tell.flush()
            p.wait_until(lambda end=n + 999: p.out.endswith(f"{end:036}\n"), f"it has come to {n + 999}", 60)
            if n == 5001:
                house.agent.kill()
                house.agent.start()
    p.signal(signal.SIGINT)
    assert p.wait() == 0
    seen = 0
    for line in p.out.splitlines():  # killed in the midst of trimming, the agent may say some again
        n = int(line)
        assert n <= seen + 1, f"{seen + 1} to {n - 1} are missing"
        seen = max(seen, n)
    assert seen == 12000
    assert house.output_file("web").with_name("ns%3Aweb.1").exists()
    assert house.output_file("web").stat().st_size < 12000 * 37 / 2


def test_a_gap_is_a_line_of_its_own(house):
    house.start("web", f"head -c 1000000 /dev/zero | tr '\\0' x; echo; echo end; {RUN}")
    wait_until(lambda: house.output_file("web").stat().st_size <= MAX_BYTES, "it has been trimmed")
    view = house.home.v1("GET", "/v1/logs?namespace=ns&name=web&at=10")
    assert view["has_gap"] and view["next"] > 100000
    last = house.home.v1("GET", "/v1/logs?namespace=ns&name=web&lines=1")
    assert last["output"] == "end\n" and not last["has_gap"]


def test_a_flood_stays_bounded(house):
    house.start("web", "exec ./proc-test --flood --life-ms 120000")

    def said():
        return house.home.v1("GET", "/v1/logs?namespace=ns&name=web&lines=1")["next"]

    wait_until(lambda: said() > 64 * MAX_BYTES, "it has said much more than may be kept", 60)
    house.cli("kill", "ns/web")
    files = [house.output_file("web"), house.output_file("web").with_name("ns%3Aweb.1")]
    wait_until(lambda: sum(f.stat().st_size for f in files) <= 2 * MAX_BYTES + 100, "it is within its bound", 60)
    assert house.home.online("127.0.0.1")


class Flood:
    """Processes that write as fast as they can, and the space that their output takes."""

    def __init__(self, house, n, start="exec ./proc-test", program=shutil.which("yes")):
        self.house, self.names = house, [f"flood-{i}" for i in range(n)]
        self.start, self.program = start, program
        self.largest = dict.fromkeys(self.names, 0)

    def __enter__(self):
        for name in self.names:
            spec = self.house.write_spec(name, self.house.folder / name, self.start)
            shutil.copy(self.program, self.house.folder / name / "proc-test")
            self.house.cli("start", "ns/" + name, "--host", "127.0.0.1", "--spec", str(spec), "--no-wait")
        return self

    def __exit__(self, *why):
        """They must not outlive the agent: nothing would bound their output."""
        self.house.agent.kill()
        for name in self.names:
            end_all(program_pids(self.house.folder / name / "proc-test"))
            for path in self.files(name):
                path.unlink(missing_ok=True)

    def files(self, name):
        path = self.house.output_file(name)
        return [path.with_name(path.name + end) for end in ("", ".1", ".2")]

    def space(self, name):
        """What its files take at one moment: a look that takes longer would count what is trimmed
        meanwhile twice, in the file and in the one that it is moved to."""
        while True:
            total, began = 0, time.monotonic()
            for path in self.files(name):
                try:
                    total += path.stat().st_blocks * 512
                except FileNotFoundError:
                    pass
            if time.monotonic() - began < 0.002:
                return total

    def measure(self):
        """Looks at the allocated space of each one's files: the largest so far."""
        for name in self.names:
            self.largest[name] = max(self.largest[name], self.space(name))
        return max(self.largest.values())

    def assert_bounded(self, seconds, max_bytes):
        end, started = time.monotonic() + seconds, set()
        while time.monotonic() < end or len(started) < len(self.names):
            assert self.measure() <= 3 * max_bytes + (64 << 20), self.largest
            time.sleep(0.1)  # the promise is one of every such moment
            started = {name for name in self.names if self.files(name)[0].exists()}

    def position(self, name):
        return self.house.home.v1("GET", f"/v1/logs?namespace=ns&name={name}&lines=1")["next"]


@pytest.mark.parametrize("n", [1, 4])
@pytest.mark.parametrize("max_bytes", [MAX_BYTES, 20 << 20])
@pytest.mark.parametrize("seconds", [5, pytest.param(60, marks=pytest.mark.long)])
def test_what_floods_never_takes_more_space_than_promised(holdfast, tmp_path, monkeypatch, n, max_bytes, seconds):
    monkeypatch.setenv("HOLDFAST_AGENT_OUTPUT_MAX_BYTES", str(max_bytes))
    with Flood(House(holdfast, tmp_path), n) as flood:
        flood.assert_bounded(seconds, max_bytes)
        at = wait_until(lambda: flood.position("flood-0"), "its position is known")
        print(f"{n} with a bound of {max_bytes}: {flood.largest}, {at} bytes by the first")
        assert at > 1000 * MAX_BYTES
        wait_until(lambda: flood.position("flood-0") > at, "positions go on")
        assert flood.house.logs("flood-0", "--lines", "0").endswith("y\ny\n")
        for name in flood.names:
            flood.house.cli("stop", "ns/" + name)
        assert flood.measure() <= 3 * max_bytes + (64 << 20), flood.largest


def has_lease(path):
    inode = path.stat().st_ino
    with open("/proc/locks", encoding="ascii") as locks:
        return any(" LEASE " in line and line.split()[5].endswith(f":{inode}") for line in locks)


@pytest.mark.parametrize("has_restarted", [False, True])
@pytest.mark.parametrize("seconds", [5, pytest.param(60, marks=pytest.mark.long)])
def test_a_lease_on_its_output_does_not_let_a_flood_grow(holdfast, tmp_path, monkeypatch, has_restarted, seconds):
    monkeypatch.setenv("HOLDFAST_AGENT_OUTPUT_MAX_BYTES", str(20 << 20))
    house, go = House(holdfast, tmp_path), tmp_path / "go"
    victim = bin_dir().parents[1] / "tests/victim"
    with Flood(house, 1, f"exec ./proc-test --flood --lease {go} --life-ms 120000", victim) as flood:
        path = flood.files("flood-0")[0]
        wait_until(lambda: program_pids(house.folder / "flood-0" / "proc-test"), "it runs")
        if has_restarted:
            house.agent.kill()
            wait_until(lambda: has_lease(path), "it has a lease while there is no agent")
            house.agent.start()
            house.agent.wait_online()
        go.touch()
        flood.assert_bounded(seconds, 20 << 20)
        print(f"restarted: {has_restarted}: {flood.largest}, {flood.position('flood-0')} bytes")
        assert flood.position("flood-0") > 200 << 20


def test_of_a_flood_the_newest_part_is_kept_with_a_line_for_the_rest(holdfast, tmp_path, monkeypatch):
    monkeypatch.setenv("HOLDFAST_AGENT_OUTPUT_MAX_BYTES", str(256 << 20))  # so that copying can not keep up
    with Flood(House(holdfast, tmp_path), 1) as flood:
        old = flood.files("flood-0")[1]
        wait_until(old.exists, "some of it was dropped", 60)
        flood.house.cli("stop", "ns/flood-0")
        with open(old, encoding="ascii") as f:
            head, line, first = f.readline(), f.readline(), f.readline().strip()
        assert head.startswith("[what was said before byte "), head
        assert line.endswith("written faster than they can be kept]\n") and int(line[1:].split()[0]) > 0, line
        assert first in ("y", "")
        view = flood.house.home.v1("GET", "/v1/logs?namespace=ns&name=flood-0&at=0")
        assert view["has_gap"] and view["output"].endswith("y\n"), view
        assert view["gap_bytes"] > 0 and "missing" not in view["output"]


def test_escape_sequences_do_nothing_to_a_terminal(house):
    house.start("web", f"printf 'a\\033]0;owned\\007b\\t\\302\\2332Jc\\r\\n\\377d'; {RUN}")
    raw = house.cli("logs", "ns/web").out_path.read_bytes().decode()
    assert raw == "a\x1b]0;owned\x07b\t\u009b2Jc\r\n\ufffdd"  # unchanged, for programs that parse it
    master, slave = pty.openpty()
    pid = os.fork()
    if pid == 0:
        os.dup2(slave, 1)
        os.execve(bin_dir() / "holdfast", ["holdfast", *house.args("logs", "ns/web")],
                  {**os.environ, **{k: str(v) for k, v in house.env.items()}})
    os.close(slave)
    shown = b""
    try:
        while True:
            piece = os.read(master, 4096)
            if not piece:
                break
            shown += piece
    except OSError:
        pass  # the other end is closed
    assert os.waitpid(pid, 0)[1] == 0
    assert shown.decode() == "a\\x1B]0;owned\\x07b\t\\x9B2Jc\\x0D\r\n\ufffdd\r\n"


def test_a_file_swapped_for_a_link_is_refused(house):
    house.start("web", f"echo on; {RUN}")
    path = house.output_file("web")
    path.rename(path.with_name("away"))
    path.symlink_to("/etc/passwd")
    p = house.cli("logs", "ns/web", code=3)
    assert p.out == "" and "root:" not in p.err
    assert "on\n" == path.with_name("away").read_text(encoding="utf-8")


@pytest.fixture(name="open_folder")
def folder_for_all():
    # Not tmp_path: other users can not enter that while other tests begin.
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        yield folder


@pytest.mark.skipif(os.getuid() != 0, reason="only root can start processes of others")
def test_output_is_not_passed_on_when_the_user_changes(house, open_folder):
    house.start("web", f"echo secret of root; {RUN}")
    house.cli("stop", "ns/web")
    spec = json.loads((house.folder / "web.json").read_text(encoding="utf-8"))
    shutil.copy(bin_dir().parents[1] / "tests/victim", open_folder + "/proc-test")
    spec["identity"].update(user="nobody", setup_path=str(open_folder))
    spec["control"]["start_cmd"] = f"echo of nobody; {RUN}"
    (house.folder / "web.json").write_text(json.dumps(spec), encoding="utf-8")
    house.cli("start", "ns/web", "--host", "127.0.0.1", "--spec", str(house.folder / "web.json"))
    house.pids += [row["process"]["pid"] for row in house.home.processes(name="web")]
    path = house.output_file("web")
    assert path.owner() == "nobody" and "secret" not in path.read_text(encoding="utf-8")
    old = path.with_name(path.name + ".1")
    assert old.owner() == "root" and old.stat().st_mode & 0o777 == 0o600
    assert house.logs("web", "--lines", "1") == "of nobody\n"
    assert house.logs("web").startswith("secret of root\nof nobody\n")  # for a user that may read all of it


def test_last_words_are_part_of_why(house):
    """Of one that is not hosted any more, so that it stays down."""
    house.start("web", f"echo cannot go on; {RUN}")
    house.cli("unmanage", "ns/web")
    end_all(house.pids)

    def output():
        return house.home.processes(name="web")[0]["process"]["cause"].get("output", "")

    wait_until(lambda: output().strip() == "cannot go on", "what it said last is told")
