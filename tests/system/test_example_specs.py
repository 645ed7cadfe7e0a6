# SPDX-License-Identifier: MIT
"""examples/specs: each is a spec, and the program it is for runs by it, is reloaded and stops.  The
paths of Debian are replaced by those of the unpacked program (tools/real-programs) and of a
configuration of the test's own; what Debian's configuration says is checked by nothing here."""
import os
import pathlib
import re
import resource

import pytest

import alone
import real_programs
from holdfast import wait_until
from installation import is_alive
from real import HOME, ROOT, RealHost

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "examples/specs"

# An example, the class of its program, and what else is replaced; words in braces are of the program.
EXAMPLES = {
    "nginx": ("Nginx", {"/etc/nginx/": "{folder}/", "port: 80,": "port: {port},"}),
    "redis": ("Redis", {"/etc/redis/": "{folder}/", "user: redis": "user: root"}),
    "postgresql": ("Postgres", {"/usr/lib/postgresql/15/bin/": "{bin}/", "/etc/postgresql/15/main/": "{cluster}/",
                                "/var/lib/postgresql/15/main": "{cluster}", "port: 5432": "port: {port}"}),
    "sshd": ("Sshd", {"/etc/ssh/sshd_config": "{folder}/config", "port: 22,": "port: {port},"}),
    "memcached": ("Memcached", {"-p 11211": "-p {port} -u root", "port: 11211": "port: {port}",
                                "user: memcache": "user: root"}),
    "haproxy": ("Haproxy", {"/etc/haproxy/": "{folder}/"}),
    "php-fpm": ("Phpfpm", {"/usr/sbin/php-fpm8.2": "{program} -n", "/etc/php/8.2/fpm/php-fpm.conf": "{folder}/fpm.conf"}),
    "gunicorn": ("Gunicorn", {"/srv/app": "{folder}", "127.0.0.1:8000": "127.0.0.1:{port}", "port: 8000": "port: {port}"}),
    "node": ("Node", {"/srv/app": "{folder}", "127.0.0.1:3000": "127.0.0.1:{port}"}),
    "rsyslog": ("Rsyslog", {"/etc/rsyslog.conf": "{folder}/rsyslog.conf -M {modules}"}),
    "cron": ("Cron", {}),
}


def read(name):
    return (FOLDER / f"{name}.yaml").read_text(encoding="utf-8")


def test_there_is_an_example_for_each_real_program():
    classes = {c.__name__ for c in real_programs.Program.__subclasses__()}
    assert {kind for kind, _ in EXAMPLES.values()} == classes
    assert {p.name for p in FOLDER.iterdir()} == {f"{name}.yaml" for name in EXAMPLES}


@pytest.mark.quick
def test_every_example_is_a_spec(holdfast):
    p = holdfast.run("holdfast", "spec", "check", *sorted(FOLDER.iterdir()), env={"LC_ALL": "C"})
    assert p.process.returncode == 0, p.err
    assert p.out.endswith(f"no errors; processes: {len(EXAMPLES)}\n")


def cases():
    for name, (kind, _) in EXAMPLES.items():
        which = getattr(real_programs, kind).which
        yield pytest.param(name, marks=[pytest.mark.long] if which == "long" else [], id=name)


@pytest.fixture(name="host")
def real_host(holdfast, tmp_path):
    """Without its agent; there is none outside of the test's own namespaces (alone.py)."""
    if not os.environ.get(alone.INSIDE):
        yield None
        return
    host = RealHost(holdfast, tmp_path)
    yield host
    assert not (wrong := host.close()), wrong


def private(program, name, words):
    """The example with the paths and the port of this program.  A word that is not in it is a mistake of EXAMPLES."""
    text = read(name)
    own = re.search(r"^pid_file: (\S+)", text, re.M)
    if own:
        words = {own[1]: "{pid_file}", **words}
    for word, instead in words.items():
        assert word in text, f"{name}.yaml does not have {word}"
        text = text.replace(word, instead.format(**vars(program), proc_name=program.proc_name))
    text = re.sub(r"(?<![\w.])/usr/(?=s?bin/)", f"{ROOT}/usr/", text)
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]  # a container may not raise it
    text = re.sub(r"nofile: (\d+)", lambda m: f"nofile: {min(int(m[1]), most)}", text)
    env = program.write("env", *(f"{k}={v}" for k, v in program.environment().items()))
    if not (ROOT / "usr/bin/node").exists():
        text = text.replace(f"{ROOT}/usr/bin/node", "/usr/bin/node")
    path = HOME / f"{name}.yaml"
    path.write_text(f"{text}env_file: {env}\n", encoding="utf-8")
    return path


def quiet_daemon_line(program):
    """The example's command says it, and nginx takes it once."""
    path = program.folder / "nginx.conf"
    path.write_text(path.read_text(encoding="utf-8").replace("daemon off;\n", ""), encoding="utf-8")


@pytest.mark.alone(timeout=120)
@pytest.mark.parametrize("name", cases())
def test_the_program_runs_by_its_example(host, name):
    kind, words = EXAMPLES[name]
    program = getattr(real_programs, kind)(host, name=name)
    program.label = f"default/{name}"
    path = private(program, name, words)
    program.spec_file = lambda: path
    if kind == "Nginx":
        configure = program.configure
        program.configure = lambda: (configure(), quiet_daemon_line(program))
        program.configure()

    host.start_agent()
    host.ok("start", program)
    view = host.view(program)
    assert view["status"] == 1 and view["hosted"], host.why(program)
    wait_until(program.answers, f"{name} answers")
    if "reload_command:" in read(name):
        program.word = "two"
        program.configure()
        host.ok("reload", program)
        wait_until(program.answers, f"{name} has its new configuration")
        assert host.view(program)["pid"] == view["pid"]
    os.kill(view["pid"], 9)
    wait_until(lambda: host.view(program)["pid"] not in (view["pid"], 0, -1) and program.answers(), f"{name} is restarted")
    main = host.view(program)["pid"]
    host.ok("stop", program)
    if "scope: process" in read(name):
        assert not is_alive(main)
    else:
        wait_until(lambda: not host.running(), "nothing of it is left")
