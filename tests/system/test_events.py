# SPDX-License-Identifier: MIT
"""What happens on a host is told to the server, once, whoever was down meanwhile."""
import os
import signal

import pytest

from daemon import Daemon
from holdfast import wait_until
from installation import Installation

FAST = {"start_check_secs": 1, "stop_check_secs": 1, "start_interval": 1, "start_retries": 20}
SUCCESS = "process_restart_success"


@pytest.fixture
def home(holdfast, tmp_path):
    return Installation(holdfast, tmp_path)


@pytest.fixture
def daemon(tmp_path):
    d = Daemon(tmp_path / "daemon", "daemon", "")
    yield d
    d.end()


def in_journal(agent):
    return (agent.folder / "journal").read_bytes().count(SUCCESS.encode())


def crash(daemon):
    pid = daemon.wait_pid()
    os.kill(pid, signal.SIGKILL)
    return daemon.wait_pid(but=pid)


def times(home):
    return [row["data"][0]["timestamp"] for row in home.events(SUCCESS)]


def test_events_outlive_server_and_agent_and_are_told_once(home, daemon):
    agent = home.add_agent()
    assert home.do(daemon.request(agent.ip, 0, **FAST))["error_code"] == 0
    home.kill()
    for n in (1, 2):
        crash(daemon)
        wait_until(lambda: in_journal(agent) == n, "the event is in the journal")
    agent.kill()
    agent.start()
    home.start()
    agent.wait_online()
    wait_until(lambda: len(home.events(SUCCESS)) == 2, "both are told")
    agent.kill()  # perhaps before it has heard that they were taken
    agent.start()
    agent.wait_online()
    crash(daemon)
    wait_until(lambda: len(times(home)) >= 3, "the next one is told")
    assert len(times(home)) == 3 and times(home) == sorted(times(home))


def test_a_server_that_can_not_write_gets_them_when_it_can(home, daemon):
    """Its file's disk is full: nothing is lost, and it is said."""
    agent = home.add_agent()
    assert home.do(daemon.request(agent.ip, 0, **FAST))["error_code"] == 0
    home.kill()
    home.events_file.unlink(missing_ok=True)
    home.events_file.symlink_to("/dev/full")
    home.start()
    agent.wait_online()
    crash(daemon)
    home.server.wait_log(text="an event can not be written; agents keep theirs, up to 1,000 each, until it can")
    home.events_file.unlink()
    home.server.signal(signal.SIGHUP)
    wait_until(lambda: len(home.events(SUCCESS)) == 1, "it is told again", 120)
