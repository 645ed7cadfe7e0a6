# SPDX-License-Identifier: MIT
"""The agent runs programs of the distribution as operators do, and whatever happens to them
there is one of each, on its port, with nothing of another run beside it.

TABLE says which program is put through what.  Programs: tests/lib/real_programs.py; the host
they run on: tests/lib/real.py; tools/real-programs unpacks them."""
import contextlib
import os
import shutil
import signal
import time

import pytest

import alone
import real_programs
from holdfast import wait_until
from installation import is_alive
from real import RealHost
from real_programs import DAEMON, FOREGROUND, Nginx, Postgres, Redis

pytestmark = pytest.mark.alone(timeout=120)

BACK_S = 8  # it takes one; what is not back by then waits for a start_interval
AT_ONCE_S = 3  # one as well; the rest is for a loaded machine, and still less than a start_interval

# x: is put through it, f: in the foreground alone, d: as a daemon alone.  The set is the one
# that tools/real-programs unpacks it with; only ./test long runs those of `long`.
SCENARIOS = ("killed", "worker", "broken", "busy", "reload", "successor", "restart", "stop", "adopted", "upgrade")
TABLE = """
program    set    forms  killed worker broken busy reload successor restart stop adopted upgrade
Nginx      suite  fd     x      x      x      x    x      d         x       x    x       x
Redis      suite  fd     x      -      x      x    -      -         x       x    x       x
Postgres   suite  fd     x      x      x      x    x      -         x       x    x       x
Sshd       suite  fd     x      x      x      x    x      -         x       x    x       x
Memcached  long   fd     x      -      x      x    -      -         x       x    x       x
Haproxy    long   fd     x      -      x      x    x      d         x       x    x       x
Phpfpm     long   fd     x      x      x      x    x      -         x       x    x       x
Gunicorn   long   fd     x      x      f      x    x      x         x       x    x       x
Node       long   f      x      -      x      x    -      -         x       x    x       x
Rsyslog    long   fd     x      -      x      -    x      -         x       x    x       x
Cron       long   fd     x      -      -      x    -      -         x       x    x       x
"""


def cases():
    head, *rows = [line.split() for line in TABLE.strip().splitlines()]
    for row in rows:
        cells = dict(zip(head, row))
        marks = [pytest.mark.long] if cells["set"] == "long" else []
        for letter, form in (("f", FOREGROUND), ("d", DAEMON)):
            for scenario in SCENARIOS:
                if letter in cells["forms"] and cells[scenario] in ("x", letter):
                    yield pytest.param(cells["program"], form, scenario, marks=marks,
                                       id=f"{cells['program'].lower()}-{form}-{scenario}")


@pytest.fixture(name="host")
def real_host(holdfast, tmp_path):
    """Without its agent; there is none outside of the test's own namespaces (alone.py)."""
    if not os.environ.get(alone.INSIDE):
        yield None
        return
    host = RealHost(holdfast, tmp_path)
    yield host
    assert not (wrong := host.close()), wrong


# --- What is looked at ------------------------------------------------------

def mains(host, program, spare):
    """Those with its name that none with its name has started."""
    named = {r.pid: r for r in host.running() if program.has_name(r) and r not in spare}
    return [r for r in named.values() if r.parent not in named and program.is_its_own(r)]


def known(host, program, spare=frozenset()):
    """The main process, once the agent, the pid file and /proc agree and it answers; or None."""
    view = host.view(program)
    try:
        named = int(program.pid_file.read_text(encoding="utf-8").split()[0])
    except (OSError, ValueError, IndexError):
        return None
    if view["status"] != 1 or view["pid"] != named or not program.answers():
        return None
    found = {r.pid: r for r in mains(host, program, spare)}
    return found[named] if list(found) == [named] else None


def state(host, program):
    return (f"{host.why(program)}\nview: {host.view(program)['pid']}\nanswers: {program.answers()}\nrunning:\n"
            + "\n".join(map(str, host.running())))


