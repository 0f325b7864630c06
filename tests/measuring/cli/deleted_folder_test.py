"""In a deleted working folder, commands that need a path report the deletion; all other commands work."""

import os
import subprocess

import pytest
from conftest import ZEROTAX, clean_environment

NEEDS_IT = [
    "history --repo . --build true --library x --tags v*", "bisect --repo . --build true --library x --good a --bad b",
    "report --allocator glibc", "contract --report x", "history --debian mimalloc --out x",
    "run --allocator glibc --size 64KiB --ops 2 --json x.json", "run --allocator x=./libx.so --size 64KiB",
    "record --json x -- /bin/true",
    "run --allocator glibc --size 64KiB --on vm:./vmlinuz", "trace run --out x -- /bin/true", "doctor --json x",
]
WORKS = ["--version", "list", "record -- /bin/true", "run --allocator glibc --size 64KiB --ops 2 --json -"]


def run_there(words, folder):
    there = folder / "gone"
    there.mkdir()
    script = 'cd "$1" && rmdir "$1" && shift && exec "$@"'
    return subprocess.run(["/bin/sh", "-c", script, "sh", there, ZEROTAX, *words.split()], env=clean_environment(),
                          capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.parametrize("words", NEEDS_IT)
def test_a_command_that_needs_a_path_names_the_deleted_folder(words, tmp_path):
    done = run_there(words, tmp_path)
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert done.stderr == "zerotax: the working folder was deleted: change to another folder, as with cd /\n"
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("words", WORKS)
def test_a_command_that_needs_no_path_works(words, tmp_path):
    done = run_there(words, tmp_path)
    assert done.returncode == 0, done.stderr
