"""Buffers that are freed together and needed again: the exact number of bytes that each call returns, and of the bytes
that the kernel zeroes again.
"""

import json
import pathlib
import subprocess

import pytest
from conftest import KIB, MIB, PAGE, check_schema, is_na, measure, one_fault_brings_one_page, options, planted, zerotax
from allocators_here import available, only_version

KEPT = options("env", ["glibc:MALLOC_TRIM_THRESHOLD_=1073741824", "glibc:MALLOC_MMAP_THRESHOLD_=1073741824"])
CASE = ["--case", "refill_loop", "--touch", 1, "--ops", 12]
BUFFERS = 8


def rounds(allocator, size, *arguments):
    """Returns the single point of refill_loop."""
    run = measure("--allocator", allocator, *CASE, "--size", size, *arguments)
    if not one_fault_brings_one_page(run):
        pytest.skip("one fault brings more than one page here")
    [point] = run["points"]
    assert (point["status"], point["allocated_by"], point["requested_bytes"]) == ("ok", "malloc", BUFFERS * size)
    return point


def faults(point):
    """A second method counts the same faults: getrusage, in the timing pass."""
    return point["calloc_faults"] + point["touch_faults"] + point["free_faults"]


def by_mechanism(point):
    return {name: point[f"returned_by_{name}_bytes"] for name in ("munmap", "madvise", "brk")}


@only_version("glibc", "2.36")
def test_glibc_trims_its_heap_in_each_round_and_has_2016_pages_zeroed_again():
    point = rounds("glibc", MIB)
    # All pages except the 32 pages of top_pad, which stay in the heap.
    pages = BUFFERS * MIB // PAGE - 32
    assert faults(point) == pages
    assert point["kernel_zeroed_bytes"] == point["refilled_bytes"] == point["returned_bytes"] == pages * PAGE
    assert by_mechanism(point) == {"munmap": 0, "madvise": 0, "brk": pages * PAGE}


def test_with_both_thresholds_raised_glibc_keeps_everything():
    point = rounds("glibc", MIB, *KEPT)
    assert faults(point) == point["refilled_bytes"] == point["returned_bytes"] == 0


def test_blocks_with_a_mapping_of_their_own_go_by_munmap():
    point = rounds("glibc", MIB, "--env", "glibc:GLIBC_TUNABLES=glibc.malloc.mmap_threshold=131072")
    # Each mapping has a page for its header.
    assert by_mechanism(point) == {"munmap": BUFFERS * (MIB + PAGE), "madvise": 0, "brk": 0}
    assert point["refilled_bytes"] == faults(point) * PAGE == BUFFERS * (MIB + PAGE)


@available("jemalloc")
def test_a_purge_goes_by_madvise():
    point = rounds("jemalloc", MIB, "--env", "jemalloc:MALLOC_CONF=dirty_decay_ms:0,muzzy_decay_ms:0")
    assert by_mechanism(point)["madvise"] == point["returned_bytes"] >= BUFFERS * MIB
    # Allows for the pages of jemalloc's own records, whose number depends on the clock.
    assert abs(point["refilled_bytes"] - faults(point) * PAGE) <= 4 * PAGE


@pytest.mark.parametrize("name", [pytest.param(name, marks=available(name)) for name in ("mimalloc", "tcmalloc", "tbbmalloc")])
def test_those_that_keep_their_memory_have_nothing_zeroed_again(name):
    point = rounds(name, MIB)
    assert faults(point) == point["refilled_bytes"] == point["returned_bytes"] == 0


def test_fresh_memory_is_no_refill():
    """The first rounds of a process populate new memory. A process that ends before the steady state measures only
    these rounds.
    """
    run = measure("--allocator", "glibc", "--case", "refill_loop", "--touch", 1, "--ops", 1, "--size", MIB)
    point = run["points"][0]
    # Allows for a few pages that the meter and the allocator use for the first time after the peak.
    assert point["kernel_zeroed_bytes"] >= BUFFERS * MIB and point["refilled_bytes"] <= 8 * PAGE


def test_a_block_that_is_unmapped_and_mapped_anew_is_refilled_in_calloc_loop_too():
    run = measure(*planted("planted_never"), "--touch", 1, "--size", MIB, "--ops", 8)
    point = run["points"][0]
    assert point["allocated_by"] == "calloc"
    assert point["refilled_bytes"] >= MIB and point["returned_by_munmap_bytes"] == point["returned_bytes"] >= MIB


