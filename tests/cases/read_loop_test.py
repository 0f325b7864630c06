"""A program that only reads its block maps the shared zero page, with faults that zero nothing."""

import pytest
from conftest import MIB, PAGE, is_na, measure, planted
from allocators_here import available, only_version
from zero_page import has_shared_zero_page

PAGES = MIB // PAGE


def point(*arguments, **environment):
    [found] = measure(*arguments, "--size", MIB, "--ops", 8, **environment)["points"]
    return found


@pytest.mark.parametrize(("fraction", "pages"), [(1, PAGES), (0.5, PAGES // 2), (0.001, 1)])
def test_each_page_that_is_read_is_a_zero_page_fault_and_nothing_is_zeroed(fraction, pages):
    found = point(*planted("planted_never"), "--case", "read_loop", "--touch", fraction)
    # A kernel without the shared zero page zeroes a page for each read.
    zeroed = 0 if has_shared_zero_page() else pages
    assert found["zero_page_faults"] == pages - zeroed
    assert found["touch_faults"] == pages
    assert found["touch_populated_bytes"] == zeroed * PAGE
    # one page for the header of the mapping
    assert found["kernel_zeroed_bytes"] == (1 + zeroed) * PAGE


def test_writes_are_zero_fill_faults_and_no_zero_page_faults():
    found = point(*planted("planted_never"), "--case", "calloc_loop", "--touch", 1)
    assert found["zero_page_faults"] == 0 and found["touch_populated_bytes"] == MIB


@available("mimalloc")
@only_version("mimalloc", "2.0.9")
def test_what_calloc_wrote_zeros_over_is_there_and_takes_no_fault():
    found = point("--allocator", "mimalloc", "--case", "read_loop", "--touch", 1)
    assert found["zero_page_faults"] == 0 and found["redundant_zeroed_bytes"] == MIB


def test_untouched_there_are_none_to_count():
    assert is_na(point(*planted("planted_never"), "--case", "read_loop", "--touch", 0)["zero_page_faults"])


def test_without_the_pagemap_it_is_not_known():
    found = point(*planted("planted_never"), "--case", "read_loop", "--touch", 1, ZEROTAX_PAGEMAP="none")
    assert is_na(found["zero_page_faults"])
