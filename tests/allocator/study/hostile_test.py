"""Allocators that try to falsify measurements fail: zerotax reports the truth, a bound, or n/a with the reason.

The allocators are in tests/planted/hostile, and the true values in hostile_truth.py.
"""

import json

import pytest
from conftest import LONG_TOO, MIB, differences, is_na, measure, options, planted, point_of, watches_inline_stores, zerotax
from hostile_truth import HOSTILE, PAGE, TRUTH, check_zeroed, hostile

# Pairs of block size and touched fraction. ./run test uses only the first pair.
RUNS = [(MIB, 1.0), (300_001, 0.0)] if LONG_TOO else [(MIB, 1.0)]
OPS = 8


@pytest.fixture(scope="module")
def runs():
    return {(size, touch): measure(*hostile(*TRUTH), "--size", size, "--touch", touch, "--ops", OPS) for size, touch in RUNS}


each_allocator = pytest.mark.parametrize("name", TRUTH)
each_run = pytest.mark.parametrize(("size", "touch"), RUNS)


def test_every_hostile_allocator_has_its_truth():
    assert {library.stem[3:] for library in HOSTILE.glob("lib*.so")} == set(TRUTH)
    assert len(TRUTH) >= 60


@each_run
@each_allocator
def test_zeroed_bytes_are_the_truth_or_a_bound_or_not_available(runs, name, size, touch):
    run = runs[size, touch]
    check_zeroed(run, point_of(run, name, size_bytes=size), TRUTH[name])


@pytest.mark.parametrize(("size", "touch"), RUNS)
@each_allocator
def test_time_of_zeroing_is_part_of_calloc_and_never_without_bytes(runs, name, size, touch):
    point = point_of(runs[size, touch], name, size_bytes=size)
    check_times(point)
    why = TRUTH[name].zero_ns
    if why and not is_na(point["zeroed_bytes"]) and point["zeroed_bytes"] > 0:
        assert is_na(point["zero_ns"]) and why in point["zero_ns"]["na"], point["zero_ns"]


def check_times(point):
    """Checks that zero_ns is at most calloc_ns, and that zero_ns is above 0 only if bytes were zeroed and a method is
    named.
    """
    for entry, call in ((point, point["calloc_ns"]), *((entry, entry["calloc_ns"]) for entry in point["first_ops"])):
        if is_na(entry["zero_ns"]):
            continue
        assert not is_na(entry["zeroed_bytes"])
        assert (entry["zero_ns"] > 0) <= (entry["zeroed_bytes"] > 0)
        assert entry["zero_ns"] <= (call["median"] if isinstance(call, dict) else call)
    assert is_na(point["zero_ns"]) == is_na(point["zero_ns_method"])
    if not is_na(point["zero_ns"]):
        assert (point["zero_ns"] == 0) == (point["zero_ns_method"] == "nothing to time")


def test_time_of_zeroing_is_part_of_calloc_in_every_built_in_allocator():
    sizes, touches = ([100, 4096, 65536, MIB], [0.0, 1.0]) if LONG_TOO else ([100, MIB], [1.0])
    run = measure(*options("size", sizes), *options("touch", touches), "--ops", 12)
    for point in run["points"]:
        check_times(point)


def test_many_small_memsets_are_not_timed_by_their_clocks(runs):
    for size, touch in RUNS:
        point = point_of(runs[size, touch], "memset_ten_thousand", size_bytes=size)
        if is_na(point["zero_ns"]) or point["zero_ns_method"] == "calloc minus malloc":
            continue
        # A time that included ten thousand clock readings would be several times the time of the call.
        assert point["zero_ns"] < 3 * point["calloc_ns"]["median"]


def test_system_calls_that_were_not_counted_are_not_available(runs):
    for (size, _), run in runs.items():
        for name in ("ends_dispatch", "denies_prctl", "vfork_child", "child_process"):
            assert is_na(point_of(run, name, size_bytes=size)["calloc_syscalls"]), name


def test_a_filter_of_seccomp_finds_what_dispatch_does(runs):
    # These allocators make system calls in children, signal handlers or on other stacks.
    names = ["int80", "vfork_child", "child_process", "clone_in_each_call", "other_stack", "handles_sigsys", "signal_handler",
             "signal_handler_masked", "signal_stack", "longjmp_out_of_signal"]
    run = measure(*hostile(*names, "process_of_same_memory"), "--size", MIB, "--touch", 1, "--ops", OPS,
                  ZEROTAX_SYSCALLS="seccomp")
    found = {name: differences(point_of(run, name), point_of(runs[MIB, 1.0], name)) for name in names}
    assert found == {name: [] for name in names}
    # This allocator's own calls only sleep. Another process with the same memory and thread pointer makes the other
    # calls.
    assert set(point_of(run, "process_of_same_memory")["calloc_syscalls"]) == {"clock_nanosleep"}


@pytest.mark.parametrize("name", ["small_stosb", "small_memset_by_dlsym"])
def test_of_a_block_without_a_page_of_its_own_nothing_is_claimed_that_only_pages_would_tell(name):
    run = measure(*hostile(name), "--allocator", "glibc", *options("size", [24, 1000, 4096]), "--touch", 1, "--ops", OPS)
    for size in (24, 1000, 4096):
        zeroed = point_of(run, name, size_bytes=size)["zeroed_bytes"]
        assert is_na(zeroed) and ("no page of its own" in zeroed["na"] or not watches_inline_stores(run)), size
    # The C library's calloc clears up to 72 bytes with its own stores, and more with memset. The bytes of both kinds
    # are counted exactly.
    assert is_na(point_of(run, "glibc", size_bytes=24)["zeroed_bytes"])
    assert point_of(run, "glibc", size_bytes=1000)["zeroed_bound"] == "exact"


