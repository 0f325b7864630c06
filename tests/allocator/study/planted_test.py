"""Each planted policy is reported exactly, to the byte. The expected metrics are computed page by page from the policy
(tests/planted), and not copied from a report.
"""

import math
from typing import NamedTuple

import pytest
from conftest import (
    KIB, LONG_TOO, MIB, PAGE, is_na, measure, one_fault_brings_one_page, options, planted, point_of, watches_inline_stores)

OPS = 8
LAST_CLEAN = 1_000_003  # largest size that planted_memset_above does not zero
SIZES = [64 * KIB, 262_147, LAST_CLEAN, LAST_CLEAN + 1, 2 * MIB, 3 * MIB + 1]
TOUCHES = [0.0, 0.25, 1.0]
THREADS = ["main", "worker"]
COMBINATIONS = [(size, touch, thread) for size in SIZES for touch in TOUCHES for thread in THREADS]
# The timing pass takes a quarter of a second for each point, so ./run test leaves most points to the audit pass.
TIMED_SIZES, TIMED_TOUCHES, TIMED_THREADS = (
    (SIZES, TOUCHES, THREADS) if LONG_TOO else ([64 * KIB, LAST_CLEAN + 1, 3 * MIB + 1], [0.0, 1.0], ["main"]))
TIMED = [(size, touch, thread) for size in TIMED_SIZES for touch in TIMED_TOUCHES for thread in TIMED_THREADS]


class Expected(NamedTuple):
    """Expected bytes of one operation."""

    zeroed: int = 0
    redundant: int = 0
    populated: int = 0


NOTHING = Expected()


def touched_bytes(size, touch):
    """Returns the bytes of the block in pages that the program wrote to."""
    return min(size, math.ceil(touch * math.ceil(size / PAGE)) * PAGE)


def always(size, touch, op):
    """Zeroes the whole block, which the first call maps and later calls reuse."""
    if op == 1:
        return Expected(size, size, size)
    return Expected(size, size - touched_bytes(size, touch))


def never(_size, _touch, _op):
    return NOTHING


def above(size, touch, op):
    return always(size, touch, op) if size > LAST_CLEAN else NOTHING


