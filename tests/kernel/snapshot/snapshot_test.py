"""`zerotax snapshot`: every snapshot is correct, a wrong snapshot is found, and the copies of each process are reported
exactly.
"""

import json
import os
import shutil
import signal
import subprocess

import pytest
from conftest import (
    BUILD, INTERRUPTED_BY_SIGINT, MIB, NOBODY, PAGE, ZEROTAX, check_schema, clean_environment, is_na, mostly_long, options,
    planted, skip_if_unreadable, zerotax)
from waiting import children_named, wait_for

PROGRAM = BUILD / "libexec" / "fork-snapshot"
ARRAY = 4 * MIB
PAGES = ARRAY // PAGE
ALL = ["none", "copy_first", "fork", "fork_dontneed", "fork_huge", "fork_munmap", "fork_populate", "shared_stop", "uffd_wp"]
UNREMEDIED = ["fork", "fork_dontneed", "fork_huge", "fork_munmap"]
WITH_CHILD = [*UNREMEDIED, "fork_populate"]
# Upper bound of pages that are copied although no process shares them: pages on other CPUs' lists of 31 pages
# (docs/cow.md).
HELD_ELSEWHERE = 31 * (os.cpu_count() or 1)
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="every fault is root's to see")
pytestmark = pytest.mark.skipif(not PROGRAM.exists(), reason="this build has no fork-snapshot")


def snapshot(*arguments, status=0, **how):
    """Runs `zerotax snapshot` with these arguments, and returns its document after checking it."""
    done = zerotax("snapshot", *arguments, "--json", "-", **how)
    assert done.returncode == status, done.stderr or done.stdout[:2000]
    document = json.loads(done.stdout)
    check_schema(document, "snapshot")
    return document


def small(*arguments, **how):
    """A snapshot of 4 MiB with a single writer, whose counts are exact."""
    return snapshot("--size", ARRAY, "--writers", 1, "--rounds", 1, *arguments, **how)


def result_of(document, alternative):
    [found] = [result for result in document["results"] if result["alternative"] == alternative]
    if found["status"] == "skipped":
        pytest.skip(found["reason"])
    assert found["status"] == "ok", found["reason"]
    return found


def counts(result, part, figure="faults"):
    found = result[figure]
    assert found["lost"] == 0
    return found[part]["copies"], found[part]["reuses"]


@pytest.fixture(scope="module")
def half():
    """A snapshot whose writer resumes when half of the array is copied. The child exists until the writer has ended."""
    return small("--hold", 0.5)


@pytest.fixture(scope="module")
def free_running():
    return small()


@pytest.mark.parametrize("arguments", mostly_long([
    ["--size", "8MiB", "--writers", 3, "--checkpointers", 3, "--passes", 3],
    ["--size", 9 * MIB + PAGE, "--batch", "1MiB", "--writers", 7, "--checkpointers", 2],
    ["--size", MIB + PAGE, "--batch", "128KiB", "--writers", 7, "--checkpointers", 2],
    ["--size", "1MiB", "--batch", PAGE, "--writers", 2, "--checkpointers", 5],
    ["--size", PAGE, "--batch", PAGE, "--writers", 5, "--passes", 1],
    ["--size", "8MiB", "--batch", "8MiB", "--writers", 2, "--hold", 0.25],
], [["--size", MIB + PAGE, "--batch", "128KiB", "--writers", 7, "--checkpointers", 2]], "other shapes of the same"),
    ids=lambda words: " ".join(map(str, words)))
def test_each_element_of_each_snapshot_is_as_it_was_at_its_instant(arguments):
    document = snapshot(*arguments, "--rounds", 1)
    assert [result["alternative"] for result in document["results"]] == ALL
    for result in document["results"]:
        if result["status"] == "skipped":
            continue
        assert result["status"] == "ok", result["reason"]
        if result["alternative"] == "none":
            assert is_na(result["checked_elements"])
        else:
            assert result["checked_elements"] * 8 == document["parameters"]["array_bytes"]


def test_a_snapshot_that_is_wrong_is_found():
    names = ["planted_late", "planted_torn", "fork"]
    document = small(*options("alternative", names), status=1)
    late, torn, _ = document["results"]
    for wrong in (late, torn):
        assert wrong["status"] == "wrong" and f"of {ARRAY // 8} elements" in wrong["reason"]
        assert is_na(wrong["writers_wall_ns"]) and is_na(wrong["faults"])
    assert torn["reason"].startswith("1 of ") and torn["reason"].endswith(f" {ARRAY // 16}")
    result_of(document, "fork")


