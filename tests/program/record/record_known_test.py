"""`zerotax record` counts the calls of a program exactly, whatever allocator the program uses. The calls and their
sizes are known.
"""

import pytest
from conftest import KIB, MIB, PAGE, PLANTED, is_na, measure, mostly_long, planted
from recording import KNOWN, PROGRAMS, record

ALLOCATORS = ["glibc", "jemalloc", "mimalloc", "largecache", "tcmalloc", "tbbmalloc", "scudo"]
# The numbers of tests/recorded/known.cc.
SMALL, LARGE, WORKERS = 100, MIB, 2 * MIB
BY_HAND = 7 * 200_000 + 300_000 + 9 * 600_000


def check_calls(found):
    assert found.status == 3 and found.out == "known\n" and found.err == ""
    for size, calls in ((SMALL, 1000), (LARGE, 10), (WORKERS, 4)):
        row = found.size_class(size)
        assert (row["calloc_calls"], row["requested_bytes"]) == (calls, calls * size)
    # One of these calls is the C library's own, for a new thread.
    assert found.totals["calloc_calls"] == 1015
    assert found.size_class(200_000)["malloc_calls"] == 7
    assert found.size_class(6_000_000)["realloc_calls"] == found.totals["realloc_calls"] == 1
    assert found.totals["by_hand"]["zeroing_stores"] == 9
    assert found.totals["by_hand"]["zeroed_bytes"] == BY_HAND
    [process] = found.json["processes"]
    assert process["ended"] == "exit" and process["gaps"] == []
    by_thread = sorted(t["figures"]["requested_bytes"] for t in process["threads"])
    assert by_thread[0] == 4 * WORKERS, "the worker's calls are its own"


def zeroed(found, size):
    row = found.size_class(size)
    return row["zeroed_bytes"], row["redundant_zeroed_bytes"]


@pytest.mark.parametrize("name, per_fresh, per_kept", [
    # bytes zeroed in a fresh block, and in a kept block with a dirty page, per requested byte
    ("planted_memset", 1, 1), ("planted_half", 0, 0.5), ("planted_never", 0, 0), ("planted_inline", 0, 0)])
def test_planted_allocators_zero_what_was_planted(name, per_fresh, per_kept):
    found = record(KNOWN, options=["--allocator", f"planted={PLANTED / f'lib{name}.so'}"])
    check_calls(found)
    for size, calls in ((LARGE, 10), (WORKERS, 4)):
        kept = calls - 1
        all_of_it = int(per_fresh * size + kept * per_kept * size)
        dirty = kept * PAGE if per_kept else 0
        assert zeroed(found, size) == (all_of_it, all_of_it - dirty)
    unseen = found.totals["unseen"]
    if name == "planted_inline":
        assert unseen == {"calls": 14, "populated_bytes": 10 * LARGE + 4 * WORKERS}
        assert "14 large callocs returned populated blocks" in found.text
    else:
        assert unseen == {"calls": 0, "populated_bytes": 0}
    hand = found.totals["by_hand"]
    assert hand["examined_zeroed_bytes"] == hand["timed_zeroed_bytes"] == BY_HAND
    assert hand["zero_ns"] > 0 and hand["zero_faults"] >= 0


@pytest.mark.parametrize("name", ALLOCATORS)
def test_calls_and_bytes_are_exact_under_real_allocators(name):
    found = record(KNOWN, options=["--allocator", name])
    check_calls(found)
    assert found.json["allocator"]["name"] == name
    library = found.json["processes"][0]["allocator"]
    expected = {"glibc": "libc.so", "largecache": "liblargecache", "tbbmalloc": "tbbmalloc"}.get(name, name)
    assert expected in library


@pytest.mark.parametrize("name, size", mostly_long(
    [(name, size) for size in (3 * MIB, 20 * MIB) for name in ("glibc", "jemalloc", "mimalloc", "largecache", "tbbmalloc")],
    [("glibc", 3 * MIB), ("mimalloc", 3 * MIB), ("largecache", 20 * MIB)], "another allocator or size"))
def test_what_was_zeroed_agrees_with_the_audit_of_the_same_calls(name, size):
    calls = 8
    audit = measure("--allocator", name, "--size", str(size), "--ops", str(calls), "--touch", "0")
    [point] = audit["points"]
    expected = {key: sum(op[key] for op in point["first_ops"]) for key in ("zeroed_bytes", "redundant_zeroed_bytes")}
    found = record(PROGRAMS / "loop", size, calls, options=["--allocator", name])
    row = found.size_class(size)
    assert row["calloc_calls"] == calls
    # In the audit, the program had used some of the first 132 KiB at the top of the heap before, where glibc does not
    # clear fresh memory. With mimalloc, the very first large block requires a segment, whose records mimalloc zeroes.
    slack = {"glibc": 132 * KIB, "mimalloc": 512 * KIB}.get(name, 8 * PAGE)
    assert row["zeroed_bytes"] == pytest.approx(expected["zeroed_bytes"], abs=slack)
    assert row["redundant_zeroed_bytes"] == pytest.approx(expected["redundant_zeroed_bytes"], abs=slack)