# The calloc of these allocators stores no zeros. Other threads or the kernel populate or remove the pages.
NOT_ITS_OWN = ["helper_drops", "helper_drops_and_populates", "helper_populates_beside_faults", "process_of_same_memory",
               "clone_in_each_call", "process_madvise_populate", "guard_pages"]


@pytest.mark.parametrize("thread", ["main", "worker"])
def test_who_stores_nothing_is_accused_of_nothing(thread, tmp_path):
    run = measure(*hostile(*NOT_ITS_OWN), "--size", MIB, *options("touch", [0, 1]), "--thread", thread, "--ops", OPS)
    for point in run["points"]:
        assert is_na(point["zeroed_bytes"]) or point["zeroed_bytes"] == 0, point["allocator"]
        assert all(is_na(entry["zeroed_bytes"]) or entry["zeroed_bytes"] == 0 for entry in point["first_ops"])
        # In each round, the kernel zeroes at least the touched pages.
        if point["touch"] == 1:
            assert is_na(point["kernel_zeroed_bytes"]) or point["kernel_zeroed_bytes"] >= MIB, point["allocator"]
        # Memory counts as returned even if an unusual system call returned it.
        if point["touch"] == 1 and point["allocator"] in ("process_madvise_populate", "guard_pages"):
            returned = point["returned_bytes"]
            assert is_na(returned) or returned >= MIB, (point["allocator"], returned)
    file = tmp_path / "run.json"
    file.write_text(json.dumps(run))
    found = json.loads(zerotax("findings", file, "--json", "-").stdout)["findings"]
    assert [each["id"] for each in found if "redundant" in each["rule"] or "zeroing" in each["rule"]] == []


def test_pages_that_mremap_cut_off_are_zeroed_again(runs):
    point = point_of(runs[MIB, 1.0], "mremap_cut", size_bytes=MIB)
    # The block keeps its first page, so the kernel zeroes one page less.
    assert point["kernel_zeroed_bytes"] == MIB - PAGE and point["returned_bytes"] >= MIB - PAGE


def test_pages_of_a_file_are_not_zeroed_by_the_kernel(runs):
    for (size, _), run in runs.items():
        found = point_of(run, "file_populated", size_bytes=size)["kernel_zeroed_bytes"]
        assert found <= 2 * PAGE, "a header"
        assert is_na(point_of(run, "file_of_other_bytes", size_bytes=size)["kernel_zeroed_bytes"])


def test_clocks_and_counters_of_the_allocator_are_not_believed():
    point = point_of(measure(*hostile("own_clocks"), "--size", MIB, "--touch", 1, "--ops", OPS), "own_clocks")
    assert point["calloc_faults"] >= 2 and point["calloc_ns"]["median"] > 0


def test_what_an_allocator_denies_is_not_said_to_be_missing_in_the_kernel(runs):
    for run in runs.values():
        if not watches_inline_stores(run):
            continue
        for point in run["points"]:
            for metric, value in point.items():
                assert not is_na(value) or "this kernel has no" not in value["na"], (point["allocator"], metric, value)


def test_an_allocator_that_write_protects_by_itself_is_let_do_so(runs):
    for (size, _), run in runs.items():
        point = point_of(run, "arms_write_protection", size_bytes=size)
        assert (point["zeroed_in_free_bytes"], point["zeroed_bytes"]) == (0, 0)


def test_what_zeroes_on_a_second_thread_only_is_found_there():
    run = measure(*hostile("in_second_thread"), "--size", MIB, "--thread", "worker", "--ops", OPS)
    assert point_of(run, "in_second_thread")["zeroed_bytes"] == MIB


def test_what_zeroes_after_a_hundred_calls_is_found_by_two_hundred():
    run = measure(*hostile("after_100_calls"), "--size", MIB, "--ops", 200)
    point = point_of(run, "after_100_calls")
    assert (point["ops"], point["audited_ops"]) == (200, 200)
    kinds = sorted((mode["zeroed_bytes"], mode["ops"]) for mode in point["modes"]["audit"])
    assert kinds == [(0, 95), (MIB, 100)], "five operations to warm up, then those to the hundredth, then the others"


def test_a_huge_page_is_not_taken_for_zeros():
    run = measure(*hostile("huge_page"), "--size", 4 * MIB, "--ops", OPS)
    assert is_na(point_of(run, "huge_page")["zeroed_bytes"])


def test_time_of_zeroing_in_free_is_part_of_free_and_only_by_a_clock():
    run = measure(*planted("planted_free_memset", "planted_free_inline", "planted_never"), "--size", MIB, "--touch", 1,
                  "--ops", OPS)
    cleared = point_of(run, "planted_free_memset")
    assert cleared["zero_in_free_ns_method"] == "clock around memset"
    assert 0 < cleared["zero_in_free_ns"] <= cleared["free_ns"]["median"]
    inline = point_of(run, "planted_free_inline")["zero_in_free_ns"]
    assert is_na(inline) and "inline" in inline["na"]
    assert point_of(run, "planted_never")["zero_in_free_ns"] == 0
