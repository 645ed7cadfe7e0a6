# SPDX-License-Identifier: MIT
"""Tests in pid and mount namespaces of their own: whatever they start, mount or fork
without end is gone when they are over, and no pid of theirs is that of another process.

    @pytest.mark.alone
    def test_it(holdfast, tmp_path): ...

Outside, the test's fixtures are made too, so they should cost nothing."""
import os
import shutil
import subprocess
import sys

import pytest

INSIDE = "HOLDFAST_TEST_ALONE"
TIMEOUT = 240  # seconds, unless the mark has a `timeout`

# The namespace's init is a shell, which waits for orphans; pytest would not.
INIT = ["unshare", "--pid", "--fork", "--mount", "--mount-proc", "--kill-child", "sh", "-c", '"$@"; exit $?', "init"]


def why_not():
    """What is in the way of namespaces here, if anything."""
    if os.getuid() != 0:
        return "only root can make namespaces"
    if not shutil.which("unshare"):
        return "there is no unshare"
    tried = subprocess.run([*INIT, "true"], capture_output=True, text=True, timeout=60, check=False)
    return tried.stderr.strip() or "unshare fails" if tried.returncode else None


def own_environment():
    """Ours, without what pytest has put there for this very process."""
    return {**{k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")}, INSIDE: "1"}


def run_inside(item, timeout):
    reason = why_not()
    if reason:
        pytest.skip(reason)
    command = [*INIT, sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", "-rsP", item.nodeid]
    try:
        done = subprocess.run(command, cwd=item.config.rootpath, env=own_environment(), stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=timeout, check=False)
    except subprocess.TimeoutExpired as e:
        pytest.fail(f"not within {timeout} s\n" + (e.stdout or b"").decode("utf-8", "replace")[-8000:], pytrace=False)
    text = done.stdout.decode("utf-8", "replace")
    if done.returncode:
        pytest.fail(text[-16000:], pytrace=False)
    if " skipped" in text.splitlines()[-1]:
        pytest.skip(text.splitlines()[-2])
    print(text)


def call(item):
    """For the hook of that name: True if the test has been run, in there."""
    mark = item.get_closest_marker("alone")
    if not mark or os.environ.get(INSIDE):
        return None
    run_inside(item, mark.kwargs.get("timeout", TIMEOUT))
    return True
