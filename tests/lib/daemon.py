# SPDX-License-Identifier: MIT
"""A folder with a daemon in it, and the request of BlueKing's own document for it.

The daemon is tests/lib/victim.c under the name proc-test, with the scripts that the
example names: start.sh, stop.sh and the others."""
import copy
import json
import os
import pathlib
import shutil

from holdfast import bin_dir, wait_until
from installation import end_all, is_alive

SEED = pathlib.Path(__file__).resolve().parents[1] / "contract/seeds/operate_proc_v2.json"

SCRIPTS = {
    "stop.sh": "kill $(cat proc-test.pid)",
    "reload.sh": "kill -0 $(cat proc-test.pid) && echo reloaded >> reloads",
    "kill.sh": "kill -9 $(cat proc-test.pid)",
    "version.sh": "echo 1.2.3",
    "health.sh": "echo fine",
}
START = {
    "foreground": "exec ./proc-test --life-ms 120000 {}",
    "daemon": "exec ./proc-test --life-ms 120000 --daemonize --pid-file $PWD/proc-test.pid {}",
}


class Daemon:
    def __init__(self, folder, kind="daemon", options=""):
        self.folder, self.kind = pathlib.Path(folder), kind
        self.folder.mkdir(parents=True, exist_ok=True)
        self.pid_file = self.folder / "proc-test.pid"
        shutil.copy(bin_dir().parents[1] / "tests/victim", self.folder / "proc-test")
        start = "echo $$ >> starts\n" + START[kind].format(options)
        self.script("start.sh", start)
        self.script("restart.sh", "./stop.sh\nwhile kill -0 $(cat proc-test.pid 2>/dev/null) 2>/dev/null; do\n"
                    "    sleep 0.05\ndone\n" + start)
        for name, text in SCRIPTS.items():
            self.script(name, text)

    def script(self, name, text):
        path = self.folder / name
        path.write_text("#!/bin/sh\n" + text + "\n", encoding="utf-8")
        path.chmod(0o755)

    def starts(self):
        """How often a start command has begun."""
        path = self.folder / "starts"
        return len(path.read_text(encoding="ascii").split()) if path.exists() else 0

    def pids(self):
        """All that run this very program."""
        found = []
        for entry in os.listdir("/proc"):
            try:
                if entry.isdigit() and os.readlink(f"/proc/{entry}/exe") == str(self.folder / "proc-test") \
                        and is_alive(int(entry)):
                    found.append(int(entry))
            except OSError:
                continue
        return found

    def named_pid(self):
        """What the pid file says, of one that daemonizes; those in between do not count."""
        try:
            return int(self.pid_file.read_text(encoding="ascii"))
        except (FileNotFoundError, ValueError):
            return None

    def wait_pid(self, but=None):
        """The one pid, once there is one that is not `but`."""
        def there():
            pids = [p for p in self.pids() if p != but]
            return [p for p in pids if self.kind != "daemon" or p == self.named_pid()]
        return wait_until(there, "the daemon runs")[0]

    def end(self):
        end_all(self.pids())

    def request(self, ip, op_type, **policy):
        """The document's own example; only addresses, paths and what is asked for changed."""
        body = copy.deepcopy(json.loads(SEED.read_text(encoding="utf-8")))
        body["op_type"] = op_type
        body["hosts"] = [{"ip": ip, "bk_cloud_id": 0}]
        for field in ("setup_path", "pid_path", "config_path", "log_path"):
            body["spec"]["identity"][field] = body["spec"]["identity"][field].replace(
                "/data/gsetest", str(self.folder))
        body["spec"]["alive_monitor_policy"].update(policy)
        return body
