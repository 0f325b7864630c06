"""`zerotax findings` finds exactly the planted flaws, and the known ones of real allocators."""

import json
import shutil

import pytest
from conftest import (
    BUILD, KIB, MIB, SOURCE, UNHURRIED_MIMALLOC, check_schema, is_na, measure, one_fault_brings_one_page, options,
    planted, watches_inline_stores, zerotax)

REFERENCE = SOURCE / "results" / "reference"


def find(tmp_path, run, *arguments):
    """Returns the checked findings of a run, and the exit status."""
    file = tmp_path / "run.json"
    file.write_text(json.dumps(run))
    done = zerotax("findings", file, "--json", "-", *arguments)
    assert done.returncode in (0, 1), done.stderr
    found = json.loads(done.stdout)
    check_schema(found, "findings")
    assert found["run"] == str(file)
    assert done.returncode == bool(found["findings"])
    return found["findings"]


def names(findings):
    """Returns the ids of findings without the name of the allocator."""
    return {each["id"].removeprefix(each["allocator"] + "-") for each in findings}


# Findings about each policy at these sizes, with nothing and with everything touched, on both threads.
SIZES = [64 * KIB, MIB, 8 * MIB]
FIRST = "redundant-fresh-first-1MiB"
PLANTED = {
    "planted_never": {"purge-storm-1MiB"},
    "planted_memset": {FIRST, "redundant-reuse-1MiB"},
    "planted_inline": {FIRST, "redundant-reuse-1MiB"},
    # This policy zeroes from just below 1 MiB on, and maps smaller blocks in each call.
    "planted_memset_above": {FIRST, "redundant-reuse-1MiB", "purge-storm-64KiB"},
    "planted_half": {"redundant-reuse-1MiB", "first-calls-differ-1MiB", "purge-storm-1MiB"},
    "planted_dirty": {"not-zero-1MiB"},
    # With nothing touched, the zeros of the worker differ from the main thread's; with everything touched, the main
    # thread's faults differ.
    "planted_threshold_worker": {"worker-differs-1MiB", "worker-differs-cheaper-1MiB", "purge-storm-1MiB"},
}


@pytest.fixture(scope="module")
def run():
    return measure(*planted(*PLANTED), *options("size", SIZES), *options("touch", [0, 1]),
                   *options("thread", ["main", "worker"]), "--ops", 8, status=1)


@pytest.mark.parametrize("name", PLANTED)
def test_what_is_planted_is_found_and_nothing_else(tmp_path, run, name):
    if not one_fault_brings_one_page(run) or (name == "planted_inline" and not watches_inline_stores(run)):
        pytest.skip("this machine cannot see it")
    assert names(find(tmp_path, run, "--allocator", name)) == PLANTED[name]


def test_an_untouched_block_that_is_mapped_anew_is_no_finding(tmp_path):
    quiet = measure(*planted("planted_never", "planted_populate"), *options("size", SIZES), "--ops", 8)
    assert find(tmp_path, quiet) == []


def test_a_cliff_is_found_at_its_byte(tmp_path):
    run = measure(*planted("planted_memset_above"), "--size", 1_000_003, "--size", 1_000_004, "--ops", 8)
    cliff, = [each for each in find(tmp_path, run) if each["rule"] == "cliff"]
    assert cliff["id"] == "planted_memset_above-cliff-1000004"
    assert [entry["figures"]["zeroed_bytes"] for entry in cliff["evidence"]] == [0, 1_000_004]


def test_the_evidence_is_of_the_points(tmp_path, run):
    found, = [each for each in find(tmp_path, run, "--allocator", "planted_memset") if each["rule"] == "redundant-reuse"]
    assert found["severity"] == "medium"
    assert {(e["size_bytes"], e["touch"], e["thread"]) for e in found["evidence"]} == {
        (size, 0, thread) for size in SIZES for thread in ("main", "worker")}
    for entry in found["evidence"]:
        assert entry["figures"]["redundant_zeroed_bytes"] == entry["size_bytes"]
    assert f"{MIB:,}" in found["title"] and found["knobs"] == []


