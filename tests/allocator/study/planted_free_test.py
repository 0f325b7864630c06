"""Zeroing in free is reported as exactly as zeroing in calloc, whether by memset, by other stores, or before pages are
returned.
"""

import json
import math

import pytest
from conftest import (
    KIB, MIB, PAGE, is_na, measure, options, planted, point_of, watches_inline_stores, zerotax)
from zero_page import has_shared_zero_page

OPS = 6
SIZES = [64 * KIB, 262_147, 2 * MIB]
TOUCHES = [0.0, 0.25, 1.0]
COMBINATIONS = [(size, touch) for size in SIZES for touch in TOUCHES]
NAMES = [
    "planted_free_memset", "planted_free_inline", "planted_free_touched", "planted_free_returned",
    "planted_free_closed", "planted_free_purges", "planted_memset", "planted_never"]


@pytest.fixture(scope="module")
def run():
    return measure(*planted(*NAMES), *options("size", SIZES), *options("touch", TOUCHES), "--ops", OPS)


def touched_bytes(size, touch):
    """Returns the bytes of the block in pages that the program wrote to."""
    return min(size, math.ceil(touch * math.ceil(size / PAGE)) * PAGE)


def whole(size, touch):
    """The whole block is cleared, but only the bytes that the program wrote were not zero."""
    return size, size - touched_bytes(size, touch)


def touched(size, touch):
    return touched_bytes(size, touch), 0


def nothing(_size, _touch):
    return 0, 0


EXPECTED = {
    "planted_free_memset": (whole, "memset", "exact"),
    "planted_free_inline": (whole, "inline", "at most"),
    "planted_free_touched": (touched, "inline", "at most"),
    "planted_free_returned": (whole, "inline", "at most"),
    "planted_free_closed": (whole, "inline", "at most"),
    "planted_free_purges": (nothing, "none", "exact"),
    "planted_memset": (nothing, "none", "exact"),
    "planted_never": (nothing, "none", "exact"),
}


def check_measurable(run, name):
    if EXPECTED[name][1] != "memset" and not watches_inline_stores(run):
        pytest.skip("this machine cannot watch inline stores, and says so: see `capabilities` in run.json")


@pytest.mark.parametrize("name", NAMES)
def test_what_free_zeroes_is_reported_as_planted(run, name):
    check_measurable(run, name)
    policy, method, bound = EXPECTED[name]
    for size, touch in COMBINATIONS:
        point = point_of(run, name, size_bytes=size, touch=touch)
        expected = policy(size, touch)
        found = (point["zeroed_in_free_bytes"], point["redundant_zeroed_in_free_bytes"])
        assert found == expected, (size, touch)
        named = (method, bound) if expected[0] > 0 else ("none", "exact")
        assert (point["zeroed_in_free_method"], point["zeroed_in_free_bound"]) == named
        # This policy reads the whole block. Without a shared zero page, the policy's first reading populates pages that
        # the program left alone.
        reads = name == "planted_free_touched" and not has_shared_zero_page()
        for entry in point["first_ops"][1 if reads else 0:]:
            assert (entry["zeroed_in_free_bytes"], entry["redundant_zeroed_in_free_bytes"]) == expected
            assert entry["zeroed_in_free_bound"] == named[1]


@pytest.mark.parametrize("name", [name for name in NAMES if "free" in name])
def test_calloc_itself_is_reported_to_zero_nothing(run, name):
    check_measurable(run, name)
    for size, touch in COMBINATIONS:
        point = point_of(run, name, size_bytes=size, touch=touch)
        assert (point["status"], point["zeroed_bytes"], point["redundant_zeroed_bytes"]) == ("ok", 0, 0)


def test_the_table_says_that_free_zeroes():
    done = zerotax("run", *planted("planted_free_memset"), "--size", MIB, "--ops", 3, "--full")
    assert " 1 MiB, touch 0: free zeroes 1 MiB, 1 MiB of it redundant" in done.stdout
    assert all(len(line) <= 80 for line in done.stdout.splitlines())


def test_zeroing_in_free_is_a_finding_and_no_other_allocator_has_it(tmp_path):
    measure(*planted("planted_free_memset", "planted_never"), *options("size", [MIB, 2 * MIB]),
            *options("touch", [0.0, 1.0]), "--ops", 4, "--out", tmp_path / "run")
    done = zerotax("findings", tmp_path / "run", "--json", tmp_path / "findings.json")
    assert done.returncode == 1
    found = json.loads((tmp_path / "findings.json").read_text())["findings"]
    ids = {each["id"] for each in found if each["rule"] == "zeroing-in-free"}
    assert ids == {"planted_free_memset-zeroing-in-free-redundant-1MiB", "planted_free_memset-zeroing-in-free-1MiB"}


def helped(way, touch=1):
    return measure(*planted("planted_helper"), "--env", f"planted_helper:PLANTED_HELPER={way}",
                   "--size", 2 * MIB, "--touch", touch, "--ops", OPS)


@pytest.mark.parametrize("way", ["memset", "inline"])
def test_zeros_of_another_thread_are_not_claimed_to_be_zeros_of_calloc(way):
    # The state of the pages does not show whether calloc dropped them and the kernel populated them again.
    point = point_of(helped(way), "planted_helper")
    for entry in (point, *point["first_ops"]):
        assert is_na(entry["zeroed_bytes"])
        assert "another thread" in entry["zeroed_bytes"]["na"] or is_na(point["inline_stores"])


def test_fresh_pages_that_another_thread_has_populated_are_not_claimed_to_be_zeros_of_calloc():
    point = point_of(helped("populate", touch=0), "planted_helper")
    first = point["first_ops"][0]
    assert is_na(first["zeroed_bytes"]) and first["populated_bytes"] == 2 * MIB
