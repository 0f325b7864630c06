"""`advise --frontier` of a recording searches in replays, and finds the values that suffice for the recorded program."""

import os
import pathlib
import subprocess
import time

import pytest
from advising import PROGRAMS, advise
from conftest import clean_environment, zerotax
from frontier_test import LONG, MIB, QUICK, knee, members, smallest_sufficient, value_in


def record(folder, name, *arguments):
    path = folder / f"{name}.calls"
    done = zerotax("record", "--text", "/dev/null", "--calls", path, "--", PROGRAMS / name, *arguments)
    assert done.returncode == 0, done.stderr
    return path


def idle_memory(program, *arguments, **variables):
    """Returns the resident memory of a program when its threads have ended."""
    with subprocess.Popen([str(PROGRAMS / program), *arguments], env=clean_environment(**variables)) as running:
        folder = pathlib.Path(f"/proc/{running.pid}")
        while len(list((folder / "task").iterdir())) == 1:
            pass
        while len(list((folder / "task").iterdir())) > 1:
            time.sleep(0.01)
        resident = int((folder / "statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")
        running.kill()
    return resident


def said(found):
    return " ".join(found.out.split())


@pytest.mark.long(LONG)
def test_the_smallest_sufficient_value_is_that_of_the_program(tmp_path):
    calls = record(tmp_path, "small_batches", "500")
    found = advise(calls, options=["--frontier", *QUICK])
    assert found.json["program"]["replay"] and "The runs are replays of small_batches.calls" in said(found)
    line = knee(found)["line"]
    variable = line.split("=", 1)[0]
    assert variable in ("MALLOC_TRIM_THRESHOLD_", "MALLOC_TOP_PAD_") and found.advice["line"] == line + " PROGRAM"
    true = smallest_sufficient([variable], [1 << k for k in range(17, 27)], "small_batches", "500")
    assert true / 2 <= value_in(line, variable) <= true * 2, (true, found.out)
    # The recording has no pause, and the replay does not claim to know how much memory the program has at idle.
    assert "no pause of 300 ms" in str(members(found)[None]["figures"]["idle_bytes"])


@pytest.mark.long(LONG)
def test_memory_at_idle_is_that_of_the_program(tmp_path):
    calls = record(tmp_path, "idle_threads", "8", "4", "2900000", "360")
    found = advise(calls, options=["--frontier", "--goal", "idle", *QUICK])
    waits = ("idle_threads", "8", "4", "2900000", "2000")
    for member in members(found).values():
        assert member["figures"]["idle_measure"] == "idle"
        setting = dict(word.split("=", 1) for word in member["line"].split())
        # With few arenas, the program keeps a block or not, depending on the order of its threads.
        assert abs(member["figures"]["idle_bytes"] - idle_memory(*waits, **setting)) < 1.3 * 2_900_000, member
    assert knee(found)["figures"]["idle_bytes"] < 5 * MIB < 20 * MIB < members(found)[None]["figures"]["idle_bytes"]


@pytest.mark.parametrize(("name", "arguments", "options", "words"), [
    ("idle_fleet", ("2", "1", "1"), ["--frontier"], "the 3 processes of"),
    ("idle_fleet", ("2", "1", "1"), ["--goal", "memory"], "the 3 processes of"),
    ("small_batches", ("9",), ["--ready", "true", "--load", "true"], "takes no load"),
    ("small_batches", ("9",), ["--goal", "idle"], "no pause of 300 ms"),
])
def test_what_a_replay_cannot_tell_is_refused(name, arguments, options, words, tmp_path):
    done = zerotax("advise", *options, "--", record(tmp_path, name, *arguments))
    last = done.stderr.splitlines()[-1]
    assert done.returncode == 2 and words in last and last.startswith("zerotax: "), done.stderr