# Known flaws of Debian 12's allocators (docs/findings.md), by their versions.
REAL = {
    ("glibc", "2.36"): {"redundant-reuse-20MiB", "first-calls-differ-20MiB", "purge-storm-100MiB"},
    ("jemalloc", "5.3.0"): {"purge-storm-1MiB", "purge-storm-100MiB"},
    ("mimalloc", "2.0.9"): {"redundant-fresh-100MiB", FIRST, "redundant-reuse-1MiB"},
    ("tcmalloc", "2.10"): {"redundant-fresh-first-100MiB", "redundant-reuse-100MiB"},
    ("tbbmalloc", "2021.8"): {"redundant-fresh-100MiB", "redundant-fresh-first-20MiB", "redundant-reuse-20MiB"},
    ("scudo", "14.0.6"): {"purge-storm-100MiB"},
    ("largecache", "0.1.0 (116)"): {"redundant-reuse-100MiB", "first-calls-differ-100MiB"},
}


@pytest.mark.long("seven allocators at three sizes")
def test_the_real_ones_are_found_to_do_what_they_are_known_to_do(tmp_path):
    run = measure(*[word for name, _ in REAL for word in ("--allocator", name) if (BUILD / "bin" / f"bench-{name}").exists()],
                  "--env", f"mimalloc:{UNHURRIED_MIMALLOC}", *options("size", [MIB, 20 * MIB, 100 * MIB]),
                  *options("touch", [0, 1]), "--ops", 8)
    if not one_fault_brings_one_page(run):
        pytest.skip("huge pages are on for every mapping here")
    findings = find(tmp_path, run)
    for allocator in run["allocators"]:
        known = REAL.get((allocator["name"], allocator["version"]))
        own = [each for each in findings if each["allocator"] == allocator["name"]]
        if known is not None:
            assert names(own) == known, allocator["name"]
        for each in own:
            assert each["env"] == allocator["env"]
            assert all(is_na(knob["effect"]) for knob in each["knobs"])


def test_points_without_a_result_are_told_of_and_why(tmp_path):
    file = tmp_path / "run.json"
    file.write_text(json.dumps(measure(*planted("planted_crash"), "--size", MIB, "--ops", 8, status=1)))
    done = zerotax("findings", file, "--full")
    assert done.returncode == 1 and "1 of 1 points have no result" in done.stdout
    assert "planted_crash-crash-1MiB" in done.stdout and "killed by SIGSEGV in calloc, operation 3" in done.stdout


def test_the_reference_has_findings_and_their_text_fits_80_columns():
    done = zerotax("findings", REFERENCE, "--full")
    assert done.returncode == 1, done.stderr
    assert "mimalloc-redundant-fresh-100MiB" in done.stdout
    # A setting is one word that users copy, so it is not cut.
    assert [line for line in done.stdout.splitlines() if len(line) > 80 and " " in line.strip()] == []
    only = zerotax("findings", REFERENCE, "--allocator", "jemalloc", "--full").stdout
    assert "jemalloc-purge-storm-100MiB" in only and "mimalloc-" not in only


def test_reading_a_folder_changes_nothing(tmp_path):
    folder = tmp_path / "run"
    shutil.copytree(REFERENCE, folder, ignore=shutil.ignore_patterns("*.svg", "*.png", "reports"))
    before = {path: path.is_file() and path.read_bytes() for path in folder.rglob("*")}
    assert zerotax("findings", folder).returncode == 1
    assert {path: path.is_file() and path.read_bytes() for path in folder.rglob("*")} == before


@pytest.mark.parametrize(("arguments", "words"), [
    ([], ["run"]), (["/nowhere"], ["/nowhere"]), ([REFERENCE, "--allocator", "nobody"], ["nobody", "jemalloc"]),
    ([REFERENCE / "clients.json"], ["zerotax.run/1"]), ([REFERENCE, "--json", "/nowhere/x"], ["/nowhere/x"])])
def test_unusable_input_is_refused(arguments, words):
    done = zerotax("findings", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("zerotax: ") and done.stderr.count("\n") == 1
    for word in words:
        assert word in done.stderr
