# SPDX-License-Identifier: MIT
"""The exit status of `holdfast` means the same for every command: 1 not found, not allowed or
failed, 2 wrong usage or a wrong file, 3 the server cannot be reached or cannot answer."""
import pytest

from holdfast import free_port
from test_cli import error, env, item, run, stand_in, task

FAILED, USAGE, SERVER = 1, 2, 3

# Every command with the words it needs at least.
COMMANDS = {
    "status": [], "ps": [], "why": ["prod/web"], "logs": ["prod/web"], "events": [],
    "start": ["prod/web"], "stop": ["prod/web"], "restart": ["prod/web"], "reload": ["prod/web"],
    "kill": ["prod/web"], "signal": ["prod/web", "HUP"], "host": ["prod/web"], "unhost": ["prod/web"], "query": ["prod/web"],
    "forget": ["prod/web", "--host", "10.0.0.1", "--yes"], "facts": [], "top": [], "import": ["FILE"], "apply": [],
    "spec check": ["FILE"], "spec fields": [], "spec show": ["prod/web"], "spec init": ["true"],
    "task": ["T1"], "task show": ["T1"], "task list": [], "task cancel": ["T1"],
    "host list": [], "host set": ["10.0.0.1", "--note", "x"], "host import": ["FILE"], "host remove": ["10.0.0.1", "--yes"],
    "business list": [], "business set": ["1", "x"], "business remove": ["1"],
    "business-set list": [], "business-set set": ["1", "x", "--biz", "1"], "business-set remove": ["1"],
    "audit": [], "app create": ["ops"], "app set": ["ops", "--rate", "5"], "app rotate": ["ops"],
    "app delete": ["ops"], "app list": [],
    "token create": [], "token list": [], "token revoke": ["0a1b2c3d4e5f"],
}
OPERATIONS = ["start", "stop", "restart", "reload", "kill", "host", "unhost", "query", "signal"]
# These ask the agent of this host, or nothing.
ALONE = ("facts", "top", "import", "apply", "spec check", "spec fields", "spec show", "spec init")
OF_SERVER = [name for name in COMMANDS if name not in ALONE]
SOME = ["ps", "stop", "app delete"]  # a GET, a POST and a DELETE: what fails alike for all needs no more

ANSWERS = {
    "not found": (404, error(404, "NOT_FOUND", "there is none"), FAILED),
    "no such task": (404, error(404, "NO_TASK", "no such task", 806), FAILED),
    "in another state": (409, error(409, "CONFLICT", "it is there already", 4), FAILED),
    "not let in": (401, error(401, "UNAUTHORIZED", "unknown app or wrong secret", 5), FAILED),
    "not allowed": (403, error(403, "FORBIDDEN", "needs the right operate", 5), FAILED),
    "a wrong request": (400, error(400, "INVALID", "spec: required", 1), USAGE),
    "a request too large": (413, error(413, "LIMIT", "over a limit", 6), USAGE),
    "a host that is offline": (503, error(503, "OFFLINE", "the agent is not connected", 117), FAILED),
    "a host that does not answer": (504, error(504, "DEADLINE", "no answer from the agent in time", 120), FAILED),
    "a host without space": (507, error(507, "SPACE", "no space left on the host", 125), FAILED),
    "too many requests": (429, error(429, "RATE", "try again later", 8), SERVER),
    "an error of the server": (500, error(500, "SYSTEM", "", 101), SERVER),
    "unavailable": (503, error(503, "UNAVAILABLE", "try again", 8), SERVER),
    "a proxy's page": (502, b"<html>proxy</html>", SERVER),
    "a page of somebody else": (404, b"<html>no such page</html>", SERVER),
    "no JSON": (200, b"<html>hello</html>", SERVER),
}


@pytest.fixture
def words(tmp_path):
    """words("host import"): the command with its words."""
    def of(name):
        file = tmp_path / "hosts.csv"
        file.write_text("ip,note\n10.0.0.1,x\n")
        return [*name.split(), *(file if word == "FILE" else word for word in COMMANDS[name])]
    return of


class Always(dict):
    """Answers of a stand-in: the same for every page."""

    def __init__(self, status, body):
        super().__init__()
        self.one = status, body

    def get(self, _key, _default=None):
        return self.one


def test_every_command_is_among_them(holdfast, env):
    text = holdfast.run("holdfast", "--help", env=env).out
    listed = text.partition("Commands:\n")[2].partition("\n\n")[0].splitlines()
    found = {line.strip() for line in listed if line.startswith("  ") and not line.startswith("   ")}
    assert len(found) == len(COMMANDS)
    for name in COMMANDS:
        assert any(line.startswith(name + " ") for line in found), name


ALL_OF = {"not found", "a host that is offline", "not allowed", "a wrong request", "an error of the server"}


