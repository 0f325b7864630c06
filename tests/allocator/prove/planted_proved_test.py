"""The allocators of tests/planted/proved: each planted mistake exists, and the correct allocators have no mistake.

Programs start under all of these allocators.
"""
import os
import subprocess
import sys

import proved
import pytest
from conftest import PLANTED, SOURCE

FOLDER = PLANTED / "proved"
MISTAKES = proved.names("planted")
CORRECT = proved.names("correct")


def run_under(name, *command):
    environment = os.environ | {"LD_PRELOAD": str(FOLDER / f"lib{name}.so")}
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)


def test_there_are_forty_mistakes_and_twelve_correct_allocators_of_which_each_has_a_file():
    assert (len(MISTAKES), len(CORRECT)) == (40, 12)
    sources = SOURCE / "tests/planted/proved"
    assert sorted(MISTAKES) == sorted(file.stem for file in (sources / "mistakes").glob("*.c"))
    assert sorted(CORRECT) == sorted(file.stem for file in (sources / "correct").glob("*.c"))


@pytest.mark.parametrize("name", MISTAKES)
def test_a_sequence_that_knows_the_mistake_shows_it(name):
    done = run_under(name, FOLDER / "planted-truth", name)
    assert (done.returncode, done.stderr) == (1, "")


@pytest.mark.parametrize("name", CORRECT)
def test_no_sequence_finds_a_mistake_in_a_correct_allocator(name):
    done = run_under(name, FOLDER / "planted-truth", "--all")
    assert (done.returncode, done.stdout, done.stderr) == (0, "\n", "")


def test_no_sequence_finds_a_mistake_in_the_c_library():
    done = subprocess.run([FOLDER / "planted-truth", "--all"], capture_output=True, text=True, timeout=300, check=False)
    assert (done.returncode, done.stdout) == (0, "\n")


@pytest.mark.parametrize("name", MISTAKES + CORRECT)
def test_programs_start(name):
    for command in (["true"], ["ls", "/"], [sys.executable, "-c", "print(1)"]):
        done = run_under(name, *command)
        assert (done.returncode, done.stderr) == (0, "")
