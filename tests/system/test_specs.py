# SPDX-License-Identifier: MIT
"""Specs as people write them: the short form, a folder of them on one host, and the tools for files."""
import getpass
import json
import os
import shutil

import pytest

from holdfast import TIMEOUT, bin_dir, wait_until
from installation import end_all, is_alive


class Folder:
    """A host whose agent reads a folder of specs; processes are the test's own daemon."""

    def __init__(self, holdfast, place):
        self.holdfast, self.place, self.specs, self.data = holdfast, place, place / "specs", place / "agent"
        self.specs.mkdir()
        self.victim = place / "bin" / "web"
        self.victim.parent.mkdir()
        shutil.copy(bin_dir().parents[1] / "tests/victim", self.victim)
        self.env = {"HOME": place, "XDG_CONFIG_HOME": "", "LC_ALL": "C", "TZ": "UTC",
                    "HOLDFAST_LOCAL_SOCKET": self.data / "control.sock"}
        self.pids, self.program = set(), None

    def start_agent(self):
        self.program = self.holdfast.start("holdfast-agent", "--data-dir", self.data, "--specs", self.specs)
        self.program.wait_log(text="ready")

    def write(self, file, *names, **more):
        """A file with these processes; a number of milliseconds makes another command."""
        processes = [{"name": name, "command": f"{self.victim} --life-ms {more.get('life', 120000)}",
                      "user": getpass.getuser(), "pid_file": str(self.place / f"{name.replace('/', '.')}.pid"),
                      "start_check_secs": "1s", "stop_check_secs": "1s"} for name in names]
        (self.specs / file).write_text(json.dumps({"processes": processes}), encoding="utf-8")

    def cli(self, *args, code=0):
        p = self.holdfast.run("holdfast", *args, env=self.env, timeout=3 * TIMEOUT)
        assert p.process.returncode == code, (args, p.out, p.err)
        return p

    def apply(self, *args, code=0):
        return self.cli("--local", "apply", "--specs", self.specs, *args, code=code)

    def processes(self):
        page = json.loads(self.cli("--local", "ps", "--json").out)["processes"]
        found = {f"{p['process']['namespace']}/{p['process']['name']}": p["process"] for p in page}
        self.pids |= {p["pid"] for p in found.values() if p["pid"] > 1}
        return found

    def wait_pid(self, name, other_than=0):
        wait_until(lambda: self.processes()[name]["pid"] not in (0, -1, other_than), f"{name} runs")
        return self.processes()[name]["pid"]


@pytest.fixture
def folder(holdfast, tmp_path):
    made = Folder(holdfast, tmp_path)
    yield made
    end_all(made.pids)


def test_a_folder_is_applied_and_only_what_came_from_it_is_removed(folder):
    folder.start_agent()
    folder.write("web.json", "shop/web", "shop/api")
    other = folder.place / "other.json"
    other.write_text(json.dumps({"command": f"{folder.victim} --life-ms 120000", "user": getpass.getuser(),
                                 "pid_file": str(folder.place / "other.pid"), "start_check_secs": 1}))
    folder.cli("--local", "start", "shop/other", "--spec", other)
    plan = folder.apply("--dry-run").out
    assert "+ shop/api  new, is hosted: " in plan and "would apply: 2 new, 0 changed, 0 removed, 0 unchanged" in plan
    assert set(folder.processes()) == {"shop/other"}

    assert "applied: 2 new, 0 changed, 0 removed, 0 unchanged" in folder.apply().out
    web, api, kept = (folder.wait_pid(f"shop/{name}") for name in ("web", "api", "other"))
    assert folder.apply().out == "applied: 0 new, 0 changed, 0 removed, 2 unchanged\n"
    said = folder.cli("--local", "apply", "--specs", f"{folder.place}//specs/").out
    assert said == "applied: 0 new, 0 changed, 0 removed, 2 unchanged\n", "the same folder"
    assert folder.wait_pid("shop/web") == web

    folder.write("web.json", "shop/web", life=110000)
    said = folder.apply().out
    assert "~ shop/web  changed, is restarted: control.start_cmd" in said
    assert "- shop/api  not in the folder any more, is stopped and removed" in said
    assert folder.wait_pid("shop/web", web) != web and not is_alive(api)
    assert set(folder.processes()) == {"shop/web", "shop/other"} and folder.wait_pid("shop/other") == kept


