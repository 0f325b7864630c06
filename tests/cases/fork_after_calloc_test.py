"""A fork after calloc: the exact number of copied pages of a block in child and parent, and the added cost of redundant
zeroing.
"""

import json
import os
import shutil

import pytest
from conftest import (
    KIB, MIB, NOBODY, PAGE, ZEROTAX, check_schema, csv_rows, is_na, measure, options, planted, point_of,
    read_folder, skip_if_unreadable, zerotax)
from allocators_here import available
from zero_page import has_shared_zero_page

SIZE = 8 * MIB
PAGES = SIZE // PAGE
CASE = ["--case", "fork_after_calloc", "--ops", 4]
HUGE = ["--case", "fork_after_calloc_huge", "--ops", 4]
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root sees page frames and tracepoints")
with_setpriv = pytest.mark.skipif(
    os.geteuid() != 0 or shutil.which("setpriv") is None, reason="only root, with setpriv, can become somebody else")


def forked(name, *arguments, **how):
    """Returns the single point of a planted allocator."""
    run = measure(*planted(name), *CASE, *arguments, **how)
    assert len(run["points"]) == 1
    return run["points"][0]


def classes(writes):
    return tuple(writes[name] for name in ("copies", "reuses", "zero_fills", "other"))


def check_classes_add_up(point):
    """Two methods agree: the timing pass counts faults by getrusage, and the faults pass classifies faults by the
    pagemap.
    """
    for process in ("child", "parent"):
        assert sum(classes(point["fork"][process])) == point["fork"][process]["faults"], (point, process)


def test_without_full_a_point_is_eight_forks_and_counts_the_same():
    case = ["--case", "fork_after_calloc", "--size", SIZE]
    [[short], [full]] = [measure(*planted("planted_memset"), *case, *more)["points"] for more in ([], ["--thorough"])]
    assert short["ops"] == 8 <= full["ops"]
    for key in ("zeroed_bytes", "redundant_zeroed_bytes", "populated_bytes"):
        assert short[key] == full[key]
    assert classes(short["fork"]["child"]) == classes(full["fork"]["child"])