def wait_known(host, program, but=None, spare=frozenset(), timeout=BACK_S):
    try:
        return wait_until(lambda: (m := known(host, program, spare)) and m != but and m, f"{program.name} runs", timeout)
    except AssertionError as e:
        raise AssertionError(f"{e}\n{state(host, program)}") from None


def start(host, program):
    """Starts it; its main process."""
    host.ok("start", program)
    return wait_known(host, program)


def kill(process):
    os.kill(process.pid, signal.SIGKILL)


def left_of(host, before):
    """Those that were there before and still are."""
    return [r for r in host.running() if r in before]


def check_comes_back(host, program, main, spare=frozenset()):
    """SIGKILL to the main process: there is another one, and nothing of its family but what is to be spared."""
    family = set(host.running()) - set(spare)
    restarts = host.view(program)["restarts"]
    kill(main)
    after = wait_known(host, program, main, spare)
    assert left_of(host, family) == [], state(host, program)
    view = wait_until(lambda: (v := host.view(program))["restarts"] == restarts + 1 and v, "it counts as restarted")
    assert view["hosted"] and view["pid"] == after.pid, view
    assert wait_known(host, program, spare=spare) == after
    return after


def check_nothing_runs(host, program, within_s=0):
    """Nothing that the agent has started, and what that has."""
    try:
        wait_until(lambda: not host.running(), "nothing is left", within_s)
    except AssertionError:
        pytest.fail(f"left of it:\n{state(host, program)}", pytrace=False)


# --- The scenarios ----------------------------------------------------------

def killed(host, program):
    main = start(host, program)
    session = program.session()
    check_comes_back(host, program, main, session.processes if session else frozenset())
    assert session is None or session.lives()


def worker(host, program):
    """What dies below the main process is the program's business."""
    main = start(host, program)
    session = program.session()
    victims = session.processes if session else {r for r in host.running() if program.is_worker(r, main.pid)}
    assert victims
    for victim in victims:
        with contextlib.suppress(ProcessLookupError):  # one may end because another has
            kill(victim)

    def goes_on():
        others = [r for r in host.running() if program.is_worker(r, main.pid) and r not in victims]
        return (session or others) and program.answers()
    wait_until(goes_on, "it has other workers, and answers")
    assert wait_known(host, program) == main
    assert host.view(program)["restarts"] == 0


def check_start_fails(host, program, said):
    item = host.operate("start", program)[0]
    assert item["code"] in (65535, 822, 836) and item["text"], item
    assert said in item["text"], item["text"]
    check_nothing_runs(host, program, 3)
    assert not host.view(program)["hosted"]


def broken(host, program):
    program.is_broken = True
    program.configure()
    check_start_fails(host, program, program.broken)
    program.is_broken = False
    program.configure()
    start(host, program)


def busy(host, program):
    program.more_policy = {"start_check_secs": program.start_secs}
    with program.occupy():
        check_start_fails(host, program, "" if program.form in program.silent else program.busy)
    program.more_policy = {}
    start(host, program)


def reload(host, program):
    """It reads its configuration again, and is known by the pid it has then."""
    main = start(host, program)
    program.word = "two"
    program.configure()
    host.ok("reload", program)
    after = wait_known(host, program)
    assert after == main or not is_alive(main.pid)
    check_comes_back(host, program, after)


def successor(host, program):
    """A new main process takes over; from then on it is the process."""
    program.reload_command = program.successor_command
    main = start(host, program)
    host.ok("reload", program)
    after = wait_known(host, program, main)
    wait_until(lambda: not is_alive(main.pid), "the old one has ended")
    assert host.view(program)["restarts"] == 0
    check_comes_back(host, program, after)
    host.ok("stop", program)
    check_nothing_runs(host, program)


