"""Tests `zerotax advise` on programs whose best remedy is known. The command must prove the right remedy, and recommend
nothing if nothing helps.
"""

import subprocess

import pytest
from advising import PROGRAMS, advise
from allocators_here import available, library_of, only_version
from conftest import BUILD, interrupt, zerotax
from waiting import free_port

FEW = ["--allocator", "jemalloc", "--allocator", "mimalloc", "--rounds", "12"]


def keeps_its_heap(line):
    return "MALLOC_TRIM_THRESHOLD_=1073741824" in line and "MALLOC_MMAP_THRESHOLD_=1073741824" in line


@pytest.mark.long("every remedy tried and confirmed")
def test_memory_that_glibc_trims_and_needs_again():
    found = advise(PROGRAMS / "refill_by_trim", options=FEW)
    assert (found.status, found.advice["kind"]) == (0, "remedy")
    assert keeps_its_heap(found.advice["line"]) and found.advice["line"].endswith("/refill_by_trim")
    # Each of 20 rounds except the first refills 8 MiB.
    assert found.json["recording"]["refilled_bytes"] > 19 * 8 * 2**20 * 0.95
    assert found.json["recording_after"]["refilled_bytes"] < 2**20
    assert found.remedy(found.advice["remedy"])["ratios"]["faults"]["high"] < 0.1
    # The remedy keeps the heap of 8 MiB until the program's end, even while the program is idle.
    kept = found.json["recording_after"]["kept_bytes"]
    assert 7 * 2**20 < kept < 16 * 2**20 and "Memory stays:" in found.advice["costs"], found.out
    confirmed = [each for each in found.json["confirmations"] if each["confirmed"]]
    assert len(confirmed) == 1 and confirmed[0]["remedy"] == found.advice["remedy"]
    assert len(confirmed[0]["pairs"]) >= 12 and confirmed[0]["p"] <= 0.0025
    # A remedy is left out if it cannot work here: mimalloc 2.0.9 lacks its setting, or only one thread used the
    # allocator.
    assert "2.0.9" in found.why_not_tried("mimalloc: no purge") or found.remedy("mimalloc: no purge")
    assert found.why_not_tried("glibc: one arena") == "no two threads of a process used the allocator"


@pytest.mark.long("remedies under other names")
def test_settings_of_an_allocator_that_a_program_brings_under_other_names():
    found = advise(PROGRAMS / "prefixed", options=["--settings-only", "--rounds", "12"])
    assert found.advice["line"].startswith("_RJEM_MALLOC_CONF=") and "dirty_decay_ms:-1" in found.advice["line"], found.out
    assert found.advice["remedy"].startswith("jemalloc in prefixed: no decay")
    assert found.json["recording"]["refilled_bytes"] > 59 * 8 * 2**20 * 0.95
    assert found.json["recording_after"]["refilled_bytes"] < 2**20
    # This program does not read MALLOC_CONF, so no remedy sets it.
    assert not any("MALLOC_CONF" in remedy["env"] for remedy in found.json["remedies"])


@pytest.mark.long("a search with twelve rounds")
@pytest.mark.skipif(not (PROGRAMS / "brings_jemalloc").exists(), reason="there is no libjemalloc.a")
def test_settings_of_the_jemalloc_that_a_program_is_linked_with():
    found = advise(PROGRAMS / "brings_jemalloc", options=["--settings-only", "--rounds", "12"])
    assert found.advice["line"].startswith("MALLOC_CONF=") and "dirty_decay_ms:-1" in found.advice["line"], found.out
    assert found.advice["remedy"].startswith("jemalloc in brings_jemalloc: no decay")
    assert found.remedy(found.advice["remedy"])["ratios"]["faults"]["high"] < 0.2


@pytest.mark.long("a search with twelve rounds")
def test_prefaulting_is_tried():
    found = advise(PROGRAMS / "fresh", options=["--allocator", "largecache", "--rounds", "12"])
    row = found.remedy("largecache: adaptive, prefaulting")
    assert row["env"]["LARGECACHE_POPULATE"] == "64MiB" and row["verdict"] != "BREAKS", found.out
    # Pages that madvise populates count as faults in the kernel, although the program takes no fault (mm/memory.c,
    # mm_account_fault).
    assert 0.99 < row["ratios"]["faults"]["median"] < 1.01, found.out


@pytest.mark.long("a search with twelve rounds")
@pytest.mark.parametrize("program", ["refill_by_mmap", "forks"])
def test_memory_that_is_returned_at_each_free_or_in_each_child(program):
    found = advise(PROGRAMS / program, options=FEW)
    assert found.status == 0 and keeps_its_heap(found.advice["line"]), found.out
    assert found.remedy(found.advice["remedy"])["ratios"]["faults"]["high"] < 0.2


