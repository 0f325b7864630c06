"""A user who is not root measures the same values as root. If the kernel permits less, the missing values are reported
and the other values are the same.
"""

import os
import pathlib
import shutil
import tempfile

import pytest
from conftest import (
    BUILD, KIB, MIB, NOBODY, UNHURRIED_MIMALLOC, differences, is_na, measure, options, planted, skip_if_unreadable,
    watches_inline_stores)
from zero_page import has_shared_zero_page

PLAN = [
    "--allocator", "glibc", "--allocator", "mimalloc", "--env", f"mimalloc:{UNHURRIED_MIMALLOC}",
    *planted("planted_memset", "planted_half"),
    *options("size", [64 * KIB, 262_147, 3 * MIB + 1]), *options("touch", [0, 1]), "--ops", 8]
FIGURES = ("zeroed_bytes", "redundant_zeroed_bytes")


def pairs(one, other):
    """The pairs of points that two runs of one plan have in common, by allocator, size and touch."""
    assert len(one["points"]) == len(other["points"])
    found = {}
    for first, second in zip(one["points"], other["points"]):
        label = first["allocator"], first["size_bytes"], first["touch"]
        assert label == (second["allocator"], second["size_bytes"], second["touch"])
        found[label] = first, second
    return found


def check_same(one, other, *keys):
    found = {label: differences(*points, *keys) for label, points in pairs(one, other).items()}
    assert found == {label: [] for label in found}


@pytest.fixture(scope="module")
def as_we_are():
    return measure(*PLAN)


each_user = pytest.mark.parametrize("prefix", [
    pytest.param([], id="as we are"), pytest.param(NOBODY, id="as nobody", marks=pytest.mark.long("the same as another user"))])


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else to compare with")
@pytest.mark.skipif(shutil.which("setpriv") is None, reason="setpriv is missing: install util-linux")
def test_nobody_measures_the_same_figures_as_root(as_we_are):
    skip_if_unreadable()
    run = measure(*PLAN, prefix=NOBODY)
    assert run["environment"]["capabilities"]["root"] is False
    check_same(as_we_are, run)
    assert watches_inline_stores(run) == watches_inline_stores(as_we_are)
    for point in run["points"]:
        assert (point["inline_stores"] == "watched") == watches_inline_stores(run)


@each_user
def test_reading_the_pagemap_gives_the_same_zeroed_bytes_as_scanning_it(as_we_are, prefix):
    if prefix:
        if os.geteuid() != 0 or shutil.which("setpriv") is None:
            pytest.skip("only root, with setpriv, can become somebody else")
        skip_if_unreadable()
    run = measure(*PLAN, prefix=prefix, ZEROTAX_PAGEMAP="read")
    check_same(as_we_are, run, FIGURES)
    for point in run["points"]:
        assert is_na(point["inline_stores"]) and "PAGEMAP_SCAN" in point["inline_stores"]["na"]


def entries(run):
    """Every entry of the run's points that has zeroed bytes, with the point's size."""
    for point in run["points"]:
        for entry in [point, *point["first_ops"]]:
            yield point["size_bytes"], entry


def test_without_a_pagemap_memsets_are_counted_and_nothing_is_claimed_of_other_stores(as_we_are):
    run = measure(*PLAN, ZEROTAX_PAGEMAP="none")
    check_same(as_we_are, run, ("calloc_syscalls", "free_syscalls"))
    known = 0
    for (size, full), (_, entry) in zip(entries(as_we_are), entries(run), strict=True):
        if full["zeroed_bytes"] >= size:  # a memset of the whole block leaves no page for unseen stores
            assert entry["zeroed_bytes"] == full["zeroed_bytes"]
            known += 1
        elif not is_na(entry["zeroed_bytes"]):
            assert entry["zeroed_bytes"] == full["zeroed_bytes"]
        else:
            assert "unseen" in entry["zeroed_bytes"]["na"]
            assert is_na(entry["zero_ns"])
        for figure in ("redundant_zeroed_bytes", "populated_bytes"):
            assert is_na(entry[figure]) and "ZEROTAX_PAGEMAP=none" in entry[figure]["na"]
    assert known > 0
    for point in run["points"]:
        assert is_na(point["inline_stores"])


@pytest.mark.parametrize("method", ["read", "none"])
def test_inline_stores_that_cannot_be_seen_are_never_called_zero(method):
    run = measure(*planted("planted_inline"), "--size", "1MiB", "--ops", 8,
                  ZEROTAX_PAGEMAP=method)
    [point] = run["points"]
    assert is_na(point["zeroed_bytes"]) and "unseen" in point["zeroed_bytes"]["na"]
    for figure in ("zero_ns", "zeroed_method", "redundant_zeroed_bytes"):
        assert is_na(point[figure]), figure
    first = point["first_ops"][0]["zeroed_bytes"]
    if method == "read":  # a fresh block shows stores by its populated pages
        assert first == 1 << 20
    else:
        assert is_na(first)


def test_a_memset_of_half_a_block_proves_nothing_of_the_other_half_without_a_pagemap():
    run = measure(*planted("planted_half", "planted_memset"), "--size", "1MiB", "--ops", 8, ZEROTAX_PAGEMAP="none")
    half, whole = run["points"]
    assert all(is_na(entry["zeroed_bytes"]) for entry in [half, *half["first_ops"]])
    assert all(entry["zeroed_bytes"] == 1 << 20 for entry in [whole, *whole["first_ops"]])


@each_user
@pytest.mark.parametrize("method", ["scan", "read", "none"])
def test_pages_that_were_only_read_are_never_called_zeroed(method, prefix):
    if prefix and os.geteuid() != 0:
        pytest.skip("only root can become somebody else")
    if prefix:
        skip_if_unreadable()
    if not has_shared_zero_page():
        pytest.skip("this kernel populates what is read (docs/method.md)")
    run = measure(*planted("planted_reads"), "--size", "1MiB", "--ops", 8, prefix=prefix, ZEROTAX_PAGEMAP=method)
    point, = run["points"]
    # Without a fault in every page, the test would check nothing.
    assert point["calloc_faults"] >= 256
    # Without a pagemap, it is unknown which pages are zero. With a pagemap, the zero page is recognized with or without
    # its frame number.
    expected = {"populated_bytes": method == "none", "zeroed_bytes": method == "none"}
    if method == "scan" and not watches_inline_stores(run):
        expected = dict.fromkeys(expected, False)
    for entry in [point, *point["first_ops"]]:
        for figure, unknown in expected.items():
            assert is_na(entry[figure]) if unknown else entry[figure] == 0, (figure, entry[figure])


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_a_probe_that_may_be_run_but_not_read_says_what_is_missing():
    skip_if_unreadable()
    # pytest's tmp_path cannot be used, because other users may not enter it.
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        probe = pathlib.Path(folder) / "bench-glibc"
        shutil.copy(BUILD / "bin" / "bench-glibc", probe)
        probe.chmod(0o711)
        point, = measure("--allocator", "glibc", "--size", "1MiB", "--ops", 2, prefix=NOBODY,
                         ZEROTAX_PROBE_DIR=folder)["points"]
    assert "readable" in point["populated_bytes"]["na"]
