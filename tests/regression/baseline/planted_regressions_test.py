"""The first line of zerotax check names the kind, the direction and the range of a planted change."""
import json

import pytest
from check_test import bless, check
from conftest import check_schema

# The behavior of a version and of the next version, check's exit status, and the first line of check's output.
QUICK = {
    "memset after mmap": (
        "planted_never", "planted_zeroes_fresh", 1,
        "worse: every calloc from 64 KiB to 1 MiB now zeroes fresh memory: 1 → 257 faults at 1 MiB"),
    "an improvement": (
        "planted_zeroes_fresh", "planted_never", 0,
        "better: calloc from 64 KiB to 1 MiB no longer zeroes fresh memory: 257 → 1 fault at 1 MiB"),
    "only on a worker thread": (
        "planted_never", "planted_zeroes_fresh_worker", 1,
        "worse: on worker threads only, every calloc from 64 KiB to 1 MiB now zeroes fresh memory: 1 → 257 faults at 1 MiB"),
    "only the first call": (
        "planted_never", "planted_zeroes_first", 1,
        "worse: the first calloc of a process from 64 KiB to 1 MiB now zeroes fresh memory: "
        "0 → 1,048,576 redundant zeroed bytes at 1 MiB"),
    "zeroing beyond the request": (
        "planted_memset", "planted_zeroes_beyond", 1,
        "worse: calloc from 64 KiB to 1 MiB now zeroes more than was asked for: 1,048,576 → 1,310,720 zeroed bytes at 1 MiB"),
    "purge on free": (
        "planted_free_inline", "planted_free_returned", 1,
        "worse: a round of calloc and free from 64 KiB to 1 MiB now gives memory back, which the kernel zeroes again: "
        "0 → 256 faults while writing at 1 MiB"),
    "dirty memory": (
        "planted_memset", "planted_dirty", 1,
        "failed: calloc from 64 KiB to 1 MiB, where the whole block is written to, now hands out dirty memory, and breaks its "
        "promise: ok → not_zero at 1 MiB"),
}


@pytest.fixture(scope="module")
def blessed(tmp_path_factory):
    """Returns baselines of planted allocators. Each baseline is made once."""
    folder = tmp_path_factory.mktemp("baselines")

    def made(name, *sizes):
        file = folder / f"{name}.json"
        if not file.exists():
            bless(name, file, *sizes)
        return file
    return made


@pytest.mark.parametrize("what", QUICK)
def test_the_first_line_names(blessed, what, tmp_path):
    before, after, status, sentence = QUICK[what]
    report = tmp_path / "check.json"
    said = check(after, blessed(before, "--size", "64KiB", "--size", "1MiB"), "--json", report, status=status)
    line = said.splitlines()[0]
    assert line == sentence or line.startswith(sentence + " (other changes: "), said
    document = json.loads(report.read_text())
    check_schema(document, "check")
    assert line == document["sentence"]
    found, = document["checks"]
    assert sorted(place for group in found["groups"] for place in group["changes"]) == list(range(len(found["changes"])))


def test_a_threshold_that_was_halved_is_named_with_both_places_and_what_lies_between(blessed):
    said = check("planted_zeroes_from_1_mib", blessed("planted_zeroes_from_2_mib", "--size", "1MiB", "--thresholds"), status=1)
    assert said.splitlines()[0] == (
        "worse: the threshold at 2 MiB moved to 1 MiB: every calloc from 1 MiB to just below 2 MiB now zeroes fresh "
        "memory: 1 → 257 faults at 1 MiB")
    assert "If this is intended, accept it with: zerotax bless --allocator mine=" in said
    assert said.split("accept it with:")[1].split()[-3:] == ["--size", "1MiB", "--thresholds"]