@pytest.mark.long("a search with twelve rounds")
@available("jemalloc")
def test_a_program_that_crashes_under_an_allocator():
    found = advise(PROGRAMS / "hates_jemalloc", options=FEW)
    assert keeps_its_heap(found.advice["line"]), found.out
    row = found.remedy("jemalloc")
    assert row["verdict"] == "BREAKS" and row["runs"] == 1
    assert row["reason"] == "was killed by SIGABRT (no jemalloc, please)"
    assert found.why_not_tried("jemalloc: no decay") == "a part of it did not work"


@pytest.mark.long("a search with twelve rounds")
@available("jemalloc")
def test_a_program_that_prints_something_else_under_an_allocator():
    found = advise(PROGRAMS / "differs", options=["--allocator", "jemalloc", "--rounds", "12"])
    assert keeps_its_heap(found.advice["line"]), found.out
    assert found.remedy("jemalloc")["verdict"] == "CHANGED OUTPUT" and found.remedy("jemalloc")["runs"] == 1
    assert "CHANGED OUTPUT" in found.out


@pytest.mark.long("a search with twelve rounds")
@only_version("mimalloc", "2.0.9")
def test_an_allocator_that_clears_what_is_zero_is_replaced():
    mimalloc = library_of("mimalloc")
    found = advise(PROGRAMS / "redundant_calloc", options=["--allocator", "jemalloc", "--rounds", "12"], LD_PRELOAD=mimalloc)
    assert found.json["present"]["allocator"] == "mimalloc"
    line = found.advice["line"]
    assert line.startswith("LD_PRELOAD=") and "mimalloc" not in line, found.out
    # The allocator clears 20 blocks of 24 MiB that are already zero.
    assert found.json["recording"]["zeroed_bytes"] >= 20 * 24 * 2**20
    assert found.json["recording_after"]["zeroed_bytes"] < found.json["recording"]["zeroed_bytes"]


def test_a_program_that_clears_by_itself():
    found = advise(PROGRAMS / "by_hand", options=FEW)
    assert (found.status, found.advice["kind"], found.advice["line"]) == (0, "nothing_helps", None)
    assert "own memset is the cost" in found.advice["sentence"]
    assert "by_hand.c:" in found.advice["sentence"]


@pytest.mark.long("a search with twelve rounds")
def test_the_fastest_remedy_takes_too_much_memory():
    options = [*FEW, "--all", "--env", "glibc:GREEDY=1", "--env", "glibc:FRUGAL=1"]
    found = advise(PROGRAMS / "greedy", options=options)
    assert "FRUGAL=1" in found.advice["line"] and "GREEDY=1" not in found.advice["line"], found.out
    assert "GREEDY=1" in found.advice["faster_still"]["line"]
    assert "times the peak memory" in found.advice["faster_still"]["sentence"]
    assert found.remedy("glibc:GREEDY=1")["heavy"]


def test_a_remedy_that_breaks_the_program_or_takes_too_much_memory_is_a_row():
    options = ["--all", "--settings-only", "--rounds", "10", "--env", "glibc:BREAKS=1", "--env", "glibc:HUNGRY=1"]
    found = advise(PROGRAMS / "fragile", options=options)
    assert found.status == 0, found.err
    broken = found.remedy("glibc:BREAKS=1")
    assert (broken["verdict"], broken["runs"]) == ("BREAKS", 1)
    assert broken["reason"] == "ended with exit status 127 (fragile: cannot be loaded)"
    hungry = found.remedy("glibc:HUNGRY=1")
    assert (hungry["verdict"], hungry["runs"]) == ("MORE MEMORY", 1), hungry
    assert "twice the memory of the unchanged program plus 256 MiB" in hungry["reason"]
    assert [run["end"] for run in found.json["runs"] if run["remedy"] == "glibc:HUNGRY=1"] == ["more_memory"]
    assert "BREAKS" in found.out and "MORE MEMORY" in found.out


@pytest.mark.parametrize(("way", "least", "most"), [("one", 64, 90), ("all", 120, 170)])
def test_the_peak_of_several_processes_is_of_one_time(way, least, most):
    found = advise(BUILD / "tests" / "recorded" / "fleet", way, options=["--all", "--settings-only", "--rounds", "10"])
    peak = found.json["present"]["figures"]["peak_bytes"]
    assert least * 2**20 <= peak <= most * 2**20, peak