@pytest.mark.parametrize("answer", ANSWERS)
def test_what_the_server_answers(run, stand_in, words, answer):
    names = OF_SERVER if answer in ALL_OF else SOME
    status, body, code = ANSWERS[answer]
    stand_in.answers = Always(status, body)
    credentials = {"HOLDFAST_APP": "ops", "HOLDFAST_SECRET": "hush"}
    got = {name: run(*words(name), more=credentials).code for name in names}
    assert got == {name: code for name in names}


def test_a_wait_that_ends_before_the_task_is_no_success(run, stand_in):
    stand_in.answers["POST", "/v1/operations"] = 202, {"task_id": "T1", "items": 1}
    stand_in.answers["GET", "/v1/tasks/T1"] = 200, task(item(done=False, code=115))
    waits = {name: [name, *COMMANDS[name]] for name in OPERATIONS} | {"task": ["task", "T1", "--wait"]}
    got = {name: run(*args, "--timeout", "0").code for name, args in waits.items()}
    assert got == {name: FAILED for name in waits}


@pytest.mark.parametrize("lang, of_all, of_one", [
    ("en", "1 not found, not allowed, some failed, or not ended within --timeout;", "the exit status is 1"),
    ("zh", "1 未找到、没有权限、部分失败或未在 --timeout 内结束；", "退出码为 1")])
def test_what_the_exit_status_is_after_a_timeout_is_said(run, lang, of_all, of_one):
    assert of_all in " ".join(run("--help", "--lang", lang).out.split())
    for name in [*OPERATIONS, "task"]:
        assert of_one in " ".join(run(name, "--help", "--lang", lang).out.split()), name


def test_a_name_may_have_slashes(run, stand_in):
    stand_in.answers = Always(404, error(404, "NOT_FOUND", "process prod/a/b: no host knows it"))
    got = {name: run(name, "prod/a/b", *COMMANDS[name][1:]).code for name in OPERATIONS}
    assert got == {name: FAILED for name in OPERATIONS}
    assert {a["body"]["name"] for a in stand_in.asked if a["method"] == "POST"} == {"a/b"}


def test_a_server_or_an_agent_that_can_not_be_reached(holdfast, env, words, tmp_path):
    url = f"http://127.0.0.1:{free_port()}"
    got = {name: holdfast.run("holdfast", *words(name), "--server", url, env=env).process.returncode
           for name in OF_SERVER}
    assert got == {name: SERVER for name in OF_SERVER}
    local = ["status", "ps", "why", "logs", "events", "facts", "top", *OPERATIONS]
    got = {name: holdfast.run("holdfast", *words(name), f"--local={tmp_path}/none", env=env).process.returncode
           for name in local}
    assert got == {name: SERVER for name in local}


@pytest.mark.parametrize("wrong", [["--nonsense"], ["one", "word", "too", "many"]])
def test_words_that_are_wrong(run, stand_in, words, wrong):
    any_number = ("host remove", "spec init") if wrong[0] == "one" else ()
    names = [name for name in COMMANDS if name not in any_number]
    got = {name: run(*words(name), *wrong).code for name in names}
    assert got == {name: USAGE for name in names}
    assert stand_in.asked == []


@pytest.mark.parametrize("wrong", [["--lang", "fr"], ["--secret-file", "/nowhere"], ["--config", "/nowhere"],
                                   ["--server", "ftp://x"]])
def test_settings_that_are_wrong(run, stand_in, words, wrong):
    more = {"HOLDFAST_APP": "ops", "HOLDFAST_SECRET": ""}
    got = {name: run(*words(name), *wrong, more=more, server=wrong[0] != "--server").code for name in SOME}
    assert got == {name: USAGE for name in SOME}
    assert stand_in.asked == []


SPECS = {
    "missing": None,
    "no YAML": "control: [\n",
    "an unknown field": "control: {start_comand: ./x}\n",
    "a wrong type": "control: [1]\n",
}


@pytest.mark.parametrize("spec", SPECS)
def test_a_wrong_spec_file(run, stand_in, tmp_path, spec):
    path = tmp_path / "spec.yaml"
    if SPECS[spec] is not None:
        path.write_text(SPECS[spec])
    got = {name: run(name, "prod/web", "--host", "10.0.0.1", "--spec", path).code for name in OPERATIONS}
    assert got == {name: USAGE for name in OPERATIONS}
    assert stand_in.asked == []


def test_wrong_usage_that_is_seen_late(run, stand_in):
    stand_in.answers["GET", "/v1/apps/ops"] = 200, {"code": "ops", "permissions": {}, "created_s": 0}
    assert run("app", "set", "ops", "--signatures=maybe").code == USAGE
    assert run("app", "set", "ops", "--right", "fly").code == USAGE
