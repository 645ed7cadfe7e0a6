# SPDX-License-Identifier: MIT
"""Programs that are installed are hardened: what the compiler and the linker can do against
exploits, they do."""
import json
import pathlib
import platform
import re
import shutil
import subprocess

import pytest

from holdfast import bin_dir

ROOT = pathlib.Path(__file__).resolve().parents[2]
HARDENED = bin_dir().parents[1] / "tests/hardened"
X86 = platform.machine() == "x86_64"

pytestmark = pytest.mark.skipif(not shutil.which("readelf"), reason="needs binutils")


def readelf(*args):
    return subprocess.run(["readelf", *args], check=True, capture_output=True, text=True).stdout


def check_program(path):
    assert "DYN (Position-Independent Executable" in readelf("-hW", path), "not a PIE"
    assert "BIND_NOW" in readelf("-dW", path), "functions are bound late"
    segments = readelf("-lW", path)
    assert "GNU_RELRO" in segments
    assert re.search(r"GNU_STACK .* RW +0x", segments), "the stack can be executed"
    if X86:
        notes = readelf("-nW", path)
        assert "IBT" in notes and "SHSTK" in notes, notes
    symbols = readelf("--dyn-syms", "-W", path)
    assert re.search(r"__\w+_chk@", symbols), "no call is checked"
    assert "__stack_chk_fail@" in symbols


def test_a_program_with_the_flags_of_a_release_is_hardened():
    check_program(HARDENED)


def test_a_buffer_that_is_written_over_ends_the_program():
    """_FORTIFY_SOURCE=3: its size is known at run time alone."""
    fits = subprocess.run([HARDENED, "abc"], capture_output=True, text=True, check=False)
    assert (fits.returncode, fits.stdout) == (0, "abc\n")
    over = subprocess.run([HARDENED, "x" * 100], capture_output=True, text=True, check=False)
    assert over.returncode == -6 and "buffer overflow detected" in over.stderr


def test_the_release_build_has_these_flags(tmp_path):
    """Of ./run: it is set up and not built, which would take minutes."""
    row = re.search(r"^release +\|.*$", (ROOT / "tools/lib.sh").read_text(), re.M)[0]
    options = row.split("|")[-1].split()
    subprocess.run(["meson", "setup", tmp_path / "b", ROOT, *options], check=True, capture_output=True)
    commands = json.loads((tmp_path / "b/compile_commands.json").read_text())
    ours = [c["command"] for c in commands if "/src/" in c["file"]]
    wanted = ["-D_FORTIFY_SOURCE=3", "-fstack-clash-protection", "-fstack-protector-strong", "-fPIE", "-O2"]
    wanted += ["-fcf-protection=full"] if X86 else []
    assert len(ours) > 300
    for flag in wanted:
        assert all(flag in c.split() for c in ours), flag
    rules = (tmp_path / "b/build.ninja").read_text()
    for name in "holdfast-server", "holdfast-agent", "holdfast":
        block = re.search(rf"^build src/bin/{name}: .*?\n\n", rules, re.M | re.S)[0]
        assert all(f in block for f in ("-pie", "-Wl,-z,relro", "-Wl,-z,now")), block


@pytest.mark.parametrize("name", ["holdfast-server", "holdfast-agent", "holdfast"])
def test_programs_of_a_release_that_is_built_are_hardened(name):
    path = ROOT / "build/release/src/bin" / name
    newest = max(p.stat().st_mtime for p in [ROOT / "meson.build", ROOT / "src/bin/meson.build"])
    if not path.exists() or path.stat().st_mtime < newest:
        pytest.skip("no release is built: ./run builds one")
    check_program(path)
