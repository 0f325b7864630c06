"""Tests `zerotax advise --frontier`, `--goal idle` and `--max-memory` on programs whose sufficient settings are known. The
tests find the true values by running the programs under each value.
"""

import json
import os
import re
import subprocess

import pytest
from advising import PROGRAMS, advise
from conftest import ZEROTAX, clean_environment, interrupt, zerotax

MIB = 1 << 20
LONG = "a search with twelve rounds"
QUICK = ["--settings-only", "--rounds", "12"]
THREADS = ("8", "4", "2900000", "360")
FLEET = ("8", "4", "600")


def faults_of(program, *arguments, **variables):
    """Returns the minor faults of a program and its children."""
    process = subprocess.Popen([str(PROGRAMS / program), *arguments], env=clean_environment(**variables))
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return usage.ru_minflt


def smallest_sufficient(variables, values, program, *arguments):
    """Returns the first value that keeps 95 % of the gain of the last value."""
    today = faults_of(program, *arguments)
    faults = {value: faults_of(program, *arguments, **{each: str(value) for each in variables}) for value in values}
    needed = today - 0.95 * (today - faults[values[-1]])
    return next(value for value in values if faults[value] <= needed)


def members(found):
    return {member["remedy"]: member for member in found.json["frontier"]["members"]}


def knee(found):
    [member] = [each for each in found.json["frontier"]["members"] if each["knee"]]
    assert member["remedy"] == found.advice["remedy"] and found.advice["line"].startswith(member["line"] + " ")
    return member


def value_in(line, variable):
    return int(dict(word.split("=", 1) for word in line.split())[variable])


@pytest.mark.long(LONG)
def test_the_smallest_sufficient_trim_threshold_of_many_small_objects():
    found = advise(PROGRAMS / "small_batches", "500", options=["--frontier", *QUICK])
    assert found.json["frontier"]["steer"] == "faults"
    line = knee(found)["line"]
    variable = line.split("=", 1)[0]
    assert variable in ("MALLOC_TRIM_THRESHOLD_", "MALLOC_TOP_PAD_"), found.out
    true = smallest_sufficient([variable], [1 << k for k in range(17, 27)], "small_batches", "500")
    assert true / 2 <= value_in(line, variable) <= true * 2, (true, found.out)
    assert found.remedy(found.advice["remedy"])["ratios"]["faults"]["high"] < 0.05
    assert "today: unchanged" in found.out and "* " + found.advice["remedy"] in found.out


@pytest.mark.long(LONG)
def test_one_threshold_alone_harms_a_pair_of_processes():
    found = advise(PROGRAMS / "two_processes", "160", "4", options=["--frontier", *QUICK])
    assert found.remedy(found.advice["remedy"])["ratios"]["faults"]["high"] < 0.1, found.out
    today = faults_of("two_processes", "160", "4")
    [both] = [each for each in found.json["frontier"]["levers"] if each["name"] == "glibc: both thresholds"]
    assert len(both["alone"]) == 2
    for part in both["alone"]:
        setting = dict([part["sentence"].split(" ", 1)[0].split("=", 1)])
        assert part["harms"] and faults_of("two_processes", "160", "4", **setting) > 1.1 * today
        assert " alone harms: 1." in part["sentence"] and part["sentence"] in " ".join(found.out.split())
    sufficient = [each for each in both["remedies"] if any(each + " " in words for words in both["sufficient"])]
    true = smallest_sufficient(["MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_"], [1 << k for k in range(20, 28)],
                               "two_processes", "160", "4")
    values = [value_in(found.remedy(name)["line"], "MALLOC_TRIM_THRESHOLD_") for name in sufficient]
    assert true in values, (true, found.out)


@pytest.mark.long(LONG)
def test_memory_that_threads_freed_stays_and_one_setting_returns_it():
    found = advise(PROGRAMS / "idle_threads", *THREADS, options=["--frontier", "--goal", "idle", *QUICK])
    today, best = members(found)[None]["figures"], knee(found)["figures"]
    assert (today["idle_measure"], best["idle_measure"]) == ("idle", "idle")
    assert today["idle_bytes"] > 8 * 2_900_000 * 0.95 and best["idle_bytes"] < 5 * MIB, found.out
    # One arena returns the memory at the same faults. A pinned mmap threshold has all blocks zeroed again.
    assert "MALLOC_ARENA_MAX=" in found.advice["line"] and best["faults"] < 1.1 * today["faults"]
    assert best["peak_bytes"] > 0.9 * today["peak_bytes"]
    assert found.remedy("glibc: mmap threshold 64 KiB")["ratios"]["faults"]["median"] > 1.5


