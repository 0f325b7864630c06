"""`zerotax record --resident` divides resident memory. The recorded program knows its own blocks, finds by itself which of
their pages are resident and free, and the two agree to the page.
"""

import json
import os
import signal
import subprocess
import time

import pytest
from conftest import MIB, PAGE, ZEROTAX, clean_environment
from recording import PROGRAMS, record

RESIDENT = PROGRAMS / "resident"
PARTS = ("live", "free", "fragmented", "offered", "allocator", "stack", "other")
# Pages that the program touches after it has counted them: its stack, and its last calls.
AFTERWARDS = 16 * PAGE


def resident(way, folder, *options, ask=False, **environment):
    """Returns the recording, and what each process says of itself. With `ask`, the process asks its allocator, too."""
    says = folder / "says.json"
    found = record(RESIDENT, way, says, *(["ask"] if ask else []), options=("--resident", *options), **environment)
    for process in found.json["resident"]["processes"]:
        for moment in process["moments"]:
            parts = moment["parts"]
            assert sum(parts[f"{part}_bytes"] for part in PARTS) == parts["resident_bytes"]
    return found, [json.loads(line) for line in says.read_text().splitlines()] if says.exists() else []


def moment_of(found, pid, name="end"):
    [process] = [p for p in found.json["resident"]["processes"] if p["pid"] == pid]
    assert process["why_not"] == ""
    [moment] = [m for m in process["moments"] if m["moment"] == name]
    return moment


def check_equal(found, own, reused=False):
    """Compares the end of a process with its own numbers. `reused`: the allocator may have put data of its own on pages
    that it had returned, which the program takes for free pages.
    """
    parts = moment_of(found, own["pid"])["parts"]
    missing = own["free"] - parts["free_bytes"] - parts["offered_bytes"]
    assert 0 <= missing <= parts["allocator_bytes"] if reused else missing == 0
    # The C library has some blocks, too.
    assert 0 <= parts["live_bytes"] - own["live"] <= 200_000
    assert 0 <= parts["live_bytes"] + parts["fragmented_bytes"] - own["on_live_pages"] <= 300_000
    assert own["anonymous"] <= parts["resident_bytes"] <= own["anonymous"] + AFTERWARDS


ALLOCATORS = [None, "jemalloc", "mimalloc", "tcmalloc", "largecache", "scudo", "tbbmalloc"]


@pytest.mark.parametrize("allocator", ALLOCATORS)
@pytest.mark.parametrize("way", ["pinned", "mixed", "threads", "forked"])
def test_parts_are_those_that_the_program_finds_itself(way, allocator, tmp_path):
    found, said = resident(way, tmp_path, *(("--allocator", allocator) if allocator else ()))
    assert found.status == 0 and said
    for own in said:
        check_equal(found, own, allocator in ("largecache", "mimalloc", "scudo"))


def test_live_bytes_are_those_in_use_by_the_allocators_own_count(tmp_path):
    # A block has a header of 8 bytes, or of 16 bytes in a mapping of its own. Without its caches for threads, glibc
    # counts no freed block as used. The table of the caches (tcache_perthread_struct) is a block of glibc's own.
    found, [own] = resident("mixed", tmp_path, ask=True, GLIBC_TUNABLES="glibc.malloc.tcache_count=0")
    moment = moment_of(found, own["pid"])
    headers = 8 * (moment["live_blocks"] - own["mapped_blocks"]) + 16 * own["mapped_blocks"]
    assert own["in_use"] - moment["parts"]["live_bytes"] - headers in (0, 656)
    (tmp_path / "says.json").unlink()
    found, [own] = resident("mixed", tmp_path, "--allocator", "jemalloc", ask=True)
    # Pages of a live block on which nobody wrote are not resident.
    assert 0 <= own["in_use"] - moment_of(found, own["pid"])["parts"]["live_bytes"] < 200_000


@pytest.mark.parametrize("allocator", ALLOCATORS)
def test_the_allocators_own_counts_are_beside_the_parts(allocator, tmp_path):
    asks = allocator in (None, "jemalloc")
    found, [own] = resident("mixed", tmp_path, *(("--allocator", allocator) if allocator else ()), ask=asks)
    [process] = found.json["resident"]["processes"]
    live = moment_of(found, own["pid"])["parts"]["live_bytes"]
    says = process["allocator_counts"]
    if allocator in ("largecache", "tbbmalloc"):
        assert says == {"na": "the allocator has no function that returns its counts"}
        return
    counts = {each["name"]: each["bytes"] for each in says["counts"]}
    if allocator is None:
        assert says["function"] == "mallinfo2" and counts["uordblks"] + counts["hblkhd"] == own["in_use"]
    elif allocator == "jemalloc":
        assert counts["stats.allocated"] <= counts["stats.active"] <= counts["stats.resident"]
        assert abs(counts["stats.allocated"] - own["in_use"]) < 200_000
    elif allocator == "scudo":
        assert says["function"] == "mallinfo2" and counts["uordblks"] > 0
    elif allocator == "tcmalloc":
        assert live * 0.9 < counts["generic.current_allocated_bytes"] < counts["generic.heap_size"]
    else:
        assert says["function"] == "mi_process_info" and live < counts["current_commit"] <= counts["peak_commit"]


def functions(row):
    return " ".join(frame["function"] or "" for frame in row["frames"])


