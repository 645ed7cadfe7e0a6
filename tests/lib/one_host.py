# SPDX-License-Identifier: MIT
"""An installation with one host and one daemon, and the command line beside it."""
from daemon import Daemon
from installation import Installation


class OneHost:
    def __init__(self, holdfast, folder):
        self.holdfast, self.home = holdfast, Installation(holdfast, folder)
        self.agent = self.home.add_agent()
        self.daemon = Daemon(folder / "daemon", "daemon")
        self.env = {"HOME": folder, "XDG_CONFIG_HOME": "", "LC_ALL": "C", "TZ": "UTC"}

    def cli(self, *args):
        """As an administrator asks; .code is how it ended."""
        p = self.holdfast.run("holdfast", *args, "--socket", self.home.data / "admin.sock", env=self.env)
        p.code = p.process.returncode
        return p
