# SPDX-License-Identifier: MIT
"""holdfast import: files of other supervisors become specs, and what runs is taken over without a restart."""
import getpass
import os
import pathlib
import shutil
import signal
import subprocess

import pytest
import yaml

from holdfast import TIMEOUT, bin_dir, wait_until
from test_local import alone  # pylint: disable=unused-import

USER = getpass.getuser()


def place(tmp_path, name):
    folder = tmp_path / name
    folder.mkdir()
    shutil.copy(bin_dir().parents[1] / "tests/victim", folder / name)
    return folder


@pytest.fixture
def imports(holdfast, tmp_path):
    """imports(FILE...): exit status, output, errors; nothing is there to be asked."""
    env = {"HOME": tmp_path, "XDG_CONFIG_HOME": "", "LC_ALL": "C", "HOLDFAST_SERVER": "http://127.0.0.1:9",
           "HOLDFAST_LOCAL_SOCKET": tmp_path / "none", "WHERE": "/srv/here"}

    def run(*args):
        p = holdfast.run("holdfast", "import", *args, env=env, timeout=TIMEOUT)
        return p.process.returncode, p.out, p.err
    return run


def host(alone, name, spec):
    """Hosts it as the import has written it."""
    alone.cli("host", f"default/{name}", "--spec", spec)
    wait_until(lambda: alone.processes()[name]["hosted"], "it is hosted")
    return alone.processes()[name]["pid"]


def test_a_foreground_child_of_another_supervisor_is_taken_over(alone, imports, tmp_path):
    folder = place(tmp_path, "webd")
    conf = tmp_path / "supervisord.conf"
    conf.write_text(f"[supervisord]\nuser={USER}\n[program:webd]\ncommand={folder}/webd --life-ms 120000\n"
                    f"directory={folder}\nautorestart=true\n", encoding="utf-8")
    with subprocess.Popen([folder / "webd", "--life-ms", "120000"], cwd=folder) as child:
        alone.pids.add(child.pid)
        try:
            assert imports(conf, "--output", tmp_path / "specs")[0] == 0
            assert host(alone, "webd", tmp_path / "specs/webd.yaml") == child.pid
            assert child.poll() is None
        finally:
            child.kill()
    pid = wait_until(lambda: {alone.processes()["webd"]["pid"]} - {0, child.pid}, "it is restarted, by the agent")
    assert alone.processes()["webd"]["pid"] in pid


def test_a_daemon_with_a_pid_file_is_taken_over(alone, imports, tmp_path):
    folder = place(tmp_path, "dbd")
    unit = tmp_path / "dbd.service"
    command = f"{folder}/dbd --daemonize --pid-file {folder}/pid --life-ms 120000"
    unit.write_text(f"[Service]\nType=forking\nPIDFile={folder}/pid\nExecStart={command}\nUser={USER}\n"
                    "Restart=always\n", encoding="utf-8")
    subprocess.run(command.split(), check=True, timeout=TIMEOUT)
    pid = int(wait_until(lambda: (folder / "pid").exists() and (folder / "pid").read_text(encoding="utf-8"), "it runs"))
    alone.pids.add(pid)
    assert imports(unit, "--output", tmp_path / "specs")[0] == 0
    assert host(alone, "dbd", tmp_path / "specs/dbd.yaml") == pid
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: alone.processes()["dbd"]["pid"] not in (0, pid), "it is restarted")


CONF = """\
[program:web]
command=/opt/web --at %(ENV_WHERE)s
stdout_logfile=/var/log/web
[eventlistener:mail]
command=/opt/mail
"""