@pytest.mark.long("a search with ten rounds")
def test_the_goal_memory_tells_that_only_memory_at_idle_falls():
    found = advise(PROGRAMS / "idle_threads", *THREADS, options=["--goal", "memory", "--settings-only", "--rounds", "10"])
    assert found.advice["kind"] == "nothing_helps"
    other = found.advice["less_at_idle"]
    assert "memory at idle falls from 2" in other["sentence"] and "--goal idle confirms it" in other["sentence"]
    assert other["sentence"] in " ".join(found.out.split())
    assert found.remedy(other["remedy"])["ratios"]["idle"]["median"] < 0.25
    confirmed = advise(PROGRAMS / "idle_threads", *THREADS, options=["--goal", "idle", "--settings-only", "--rounds", "10"])
    assert confirmed.remedy(confirmed.advice["remedy"])["ratios"]["idle"]["high"] < 0.3
    assert "MALLOC_ARENA_MAX=1" in confirmed.advice["line"], confirmed.out


@pytest.mark.long(LONG)
def test_the_memory_of_a_fleet_is_the_sum_of_its_processes():
    found = advise(PROGRAMS / "idle_fleet", *FLEET, options=["--frontier", "--goal", "idle", *QUICK])
    today, best = members(found)[None]["figures"], knee(found)["figures"]
    assert today["idle_measure"] == "idle" and 8 * 3.5 * MIB < today["idle_bytes"] < 8 * 5 * MIB, today
    # The blocks have 100 KiB, so that only a threshold below 128 KiB maps them.
    assert "MALLOC_MMAP_THRESHOLD_=65536" in found.advice["line"] and best["idle_bytes"] < 8 * MIB, found.out


@pytest.mark.long(LONG)
def test_no_setting_beyond_the_given_memory_is_shown():
    options = ["--frontier", "--max-memory", "+1MiB", *QUICK]
    found = advise(PROGRAMS / "two_processes", "160", "4", options=options)
    today = members(found)[None]["figures"]
    assert found.json["frontier"]["most_extra_bytes"] == MIB
    for member in members(found).values():
        assert member["figures"]["peak_bytes"] < today["peak_bytes"] + 1.5 * MIB, found.out
        # The mean memory of a run with fewer than ten samples is n/a.
        if "na" not in str(today["idle_bytes"]) + str(member["figures"]["idle_bytes"]):
            assert member["figures"]["idle_bytes"] < today["idle_bytes"] + 1.5 * MIB, found.out


def test_what_is_known_of_a_frontier_that_is_interrupted(tmp_path):
    document = tmp_path / "advise.json"
    # The search announces its time after the first unchanged runs.
    out, _ = interrupt("advise", "--frontier", "--settings-only", "--json", document, "--", "sleep", "0.2", said="at most")
    assert "interrupted" in out and "today: unchanged" in out
    assert '"complete": false' in document.read_text()


def test_the_longest_search_is_announced_before_it_begins(tmp_path):
    document = tmp_path / "advise.json"
    command = [ZEROTAX, "advise", "--frontier", "--settings-only", "--json", document, "--", "sleep", "0.2"]
    with subprocess.Popen([str(word) for word in command], env=clean_environment(), stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True) as process:
        announced = next(line for line in process.stderr if "at most" in line)
        assert process.poll() is None and not document.exists()
        process.communicate(timeout=300)
    most, = re.fullmatch(r"zerotax: at most (\d+) runs of \S+ m?s each, about .+ in total\n", announced).groups()
    found = json.loads(document.read_text())
    assert found["complete"] and len(found["runs"]) <= int(most)
    assert found["frontier"]["left_out"] == []


@pytest.mark.parametrize(("options", "words"), [
    (["--max-memory", "+10%"], "--frontier"),
    (["--frontier", "--max-memory", "10%"], "+10% or +64MiB"),
    (["--frontier", "--max-memory", "+x%"], "+10% or +64MiB"),
    (["--frontier", "--max-memory", "+1MiB", "--memory", "2"], "--memory"),
    (["--frontier", "--all"], "--all"),
    (["--frontier", "--ready", "true", "--load", "true", "--load", "false"], "leave out all --load but one"),
])
def test_options_that_do_not_go_together_are_refused(options, words):
    done = zerotax("advise", *options, "--", "/bin/true")
    assert (done.returncode, done.stdout) == (2, "")
    assert words in done.stderr and done.stderr.count("\n") == 1, done.stderr
