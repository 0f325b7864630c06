"""zerotax cow reports what processes still share, for programs that copy a known number of pages."""

import json
import shutil

import pytest
from conftest import NOBODY, PAGE, check_schema, is_na, skip_if_unreadable, zerotax
from watching import FORKS, RECORDED, as_root, watch

METHODS = [pytest.param("tracepoints", marks=as_root), "software"]
PAGES, WRITTEN = 16384, 4096
SMALL = 300  # pages of the C library and of stacks


def at_end(report):
    """Returns the last interval at which the sharing of the only child is known, with the sharing of both processes."""
    for interval in reversed(report["intervals"]):
        known = {p["child"]: p["sharing"] for p in interval["processes"] if not is_na(p["sharing"]["shared_bytes"])}
        if True in known:
            return interval, known[False], known[True]
    raise AssertionError("the sharing of no child is known")


def near(found, pages):
    return pages * PAGE <= found <= (pages + SMALL) * PAGE


def check_sharing(report, text):
    interval, parent, child = at_end(report)
    assert near(child["inherited_bytes"], PAGES) and is_na(parent["inherited_bytes"])
    assert near(child["copied_bytes"], WRITTEN)
    assert near(child["shared_bytes"], PAGES - WRITTEN) and near(parent["shared_bytes"], PAGES - WRITTEN)
    assert child["zeroed_bytes"] < SMALL * PAGE
    # Each copy is one page more in memory, and the other process then has the original for itself.
    pss = interval["pss"]
    assert near(pss["pss_bytes"], PAGES + WRITTEN) and near(pss["uncopied_bytes"], PAGES)
    assert pss["pss_bytes"] - pss["uncopied_bytes"] == parent["copied_bytes"] + child["copied_bytes"]
    assert "still shared" in text
    assert "Without copies, the PSS of all would be" in text


@pytest.mark.parametrize("method", METHODS)
def test_shared_copied_and_proportional_memory_add_up(method):
    report, done = watch(FORKS, PAGES, WRITTEN, 0, 0, 2, options=["--interval", "0.5"], ZEROTAX_FAULTS=method)
    check_sharing(report, " ".join(done.stderr.split()))


@as_root
@pytest.mark.skipif(shutil.which("setpriv") is None, reason="setpriv is missing: install util-linux")
def test_an_ordinary_user_sees_what_is_shared():
    skip_if_unreadable()
    report, done = watch(FORKS, PAGES, WRITTEN, 0, 0, 2, options=["--interval", "0.5"], prefix=NOBODY)
    check_sharing(report, " ".join(done.stderr.split()))


# The parent copies 1,000 pages while its child lives, and outlives the child.
OUTLIVES = """
import mmap, os, time
memory = mmap.mmap(-1, 4096 * 1000, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
def write(byte):
    for page in range(1000):
        memory[4096 * page] = byte
write(1)
if os.fork() == 0:
    time.sleep(2)
    os._exit(0)
write(2)
os.wait()
time.sleep(2)
"""


def test_copies_without_another_owner_are_no_longer_counted():
    report, _ = watch("/usr/bin/python3", "-c", OUTLIVES, options=["--interval", "0.25"])
    known = [interval for interval in report["intervals"] if not is_na(interval["pss"])]
    apart = [interval["pss"]["pss_bytes"] - interval["pss"]["uncopied_bytes"] for interval in known]
    assert max(apart) >= 1000 * PAGE and apart[-1] == 0


def test_sharing_is_unknown_if_processes_are_left_out():
    report, _ = watch(FORKS, 300, 5, 5, 5, 1, options=["--interval", "0.25", "--first-child"])
    assert all(is_na(interval["pss"]) for interval in report["intervals"])


def watched(folder, name, *arguments):
    file = folder / name
    done = zerotax("cow", "--every-fault", "--json", file, "--", *arguments)
    assert done.returncode == 0, done.stderr
    return file


def compared(folder, before, after, status):
    done = zerotax("compare", "--json", folder / "compare.json", before, after)
    assert done.returncode == status, done.stderr
    comparison = json.loads((folder / "compare.json").read_text())
    check_schema(comparison, "cow_compare")
    return comparison, {count["name"]: count for count in comparison["counts"]}, done.stdout


def test_two_files_are_compared_count_by_count(tmp_path):
    few = watched(tmp_path, "few.json", FORKS, 1000, 100, 0, 0)
    again = watched(tmp_path, "again.json", FORKS, 1000, 100, 0, 0)
    many = watched(tmp_path, "many.json", FORKS, 1000, 600, 0, 0)
    comparison, _, text = compared(tmp_path, few, again, 0)
    assert comparison["verdict"] == "same" and text.startswith("same: ")
    comparison, counts, text = compared(tmp_path, few, many, 1)
    assert comparison["verdict"] == "worse" and text.startswith("worse: copied pages ")
    copies = counts["copied pages"]
    assert copies["direction"] == "worse" and 480 <= copies["new"]["low"] - copies["old"]["low"] <= 520
    assert counts["copied by program"]["direction"] == "neither"
    assert any("The commands differ" in note for note in comparison["notes"])
    comparison, counts, _ = compared(tmp_path, many, few, 0)
    assert comparison["verdict"] == "better" and counts["copied pages"]["direction"] == "better"


def test_writers_of_both_files_are_compared(tmp_path):
    writers = watched(tmp_path, "writers.json", RECORDED / "writers")
    forks = watched(tmp_path, "forks.json", FORKS, 1000, 100, 0, 0)
    _, counts, text = compared(tmp_path, writers, forks, 0)
    allocator = counts["copied by allocator"]
    assert allocator["old"]["low"] >= 395 and allocator["new"]["high"] < 20 and allocator["direction"] == "neither"
    assert "copied by allocator" in text


def test_options_of_points_are_refused_for_files_of_cow(tmp_path):
    few = watched(tmp_path, "few.json", FORKS, 100, 10, 0, 0)
    done = zerotax("compare", "--size", "1MiB", few, few)
    assert done.returncode == 2 and "files of zerotax cow" in done.stderr and len(done.stderr.splitlines()) == 1
    done = zerotax("compare", few, tmp_path / "absent.json")
    assert done.returncode == 2 and len(done.stderr.splitlines()) == 1
