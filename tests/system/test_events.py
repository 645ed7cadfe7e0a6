# SPDX-License-Identifier: MIT
"""An event on a host reaches the server once, even if agent or server were down meanwhile."""
import http.client
import json
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


def told(home, name):
    """What /v1 has of this kind."""
    return home.admin("GET", "/v1/events?event=" + name)["events"]


def listen(home):
    """The lines of a stream that has begun."""
    connection = http.client.HTTPConnection("127.0.0.1", home.port, timeout=60)
    connection.request("GET", "/v1/events/stream", headers=home.auth())
    answer = connection.getresponse()
    assert answer.status == 200
    while not answer.readline().startswith(b"id: "):
        pass
    return answer


def read_stream(stream, event_id):
    """The data of the event with this id."""
    while True:
        line = stream.readline()
        assert line, "the stream has ended"
        if line == f"id: {event_id}\n".encode():
            return json.loads(stream.readline().removeprefix(b"data: "))


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
    """Its file's disk is full: nothing is lost, and it is said; what is stored waits for the file."""
    agent = home.add_agent()
    assert home.do(daemon.request(agent.ip, 0, **FAST))["error_code"] == 0
    home.kill()
    home.events_file.unlink(missing_ok=True)
    home.events_file.symlink_to("/dev/full")
    home.start()
    agent.wait_online()
    crash(daemon)
    home.server.wait_log(text="events can not be written to their file; they wait in the store")
    wait_until(lambda: told(home, SUCCESS), "a query shows it")
    home.events_file.unlink()
    home.server.signal(signal.SIGHUP)
    wait_until(lambda: len(home.events(SUCCESS)) == 1, "it is in the file", 120)


@pytest.mark.quick
def test_an_event_is_in_the_file_the_api_the_stream_and_the_command_line(home, daemon, holdfast):
    agent = home.add_agent()
    assert home.do(daemon.request(agent.ip, 0, **FAST))["error_code"] == 0
    args = ("--socket", home.data / "admin.sock", "--lang", "en")
    follower = holdfast.start("holdfast", "events", "-f", *args, env={"TZ": "UTC"})
    stream = listen(home)
    crash(daemon)
    event = wait_until(lambda: told(home, SUCCESS), "it is told")[0]
    assert event["agent_id"] == agent.id and event["ip"] == agent.ip and event["biz_id"] == 2
    line = wait_until(lambda: home.events(SUCCESS), "it is in the file")[0]["data"][0]
    assert line["timestamp"] == event["time_ms"] and line["event"]["content"] == event["text"]
    assert read_stream(stream, event["id"]) == event
    wanted = f"  {agent.ip}  {event['namespace']}/{event['name']}  restarted: {event['text']}\n"
    follower.wait_until(lambda: wanted in follower.out, "the command line shows it", 40)
    home.server.stop()  # which ends the streams
    assert b"data" not in stream.read()
    home.start()
    agent.wait_online()
    crash(daemon)
    follower.wait_until(lambda: follower.out.count("restarted: ") == 2, "the command line came back", 60)
    follower.signal(signal.SIGINT)
    assert follower.wait() == 0
    p = holdfast.run("holdfast", "events", "--since", "1h", "--host", agent.ip, "--json", *args)
    assert [e["event"] for e in json.loads(p.out)["events"]].count(SUCCESS) == 2
    p = holdfast.run("holdfast", "events", "--lines", "1", *args[:2], "--lang", "zh")
    head, line = p.out.splitlines()
    assert head.split() == ["时间", "主机", "进程", "内容"] and "已重新拉起：" in line
    assert len(home.events(SUCCESS)) == 2


def test_an_agent_that_is_away_is_lost_and_then_back(holdfast, tmp_path):
    home = Installation(holdfast, tmp_path)
    home.server.stop()
    home.start(HOLDFAST_SERVER_EVENTS_LOST_SECONDS=5)
    agent = home.add_agent()
    agent.kill()
    lost = wait_until(lambda: told(home, "agent_lost"), "it is lost", 60)[0]
    assert lost["agent_id"] == agent.id
    row = wait_until(lambda: [r for r in home.events() if "value" in r], "it is in the file")[0]
    assert row["value"][0]["extra"]["host"] == [{"bizid": 2, "cloudid": 0, "agent_id": agent.id}]
    agent.start()
    agent.wait_online()
    wait_until(lambda: told(home, "agent_back"), "it is back")
