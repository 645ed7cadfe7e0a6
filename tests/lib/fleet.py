# SPDX-License-Identifier: MIT
"""A simulated fleet beside an installation: holdfast-sim, and a line to it.

    fleet = Fleet(home, 100, "--offline", "3%")
    fleet.wait_reached()
    fleet.ask("drop 17")
"""
import ipaddress
import json
import pathlib
import socket

FIRST = ipaddress.IPv4Address("10.0.0.1")


class Fleet:
    def __init__(self, home, agents, *args, procs=3, name="sim"):
        self.home, self.agents, self.name = home, agents, name
        self.socket_path = pathlib.Path(home.folder, name + ".sock")
        self.args = ["--agents", agents, "--procs", procs, "--name", name, "--control", self.socket_path,
                     "--server", f"127.0.0.1:{home.link_port}", "--dir", pathlib.Path(home.folder, name), *args]
        self.token = home.token(cloud_id=0, biz_id=2, uses=agents)
        self.start()

    def start(self):
        """Agents that have joined before need the token no more."""
        self.program = self.home.holdfast.start("holdfast-sim", "--json", *self.args,
                                                env={"HOLDFAST_SIM_TOKEN": self.token})
        self.token = ""
        self.line = self.program.wait_until(self.connect, "the fleet's socket answers")
        self.kinds = self.ask("plan")

    def connect(self):
        line = socket.socket(socket.AF_UNIX)
        line.settimeout(60)
        line.connect(str(self.socket_path))
        return line.makefile("rw", encoding="utf-8")

    def ask(self, command):
        self.line.write(command + "\n")
        self.line.flush()
        return json.loads(self.line.readline())

    def wait(self, holds, what, timeout=90):
        """The first report for which it does."""
        def look():
            report = self.ask("report")
            return report if holds(report) else None
        return self.program.wait_until(look, what, timeout)

    def wait_reached(self, timeout=90):
        """All that ever connect have had a session, and the offline ones are known to the server."""
        return self.wait(lambda r: r["reached"] == r["expected"] and not r["joining"], "the fleet is connected", timeout)

    def stop(self):
        """The last counts, as it prints them."""
        self.line.close()
        assert self.program.stop(60) == 0, self.program.err
        return json.loads(self.program.out)

    # --- its hosts

    def ip(self, number):
        return str(FIRST + number)

    def id(self, number):
        return f"{self.name}-{number:05}"

    def hosts(self):
        return [{"ip": self.ip(i), "bk_cloud_id": 0} for i in range(self.agents)]

    def request(self, op, proc="proc-00", **policy):
        """One operation for all of them."""
        identity = {"proc_name": proc, "setup_path": "/opt/sim", "pid_path": "/opt/sim/pid", "user": "root"}
        spec = {"identity": identity, "control": {"start_cmd": "./start"}, "alive_monitor_policy": policy}
        return {"meta": {"namespace": self.name, "name": proc}, "op_type": op, "hosts": self.hosts(), "spec": spec}

    def by_number(self, results):
        """A task's results, which are by their keys, by the agents' numbers: code and text."""
        found = {}
        for key, result in results.items():
            ip = key.split(":")[1]
            found[int(ipaddress.IPv4Address(ip)) - int(FIRST)] = result
        return found
