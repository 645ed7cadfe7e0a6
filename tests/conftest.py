# SPDX-License-Identifier: MIT
"""Fixtures of the system and fault tests; tests/lib/holdfast.py says how to use them."""
import pytest

from holdfast import Holdfast


@pytest.fixture
def holdfast():
    """Starts programs.  At the end of the test it stops them, and fails the test if
    one had to be killed or a sanitizer reported anything on its stderr."""
    programs = Holdfast()
    yield programs
    wrong = programs.close()
    assert not wrong, "\n".join(wrong)
