"""Zeros stored over pages that the kernel populated on request are counted; pages only populated by the kernel are not.
"""

import pytest
from conftest import MIB, PLANTED, is_na, measure, options, planted, point_of, watches_inline_stores

SIZES = [MIB, 4 * MIB]
FOLLOWED = ["map_populate", "map_locked", "madvise", "mlock", "mcl_future"]


def populated(way, stores="half", *more):
    return measure(
        "--allocator", f"a={PLANTED / 'libplanted_populated.so'}", "--env", f"a:PLANTED_WAY={way}",
        "--env", f"a:PLANTED_STORES={stores}", *options("size", SIZES), "--ops", 4, *more)


@pytest.mark.parametrize("thread", ["main", "worker"])
@pytest.mark.parametrize("way", FOLLOWED)
def test_stores_over_populated_pages_are_counted_exactly(way, thread):
    run = populated(way, "half", "--thread", thread)
    for size in SIZES:
        point = point_of(run, "a", size_bytes=size)
        assert point["populated_bytes"] == size
        if not watches_inline_stores(run):
            assert is_na(point["zeroed_bytes"])
            continue
        assert (point["zeroed_bytes"], point["redundant_zeroed_bytes"]) == (size // 2, size // 2)
        assert (point["zeroed_method"], point["zeroed_bound"]) == ("inline", "at most")
        assert {entry["zeroed_bytes"] for entry in point["first_ops"]} == {size // 2}


@pytest.mark.parametrize("way", FOLLOWED)
def test_pages_that_the_kernel_populated_alone_are_no_stores(way):
    run = populated(way, "none")
    for size in SIZES:
        point = point_of(run, "a", size_bytes=size)
        assert point["populated_bytes"] == size
        assert point["zeroed_bytes"] == 0 if watches_inline_stores(run) else is_na(point["zeroed_bytes"])


@pytest.mark.parametrize("stores", ["half", "none"])
def test_where_everything_is_locked_nothing_is_claimed(stores):
    point = point_of(populated("mlockall", stores), "a", size_bytes=MIB)
    assert is_na(point["zeroed_bytes"]) and "not followed" in point["zeroed_bytes"]["na"]


@pytest.mark.parametrize("mode", ["read", "none"])
def test_without_write_protection_nothing_is_claimed(mode):
    run = measure(*planted("planted_populated"), "--env", "planted_populated:PLANTED_WAY=map_populate",
                  "--size", MIB, "--ops", 4, ZEROTAX_PAGEMAP=mode)
    point = point_of(run, "planted_populated")
    assert is_na(point["zeroed_bytes"]) and is_na(point["inline_stores"])


def test_zeros_that_a_handler_of_a_signal_stores_are_counted():
    run = measure(*planted("planted_in_handler"), "--size", MIB, "--touch", 1, "--ops", 6)
    point = point_of(run, "planted_in_handler")
    assert point["status"] == "ok"
    if watches_inline_stores(run):
        assert (point["zeroed_bytes"], point["redundant_zeroed_bytes"]) == (MIB, 0)
