# SPDX-License-Identifier: MIT
"""Fixtures of the system and fault tests; tests/lib/holdfast.py says how to use them."""
import os
import signal
import threading

import pytest

import alone
from holdfast import Holdfast

_kill = os.kill


def _kill_one(pid, number):
    """A view says pid -1 of what does not run, and kill(-1) would end all processes."""
    assert pid > 1, f"kill({pid}, {number})"
    _kill(pid, number)


os.kill = _kill_one

# A shell starts what it runs in the background with Ctrl-C ignored, and programs inherit that.
# Workers of xdist inherit it from pytest, which has set it; theirs may load this in another thread.
if threading.current_thread() is threading.main_thread():
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem):
    return alone.call(pyfuncitem)


@pytest.fixture
def holdfast():
    """Starts programs.  At the end of the test it stops them, and fails the test if
    one had to be killed or a sanitizer reported anything on its stderr."""
    programs = Holdfast()
    yield programs
    wrong = programs.close()
    assert not wrong, "\n".join(wrong)
