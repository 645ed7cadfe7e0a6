# SPDX-License-Identifier: MIT
"""Pages with specs: every yaml block of docs/specs.md is one, docs/five-minutes.md is of a real run."""
import pathlib
import re
import subprocess

import pytest

import alone
from holdfast import bin_dir

TOP = pathlib.Path(__file__).resolve().parents[2]


def blocks(page):
    return re.findall(r"^```yaml\n(.*?)^```$", (TOP / page).read_text(encoding="utf-8"), re.M | re.S)


@pytest.mark.quick
def test_every_spec_of_the_guide_is_one(holdfast, tmp_path):
    found = blocks("docs/specs.md")
    assert len(found) >= 15
    for i, text in enumerate(found):
        path = tmp_path / f"{i}.yaml"
        path.write_text(text, encoding="utf-8")
        p = holdfast.run("holdfast", "spec", "check", path, env={"LC_ALL": "C"})
        assert p.process.returncode == 0, (text, p.err)
        assert "no errors; processes: " in p.out


def test_both_forms_of_the_guide_are_the_same_process(holdfast, tmp_path):
    """What `spec check` shows of the two blocks below "One process in both forms"."""
    page = (TOP / "docs/specs.md").read_text(encoding="utf-8")
    said = []
    for text in re.findall(r"^```yaml\n(.*?)^```$", page.split("One process in both forms")[1], re.M | re.S)[:2]:
        (tmp_path / "web.yaml").write_text(text, encoding="utf-8")
        said.append(holdfast.run("holdfast", "spec", "check", tmp_path / "web.yaml", env={"LC_ALL": "C"}).out)
    assert said[0] == said[1] and "shop/web" in said[0]


def test_the_five_minutes_are_of_a_real_run():
    if reason := alone.why_not():
        pytest.skip(reason)
    done = subprocess.run([TOP / "tools/transcript", TOP / "docs/five-minutes.md"], env={**alone.own_environment(),
                          "HOLDFAST_BIN": str(bin_dir())}, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
