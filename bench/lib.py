# SPDX-License-Identifier: MIT
"""What every bench/NAME shares: its options, the build, the rows it reports, the
machine it ran on, and the requests that are measured.

A bench makes a Bench, measures, and gives it rows; Bench.end() prints them and is
the exit status.  Ratio is always value / baseline, baseline is what the peer did
in the same run.
"""
import argparse
import atexit
import dataclasses
import json
import operator
import os
import pathlib
import platform
import re
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAMS = ROOT / "build/bench/bench"

COMPARE = {"<=": operator.le, ">=": operator.ge}


@dataclasses.dataclass
class Row:
    metric: str
    value: float
    unit: str
    baseline: float = None
    target: str = None  # "ratio >= 4", "value <= 3"; None: only told

    @property
    def ratio(self):
        return self.value / self.baseline if self.baseline else None

    @property
    def ok(self):
        """None without a target."""
        if not self.target:
            return None
        what, compare, limit = self.target.split()
        return COMPARE[compare](getattr(self, what), float(limit))

    def json(self, bench):
        def short(number):
            return None if number is None else float(f"{number:.4g}")
        return json.dumps({"bench": bench, "metric": self.metric, "value": short(self.value),
                           "unit": self.unit, "baseline": short(self.baseline),
                           "ratio": short(self.ratio), "target": self.target, "ok": self.ok})

    def cells(self):
        def text(number):
            return "" if number is None else f"{number:,.{0 if number >= 100 or isinstance(number, int) else 2}f}"
        ok = {None: "", True: "ok", False: "MISSED"}[self.ok]
        return [self.metric, text(self.value), self.unit, text(self.baseline), text(self.ratio),
                self.target or "", ok]


class Bench:
    def __init__(self, name, doc):
        self.name, self.rows, self.notes = name, [], []
        self.is_over = False
        atexit.register(self.end_early)
        options = argparse.ArgumentParser(
            prog=f"bench/{name}", description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
        options.add_argument("--json", action="store_true", help="print one JSON object a line")
        options.add_argument("--check", action="store_true", help="exit 1 when a target is missed")
        options.add_argument("--quick", action="store_true",
                             help="end within 50 seconds after the build, with fewer repeats")
        self.options = options.parse_args()
        self.quick = self.options.quick
        os.chdir(ROOT)
        build()

    def row(self, *args, **named):
        self.rows.append(Row(*args, **named))

    def note(self, text):
        """A line below the table."""
        self.notes.append(text)

    def progress(self, text):
        print(f"{self.name}: {text}", file=sys.stderr, flush=True)

    def end_early(self):
        """What was measured so far is not lost when something fails."""
        if self.rows and not self.is_over:
            self.note("it did not come to its end: this is what it had measured until then")
            self.end()

    def end(self):
        self.is_over = True
        if self.options.json:
            for row in self.rows:
                print(row.json(self.name))
        else:
            self.print_table()
        missed = [row.metric for row in self.rows if row.ok is False]
        if missed:
            self.progress("missed: " + ", ".join(missed))
        return 1 if missed and self.options.check else 0

    def print_table(self):
        head = ["metric", "value", "unit", "baseline", "ratio", "target", ""]
        lines = [head] + [row.cells() for row in self.rows]
        widths = [max(map(len, column)) for column in zip(*lines)]
        print(f"\nbench/{self.name}{' --quick' if self.quick else ''}")
        for i, line in enumerate(lines):
            cells = [cell.rjust(width) if n in (1, 3, 4) else cell.ljust(width)
                     for n, (cell, width) in enumerate(zip(line, widths))]
            print("  " + "  ".join(cells).rstrip())
            if i == 0:
                print("  " + "  ".join("-" * width for width in widths[:-1]))
        for text in self.notes + machine():
            print(text)


def die(text):
    sys.exit(f"{pathlib.Path(sys.argv[0]).name}: {text}")


def build():
    """What it says goes to stderr: stdout is for the results."""
    script = ". tools/lib.sh && need_packages $bench_packages && build bench"
    if subprocess.run(["sh", "-c", script, "bench"], stdout=sys.stderr).returncode:
        die("the build failed")


def median(samples):
    return statistics.median(samples)


def machine():
    """Lines that say what this was measured on, and with what."""
    cpu = re.search(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text())
    compiler = subprocess.run(["gcc", "--version"], capture_output=True, text=True).stdout
    versions = [f"{name} " + subprocess.run(["pkg-config", "--modversion", package],
                                            capture_output=True, text=True).stdout.strip()
                for name, package in (("jansson", "jansson"), ("libevent", "libevent_core"),
                                      ("OpenSSL", "openssl"))]
    return [f"machine: {cpu[1] if cpu else platform.machine()}, {os.cpu_count()} cores, "
            f"Linux {platform.release()}, load {os.getloadavg()[0]:.1f} when it ended",
            f"built by {compiler.splitlines()[0]}; {', '.join(versions)}"]


def operate(nth, full=True):
    """A request to start a process, as the API's clients send it."""
    home = f"/data/apps/service-{nth:05}"
    spec = {
        "identity": {"proc_name": "service", "setup_path": home, "pid_path": f"{home}/run/service.pid",
                     "user": "root"},
        "control": {"start_cmd": "./start.sh", "stop_cmd": "./stop.sh"},
        "monitor_policy": {"auto_type": 1, "start_check_secs": 5, "op_timeout": 60},
    }
    if full:
        spec["identity"] |= {"index_key": "", "config_path": f"{home}/etc/service.conf",
                             "log_path": f"{home}/log/"}
        spec["control"] |= {"restart_cmd": "./restart.sh", "reload_cmd": "./reload.sh",
                            "kill_cmd": "./kill.sh", "version_cmd": "./version.sh",
                            "health_cmd": "./health.sh"}
        spec["resource"] = {"cpu": 10.0, "mem": 10.0, "fd": 10000, "disk": 100, "net": 0}
        spec["monitor_policy"] |= {"stop_check_secs": 5, "start_retries": 3, "start_interval": 20,
                                   "crontab_rule": ""}
        spec["warn_report_policy"] = {"report_id": 0}
    return {"meta": {"namespace": "gse", "name": f"service-{nth:05}", "labels": {"proc_name": "service"}},
            "op_type": 0,
            "hosts": [{"ip": f"10.{nth >> 8 & 255}.{nth & 255}.1", "bk_cloud_id": 0}],
            "spec": spec}
