# SPDX-License-Identifier: MIT
"""A root folder of its own for a test that runs alone (alone.py): all that is there is there
too, and what is made in the folders named is gone when the test is over.

    @pytest.mark.alone
    def test_it(holdfast, tmp_path):
        own_root.enter(tmp_path / "root", "/data", "/usr/local")
"""
import os
import pathlib
import subprocess


def mount(*args):
    subprocess.run(["mount", *map(str, args)], check=True, timeout=60)


def graft(source, target, own):
    """Makes target, a folder of a file system in memory, look as source does, but for what is below `own`."""
    target.mkdir(exist_ok=True)
    mount("-t", "tmpfs", "none", target)
    for entry in source.iterdir():
        here = target / entry.name
        if entry.is_symlink():
            here.symlink_to(os.readlink(entry))
        elif entry.is_dir() and entry not in own:
            here.mkdir()
            mount("--rbind", entry, here)
        elif entry.is_file():
            here.touch()
            mount("--bind", entry, here)


def enter(folder, *own):
    """Afterwards the calling process, and what it starts, has the new root."""
    own, root = [pathlib.Path(o) for o in own], pathlib.Path(folder)
    graft(pathlib.Path("/"), root, own)
    for path in own:
        if path.parent == pathlib.Path("/"):
            (root / path.relative_to("/")).mkdir()
        else:
            graft(path, root / path.relative_to("/"), own)
    where = os.getcwd()
    os.chroot(root)
    os.chdir(where)