@pytest.mark.quick
def test_what_is_left_out_is_named_and_the_rest_is_written(imports, tmp_path):
    conf = tmp_path / "s.conf"
    conf.write_text(CONF, encoding="utf-8")
    code, out, err = imports(conf)
    [spec] = yaml.safe_load(out)["processes"]
    assert (code, spec["command"], spec["user"]) == (1, "/opt/web --at /srv/here", "root")
    lines = err.splitlines()
    assert lines[0] == f"web: {conf}:1, [program:web]: /opt/web --at /srv/here"
    assert lines[1] == f"  {conf}:3: stdout_logfile=/var/log/web: left out: the agent keeps the output: holdfast logs"
    assert lines[2].startswith(f"{conf}:4: [eventlistener:mail]: left out: ")
    assert lines[3] == "1 processes, 2 settings left out"
    assert "未转换" in imports(conf, "--lang", "zh")[2]
    assert yaml.safe_load(imports(conf, "--user", "app", "--namespace", "shop")[1])["processes"][0]["namespace"] == "shop"


@pytest.mark.quick
def test_files_are_replaced_only_by_force(imports, tmp_path):
    conf, specs = tmp_path / "s.conf", tmp_path / "specs"
    conf.write_text("[program:a]\ncommand=/opt/a\n[program:b]\ncommand=/opt/b\n", encoding="utf-8")
    assert imports(conf, "--output", specs)[0] == 0
    assert sorted(p.name for p in specs.iterdir()) == ["a.yaml", "b.yaml"]
    assert (specs / "a.yaml").stat().st_mode & 0o777 == 0o644
    (specs / "a.yaml").unlink()
    (specs / "b.yaml").write_text("mine", encoding="utf-8")
    code, _, err = imports(conf, "--output", specs)
    assert code == 2 and f"{specs}/b.yaml exists" in " ".join(err.split())
    assert [(p.name, p.read_text(encoding="utf-8")) for p in specs.iterdir()] == [("b.yaml", "mine")]
    assert imports(conf, "--output", specs, "--force")[0] == 0
    assert yaml.safe_load((specs / "b.yaml").read_text(encoding="utf-8"))["command"] == "/opt/b"


@pytest.mark.quick
@pytest.mark.parametrize("name, text, error", [
    ("s.conf", "[program:a]\ncommand=x\n[program:a]\n", "s.conf:3: [program:a] is given twice, first in line 1"),
    ("s.conf", "[program:a]\ncommand=\0\n", "s.conf:2: a byte of zero"),
    ("s.conf", "[include]\nfiles=*.conf\n", "s.conf: included twice"),
    ("a.service", "ExecStart=/opt/a\n", "a.service:1: a setting before the first [SECTION]"),
    ("a.service", None, "a.service"),
    ("x.proc", "{}", "x.proc: "),
    ("big.conf", "[a]\nb=" + "x" * (10 << 20), "larger than"),
], ids=["twice", "zero", "itself", "no section", "none", "no list", "big"])
def test_a_file_that_cannot_be_read_is_named(imports, tmp_path, name, text, error):
    path = pathlib.Path(tmp_path / name)
    if text is not None:
        path.write_text(text, encoding="utf-8")
    code, out, err = imports(path)
    assert (code, out) == (2, "") and error in " ".join(err.split()).replace("- ", "-"), err


@pytest.mark.quick
def test_units_and_records_come_together(imports, tmp_path):
    (tmp_path / "a.service").write_text("[Unit]\nAfter=b.service\n[Service]\nExecStart=/opt/a\n", encoding="utf-8")
    (tmp_path / "b.service").write_text("[Service]\nType=oneshot\nExecStart=/opt/b\n", encoding="utf-8")
    (tmp_path / "b.timer").write_text("[Timer]\nOnCalendar=*-*-* 03:00\n", encoding="utf-8")
    (tmp_path / ".proc").write_text('{"proc":[{"valuekey":"prod:c","procName":"c","setupPath":"/srv/c","startCmd":"./c"}]}', encoding="utf-8")
    code, out, err = imports(*(tmp_path / n for n in ("a.service", "b.service", "b.timer", ".proc")))
    a, b, c = yaml.safe_load(out)["processes"]
    assert code == 0, err
    assert (a["after"], b["schedule"], c["namespace"], c["command"]) == (["b"], "0 3 * * *", "prod", "./c")
