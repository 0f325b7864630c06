"""Measurements match the known behavior of widely used allocators, to the byte."""

import pytest
from allocators_here import available, library_of, only_version, version_of
from conftest import KIB, MIB, UNHURRIED_MIMALLOC, differences, measure, one_fault_brings_one_page, options, point_of

OPS = 8
TOUCHES = [0, 0.25, 1]
LARGE_OPS = 3  # number of operations at 1000 MiB, each of which may take half a second


def measured_at(name, size, touch=0):
    ops = LARGE_OPS if size >= 1000 * MIB else OPS
    run = measure("--allocator", name, "--size", size, "--touch", touch, "--ops", ops)
    return {**point_of(run, name, size_bytes=size), "page_by_page": one_fault_brings_one_page(run)}


@pytest.mark.parametrize("size", [100 * MIB, pytest.param(1000 * MIB, marks=pytest.mark.long("1,000 MiB"))])
@pytest.mark.parametrize("name", ["glibc", pytest.param("jemalloc", marks=available("jemalloc"))])
def test_glibc_and_jemalloc_zero_nothing_in_large_blocks(name, size):
    point = measured_at(name, size)
    assert (point["zeroed_bytes"], point["redundant_zeroed_bytes"], point["zeroed_method"]) == (0, 0, "none")
    assert [entry["zeroed_bytes"] for entry in point["first_ops"]] == [0] * point["ops"]
    assert point["zero_ns"] == 0


@only_version("mimalloc", "2.0.9")
@pytest.mark.parametrize(("size", "faults"), [
    (100 * MIB, 25_600), pytest.param(1000 * MIB, 256_000, marks=pytest.mark.long("1,000 MiB"))])
def test_mimalloc_zeroes_every_byte_of_a_large_block_that_was_zero_already(size, faults):
    point = measured_at("mimalloc", size)
    for entry in [point, *point["first_ops"]]:
        assert (entry["zeroed_bytes"], entry["redundant_zeroed_bytes"]) == (size, size)
        # Each page of the block takes one fault, and mimalloc's own data takes a few more.
        assert not point["page_by_page"] or faults <= entry["calloc_faults"] <= faults + 20
    assert point["zeroed_method"] == "memset"
    assert point["zero_ns"] > 0


@only_version("glibc", "2.36")
def test_glibc_at_20_mib_hands_out_a_mapping_then_new_heap_and_from_the_third_call_on_zeroes_what_was_freed():
    point = measured_at("glibc", 20 * MIB)
    zeroed = [entry["zeroed_bytes"] for entry in point["first_ops"]]
    # Freeing the mapping moved glibc's mmap threshold above this size. The second block extends the end of the heap.
    # calloc zeroes the old part of the heap, and knows that the new part is zero.
    assert zeroed[0] == 0
    assert 0 < zeroed[1] < 256 * KIB
    # The block includes the first 8 bytes of the next chunk (prev_size), which calloc zeroes, too.
    assert zeroed[2:] == [20 * MIB + 8] * (OPS - 2)
    assert (point["zeroed_bytes"], point["zeroed_method"]) == (20 * MIB + 8, "memset")


@pytest.mark.parametrize("name", [
    pytest.param("tcmalloc", marks=available("tcmalloc")),
    pytest.param("tbbmalloc", marks=[available("tbbmalloc"), pytest.mark.long("another allocator")])])
def test_tcmalloc_and_tbbmalloc_zero_every_byte_with_memset(name):
    point = measured_at(name, 100 * MIB)
    assert (point["zeroed_bytes"], point["redundant_zeroed_bytes"]) == (100 * MIB, 100 * MIB)
    assert point["zeroed_method"] == "memset"


@available("largecache")
@pytest.mark.parametrize(("touch", "redundant"), [(0, 100 * MIB), pytest.param(1, 0, marks=pytest.mark.long("100 MiB written"))])
def test_largecache_zeroes_a_reused_block_of_100_mib_whole(touch, redundant):
    point = measured_at("largecache", 100 * MIB, touch)
    assert (point["zeroed_bytes"], point["redundant_zeroed_bytes"]) == (104_857_600, redundant)


@pytest.mark.long("1,000 MiB")
@available("largecache")
def test_largecache_zeroes_nothing_of_1000_mib_for_it_keeps_no_such_block():
    point = measured_at("largecache", 1000 * MIB)
    assert (point["zeroed_bytes"], point["redundant_zeroed_bytes"]) == (0, 0)


@pytest.mark.long("1,000 MiB")
@pytest.mark.parametrize("name", [pytest.param(name, marks=available(name)) for name in ("jemalloc", "mimalloc")])
def test_an_allocator_measures_the_same_linked_and_preloaded(name):
    sizes = [64 * KIB, MIB, 3 * MIB + 1, 20 * MIB, 100 * MIB]
    run = measure(
        "--allocator", name, "--allocator", f"preloaded={library_of(name)}",
        *options("env", [f"{each}:{UNHURRIED_MIMALLOC}" for each in (name, "preloaded")]), *options("size", sizes),
        *options("touch", TOUCHES), "--ops", OPS)
    found = {}
    for size in sizes:
        for touch in TOUCHES:
            keys = {"size_bytes": size, "touch": touch}
            linked, preloaded = point_of(run, name, **keys), point_of(run, "preloaded", **keys)
            assert linked["version"] == preloaded["version"] == version_of(name)
            found[size, touch] = differences(linked, preloaded)
    assert found == {key: [] for key in found}