def test_an_empty_folder_removes_nothing_unless_it_is_said_so(folder):
    folder.start_agent()
    folder.write("web.json", "shop/web")
    folder.apply()
    pid = folder.wait_pid("shop/web")
    (folder.specs / "web.json").unlink()
    said = folder.apply(code=2).err
    assert "has no specs; processes that came from it and would be removed: 1; --allow-empty does that" in said
    folder.specs.rmdir()
    assert "No such file or directory" in folder.apply(code=2).err
    assert folder.wait_pid("shop/web") == pid
    folder.apply("--allow-empty")
    assert folder.processes() == {} and not is_alive(pid)


def test_what_an_operator_has_stopped_stays_stopped(folder):
    folder.start_agent()
    folder.write("web.json", "shop/web")
    folder.apply()
    folder.wait_pid("shop/web")
    folder.cli("--local", "stop", "shop/web")
    folder.write("web.json", "shop/web", life=110000)
    assert "= shop/web  changed, but an operator has stopped it: left alone: control.start_cmd" in folder.apply().out
    assert folder.processes()["shop/web"]["pid"] in (0, -1)


def test_at_its_start_the_agent_only_adds(folder):
    folder.write("web.json", "shop/web", "shop/api")
    folder.start_agent()
    web, api = folder.wait_pid("shop/web"), folder.wait_pid("shop/api")
    folder.program.stop()
    folder.write("web.json", "shop/web", "shop/new", life=110000)
    folder.start_agent()
    folder.wait_pid("shop/new")
    now = folder.processes()
    assert (now["shop/web"]["pid"], now["shop/api"]["pid"]) == (web, api)
    spec = json.loads(folder.cli("--local", "spec", "show", "shop/web").out)
    assert "110000" in spec["control"]["start_cmd"]
    os.kill(web, 9)
    second = folder.wait_pid("shop/web", web)
    with open(f"/proc/{second}/cmdline", encoding="utf-8") as f:
        assert "110000" in f.read()


@pytest.mark.parametrize("wrong, said", [
    (lambda f: (f.specs / "b.yaml").write_text("name: shop/web\ncommand: /bin/true\nuser: root\n"),
     "shop/web is in {specs}/b.yaml, too"),
    (lambda f: (f.specs / "b.yaml").write_text("name: shop/b\ncomand: /bin/true\n"),
     "{specs}/b.yaml:2: comand: no such setting; did you mean command?"),
    (lambda f: (f.specs / "b.yaml").write_text("processes:\n  - name: shop/b\n    command: ./b\n    user: root\n"),
     "{specs}/b.yaml: directory: required, because the command begins with the relative path ./b"),
    (lambda f: (f.specs / "web.json").chmod(0o666), "web.json: others may write to it (mode 666); chmod go-w it"),
    (lambda f: f.specs.chmod(0o777), "specs: others may write to it (mode 777); chmod go-w it"),
], ids=["two files", "unknown key", "relative command", "writable file", "writable folder"])
def test_a_folder_that_is_wrong_changes_nothing(folder, wrong, said):
    folder.start_agent()
    folder.write("web.json", "shop/web")
    folder.apply()
    pid = folder.wait_pid("shop/web")
    folder.write("web.json", "shop/api", "shop/web", life=110000)
    wrong(folder)
    assert said.format(specs=folder.specs) in folder.apply(code=2).err
    assert {n: p["pid"] for n, p in folder.processes().items()} == {"shop/web": pid}
    folder.program.stop()
    folder.start_agent()
    folder.program.wait_log(text="the folder of specs is not read, nothing of it changes")
    assert {n: p["pid"] for n, p in folder.processes().items()} == {"shop/web": pid}