def test_a_block_that_is_zeroed_redundantly_is_copied_though_nobody_wrote_it():
    point = forked("planted_memset", "--size", SIZE)
    fork = point["fork"]
    assert fork["populated_bytes"] == SIZE
    assert classes(fork["child"]) == (PAGES // 4, 0, 0, 0)
    assert classes(fork["parent"]) == (PAGES // 4, PAGES // 4, 0, 0)
    check_classes_add_up(point)


def test_a_block_that_is_left_alone_is_filled_with_zeros_by_each_who_writes_it():
    point = forked("planted_never", "--size", SIZE)
    fork = point["fork"]
    assert fork["populated_bytes"] == 0
    assert classes(fork["child"]) == (0, 0, PAGES // 4, 0)
    assert classes(fork["parent"]) == (0, 0, PAGES // 2, 0)
    check_classes_add_up(point)


@pytest.mark.parametrize("touch", [0.125, 0.375, 1])
def test_what_the_program_touched_before_the_fork_is_what_is_shared(touch):
    point = forked("planted_never", "--size", SIZE, "--touch", touch)
    fork = point["fork"]
    touched = round(PAGES * touch)
    childs = min(touched, PAGES // 4)
    parents = min(touched, PAGES // 2)
    assert fork["populated_bytes"] == touched * PAGE
    assert classes(fork["child"]) == (childs, 0, PAGES // 4 - childs, 0)
    assert classes(fork["parent"]) == (parents - childs, childs, PAGES // 2 - parents, 0)
    check_classes_add_up(point)


def test_redundant_zeroing_adds_page_tables_to_every_child():
    tables = {name: forked(name, "--size", 64 * MIB)["fork"]["page_table_bytes"]
              for name in ("planted_never", "planted_memset")}
    # A page table takes 4 KiB and covers 2 MiB. A block need not begin at a boundary of 2 MiB.
    assert 32 * PAGE <= tables["planted_memset"] - tables["planted_never"] <= 34 * PAGE


def test_first_operations_have_forks_of_their_own():
    point = forked("planted_memset", "--size", SIZE, "--thread", "worker")
    assert [classes(op["fork"]["child"]) for op in point["first_ops"]] == [(PAGES // 4, 0, 0, 0)] * 4
    assert all(op["fork"]["fork_ns"] > 0 for op in point["first_ops"])


def test_odd_sizes_have_a_quarter_and_a_half_rounded_up():
    point = forked("planted_memset", "--size", 9 * PAGE + 1)
    assert classes(point["fork"]["child"]) == (3, 0, 0, 0)
    assert classes(point["fork"]["parent"]) == (2, 3, 0, 0)


@with_setpriv
def test_nobody_sees_the_same_by_exclusive_pages_as_root_by_page_frames():
    skip_if_unreadable()
    arguments = [*planted("planted_memset", "planted_never", "planted_half"), *CASE, *options("touch", [0, 0.3, 1]),
                 "--size", 3 * MIB + 1]
    ours, nobodys = measure(*arguments), measure(*arguments, prefix=NOBODY)
    for one, other in zip(ours["points"], nobodys["points"], strict=True):
        assert one["fork"]["method"] == "page frames"
        if is_na(other["fork"]["method"]):
            pytest.skip(other["fork"]["method"]["na"])
        assert other["fork"]["method"] == "exclusive pages"
        for process in ("child", "parent"):
            assert classes(one["fork"][process]) == classes(other["fork"][process])
        assert one["fork"]["page_table_bytes"] == other["fork"]["page_table_bytes"]


@with_setpriv
def test_where_the_zero_page_cannot_be_told_classes_are_not_available():
    skip_if_unreadable()
    if not has_shared_zero_page():
        pytest.skip("this kernel gives programs no shared zero page, so each class is known")
    fork = forked("planted_never", "--size", MIB, prefix=NOBODY, ZEROTAX_PAGEMAP="read")["fork"]
    assert "zero page" in fork["method"]["na"]
    assert all(is_na(fork["child"][name]) for name in ("copies", "reuses", "zero_fills", "other"))
    assert fork["child"]["faults"] == 64
    assert fork["page_table_bytes"] > 0


@as_root
def test_the_fault_tracer_sees_the_same_copies(tmp_path):
    """A third method agrees: the kernel's tracepoints, over all passes of a point."""
    out = tmp_path / "cow.json"
    done = zerotax("cow", "--json", out, "--", ZEROTAX, "run", *planted("planted_memset"), "--case",
                   "fork_after_calloc", "--ops", 1, "--size", SIZE, "--touch", 0)
    assert done.returncode == 0, done.stderr
    report = json.loads(out.read_text())
    check_schema(report, "cow")
    assert report["totals"]["lost"] == 0
    # The block lies in a mapping of its own size plus a page for its header. If the kernel merged this mapping with the
    # meter's own memory, the mapping is larger, and a few of the meter's pages are written as well.
    blocks = [mapping for process in report["processes"] for mapping in process["mappings"]
              if mapping["name"] == "" and mapping["end"] - mapping["begin"] >= SIZE + PAGE]
    copies, reuses = (sum(mapping["counts"][kind] for mapping in blocks) for kind in ("copies", "reuses"))
    passes = 4  # four passes fork once each: audit, timing, faults and zeroing
    assert 0 <= copies - passes * PAGES // 2 <= 32, blocks
    assert 0 <= reuses - passes * PAGES // 4 <= 32, blocks


def test_huge_pages_are_filled_at_once_and_copied_in_small():
    huge = measure(*planted("planted_never"), *HUGE, "--size", 64 * MIB, "--touch", 1)["points"][0]
    if huge["touch_faults"] > 64 * MIB // PAGE // 2:
        pytest.skip("no huge pages to be had")
    # Huge pages fill all of the block except its edges.
    assert huge["touch_faults"] <= 30 + 2 * 512
    # The child writes to a quarter of the block, and each of these writes copies 4 KiB.
    assert huge["fork"]["child"]["copies"] == 16 * MIB // PAGE


@pytest.mark.parametrize("name", ["glibc", "jemalloc", "mimalloc", "tcmalloc", "tbbmalloc", "scudo", "largecache"])
def test_the_faults_of_every_allocator_add_up(name):
    if not available(name):
        pytest.skip(f"{name} is not in this build")
    for size in (256 * KIB, 20 * MIB):
        run = measure("--allocator", name, "--size", size, *options("touch", [0, 1]), *CASE)
        for point in run["points"]:
            assert point["status"] == "ok", point["reason"]
            check_classes_add_up(point)
            if point["touch"] == 1:
                assert point["fork"]["populated_bytes"] >= size


def test_a_block_that_fits_once_but_not_once_and_a_half_is_skipped(tmp_path):
    available_bytes = int(next(line.split()[1] for line in open("/proc/meminfo", encoding="ascii")
                               if line.startswith("MemAvailable"))) * KIB
    run = measure("--allocator", "glibc", *CASE, "--size", int(available_bytes * 0.8))
    assert run["points"][0]["status"] == "skipped"
    assert "fork" not in run["points"][0]


def test_table_and_csv_show_the_fork(tmp_path):
    done = zerotax("run", *planted("planted_memset"), *CASE, "--size", SIZE, "--full", "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    line = next(line for line in done.stdout.splitlines() if " child " in line)
    assert line.split()[-4:] == ["child", "512", "0", "0"]
    assert max(map(len, done.stdout.splitlines())) <= 80
    read_folder(tmp_path / "out")
    row = csv_rows(tmp_path / "out")[0]
    assert (row["child_copies"], row["parent_reuses"], row["parent_faults"]) == ("512", "512", "1024")


def test_other_cases_have_no_fork():
    point = point_of(measure("--allocator", "glibc", "--size", MIB, "--ops", 2), "glibc")
    assert "fork" not in point and "fork" not in point["first_ops"][0]