def half(size, touch, op):
    """Zeroes the first half of a kept block. In the middle page, free has cleared the part that belongs to the other
    half.
    """
    if op == 1:
        return NOTHING
    first = size // 2
    touched = min(first, touched_bytes(size, touch))
    # The second call populates the pages that neither the program nor free has touched.
    populated = max(0, first // PAGE * PAGE - touched) if op == 2 else 0
    return Expected(first, first - touched, populated)


def populate(size, _touch, _op):
    return Expected(populated=size)


class Policy(NamedTuple):
    figures: object
    method: str = "none"
    maps_anew: bool = True


POLICIES = {
    "planted_memset": Policy(always, "memset", maps_anew=False),
    "planted_never": Policy(never),
    "planted_memset_above": Policy(above, "memset", maps_anew=False),
    "planted_inline": Policy(always, "inline", maps_anew=False),
    "planted_half": Policy(half, "memset", maps_anew=False),
    "planted_dirty": Policy(never, maps_anew=False),
    "planted_populate": Policy(populate),
    "planted_not_anonymous": Policy(never),
}


@pytest.fixture(scope="module")
def run():
    return measure(
        *planted(*POLICIES), *options("size", SIZES), *options("touch", TOUCHES), *options("thread", THREADS),
        "--ops", OPS, "--audit-only", status=1)


@pytest.fixture(scope="module")
def timed():
    return measure(
        *planted(*POLICIES), *options("size", TIMED_SIZES), *options("touch", TIMED_TOUCHES),
        *options("thread", TIMED_THREADS), "--ops", OPS, status=1)


each_policy = pytest.mark.parametrize("name", POLICIES)


def reported(run, name, what, combinations=tuple(COMBINATIONS)):
    """Returns a metric for each point of an allocator, by size, touch and thread."""
    return {
        (size, touch, thread): what(point_of(run, name, size_bytes=size, touch=touch, thread=thread))
        for size, touch, thread in combinations}


def maps_anew(name, size):
    return POLICIES[name].maps_anew or (name == "planted_memset_above" and size <= LAST_CLEAN)


def figures(entry):
    return Expected(entry["zeroed_bytes"], entry["redundant_zeroed_bytes"], entry["populated_bytes"])


def check_measurable(run, name):
    if name == "planted_inline" and not watches_inline_stores(run):
        pytest.skip("this machine cannot watch inline stores, and says so: see `capabilities` in run.json")


@each_policy
def test_every_early_call_is_reported_as_planted(run, name):
    check_measurable(run, name)
    policy = POLICIES[name].figures
    assert reported(run, name, lambda point: {entry["op"]: figures(entry) for entry in point["first_ops"]}) == {
        (size, touch, thread): {op: policy(size, touch, op) for op in range(1, OPS + 1)}
        for size, touch, thread in COMBINATIONS}


@each_policy
def test_the_steady_state_is_reported_as_planted(run, name):
    check_measurable(run, name)
    policy, method, _ = POLICIES[name]
    expected = {}
    for size, touch, thread in COMBINATIONS:
        steady = policy(size, touch, OPS)
        expected[size, touch, thread] = (steady, method if steady.zeroed else "none", OPS)
    assert expected == reported(run, name, lambda point: (figures(point), point["zeroed_method"], point["audited_ops"]))


@each_policy
def test_only_the_allocator_that_lies_breaks_the_promise_of_zeros(run, name):
    # From the second call on, blocks of planted_dirty keep the byte that the program wrote at the start of each page.
    lie = ("not_zero", "calloc handed out a block with a non-zero byte at offset 0, operation 2", ["not_zero"])
    assert reported(run, name, lambda point: (point["status"], point["reason"], point["violations"])) == {
        (size, touch, thread): lie if name == "planted_dirty" and touch > 0 else ("ok", None, [])
        for size, touch, thread in COMBINATIONS}


@each_policy
def test_system_calls_are_those_of_the_policy(run, name):
    mapping = {"mmap": 1}
    if name == "planted_not_anonymous":
        mapping = {"memfd_create": 1, "ftruncate": 1, "mmap": 2, "close": 1}
    kept = {"madvise": 1} if name == "planted_half" else {}
    assert reported(run, name, lambda point: (point["calloc_syscalls"], point["free_syscalls"])) == {
        (size, touch, thread): (mapping, {"munmap": 1}) if maps_anew(name, size) else ({}, kept)
        for size, touch, thread in COMBINATIONS}


@each_policy
def test_faults_are_those_of_the_policy(timed, name):
    if not one_fault_brings_one_page(timed):
        pytest.skip("huge pages are on for every mapping here, and one fault may bring many pages")

    def faults(size):
        # The header has a separate page, which takes a fault in each fresh mapping. A system call that populates pages
        # counts as one fault for each page.
        if not maps_anew(name, size):
            return 0
        return 1 + math.ceil(size / PAGE) if name == "planted_populate" else 1

    assert reported(timed, name, lambda point: point["calloc_faults"], TIMED) == {
        (size, touch, thread): faults(size) for size, touch, thread in TIMED}


def test_every_point_says_whether_inline_stores_were_watched(run):
    for point in run["points"]:
        assert point["inline_stores"] == "watched" if watches_inline_stores(run) else is_na(point["inline_stores"])


@pytest.mark.parametrize(
    ("name", "method"),
    [("planted_memset", "clock around memset"), ("planted_inline", "calloc minus malloc"),
     ("planted_never", "nothing to time")])
def test_the_time_of_zeroing_says_how_it_was_found(timed, name, method):
    check_measurable(timed, name)
    point = point_of(timed, name, size_bytes=3 * MIB + 1, touch=1.0, thread="main")
    assert point["zero_ns_method"] == method
    assert (point["zero_ns"] > 0) == (name != "planted_never")


def test_the_time_of_inline_stores_is_known_where_a_filter_counts_system_calls():
    run = measure(*planted("planted_inline"), "--size", 3 * MIB + 1, "--touch", 1, "--ops", 16, ZEROTAX_SYSCALLS="seccomp")
    point = point_of(run, "planted_inline")
    check_measurable(run, "planted_inline")
    assert point["zero_ns_method"] == "calloc minus malloc" and point["zero_ns"] > 0


def test_a_byte_that_is_not_zero_in_an_untouched_page_of_a_shared_mapping_is_found():
    run = measure(*planted("planted_not_anonymous_dirty"), *options("size", SIZES), "--ops", 3, "--audit-only", status=1)
    for size in SIZES:
        point = point_of(run, "planted_not_anonymous_dirty", size_bytes=size)
        assert (point["status"], point["violations"]) == ("not_zero", ["not_zero"])
        assert f"at offset {size - 5000}, operation 1" in point["reason"]
        assert figures(point) == NOTHING


def test_a_call_that_starts_a_thread_has_no_count_of_system_calls_and_says_why():
    run = measure(*planted("planted_threads"), *options("size", SIZES), *options("thread", THREADS), "--ops", OPS,
                  "--audit-only")
    # The C library zeroes a few words for a new thread, whatever the block's size.
    assert {point["zeroed_bytes"] for point in run["points"]} == {run["points"][0]["zeroed_bytes"]}
    for point in run["points"]:
        assert point["status"] == "ok"
        assert is_na(point["calloc_syscalls"]) and "thread" in point["calloc_syscalls"]["na"]
        assert is_na(point["syscalls"])
        assert point["free_syscalls"] == {"munmap": 1}
        assert all(is_na(entry["calloc_syscalls"]) for entry in point["first_ops"])
        assert all(entry["zeroed_bytes"] < KIB and entry["populated_bytes"] == 0 for entry in point["first_ops"])