def test_a_process_of_two_lines_runs_under_its_caller(folder):
    folder.start_agent()
    path = folder.place / "web.yaml"
    path.write_text(f"name: web\ncommand: {folder.victim} --life-ms 120000\nstart_check_secs: 1s\n"
                    f"pid_file: {folder.place}/web.pid\n")
    if os.getuid() == 0:
        said = folder.cli("--local", "start", "default/web", "--spec", path, code=2).err
        assert "user: required: the account that it runs as" in said
        path.write_text(path.read_text() + "user: root\n")
    folder.cli("--local", "start", "default/web", "--spec", path)
    pid = folder.wait_pid("default/web")
    with open(f"/proc/{pid}/comm", encoding="utf-8") as f:
        assert f.read() == "web\n"


def test_files_are_checked_without_an_agent(folder):
    path = folder.place / "web.yaml"
    path.write_text("processes:\n  - name: shop/web\n    command: /opt/web --port 80\n    user: www-data\n"
                    "    restart: always\n  - { name: shop/tick, command: /bin/date, user: root, schedule: every 1m30s }\n")
    said = folder.cli("spec", "check", path).out
    assert "shop/web" in said and "  always  " in said and "every 1m 30s" in said and said.endswith("no errors; processes: 2\n")
    path.write_text("name: shop/web\ncommand: /opt/web\nuser: a\nstop_wait: 1 minute\n")
    said = folder.cli("spec", "check", path, code=2).err
    assert f"{path}:4: stop_wait: must be a duration such as 30s, 5m or 1h30m" in said


def test_a_program_by_another_name_is_warned_of(folder):
    """Not where a script may start it, or the line is the shell's."""
    path, script, link = folder.place / "web.yaml", folder.place / "start.sh", folder.place / "alias"
    script.write_text("#!/bin/sh\nexec web\n")
    script.chmod(0o755)
    link.symlink_to("/bin/sleep")
    warning = f"{path}: shop/web: the command runs sleep, but program is web; ps -e would show sleep"
    for command, program, warns in (("/bin/sleep 60", "web", True), ("exec env A=b sleep 60", "web", True),
                                    ("/bin/sleep 60", "sleep", False), (f"{link} 60", "sleep", False),
                                    (f"{link} 60", "alias", False), (script, "web", False),
                                    (f"python3 {folder.place}/web", "web", False), ("/no/such/sleep", "web", False),
                                    ("cd / && sleep 60", "web", False), ("sleep 60 | cat", "web", False)):
        path.write_text(f"name: shop/web\ncommand: {command}\nprogram: {program}\ndirectory: /\nuser: root\n")
        p = folder.cli("spec", "check", path)
        assert p.err.splitlines() == ([warning] if warns else []), (command, program, p.err)
        assert "no errors; processes: 1" in p.out
    path.write_text("name: shop/web\ncommand: /bin/sleep 60\nprogram: web\nuser: root\n")
    assert "命令运行的是 sleep，而 program 为 web；ps -e 会显示 sleep" in folder.cli("spec", "check", path, "--lang", "zh").err


def test_fields_are_explained(folder):
    said = folder.cli("spec", "fields").out
    assert "command" in said and "restart" in said and "holdfast" in said
    said = folder.cli("spec", "fields", "ready.port").out
    assert "TCP" in said and "command" not in said
    assert "readi: no such setting; did you mean ready?" in folder.cli("spec", "fields", "readi", code=2).err


def test_a_spec_is_made_from_a_command_line_or_a_process(folder):
    made = folder.place / "made.yaml"
    said = folder.cli("spec", "init", "--", "/opt/web/bin/web", "--title", "it's a test").out
    made.write_text(said)
    assert "/opt/web/bin/web --title 'it'\\\\''s a test'" in said
    assert "no errors; processes: 1" in folder.cli("spec", "check", made).out
    made.write_text(folder.cli("spec", "init", "--pid", os.getpid()).out)
    assert "no errors; processes: 1" in folder.cli("spec", "check", made).out
    assert "name a command line" in folder.cli("spec", "init", code=2).err
