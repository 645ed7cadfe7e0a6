# SPDX-License-Identifier: MIT
"""What people record about hosts, and the audit of it: by the command line, in both languages."""
import json

import pytest

from installation import Agent, Installation

HOSTS = ("\ufeffip,bk_cloud_id,bk_biz_id,bk_host_id,note\r\n"
         "127.0.0.1,0,7,17,\"rack 4, \"\"left\"\"\"\r\n"
         "\r\n"
         "10.9.9.9,3,8,,\r\n")


@pytest.fixture
def home(holdfast, tmp_path):
    return Installation(holdfast, tmp_path)


@pytest.fixture
def cli(home, holdfast, tmp_path):
    def run(*args, lang="en", status=0, json_out=False):
        more = ["--json"] if json_out else []
        p = holdfast.run("holdfast", *args, *more, "--socket", home.data / "admin.sock", "--lang", lang,
                         env={"HOME": str(tmp_path)})
        assert p.process.returncode == status, p.out + p.err
        return json.loads(p.out) if json_out else p.out + p.err
    return run


@pytest.mark.quick
def test_what_is_imported_waits_for_the_host_and_stays_with_it(home, cli, tmp_path):
    file = tmp_path / "hosts.csv"
    file.write_text(HOSTS, encoding="utf-8", newline="")
    said = cli("host", "import", file, "--dry-run")
    assert "0 would change, 2 would be expected, 0 unchanged; nothing was changed" in said
    assert not home.hosts()
    assert "0 changed, 2 expected, 0 unchanged" in cli("host", "import", file)
    assert "已修改 0，预期加入 0，无变化 2" in cli("host", "import", file, lang="zh")
    assert home.hosts()["10.9.9.9"]["state"] == "expected"
    assert "expected" in cli("host", "list", "--state", "expected")
    assert "待加入" in cli("host", "list", "--biz", "8", lang="zh")
    listed = cli("host", "list")
    assert "HOST ID" in listed and "NOTE" in listed and 'rack 4, "left"' in listed
    assert "EXPECTED" in cli("business", "list")

    agent = home.add_agent("127.0.0.1", biz_id=0)  # a token for all businesses; it has the one that was said of it
    row = home.hosts()["127.0.0.1"]
    assert (row["biz_id"], row["host_id"], row["note"]) == (7, 17, 'rack 4, "left"')
    assert row["addresses"][0] == "127.0.0.1"
    assert "7 -> 9" in cli("host", "set", "127.0.0.1", "--biz", "9")
    home.server.stop()
    home.start()
    home.server.wait_until(lambda: home.online("127.0.0.1"), "the agent is back")
    row = home.hosts()["127.0.0.1"]
    assert (row["agent_id"], row["biz_id"], row["host_id"]) == (agent.id, 9, 17)
    assert "no longer expected" in cli("host", "remove", "3:10.9.9.9", "--yes")
    assert set(home.hosts()) == {"127.0.0.1"}


def test_an_expected_host_behind_a_relay_needs_a_token_for_one(home, cli, tmp_path):
    """The agent says 127.0.0.9, and its connection comes from 127.0.0.1."""
    file = tmp_path / "hosts.csv"
    file.write_text("ip,biz_id\n127.0.0.9,7\n", encoding="utf-8")
    cli("host", "import", file)
    plain = cli("token", "create", "--biz", "7", json_out=True)
    agent = Agent(home, "127.0.0.9", plain["token"])
    agent.program.wait_until(lambda: "make its token with --relay" in agent.program.err, "the log says what to do", 60)
    assert home.hosts()["127.0.0.9"]["state"] == "expected"
    agent.program.stop()

    relay = cli("token", "create", "--biz", "7", "--relay", json_out=True)
    assert "relay" not in plain and relay["relay"] is True
    listed = {t["id"]: t.get("relay", False) for t in cli("token", "list", json_out=True)["tokens"]}
    assert listed == {plain["id"]: False, relay["id"]: True}
    shown = {line.split()[0]: "yes" in line.split() for line in cli("token", "list").splitlines()[1:]}
    assert shown == listed
    agent.token_file.write_text(relay["token"] + "\n", encoding="ascii")
    agent.start()
    assert agent.wait_online().row["biz_id"] == 7
    events = {e["event"] for e in home.admin("GET", "/v1/events")["events"]}
    assert "agent_join_refused" in events and "agent_address_differs" not in events, events