def restart(host, program):
    main = start(host, program)
    session = program.session()
    spare = session.processes if session else frozenset()
    family = set(host.running()) - spare
    host.ok("restart", program)
    wait_known(host, program, main, spare)
    assert left_of(host, family) == [], state(host, program)
    assert session is None or session.lives()


def stop(host, program):
    """Only the main process ends where others live on by its nature."""
    main = start(host, program)
    session = program.session()
    host.ok("stop", program)
    assert not is_alive(main.pid) and not program.listens()
    if session:
        assert session.lives() and set(host.running()) == session.processes
    else:
        check_nothing_runs(host, program)


def adopted(host, program):
    """By the agent after the one that was killed."""
    main = start(host, program)
    host.agent.kill()
    host.start_agent()
    assert wait_known(host, program) == main
    session = program.session()
    check_comes_back(host, program, main, session.processes if session else frozenset())


def upgrade(host, program):
    """Of the agent: the program does not notice."""
    main = start(host, program)
    session = program.session()
    before = session.processes if session else {r for r in host.running() if program.is_worker(r, main.pid)}
    host.upgrade_agent()
    spare = session.processes if session else frozenset()
    assert wait_known(host, program, spare=spare) == main
    assert before <= set(host.running())
    check_comes_back(host, program, main, spare)


@pytest.mark.parametrize("name, form, scenario", cases())
def test_a_real_program(host, name, form, scenario):
    program = getattr(real_programs, name)(host, form)
    host.start_agent()
    globals()[scenario](host, program)


# --- What is built around programs ------------------------------------------

def start_agent(host, cgroups):
    host.start_agent(HOLDFAST_AGENT_CGROUPS=cgroups)
    if cgroups == "all" and host.lacks("cgroup"):
        pytest.skip("no cgroup can be made here: " + host.lacks("cgroup")[0]["reason"])


with_and_without_cgroups = pytest.mark.parametrize("cgroups", ["all", "off"])


@with_and_without_cgroups
def test_a_killed_nginx_comes_back(host, cgroups):
    """Its workers live on without it and keep its port."""
    nginx = Nginx(host, DAEMON)
    start_agent(host, cgroups)
    main = start(host, nginx)
    for _ in range(2):
        main = check_comes_back(host, nginx, main)


@with_and_without_cgroups
def test_an_nginx_killed_while_no_agent_runs_comes_back(host, cgroups):
    nginx = Nginx(host, DAEMON)
    start_agent(host, cgroups)
    main = start(host, nginx)
    family = set(host.running())
    host.agent.kill()
    kill(main)
    wait_until(lambda: not is_alive(main.pid), "it is dead")
    host.start_agent()
    wait_known(host, nginx, main)
    assert left_of(host, family) == [], state(host, nginx)
    host.ok("stop", nginx)
    check_nothing_runs(host, nginx)


def test_a_start_in_two_steps_is_one_start(host):
    """First something that has the service's name and ends, then the service."""
    redis = Redis(host)
    step = redis.folder / "step"
    step.mkdir()
    shutil.copy(shutil.which("sleep"), step / redis.proc_name)
    redis.start = redis.script("start.sh", "echo $$ >> starts", f"{step}/{redis.proc_name} 4", f"exec {redis.command()}")
    host.start_agent()
    main = start(host, redis)
    view = wait_until(lambda: (v := host.view(redis))["pid"] == main.pid and v, "it is known")
    assert view["hosted"] and view["restarts"] == 0, state(host, redis)
    assert [r.pid for r in host.running()] == [main.pid]
    assert (redis.folder / "starts").read_text(encoding="ascii").split() == [str(main.pid)]
    host.ok("stop", redis)
    check_nothing_runs(host, redis)


def age_s(process):
    return time.clock_gettime(time.CLOCK_BOOTTIME) - process.begun / os.sysconf("SC_CLK_TCK")


