# SPDX-License-Identifier: MIT
"""The unit files of systemd: the lines that processes depend on to outlive their agent."""
import configparser
import pathlib
import shutil
import subprocess

import pytest

from holdfast import bin_dir

UNITS = pathlib.Path(__file__).resolve().parents[2] / "packaging/systemd"


def lines_of(name):
    unit = configparser.ConfigParser(interpolation=None, comment_prefixes=("#",), delimiters=("=",))
    unit.optionxform = str
    unit.read(UNITS / f"{name}.service", encoding="utf-8")
    return unit


@pytest.mark.parametrize("name", ["holdfast-agent", "holdfast-server"])
@pytest.mark.parametrize("section, key, value", [
    ("Service", "Type", "notify"),  # both say READY=1
    ("Service", "ExecReload", "/bin/kill -HUP $MAINPID"),
    ("Service", "Restart", "always"),
    ("Unit", "StartLimitIntervalSec", "0"),  # and never give up
    ("Install", "WantedBy", "multi-user.target"),
])
def test_both_are_started_watched_and_reloaded(name, section, key, value):
    assert lines_of(name)[section][key] == value


@pytest.mark.parametrize("key, value", [
    ("KillMode", "process"),  # the agent alone is stopped
    ("Delegate", "yes"),  # what is in its control group is its own affair
    ("OOMPolicy", "continue"),  # one process out of memory is no reason to stop the agent
    ("OOMScoreAdjust", "-900"),
    ("TasksMax", "infinity"),
    ("LimitNOFILE", "1024:524288"),
    ("StateDirectory", "holdfast-agent"),
    ("NotifyAccess", "main"),
])
def test_processes_outlive_their_agent(key, value):
    assert lines_of("holdfast-agent")["Service"][key] == value


def test_processes_inherit_no_sandbox():
    keys = lines_of("holdfast-agent")["Service"]
    assert not [k for k in keys if k.startswith(("Protect", "Private", "Restrict", "ReadOnly", "Inaccessible",
                                                 "SystemCall", "Capability", "NoNewPrivileges", "MemoryDeny"))]


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="there is no systemd-analyze")
@pytest.mark.parametrize("name", ["holdfast-agent", "holdfast-server"])
def test_systemd_understands_them(name, tmp_path):
    text = (UNITS / f"{name}.service").read_text(encoding="utf-8")
    copy = tmp_path / f"{name}.service"
    copy.write_text(text.replace(f"/usr/sbin/{name}", str(bin_dir() / name)), encoding="utf-8")
    checked = subprocess.run(["systemd-analyze", "verify", "--man=no", copy], capture_output=True, text=True,
                             timeout=60, check=False)
    complaints = [line for line in checked.stderr.splitlines() if str(copy) in line or f"{name}.service" in line]
    assert complaints == []