def test_a_program_that_hardly_allocates():
    found = advise("/bin/sh", "-c", "i=0; while [ $i -lt 600000 ]; do i=$((i+1)); done; echo $i")
    assert (found.status, found.advice["kind"]) == (0, "nothing_to_gain")
    assert found.json["remedies"] == [] and found.json["runs"] == []


@pytest.mark.long("a search with twelve rounds")
def test_a_server_under_its_load():
    port = free_port()
    client = f"{PROGRAMS / 'serves'} {port}"
    options = [*FEW, "--ready", f"{client} 1", "--load", f"{client} 10"]
    found = advise(PROGRAMS / "serves", str(port), options=options)
    assert keeps_its_heap(found.advice["line"]), found.out
    left = subprocess.run(["pgrep", "-f", f"{PROGRAMS / 'serves'} {port}"], capture_output=True, text=True, check=False)
    assert left.stdout == ""


@pytest.mark.long("two searches with ten rounds")
def test_a_server_under_two_loads():
    port = free_port()
    client = f"{PROGRAMS / 'serves'} {port}"
    # Page faults are the goal, because their numbers repeat.
    options = ["--settings-only", "--rounds", "10", "--goal", "faults", "--ready", f"{client} 1 maps"]
    loads = [f"{client} 10", f"{client} 10 maps"]
    found = advise(PROGRAMS / "serves", str(port), options=[*options, *[word for load in loads for word in ("--load", load)]])
    under = found.json["loads"]
    assert [each["load"] for each in under["each"]] == loads
    # A setting of the allocator helps under the first load, and changes nothing under the second.
    assert [each["recommendation"]["kind"] for each in under["each"]] == ["remedy", "nothing_helps"], found.out
    assert under["remedy"] == found.advice["remedy"] and found.advice["line"].startswith(under["line"])
    [same] = [row for row in under["each"][1]["remedies"] if row["name"] == under["remedy"]]
    assert same["verdict"] not in ("LESS", "MORE") and 0.9 < same["ratios"]["faults"]["median"] < 1.1
    assert "does no harm under any of the 2 loads" in " ".join(found.out.split())


@pytest.mark.long("a search with twelve rounds")
def test_an_allocator_and_a_setting_of_ones_own(tmp_path):
    library = library_of("largecache")
    options = ["--allocator", f"mine={library}", "--env", "mine:LARGECACHE_POLICY=memset", "--rounds", "12"]
    found = advise(PROGRAMS / "refill_by_trim", options=options)
    assert found.remedy("mine")["preload"] == library
    assert found.remedy("mine:LARGECACHE_POLICY=memset")["env"] == {"LARGECACHE_POLICY": "memset"}


@pytest.mark.long("a search with twelve rounds")
def test_settings_of_the_programs_own_allocator_only():
    found = advise(PROGRAMS / "refill_by_trim", options=["--settings-only", "--rounds", "12"])
    assert keeps_its_heap(found.advice["line"])
    assert all(each["preload"] is None for each in found.json["remedies"])
    assert found.why_not_tried("other allocators") == "as asked for"


def test_what_is_known_when_it_is_interrupted(tmp_path):
    document = tmp_path / "advise.json"
    text, _ = interrupt("advise", "--all", "--json", document, "--", PROGRAMS / "refill_by_trim", after_s=1)
    assert "interrupted" in text
    assert '"complete": false' in document.read_text()


TABLE = [
    (["--", "no-such-command"], "no-such-command"),
    (["--", "/bin/false"], "exit status 1"),
    (["--", str(PROGRAMS / "unsteady")], "prints different text"),
    (["--timeout", "1", "--", "/bin/sleep", "100"], "within 1 s"),
    (["--", "/bin/sh", "-c", "read -r line < /dev/tty"], "no terminal"),
    (["--", "/bin/sh", "-c", "kill -SEGV $$"], "SIGSEGV"),
]


@pytest.mark.parametrize("arguments,word", TABLE, ids=[word for _, word in TABLE])
def test_what_cannot_be_advised_on_is_refused_in_one_line(arguments, word):
    done = zerotax("advise", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert word in done.stderr and done.stderr.count("\n") == 1, done.stderr


def test_nothing_is_left_running():
    marker = "31.4159"
    # Starts two processes: one has its own session, the other is in the background.
    done = zerotax("advise", "--timeout", "1", "--", "/bin/sh", "-c", f"setsid sleep {marker} & sleep {marker}")
    assert done.returncode == 2
    assert subprocess.run(["pgrep", "-f", f"sleep {marker}"], capture_output=True, check=False).stdout == b""


def test_output_that_may_differ():
    done = zerotax("advise", "--ignore-output", "--", PROGRAMS / "unsteady")
    assert done.returncode == 0, done.stderr
