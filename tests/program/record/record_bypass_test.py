"""Memory that the kernel zeroes without the C library, or populates without zeroing. `zerotax record` compares its
counts with the kernel's count of page faults, and reports a number, true bounds, or n/a.
"""

import contextlib
import os
import pathlib

import pytest
from conftest import MIB, NOBODY, PAGE, is_na, skip_if_unreadable
from recording import PROGRAMS, record
from zero_page import has_shared_zero_page

BYPASS = PROGRAMS / "bypass"
ROUNDS = 20
# Bytes for loading and recording a program.
SLACK = 400 * PAGE
EXACT = ["mapped", "brk-by-number", "mmap-by-number", "userfaultfd", "collapse", "read-first", "read-only", "forks"]
UNKNOWN = ["raw-munmap", "raw-madvise", "raw-brk", "sysv", "memfd", "shm_open", "memfd-again"]


def check(way, rounds=ROUNDS, **options):
    found = record(BYPASS, way, rounds, **options)
    if found.status == 77:
        pytest.skip("not permitted here")
    assert found.status == 0, found.err
    truth = int(found.out) * PAGE
    kernel = found.totals["kernel"]
    least, most = kernel["zeroed_at_least_bytes"], kernel["zeroed_at_most_bytes"]
    assert least <= truth + SLACK
    assert is_na(most) or most >= truth
    assert "Nothing to gain" not in found.text or truth < MIB
    return found, truth, kernel


@pytest.mark.parametrize("way", EXACT)
def test_what_can_be_accounted_for_is_a_number(way):
    if way == "read-only" and not has_shared_zero_page():
        pytest.skip("this kernel has no shared zero page, so it populates pages that are only read")
    _, truth, kernel = check(way)
    if is_na(kernel["zeroed_bytes"]):  # a huge page of another test may count as this program's
        assert "huge pages were populated on this machine" in kernel["zeroed_bytes"]["na"]
        return
    assert truth <= kernel["zeroed_bytes"] + PAGE and kernel["zeroed_bytes"] <= truth + SLACK
    assert kernel["zero_fill_faults"] <= kernel["minor_faults"]


@pytest.mark.parametrize("way", UNKNOWN)
def test_what_cannot_be_accounted_for_has_bounds(way):
    _, _, kernel = check(way)
    assert is_na(kernel["zeroed_bytes"])
    assert is_na(kernel["zeroed_at_most_bytes"]) or kernel["zeroed_at_most_bytes"] > kernel["zeroed_at_least_bytes"]


@pytest.mark.parametrize("way", ["raw-munmap", "memfd"])
def test_a_little_of_it_widens_the_bound(way):
    check(way, 1)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
@pytest.mark.parametrize("way", ["raw-munmap", "memfd"])
def test_an_ordinary_user_has_the_same_bounds(way):
    skip_if_unreadable()
    _, _, kernel = check(way, prefix=NOBODY)
    assert is_na(kernel["zeroed_bytes"])


def test_pages_that_were_collapsed_took_no_fault():
    _, _, kernel = check("collapse")
    assert kernel["huge_bytes"] == ROUNDS * MIB
    # Before MADV_COLLAPSE, each huge page took one fault.
    assert kernel["zero_fill_faults"] <= (kernel["zeroed_bytes"] - kernel["huge_bytes"]) // PAGE + ROUNDS // 2


@contextlib.contextmanager
def reserved_huge_pages(count):
    setting = pathlib.Path("/proc/sys/vm/nr_hugepages")
    before = int(setting.read_text())
    setting.write_text(str(before + count))
    try:
        if int(setting.read_text()) < before + count:
            pytest.skip("no memory for huge pages here")
        yield
    finally:
        setting.write_text(str(before))


@pytest.mark.skipif(os.geteuid() != 0 or not os.access("/proc/sys/vm/nr_hugepages", os.W_OK),
                    reason="needs root and pages of hugetlbfs")
@pytest.mark.parametrize("way, pages", [("hugetlb", 4), ("hugetlb-returned", 16)])
@pytest.mark.parametrize("method", ["scan", "read"])
def test_pages_of_hugetlbfs_are_zeroed_in_addition_to_small_ones(way, pages, method):
    with reserved_huge_pages(8):
        _, truth, kernel = check(way, ZEROTAX_PAGEMAP=method)
    assert truth <= kernel["zeroed_bytes"] <= truth + SLACK
    if method == "scan":
        assert kernel["huge_bytes"] == pages * 2 * MIB
    if way == "hugetlb-returned":
        assert kernel["refilled_bytes"] == pytest.approx(truth - 8 * MIB, abs=SLACK)