def test_without_the_pagemap_nothing_is_known_and_nothing_is_0():
    run = measure("--allocator", "glibc", *CASE, "--size", 64 * KIB, ZEROTAX_PAGEMAP="none")
    point = run["points"][0]
    for key in ("kernel_zeroed_bytes", "refilled_bytes", "returned_bytes", "returned_by_brk_bytes"):
        assert is_na(point[key])


def test_page_by_page_the_pagemap_says_the_same():
    point = rounds("glibc", MIB)
    [read] = measure("--allocator", "glibc", *CASE, "--size", MIB, ZEROTAX_PAGEMAP="read")["points"]
    for key in ("kernel_zeroed_bytes", "refilled_bytes", "returned_bytes", "returned_by_brk_bytes"):
        assert read[key] == point[key]


@only_version("glibc", "2.36")
def test_the_storm_is_a_finding_and_the_knob_ends_it(tmp_path):
    def found(*arguments):
        run = measure(*options("allocator", ["glibc"]), *arguments, *CASE, *options("size", [256 * KIB, MIB]))
        (tmp_path / "run.json").write_text(json.dumps(run))
        done = zerotax("findings", tmp_path / "run.json", "--json", "-")
        findings = json.loads(done.stdout)
        check_schema(findings, "findings")
        return findings["findings"]
    # With no other allocator to compare with, the severity is low. Beside an allocator that keeps its memory, the
    # severity is high (tests/allocator/findings/refill_storm_test.cc).
    [storm] = found()
    assert (storm["id"], storm["rule"], storm["severity"]) == ("glibc-refill-storm-1MiB", "refill-storm", "low")
    assert "by brk in each round" in storm["sentence"] and "98.4 % of what it uses" in storm["sentence"]
    assert {"env", "effect", "text"} == storm["knobs"][0].keys() and "MALLOC_TRIM_THRESHOLD_" in storm["knobs"][0]["env"]
    assert found(*KEPT) == []


@only_version("glibc", "2.36")
def test_the_size_from_which_glibc_returns_what_is_freed_is_found_to_the_byte(tmp_path):
    done = zerotax("thresholds", "--case", "refill_loop", "--allocator", "glibc", "--to", "64KiB", "--full", "--json",
                   tmp_path / "thresholds.json")
    assert done.returncode == 0, done.stderr
    assert "rounds refill next to nothing: memory is kept" in done.stdout
    document = json.loads((tmp_path / "thresholds.json").read_text())
    check_schema(document, "thresholds")
    assert document["case"] == "refill_loop"
    changes = [(each["below"]["refilling"]["refilled"], each["above"]["refilling"]) for each in document["thresholds"]]
    assert changes[0][0] == "none" and changes[0][1]["returned_by"] == ["brk"]
    assert all(each["exact"] and not each["noisy"] for each in document["thresholds"])


def test_a_whole_program_counts_as_the_case_does(tmp_path):
    """The counts are the same as those of the same rounds in C, for which the kernel itself counts the faults."""
    source = pathlib.Path(tmp_path / "rounds.c")
    source.write_text("""
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
int main(void) {
  struct rusage before, after;
  for (int i = 0; i < 30; ++i) {
    if (i == 10) getrusage(RUSAGE_SELF, &before);
    char *buffers[8];
    for (int b = 0; b < 8; ++b) {
      buffers[b] = malloc(1 << 20);
      for (long at = 0; at < 1 << 20; at += 4096) ((volatile char *)buffers[b])[at] = 1;
    }
    for (int b = 0; b < 8; ++b) free(buffers[b]);
  }
  getrusage(RUSAGE_SELF, &after);
  printf("%ld\\n", (after.ru_minflt - before.ru_minflt) / 20);
}
""")
    subprocess.run(["cc", "-O1", "-fno-builtin", source, "-o", tmp_path / "rounds"], check=True)
    counted = int(subprocess.run([tmp_path / "rounds"], check=True, capture_output=True, text=True).stdout)
    assert counted * PAGE == rounds("glibc", MIB)["refilled_bytes"]