def test_what_is_wrong_in_a_file_is_told_by_its_place_and_changes_nothing(home, cli, tmp_path):
    file = tmp_path / "hosts.csv"
    cases = [
        ("ip,biz\n10.0.0.1,2\n", 2, f"{file}:1:4: unknown field biz", f"{file}:1:4：没有字段 biz"),
        ("ip,biz_id\n10.0.0.1,2\n10.0.0.2,two\n", 2, f"{file}:3:10: biz_id: ", f"{file}:3:10：biz_id："),
        ("ip,biz_id\n10.0.0.1,\"2\n", 2, f"{file}:2:10: a quote that is not closed", f"{file}:2:10：引号没有闭合"),
        ("ip,biz_id\n10.0.0.1,2\n10.0.0.x,2\n", 1, f"{file}:3: ip: must be a numeric address", f"{file}:3：ip："),
        ("ip\n10.0.0.1\n10.0.0.1\n", 1, "1 of the hosts are wrong: nothing was changed", "1 台主机有误：未做任何修改"),
        ("ip\n\n10.0.0.1\n10.0.0.1\n", 1, f"{file}:4: the same host as in line 3", f"{file}:4：与第 3 行是同一台主机"),
        ("ip,biz_id\n10.0.0.1,one\n10.0.0.2,2\n10.0.0.3,two\n", 2, f"{file}:2:10: biz_id: ", f"{file}:4:10：biz_id："),
    ]
    for text, status, en, zh in cases:
        file.write_text(text, encoding="utf-8")
        assert en in cli("host", "import", file, status=status)
        assert zh in cli("host", "import", file, lang="zh", status=status)
    assert not home.hosts()


def test_businesses_by_the_command_line(cli):
    assert "business 7: shop" in cli("business", "set", "7", "shop")
    assert "业务集 8000001：all，含 2 个业务" in cli("business-set", "set", "8000001", "all", "--biz", "7", "--biz", "8",
                                             lang="zh")
    assert cli("business-set", "list", json_out=True)["sets"][0]["businesses"] == [7, 8]
    assert "business 8: not in the list, and no host belongs to it" in cli("business-set", "set", "8000001", "all",
                                                                       "--biz", "7", "--biz", "8")
    assert "shop" in cli("business", "list")
    assert "business set 8000001 has it" in cli("business", "remove", "7", status=1)
    assert "removed" in cli("business-set", "remove", "8000001")
    assert "已移除" in cli("business", "remove", "7", lang="zh")
    assert "no businesses yet" in cli("business", "list")


def test_who_changed_what_is_in_the_audit_log(home, cli):
    cli("business", "set", "7", "shop")
    home.esb("operate_proc_v2", {"meta": {"namespace": "web", "name": "nginx"}, "op_type": 0,
                                 "hosts": [{"ip": "10.0.0.1", "bk_cloud_id": 0}],
                                 "spec": {"identity": {"proc_name": "nginx", "setup_path": "/x", "pid_path": "/x/pid",
                                                       "user": "root"},
                                          "control": {"start_cmd": "./start --password=hunter2"}}})
    rows = cli("audit", "--by", home.code, json_out=True)["rows"]
    assert len(rows) == 1
    assert (rows[0]["route"], rows[0]["user"], rows[0]["code"]) == ("operate_proc_v2", "admin", 0)
    assert rows[0]["from"].startswith("127.0.0.1:") and rows[0]["task_id"].startswith("GSETASK:")
    assert rows[0]["what"]["meta"] == {"namespace": "web", "name": "nginx"}
    assert "hunter2" not in json.dumps(rows)
    said = cli("audit", "--since", "1h")
    assert "PUT /v1/businesses" in said and "operate_proc_v2" in said and "admin?" in said
    assert "TIME" in said and "时间" in cli("audit", lang="zh")
    assert "no changes" in cli("audit", "--by", "nobody")
    home.v1("PUT", "/v1/businesses", {"id": 8, "name": "x"}, status=403)
    assert cli("audit", "--by", home.code, "--lines", "1", json_out=True)["rows"][0]["code"] != 0

    home.admin("PUT", "/v1/businesses", {"id": 9, "name": "last"})
    home.kill()  # a request that was answered is in the audit log, whatever happens later
    home.start()
    assert cli("audit", "--lines", "1", json_out=True)["rows"][0]["what"] == {"id": 9, "name": "last"}