def test_one_that_crashes_hangs_or_cannot_is_a_row_with_its_reason():
    names = ["planted_crash", "planted_hang", "planted_skipped", "planted_failing", "planted_killed", "none"]
    document = small(*options("alternative", names), "--timeout", 3, status=1)
    assert [(result["status"], result["reason"]) for result in document["results"]] == [
        ("crashed", "killed by SIGSEGV"), ("timeout", "not done after 3 s"), ("skipped", "it never can"),
        ("failed", "exited with status 3: fork-snapshot: it had to fail"),
        ("failed", "exited with status 3: fork-snapshot: the child was killed by SIGKILL"), ("ok", None)]
    [killed] = small("--alternative", "planted_killed", "--hold", 0.5, status=1)["results"]
    assert killed["status"] == "failed" and "SIGKILL" in killed["reason"], "nobody waits for a child that is gone"
    done = zerotax("snapshot", "--size", "1MiB", "--batch", "1MiB", "--alternative", "planted_skipped")
    assert done.returncode == 0 and "planted_skipped under glibc: skipped: it never can" in done.stdout


@as_root
@pytest.mark.parametrize(("name", "copies"), [
    ("none", 0), ("copy_first", 0), ("shared_stop", 0), ("fork", PAGES), ("fork_huge", PAGES), ("fork_munmap", PAGES // 2),
    ("fork_populate", PAGES),
    ("fork_dontneed", PAGES // 2), ("uffd_wp", 0)])
def test_with_a_child_that_is_half_way_the_parent_copies_exactly_what_it_still_has(half, name, copies):
    result = result_of(half, name)
    found = counts(result, "before_end")
    assert copies <= found[0] <= copies + HELD_ELSEWHERE
    if name.startswith("fork"):
        assert sum(found) == PAGES
    assert counts(result, "after_end") == (0, 0)
    assert result["has_child"] is (name in WITH_CHILD)


@as_root
@pytest.mark.parametrize("name", UNREMEDIED)
def test_after_the_childs_end_the_parent_reuses_its_pages_and_copies_none(half, name):
    result = result_of(half, name)
    copies, reuses = counts(result, "after_end", "faults_held")
    assert copies <= HELD_ELSEWHERE
    if name != "fork_huge":
        assert copies + reuses == PAGES
    assert result["faults_held"]["exclusive_pages"] == result["faults_held"]["pages"] == PAGES
    assert counts(result, "before_end", "faults_held") == (0, 0)


@pytest.mark.long("a run of every alternative at full speed")
@as_root
def test_every_fault_that_the_kernel_counts_is_told_of(half, free_running):
    for document in (half, free_running):
        for result in document["results"]:
            for figure in ("faults", "faults_held"):
                if not is_na(result[figure]):
                    assert result[figure]["traced"] == result[figure]["counted"], (result["alternative"], figure)


@pytest.mark.long("a run of every alternative at full speed")
@as_root
def test_nobody_copies_more_pages_than_there_are(free_running):
    for name in ALL:
        found = result_of(free_running, name)
        copies = counts(found, "before_end")[0] + counts(found, "after_end")[0]
        assert copies <= (PAGES + HELD_ELSEWHERE if name in WITH_CHILD else 0), name
        assert sum(b["copies"] for b in found["faults"]["timeline"]["bins"]) == copies


@pytest.mark.long("a run of every alternative at full speed")
@as_root
def test_the_kernels_time_is_told_by_sections(free_running):
    cpu = result_of(free_running, "fork")["cpu"]
    for part in ("before_end", "after_end"):
        # Each section's time is rounded down, so their sum may be smaller by up to 1 ns per section.
        apart = cpu[part]["kernel_ns"] - sum(cpu[part]["sections_ns"].values())
        assert 0 <= apart < len(cpu[part]["sections_ns"])
    assert cpu["before_end"]["kernel_ns"] > 0


def test_memory_is_what_the_copies_take(half):
    for name in ALL:
        memory = result_of(half, name)["memory"]
        # Before the snapshot, the array and the destination are in memory.
        assert 2 * ARRAY <= memory["before_bytes"] < 2 * ARRAY + 4 * MIB
        added = memory["peak_bytes"] - memory["before_bytes"]
        if name in ("fork", "fork_huge", "fork_populate"):
            assert ARRAY * 0.9 <= added <= ARRAY + 2 * MIB
        elif name in ("fork_munmap", "fork_dontneed"):
            assert added <= ARRAY // 2 + 2 * MIB
        else:
            assert added < 2 * MIB


def as_nobody(*arguments, **how):
    skip_if_unreadable()
    return small(*arguments, prefix=NOBODY, **how)


@pytest.mark.long("all alternatives again")
@as_root
@pytest.mark.skipif(shutil.which("setpriv") is None, reason="setpriv is missing: install util-linux")
def test_an_ordinary_user_is_told_the_same_but_for_what_only_root_sees():
    document = as_nobody("--hold", 0.5)
    for name in ALL:
        assert result_of(document, name)["status"] == "ok"
    check_as_ordinary_user(document)


@pytest.mark.long("all alternatives again")
def test_without_tracepoints_the_same_is_told(half):
    check_as_ordinary_user(small("--hold", 0.5, ZEROTAX_FAULTS="software"), root=os.geteuid() == 0)


def check_as_ordinary_user(document, root=False):
    fork = result_of(document, "fork")
    assert fork["faults"]["method"] == "software"
    assert counts(fork, "before_end") == (PAGES, 0)
    assert counts(fork, "after_end", "faults_held") == (0, PAGES)
    for name in ("none", "copy_first", "shared_stop"):
        assert counts(result_of(document, name), "before_end") == (0, 0)
    for name in ("uffd_wp", "fork_huge"):
        assert "root" in result_of(document, name)["faults"]["na"]
    if not root:
        assert is_na(fork["cpu"]["before_end"]["kernel_ns"])
    else:
        assert fork["cpu"]["before_end"]["kernel_ns"] >= 0


def test_the_array_comes_from_the_allocator_that_is_asked_for():
    document = small(*planted("planted_read_only"), "--alternative", "fork", "--alternative", "shared_stop", status=1)
    private, shared = document["results"]
    assert private["status"] == "crashed"
    assert shared["status"] == "ok", "a shared array is of no allocator"


@pytest.mark.long("all alternatives again")
def test_the_table_and_the_answers_have_at_most_80_columns_and_the_figure_is_drawn_on_request(tmp_path):
    done = zerotax("snapshot", "--size", "512KiB", "--batch", "512KiB", "--rounds", 1, "--full", "--svg", tmp_path / "figure.svg")
    assert done.returncode == 0, done.stderr
    assert "no python3 with matplotlib" in done.stderr or "<svg" in (tmp_path / "figure.svg").read_text()
    lines = done.stdout.splitlines()
    assert all(len(line) <= 80 for line in lines), max(lines, key=len)
    heading = next(i for i, line in enumerate(lines) if line.startswith("alternative"))
    assert [line.split()[0] for line in lines[heading + 1:heading + 1 + len(ALL)]] == ALL
    assert "Is it copying?" in lines and "How to avoid it?" in lines


def test_the_case_is_listed_and_run_names_its_command():
    assert "fork_snapshot" in zerotax("list").stdout and "zerotax snapshot" in zerotax("list").stdout
    done = zerotax("run", "--case", "fork_snapshot", "--size", "1MiB")
    assert done.returncode == 2 and "zerotax snapshot" in done.stderr and len(done.stderr.splitlines()) == 1


def test_when_interrupted_it_keeps_what_was_finished_and_leaves_nothing_running(tmp_path):
    running = subprocess.Popen(
        [ZEROTAX, "snapshot", "--size", "4MiB", "--alternative", "none", "--alternative", "planted_hang", "--json",
         tmp_path / "s.json"],
        env=clean_environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
    assert wait_for(lambda: children_named(running.pid, "alternative=planted_hang"))
    running.send_signal(signal.SIGINT)
    _, err = running.communicate(timeout=60)
    assert running.returncode == INTERRUPTED_BY_SIGINT and "interrupted" in err
    document = json.loads((tmp_path / "s.json").read_text())
    check_schema(document, "snapshot")
    assert document["state"] == "interrupted"
    none, hang = document["results"]
    assert none["status"] == "ok" and none["runs"] == 1 and "interrupted" in none["memory"]["na"]
    assert hang["status"] == "skipped" and "interrupted" in hang["reason"]
    assert not children_named(running.pid, "fork-snapshot")


def test_the_program_refuses_what_makes_no_sense_by_itself():
    for words in [[], ["alternative=fork"], ["alternative=fork", "array=5000", "batch=4096"],
                  ["alternative=fork", "array=4096", "batch=8192"], ["alternative=x", "array=4096", "batch=4096"],
                  ["alternative=fork", "array=4096", "batch=4096", "writers=0"], ["array"], ["colour=red"],
                  ["alternative=fork", "array=4096", "batch=4096", "hold=2"]]:
        done = subprocess.run([PROGRAM, *words], capture_output=True, text=True, check=False)
        assert done.returncode == 2 and len(done.stderr.splitlines()) == 1, (words, done.stderr)