def test_the_small_block_that_keeps_a_hole_is_named_by_its_site(tmp_path):
    found, [own] = resident("pinned", tmp_path)
    moment = moment_of(found, own["pid"])
    assert own["free"] == moment["parts"]["free_bytes"] > 9 * MIB
    [freed] = [row for row in moment["freed"] if "allocate_freed" in functions(row)]
    assert freed["free_bytes"] == own["free"]
    [holder] = [row for row in moment["holders"] if "allocate_pin" in functions(row)]
    assert holder["blocks"] == holder["held_pages"] == 1 and holder["smallest_bytes"] == 40
    assert holder["below_bytes"] == own["free"] and holder["held_bytes"] == PAGE - 40
    [heap] = moment["heaps"]
    assert heap["heap"] == "main heap" and heap["last_block_bytes"] == 40 and heap["below_last_bytes"] == own["free"]
    assert "allocate_pin" in " ".join(frame["function"] for frame in heap["last_block_frames"])
    assert "the last one of the main heap" in " ".join(found.text.split())


def test_buffers_of_threads_that_ended_are_free_in_their_heaps_when_the_program_idles(tmp_path):
    found, [own] = resident("buffers", tmp_path)
    moment = moment_of(found, own["pid"], "idle")
    parts = moment["parts"]
    # A heap with a buffer of 11.7 MB for each of eight threads, unless two threads shared one.
    assert 7 * 11_700_000 < parts["free_bytes"] < 9 * 11_700_000 and parts["live_bytes"] < 100_000
    heaps = [heap for heap in moment["heaps"] if heap["parts"]["free_bytes"] > 11_000_000]
    assert len(heaps) in (7, 8) and all(heap["heap"].startswith("thread heap") for heap in heaps)
    assert "after an idle second" in found.text and "free inside glibc" in " ".join(found.text.split())


def test_pages_under_madv_free_are_offered(tmp_path):
    # The first decay uses MADV_FREE, and the second never ends.
    found, [own] = resident("decayed", tmp_path, "--allocator", "jemalloc",
                            MALLOC_CONF="dirty_decay_ms:20,muzzy_decay_ms:-1")
    check_equal(found, own)
    # The kernel counts a page only once it has left the CPU's batch of at most 31 pages.
    offered = moment_of(found, own["pid"])["parts"]["offered_bytes"]
    assert offered >= own["lazy"] > 5 * MIB and offered - own["lazy"] <= os.cpu_count() * 31 * PAGE


def test_the_peak_is_seen_before_memory_is_returned(tmp_path):
    found, [own] = resident("peak", tmp_path)
    peak = moment_of(found, own["pid"], "peak")["parts"]
    assert 40 * MIB <= peak["live_bytes"] <= 40 * MIB + 2 * PAGE and peak["free_bytes"] == 0
    end = moment_of(found, own["pid"])["parts"]
    assert end["live_bytes"] - 8 * MIB < 100_000 and end["free_bytes"] == 0


def test_a_process_that_executes_another_program_is_seen_before_and_after(tmp_path):
    found, [before, after] = resident("exec", tmp_path)
    assert before["pid"] == after["pid"] and found.status == 0
    first, second = found.json["resident"]["processes"]
    for process, own in ((first, before), (second, after)):
        [parts] = [m["parts"] for m in process["moments"] if m["moment"] == "end"]
        assert parts["free_bytes"] == own["free"] and own["live"] <= parts["live_bytes"] <= own["live"] + 100_000


def test_a_killed_program_has_its_idle_moment(tmp_path):
    found, said = resident("killed", tmp_path)
    assert found.status == 128 + signal.SIGKILL and not said
    [process] = found.json["resident"]["processes"]
    assert "idle" in [m["moment"] for m in process["moments"]] and "killed by SIGKILL" in found.text
    assert process["allocator_counts"] == {"na": "the end of the process was not seen"}


def test_children_of_a_fork_beside_an_allocating_thread_have_their_own_blocks(tmp_path):
    found, _ = resident("churn", tmp_path)
    assert found.status == 0
    children = found.json["resident"]["processes"][1:]
    assert len(children) == 20 and all(process["why_not"] == "" for process in children)
    # Each child has its parent's blocks, one of which its parent's other thread may have lost, and 100 of its own.
    for process in children:
        [moment] = [m for m in process["moments"] if m["moment"] == "end"]
        assert 100 <= moment["live_blocks"] <= 140 and moment["parts"]["live_bytes"] >= 100 * 500


def test_a_program_runs_on_when_zerotax_is_killed(tmp_path):
    says = tmp_path / "says.json"
    with subprocess.Popen([ZEROTAX, "record", "--resident", "--", RESIDENT, "busy", says], env=clean_environment(),
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as running:
        time.sleep(1.5)
        running.kill()
    for _ in range(100):
        if says.exists() and says.read_text().endswith("}\n"):
            break
        time.sleep(0.2)
    assert json.loads(says.read_text())["name"] == "busy"


def test_what_cannot_be_seen_is_not_claimed(tmp_path):
    refused = subprocess.run([ZEROTAX, "record", "--resident", "--", PROGRAMS / "static"], env=clean_environment(),
                             capture_output=True, text=True, check=False)
    assert refused.returncode == 2 and "statically linked" in refused.stderr
    found = record(PROGRAMS / "own", options=("--resident",))
    assert all(process["why_not"] and not process["moments"] for process in found.json["resident"]["processes"])


def test_without_the_option_nothing_is_divided():
    assert "resident" not in record(PROGRAMS / "known").json


def test_a_signal_for_zerotax_asks_for_a_look_and_does_not_reach_the_program(tmp_path):
    report = tmp_path / "record.json"
    with subprocess.Popen([ZEROTAX, "record", "--resident", "--at", "USR2", "--json", report, "--", RESIDENT, "busy",
                           tmp_path / "says.json"], env=clean_environment(), stderr=subprocess.DEVNULL) as running:
        time.sleep(1.5)
        running.send_signal(signal.SIGUSR2)
    assert running.returncode == 0
    [process] = json.loads(report.read_text())["resident"]["processes"]
    assert "signal" in [moment["moment"] for moment in process["moments"]]
