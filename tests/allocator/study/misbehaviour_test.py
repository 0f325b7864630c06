"""An allocator that misbehaves is a finding with a reason, and the run continues with the next allocator."""

import re

import pytest
from conftest import KIB, MIB, PAGE, PLANTED, is_na, measure, planted, point_of, read_folder, zerotax

SIZE = 256 * KIB


@pytest.fixture(scope="module")
def run():
    return measure(
        *planted("planted_crash", "planted_null", "planted_hog", "planted_threads", "planted_never"), "--size", SIZE,
        "--ops", 8, status=1)


def test_the_run_goes_on_to_its_end(run):
    assert run["state"] == "complete"
    assert [(point["allocator"], point["status"]) for point in run["points"]] == [
        ("planted_crash", "crashed"), ("planted_null", "failed"), ("planted_hog", "crashed"), ("planted_threads", "ok"),
        ("planted_never", "ok")]


def test_a_crash_says_where_and_keeps_the_calls_before_it(run):
    point = point_of(run, "planted_crash")
    assert point["reason"] == "audit pass: killed by SIGSEGV in calloc, operation 3"
    assert [entry["op"] for entry in point["first_ops"]] == [1, 2]
    assert [entry["zeroed_bytes"] for entry in point["first_ops"]] == [0, 0]
    assert point["first_ops"][0]["calloc_syscalls"] == {"mmap": 1}


@pytest.mark.parametrize(("name", "place"), [
    ("planted_crash_in_free", "in free, operation 2"), ("planted_read_only", "while the block was written to, operation 1")])
def test_a_crash_outside_calloc_says_where_too(name, place):
    point, = measure(*planted(name), "--size", SIZE, "--touch", 1, "--ops", 8, status=1)["points"]
    assert (point["status"], point["reason"]) == ("crashed", f"audit pass: killed by SIGSEGV {place}")


def test_a_calloc_that_gives_null_says_so_with_its_errno(run):
    point = point_of(run, "planted_null")
    assert point["reason"] == "audit pass: calloc returned NULL (Cannot allocate memory), operation 2"
    assert [entry["op"] for entry in point["first_ops"]] == [1]


def test_a_hog_is_stopped_before_it_takes_the_machine_with_it(run):
    point = point_of(run, "planted_hog")
    # A probe may hold twice the block and 1 GiB. calloc exceeds this limit, but the driver may notice the excess at any
    # later step.
    where = r"(in \w+|while .*|between two calls), operation \d"
    assert re.fullmatch(r"audit pass: out of memory: its resident set exceeded 1\.00 GiB " + where, point["reason"])


def test_the_one_that_behaves_is_measured_as_ever(run):
    point = point_of(run, "planted_never")
    assert (point["zeroed_bytes"], point["populated_bytes"], point["ops"]) == (0, 0, 8)


def test_a_hang_ends_at_the_timeout_and_is_not_waited_for_again():
    run = measure(
        *planted("planted_hang", "planted_never"), "--size", SIZE, "--ops", 8, "--timeout", 2, status=1, timeout=15)
    hang = point_of(run, "planted_hang")
    assert (hang["status"], hang["reason"]) == ("timeout", "audit pass: not done after 2 s: in calloc, operation 2")
    assert [entry["op"] for entry in hang["first_ops"]] == [1]
    assert is_na(hang["calloc_ns"]) and is_na(hang["zero_ns"])
    assert point_of(run, "planted_never")["status"] == "ok"


def test_figures_of_operations_that_never_ended_are_not_available_rather_than_zero():
    point, = measure(*planted("planted_null"), "--size", SIZE, "--touch", 1, "--ops", 8, status=1)["points"]
    # All metrics come from the only complete operation of each pass.
    assert (point["ops"], len(point["first_ops"])) == (1, 1)
    assert (point["zeroed_bytes"], point["touch_faults"]) == (0, SIZE // PAGE)
    hang, = measure(*planted("planted_hang"), "--size", SIZE, "--ops", 8, "--timeout", 1, status=1)["points"]
    for figure in ("calloc_ns", "touch_ns", "free_ns", "zero_ns", "calloc_faults", "touch_faults", "free_faults"):
        assert is_na(hang[figure]), figure


def test_the_table_and_the_folder_tell_of_it_too(tmp_path):
    done = zerotax(
        "run", *planted("planted_crash", "planted_dirty"), "--size", MIB, "--touch", 1, "--ops", 8, "--full", "--out",
        tmp_path / "out")
    assert done.returncode == 1
    assert "planted_crash 1 MiB, touch 1: crashed: audit pass: killed by SIGSEGV in calloc, operation 3" in done.stdout
    assert "planted_dirty 1 MiB, touch 1: not_zero: calloc handed out a block with a non-zero byte" in done.stdout
    _, points = read_folder(tmp_path / "out")
    assert [point["status"] for point in points] == ["crashed", "not_zero"]


def test_an_allocator_that_fails_at_its_first_byte_is_refused(tmp_path):
    # The loader's message names the missing library in the line that refuses the allocator.
    library = tmp_path / "broken.so"
    library.write_bytes((PLANTED / "libplanted_never.so").read_bytes().replace(b"libc.so.6\0", b"libq.so.6\0"))
    done = zerotax("run", "--allocator", f"broken={library}", "--size", SIZE)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1 and "broken" in done.stderr