def test_sites_name_function_file_and_line():
    found = record(KNOWN, options=["--allocator", f"planted={PLANTED / 'libplanted_memset.so'}"])
    # Sites without large calls are left out, such as the site of a program's first small block, which makes the heap
    # grow.
    large = [s for s in found.json["sites"] if s["calls"]]
    sites = {(s["kind"], s["frames"][0]["function"], s["frames"][1]["function"]): s for s in large}
    inner = "calloc_and_free(int, unsigned long)"
    main_site = sites["calloc", inner, "main"]
    assert (main_site["calls"], main_site["zeroed_bytes"]) == (10, 10 * LARGE)
    assert main_site["redundant_zeroed_bytes"] == 10 * LARGE - 9 * PAGE
    assert main_site["frames"][0]["file"].endswith("block.h")
    assert main_site["frames"][1]["file"].endswith("known.cc")
    worker = [s for (kind, function, _), s in sites.items() if (kind, function) == ("calloc", inner) and s is not main_site]
    assert [s["zeroed_bytes"] for s in worker] == [4 * WORKERS]
    by_hand = [s for s in found.json["sites"] if s["kind"] == "by_hand"]
    assert sorted(s["zeroed_bytes"] for s in by_hand) == [300_000, 7 * 200_000, 9 * 600_000]
    source = (KNOWN.parents[3] / "tests/recorded/known.cc")
    if source.exists():
        for site in by_hand:
            line = source.read_text().splitlines()[site["frames"][0]["line"] - 1]
            assert "memset(" in line, line


def test_sites_of_several_processes_are_joined():
    once, twice = record(KNOWN), record("sh", "-c", f"{KNOWN}; {KNOWN}")
    assert len(twice.processes("known")) == 2
    for key in ("calls", "requested_bytes", "zeroed_bytes", "redundant_zeroed_bytes"):
        for kind in ("calloc", "by_hand"):
            def add(found):
                return sum(s[key] for s in found.json["sites"] if s["kind"] == kind)
            if key in ("calls", "requested_bytes"):
                assert add(twice) == 2 * add(once)
            else:  # the result differs by a page or two, depending on the address of a mapping
                assert add(twice) == pytest.approx(2 * add(once), rel=0.02)
    # Samples of small stores may have sites of their own, so only the sites of calloc and of zeroing by hand are
    # counted.
    of_one, of_two = ([s for s in found.json["sites"] if s["kind"] in ("calloc", "by_hand")] for found in (once, twice))
    assert len(of_one) == len(of_two)


def test_small_stores_are_counted_and_sampled():
    # 64 MiB in blocks of 16 KiB, each with one byte that is not zero.
    size, calls = 16_384, 4096
    found = record(PROGRAMS / "loop", size, calls, options=["--allocator", f"p={PLANTED / 'libplanted_memset.so'}"])
    row = found.size_class(size)
    assert (row["calloc_calls"], row["requested_bytes"]) == (calls, calls * size)
    assert is_na(row["redundant_zeroed_bytes"]) and is_na(found.totals["redundant_zeroed_bytes"])
    assert is_na(found.totals["zero_ns"]) and is_na(found.totals["share_of_wall"])
    samples = found.totals["small_samples"]
    # The interval doubles from 256 KiB on: 0.25, 0.75, 1.75 … MiB.
    assert 5 <= samples["stores"] <= 8
    assert found.size_class(size)["zeroed_bytes"] >= (calls - 1) * size
    attributed = sum(s["sampled"]["zeroed_bytes"] for s in found.json["sites"])
    assert 0 < attributed <= found.totals["zeroed_bytes"]


@pytest.mark.parametrize("method", ["read", "none"])
def test_without_a_pagemap_nothing_is_claimed_of_redundancy(method):
    found = record(KNOWN, options=planted("planted_memset"), ZEROTAX_PAGEMAP=method)
    check_calls_only = found.size_class(LARGE)
    assert check_calls_only["zeroed_bytes"] == 10 * LARGE
    if method == "read":
        assert check_calls_only["redundant_zeroed_bytes"] == 10 * LARGE - 9 * PAGE
    else:
        assert is_na(found.totals["redundant_zeroed_bytes"])
        assert any("pages could not be examined" in gap for gap in found.json["processes"][0]["gaps"])
