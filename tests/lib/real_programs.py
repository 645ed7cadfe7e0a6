# SPDX-License-Identifier: MIT
"""Programs of the distribution as operators run them: their configuration, how they are
started, asked and reloaded.  What each can is said by its attributes; real.py has the host."""
import fcntl
import http.client
import json
import os
import pathlib
import shutil
import socket
import struct
import subprocess

from holdfast import free_port, wait_until
from own_root import mount
from real import HOME, POLICY, ROOT, TOP, libraries, lock, need

FOREGROUND, DAEMON = "foreground", "daemon"


class Program:
    """One of them: a folder, a port, a spec."""

    proc_name = ""
    which = "suite"  # the set that tools/real-programs unpacks it with
    user = "root"
    broken = ""  # what it says of a configuration that is wrong
    busy = "ddress already in use"  # and of a port that is taken, where it says so at all
    silent = ()  # forms in which it does not print that
    start_secs = 1  # so long it takes to give up a port that is taken
    policy = POLICY

    def __init__(self, host, form=FOREGROUND, name=None):
        need(self.which)
        self.host, self.form = host, form
        self.name = name or type(self).__name__.lower()
        self.label = f"real/{self.name}"
        self.folder = HOME / self.name
        self.folder.mkdir()
        self.port = free_port()
        self.pid_file = self.folder / "pid"
        self.word, self.is_broken = "one", False
        self.start, self.more_policy = None, {}  # another start command, more of a policy
        self.prepare()
        self.configure()

    # --- what a program says of itself

    def prepare(self):
        """Makes what is made once."""

    def configure(self):
        """Writes its configuration, with a mistake if it is to be broken."""

    def command(self):
        raise NotImplementedError

    def ask(self):
        """What it answers on its port: the word of its configuration, where it can."""
        raise NotImplementedError

    def reload_command(self):
        return f"kill -HUP {self.main_pid()}"

    def successor_command(self):
        """Puts a new main process in the place of the old one."""

    def is_worker(self, process, main):
        return process.parent == main

    def has_name(self, process):
        return process.name == self.proc_name

    def is_its_own(self, process):
        """Of a process with its name: whether it belongs to this one, where there are several."""
        return True

    # --- its spec

    def main_pid(self):
        return f"$(head -n 1 {self.pid_file})"

    def control(self):
        found = {"start_cmd": self.start or self.command(), "reload_cmd": self.reload_command()}
        return {k: str(v) for k, v in found.items() if v}

    def environment(self):
        return {"LD_LIBRARY_PATH": libraries()}

    def spec(self):
        return {"identity": {"proc_name": self.proc_name, "setup_path": str(self.folder), "pid_path": str(self.pid_file),
                             "user": self.user},
                "control": self.control(), "alive_monitor_policy": {**self.policy, **self.more_policy},
                "holdfast": {"environment": self.environment()}}

    def spec_file(self):
        path = HOME / f"{self.name}.json"
        path.write_text(json.dumps(self.spec()), encoding="utf-8")
        return path

    def write(self, name, *lines):
        path = self.folder / name
        path.write_text("\n".join(line for line in lines if line) + "\n", encoding="utf-8")
        return path

    def script(self, name, *lines):
        path = self.write(name, "#!/bin/sh", *lines)
        path.chmod(0o755)
        return path

    # --- as seen from outside

    def answers(self):
        try:
            return self.ask() == self.word
        except (OSError, http.client.HTTPException, struct.error, AssertionError):
            return False

    def occupy(self):
        """Another process has its port."""
        return socket.create_server(("127.0.0.1", self.port))

    def listens(self):
        with socket.socket() as s:
            return s.connect_ex(("127.0.0.1", self.port)) == 0

    def session(self):
        """A client that uses it and stays when the main process ends: see Session.  None: no such thing."""

    def exchange(self, data):
        """The first line of its answer."""
        with socket.create_connection(("127.0.0.1", self.port), 5) as s:
            s.sendall(data)
            got = b""
            while b"\n" not in got:
                piece = s.recv(65536)
                if not piece:
                    break
                got += piece
            return got

    def fetch(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
        try:
            connection.request("GET", "/")
            return connection.getresponse().read().decode().strip()
        finally:
            connection.close()


# --- The suite ------------------------------------------------------------

class Nginx(Program):
    proc_name = "nginx"
    broken = 'unknown directive "nonsense"'
    start_secs = 5  # five tries half a second apart

    def configure(self):
        self.write("nginx.conf", "user root;", "worker_processes 2;", f"pid {self.pid_file};",
                   f"daemon {'off' if self.form == FOREGROUND else 'on'};", "nonsense;" if self.is_broken else "",
                   "events { worker_connections 64; }", "http {", "access_log off;",
                   *(f"{kind}_temp_path {self.folder}/{kind};" for kind in
                     ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")),
                   f'server {{ listen 127.0.0.1:{self.port}; location / {{ return 200 "{self.word}"; }} }}', "}")

    def command(self):
        return f"{ROOT}/usr/sbin/nginx -p {self.folder} -c {self.folder}/nginx.conf -e stderr"

    def ask(self):
        return self.fetch()

    def successor_command(self):
        old = f"{self.pid_file}.oldbin"
        return (f"kill -USR2 {self.main_pid()}; until [ -s {old} ] && [ -s {self.pid_file} ]; do sleep 0.05; done; "
                f"kill -QUIT $(cat {old}); while [ -e {old} ]; do sleep 0.05; done")


class Redis(Program):
    proc_name = "redis-server"
    broken = "FATAL CONFIG FILE ERROR"
    silent = (DAEMON,)  # a daemon closes its output before it opens its port

    def configure(self):
        self.write("redis.conf", "bind 127.0.0.1", f"port {self.port}", f"pidfile {self.pid_file}", f"dir {self.folder}",
                   'save ""', f"daemonize {'no' if self.form == FOREGROUND else 'yes'}",
                   "maxmemory nonsense" if self.is_broken else "")

    def command(self):
        return f"{ROOT}/usr/bin/redis-server {self.folder}/redis.conf"

    def ask(self):
        return "one" if self.exchange(b"PING\r\n") == b"+PONG\r\n" else ""

    def reload_command(self):
        return None

    def is_its_own(self, process):
        return f"127.0.0.1:{self.port}" in process.command


class Postgres(Program):
    proc_name = "postgres"
    user = "postgres"
    broken = 'unrecognized configuration parameter "nonsense"'

    def prepare(self):
        self.bin = next((ROOT / "usr/lib/postgresql").glob("*/bin"))
        self.cluster = self.folder / "data"
        self.pid_file = self.cluster / "postmaster.pid"
        subprocess.run(["cp", "-a", self.template(), self.cluster], check=True, timeout=60)
        shutil.chown(self.folder, self.user, self.user)
        (self.cluster / "postgresql.conf").unlink()

    def template(self):
        """An empty cluster, made once for all tests."""
        made = TOP / f"postgres-{self.bin.parent.name}"
        with lock():
            if not made.exists():
                new = self.folder / "new"
                shutil.chown(self.folder, self.user, self.user)
                subprocess.run([self.bin / "initdb", "--no-sync", "-A", "trust", "--no-locale", "-E", "UTF8", "-D", new],
                               user=self.user, group=self.user, extra_groups=[], check=True, timeout=60, cwd=self.folder,
                               env={"LD_LIBRARY_PATH": libraries(), "PATH": os.environ["PATH"]}, stdout=subprocess.DEVNULL)
                shutil.rmtree(f"{made}.part", ignore_errors=True)
                subprocess.run(["cp", "-a", new, f"{made}.part"], check=True, timeout=60)
                shutil.rmtree(new)
                os.rename(f"{made}.part", made)
        return made

    def configure(self):
        self.write("data/postgresql.conf", "listen_addresses = '127.0.0.1'", f"port = {self.port}",
                   "unix_socket_directories = ''", "fsync = off", "autovacuum = off", "shared_buffers = 4MB",
                   f"app.word = '{self.word}'", "nonsense = on" if self.is_broken else "")

    def command(self):
        if self.form == DAEMON:
            return f"{self.bin}/pg_ctl start -D {self.cluster} -t 8"
        return f"{self.bin}/postgres -D {self.cluster}"

    def connect(self, query):
        """A session in which this is asked."""
        hello = struct.pack("!i", 3 << 16) + b"user\0postgres\0database\0postgres\0\0"
        s = socket.create_connection(("127.0.0.1", self.port), 5)
        s.sendall(struct.pack("!i", len(hello) + 4) + hello)
        s.sendall(b"Q" + struct.pack("!i", len(query) + 5) + query + b"\0")
        return s

    def ask(self):
        """The first field of the first row; it needs a working server process, whose end is waited for."""
        with self.connect(b"show app.word") as s, s.makefile("rb") as f:
            word, kind = None, None
            while kind != b"Z" or word is None:  # ready for another query
                kind, size = struct.unpack("!ci", f.read(5))
                body = f.read(size - 4)
                if kind == b"E":
                    raise AssertionError(body)
                if kind == b"D":
                    word = body[6:].decode()
            s.sendall(b"X" + struct.pack("!i", 4))
            f.read()
            return word

    def occupied(self):
        """A server process that never looks whether its master still lives."""
        s = self.connect(b"do $$ begin loop end loop; end $$")

        def begun():
            return [r for r in self.host.running() if f"127.0.0.1({s.getsockname()[1]}) DO" in r.command]
        return s, wait_until(begun, "it computes")[0]

    def is_worker(self, process, main):
        return process.parent == main and "checkpointer" in process.command

    def is_its_own(self, process):
        return str(self.cluster) in process.command


class Sshd(Program):
    proc_name = "sshd"
    broken = "Bad configuration option: nonsense"
    busy = "Cannot bind any address"
    silent = (DAEMON,)

    def prepare(self):
        for name in ("host", "mine"):
            subprocess.run([ROOT / "usr/bin/ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", self.folder / name],
                           check=True, timeout=60, env={"LD_LIBRARY_PATH": libraries()}, stdin=subprocess.DEVNULL)

    def configure(self):
        helpers = [line for line, name in (  # of newer releases, with what these know
            (f"SshdSessionPath {ROOT}/usr/lib/openssh/sshd-session", "sshd-session"),
            (f"SshdAuthPath {ROOT}/usr/lib/openssh/sshd-auth", "sshd-auth"),
            ("PerSourcePenalties no", "sshd-session")) if (ROOT / "usr/lib/openssh" / name).exists()]
        self.write("config", f"Port {self.port}", "ListenAddress 127.0.0.1", f"HostKey {self.folder}/host",
                   f"PidFile {self.pid_file}", f"AuthorizedKeysFile {self.folder}/mine.pub", "StrictModes no",
                   "UsePAM no", "PermitRootLogin yes", "PasswordAuthentication no", f"VersionAddendum {self.word}",
                   *helpers, "nonsense yes" if self.is_broken else "")

    def command(self):
        return f"{ROOT}/usr/sbin/sshd -f {self.folder}/config" + (" -D -e" if self.form == FOREGROUND else "")

    def ask(self):
        return self.exchange(b"").decode().split()[-1]

    def session(self):
        return Session(self)


class Session:
    """.processes: what serves it; .lives(): whether it still does."""

    def __init__(self, sshd):
        before = set(sshd.host.running())
        self.client = sshd.host.client(
            ROOT / "usr/bin/ssh", "-F", "none", "-p", sshd.port, "-i", sshd.folder / "mine", "-o", "BatchMode=yes", "-o",
            "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null", "-o", "LogLevel=ERROR", "root@127.0.0.1",
            "exec cat", stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self.lives(), "no session"
        self.processes = set(sshd.host.running()) - before

    def lives(self):
        try:
            self.client.stdin.write(b"hello\n")
            self.client.stdin.flush()
        except OSError:
            return False
        return self.client.stdout.readline() == b"hello\n"


# --- What only ./test long runs -------------------------------------------

class Memcached(Program):
    proc_name = "memcached"
    which = "long"
    broken = "Illegal suboption"
    silent = (DAEMON,)

    def command(self):
        return (f"{ROOT}/usr/bin/memcached -u root -l 127.0.0.1 -p {self.port} -m 16 -P {self.pid_file}"
                + (" -d" if self.form == DAEMON else "") + (" -o nonsense" if self.is_broken else ""))

    def ask(self):
        return "one" if self.exchange(b"version\r\n").startswith(b"VERSION") else ""

    def reload_command(self):
        return None


class Haproxy(Program):
    """In the foreground it is a master with a worker."""

    proc_name = "haproxy"
    which = "long"
    broken = "unknown keyword 'nonsense'"

    def configure(self):
        self.write("haproxy.cfg", "global", "nbthread 1", "defaults", "mode http", "timeout client 5s", "timeout server 5s",
                   "timeout connect 5s", "nonsense on" if self.is_broken else "", "frontend here",
                   f"bind 127.0.0.1:{self.port}", f'http-request return status 200 content-type text/plain string "{self.word}"')

    def command(self):
        return (f"{ROOT}/usr/sbin/haproxy -f {self.folder}/haproxy.cfg -p {self.pid_file} "
                + ("-W -db" if self.form == FOREGROUND else "-D"))

    def ask(self):
        return self.fetch()

    def reload_command(self):
        if self.form == FOREGROUND:
            return f"kill -USR2 {self.main_pid()}"
        return self.successor_command()

    def successor_command(self):
        return f"{self.command()} -sf {self.main_pid()}"


class Phpfpm(Program):
    which = "long"
    broken = "unknown entry 'nonsense'"

    def prepare(self):
        self.program = next((ROOT / "usr/sbin").glob("php-fpm*"))
        self.proc_name = self.program.name

    def configure(self):
        self.write("fpm.conf", "[global]", f"pid = {self.pid_file}", "error_log = /dev/stderr",
                   "nonsense = on" if self.is_broken else "", "[www]", "user = nobody", "group = nogroup",
                   f"listen = 127.0.0.1:{self.port}", "pm = static", "pm.max_children = 2", "ping.path = /ping",
                   f"ping.response = {self.word}")

    def command(self):
        return f"{self.program} -n -y {self.folder}/fpm.conf " + ("-F" if self.form == FOREGROUND else "-D")

    def reload_command(self):
        return f"kill -USR2 {self.main_pid()}"

    def ask(self):
        """The page /ping by FastCGI: a request begins, its parameters, none more, no input."""
        pairs = {"SCRIPT_NAME": "/ping", "SCRIPT_FILENAME": "/ping", "REQUEST_METHOD": "GET", "QUERY_STRING": ""}
        body = b"".join(struct.pack("!BB", len(k), len(v)) + k.encode() + v.encode() for k, v in pairs.items())
        records = [(1, struct.pack("!HB5x", 1, 0)), (4, body), (4, b""), (5, b"")]
        with socket.create_connection(("127.0.0.1", self.port), 5) as s, s.makefile("rb") as f:
            for kind, content in records:
                s.sendall(struct.pack("!BBHHBx", 1, kind, 1, len(content), 0) + content)
            said = b""
            while True:
                _, kind, _, size, padding = struct.unpack("!BBHHBx", f.read(8))
                content = f.read(size)
                f.read(padding)
                if kind == 6:
                    said += content
                if kind == 3:
                    return said.rsplit(b"\r\n", 1)[-1].decode()


class Gunicorn(Program):
    proc_name = "gunicorn"
    which = "long"
    broken = "SyntaxError"
    busy = "Can't connect to"
    start_secs = 8  # five tries a second apart
    silent = (DAEMON,)

    def configure(self):
        self.write("app.py", "nonsense nonsense" if self.is_broken else "", "def app(environ, start_response):",
                   "    start_response('200 OK', [('Content-Type', 'text/plain')])", f"    return [b'{self.word}']")

    def environment(self):
        return {**super().environment(), "PYTHONPATH": str(ROOT / "usr/lib/python3/dist-packages"),
                "PYTHONDONTWRITEBYTECODE": "1"}

    def has_name(self, process):
        """A successor is the interpreter with the script as its argument."""
        return "/gunicorn " in process.command

    def command(self):
        return (f"{ROOT}/usr/bin/gunicorn --chdir {self.folder} -b 127.0.0.1:{self.port} -w 2 -p {self.pid_file} "
                + ("--daemon " if self.form == DAEMON else "") + "app:app")

    def ask(self):
        return self.fetch()

    def successor_command(self):
        return (f"old={self.main_pid()}; kill -USR2 $old; until [ -s {self.pid_file}.2 ]; do sleep 0.05; done; "
                f"kill -TERM $old; while [ -e {self.pid_file}.2 ]; do sleep 0.05; done")


class Node(Program):
    proc_name = "node"
    which = "long"
    broken = "SyntaxError"
    busy = "EADDRINUSE"

    def prepare(self):
        """Debian's has a part of itself in a folder with a fixed name."""
        if (ROOT / "usr/share/nodejs").exists() and not os.path.exists("/usr/share/nodejs"):
            mount("-t", "overlay", "-o", f"ro,lowerdir={ROOT}/usr/share:/usr/share", "none", "/usr/share")

    def configure(self):
        self.write("server.js", "nonsense nonsense" if self.is_broken else "",
                   f"require('http').createServer((q, r) => r.end('{self.word}')).listen({self.port}, '127.0.0.1');")

    def command(self):
        own = ROOT / "usr/bin/node"
        return f"{own if own.exists() else shutil.which('node')} {self.folder}/server.js"

    def ask(self):
        return self.fetch()

    def reload_command(self):
        return None


class Rsyslog(Program):
    proc_name = "rsyslogd"
    which = "long"
    broken = "error during parsing file"

    def prepare(self):
        self.modules = next((ROOT / "usr/lib").glob("*/rsyslog"))

    def configure(self):
        self.write("rsyslog.conf", 'global(abortOnUncleanConfig="on")', f'module(load="{self.modules}/imtcp")',
                   "nonsense(on)" if self.is_broken else "", 'template(name="plain" type="string" string="%msg%\\n")',
                   f'input(type="imtcp" address="127.0.0.1" port="{self.port}")',
                   f'action(type="omfile" file="{self.folder}/said" template="plain")')

    def command(self):
        return (f"{ROOT}/usr/sbin/rsyslogd -f {self.folder}/rsyslog.conf -i {self.pid_file} -M {self.modules}"
                + (" -n" if self.form == FOREGROUND else ""))

    def ask(self):
        """What was sent to it is in its file."""
        self.sent = getattr(self, "sent", 0) + 1
        with socket.create_connection(("127.0.0.1", self.port), 5) as s:
            s.sendall(f"<13>Jan  1 00:00:00 here test: line-{self.sent}-\n".encode())
        wait_until(lambda: f"line-{self.sent}-" in (self.folder / "said").read_text(encoding="utf-8"), "it is written", 2)
        return self.word


class Cron(Program):
    """It has no port but a lock, and its session is a job."""

    proc_name = "cron"
    which = "long"
    busy = "can't lock"
    JOB = "sleep 1234"

    def prepare(self):
        self.pid_file = pathlib.Path("/run/crond.pid")

    def configure(self):
        path = self.write("crontab", f"@reboot exec {self.JOB}")
        path.chmod(0o600)
        shutil.copy(path, "/var/spool/cron/crontabs/root")

    def command(self):
        return f"{ROOT}/usr/sbin/cron" + (" -f" if self.form == FOREGROUND else "")

    def reload_command(self):
        return None

    def is_locked(self):
        with open(self.pid_file, "a", encoding="ascii") as f:
            try:
                fcntl.flock(f, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return True
        return False

    def ask(self):
        return self.word if self.is_locked() else ""

    def listens(self):
        return self.is_locked()

    def occupy(self):
        f = open(self.pid_file, "a", encoding="ascii")
        fcntl.flock(f, fcntl.LOCK_EX)
        return f

    def session(self):
        return Job(self)


class Job:
    """The one that cron runs when it first starts, and the child of cron's that waits for it."""

    def __init__(self, cron):
        self.host = cron.host
        job = wait_until(lambda: [r for r in self.host.running() if r.command == cron.JOB], "the job runs")[0]
        self.processes = {r for r in self.host.running() if r == job or r.pid == job.parent}

    def lives(self):
        return self.processes <= set(self.host.running())