def test_the_default_policy_keeps_what_is_killed_again_and_again(host):
    redis = Redis(host)
    redis.policy = {"auto_type": 1}
    host.start_agent()
    main = start(host, redis)
    for _ in range(6):
        wait_until(lambda m=main: age_s(m) > 3, "it has been up for a while")  # half of start_check_secs, and more
        at = time.clock_gettime(time.CLOCK_BOOTTIME)
        kill(main)
        main = wait_known(host, redis, main)
        assert main.begun / os.sysconf("SC_CLK_TCK") - at < AT_ONCE_S
        assert host.view(redis)["hosted"]
    assert [r.pid for r in host.running()] == [main.pid]


def test_a_loop_around_a_program_stays_one(host):
    """A script that starts it again is done with only when it is stopped."""
    redis = Redis(host)
    redis.start = redis.script("loop.sh", "while :; do", redis.command(), "sleep 0.2", "done")
    host.start_agent()
    main = start(host, redis)
    for _ in range(3):
        kill(main)
        main = wait_known(host, redis, main)
        loops = [r for r in host.running() if "loop.sh" in r.command]
        assert len(loops) == 1, state(host, redis)
    host.ok("stop", redis)
    check_nothing_runs(host, redis)


def test_a_program_with_a_pipe_behind_it(host):
    redis = Redis(host)
    redis.start = f"{redis.command()} | tee -a {redis.folder}/said"
    host.start_agent()
    main = check_comes_back(host, redis, start(host, redis))
    assert sorted(r.name for r in host.running()) == sorted([redis.proc_name, "sh", "tee"])
    assert "Ready to accept connections" in (redis.folder / "said").read_text(encoding="utf-8")
    host.ok("stop", redis)
    assert not is_alive(main.pid)
    check_nothing_runs(host, redis)


def test_one_script_that_starts_the_daemons_of_two_specs(host):
    both = [Redis(host, DAEMON, "first"), Redis(host, DAEMON, "second")]
    script = both[0].script("both.sh", *(f"kill -0 $(cat {r.pid_file}) 2>/dev/null || {r.command()}" for r in both))
    for r in both:
        r.start = script
    host.start_agent()
    host.ok("start", both[0])
    wait_until(both[1].answers, "the other one runs too")
    host.ok("host", both[1])
    lives = [wait_known(host, r) for r in both]
    for i, r in enumerate(both):
        lives[i] = check_comes_back(host, r, lives[i], {lives[1 - i]})
        assert known(host, both[1 - i]) == lives[1 - i]
    host.ok("stop", both[0])
    assert known(host, both[1]) == lives[1] and host.running() == [lives[1]]
    host.ok("stop", both[1])
    check_nothing_runs(host, both[1])


def names_left(host, program, pids):
    """Whether an event has named these, as perhaps of the program.  Without a server all events are in the journal."""
    said = [line for line in (host.data / "journal").read_bytes().split(b"process_left")
            if b"may belong" in line and program.name.encode() in line]
    return any(all(b"(%d)" % pid in line for pid in pids) for line in said)


@with_and_without_cgroups
def test_two_databases_are_killed_at_once(host, cgroups):
    """Server processes of both live on, and keep what a new master needs."""
    both = [Postgres(host, name="first"), Postgres(host, name="second")]
    start_agent(host, cgroups)
    lives = [start(host, p) for p in both]
    clients = [p.occupied() for p in both]
    family = set(host.running())
    for main in lives:
        kill(main)
    if cgroups == "off":  # nothing ties an orphan that leads a session of its own to its master
        for program in both:
            wait_until(lambda p=program: names_left(host, p, [s.pid for _, s in clients]), "they are named", 30)
        for orphan in left_of(host, family):
            kill(orphan)
    lives = [wait_known(host, p, main) for p, main in zip(both, lives)]
    assert left_of(host, family) == [], state(host, both[0])
    for client, _ in clients:
        client.close()
    host.ok("stop", both[0])
    assert known(host, both[1]) == lives[1]
    host.ok("stop", both[1])
    check_nothing_runs(host, both[1])
