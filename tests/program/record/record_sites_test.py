"""Counts at the sites of `zerotax record` are the program's own. Costs other than zeroing have separate rows."""

import contextlib
import os
import pathlib
import subprocess
import sys

import pytest
from conftest import KIB, MIB, NOBODY, PAGE, clean_environment, is_na, skip_if_unreadable
from outside import Outcome, functions, open_folder, root_only, start_record
from recording import PROGRAMS, record
from zero_page import has_shared_zero_page

COUNTED, BESIDE = PROGRAMS / "counted", PROGRAMS / "beside"
SHARED = 64 * MIB
# Number of calls for 64 KiB or more, and the bytes that these calls requested or cleared.
CALLS = {
    ("malloc", "malloc_again"): (1000, 1000 * MIB),
    ("malloc", "malloc_in_vain"): (7, 7 * ((2**64 - 1) >> 2) % 2**64),
    ("calloc", "calloc_again"): (300, 300 * MIB),
    ("realloc", "realloc_again"): (498, sum(i * 32_000 for i in range(3, 501))),
    ("malloc", "aligned_again"): (40, 40 * MIB),
    ("by_program", "clear_much"): (700, 700 * MIB),
    ("by_program", "clear_some"): (90, 45 * MIB),
}
GLIBC = {"always mapped": {"MALLOC_MMAP_THRESHOLD_": "65536"}, "kept": {"MALLOC_MMAP_THRESHOLD_": "1073741824",
                                                                        "MALLOC_TRIM_THRESHOLD_": "1073741824"}}


def at(found, kind, function):
    """Returns calls, requested bytes and zeroed bytes at all sites of a function."""
    sites = [s for s in found.json["sites"] if s["kind"] == kind and any(function in name for name in functions(s))]
    return [sum(site[key] for site in sites) for key in ("calls", "requested_bytes", "zeroed_bytes")]


@pytest.mark.parametrize("how", GLIBC)
def test_calls_at_a_site_are_counted_one_by_one(how):
    found = record(COUNTED, **GLIBC[how])
    assert found.status == 0
    for (kind, function), (calls, requested) in CALLS.items():
        assert at(found, kind, function)[:2] == [calls, requested], (kind, function)
    for function in ("clear_much", "clear_some"):
        assert at(found, "by_program", function)[2] == CALLS["by_program", function][1]
    assert all(s["redundant_zeroed_bytes"] + s["sampled"]["redundant_zeroed_bytes"] <= s["zeroed_bytes"]
               for s in found.json["sites"] if s["kind"] == "by_program")


def test_of_very_many_cheap_calls_some_stand_for_the_others_and_are_marked():
    found = record(COUNTED, "often", **GLIBC["kept"])
    for kind, least in (("malloc", 1), ("by_program", 64)):
        [site] = [s for s in found.json["sites"] if s["kind"] == kind and "often" in str(functions(s))]
        sampled = site["sampled"]["calls"]
        assert least <= site["calls"] <= 40_000 and sampled % 32 == 0
        # With a thousand or more random choices, chance alone does not cause a larger difference.
        assert 0.6 * 40_000 < site["calls"] + sampled < 1.4 * 40_000
    assert sum(s["calls"] for s in found.json["sites"]) >= 4096 and "~" in found.text


def beside(found):
    return {row["what"]: row for row in found.json["tax"]["beside"]}


@pytest.mark.parametrize("way", ["memfd", "shm", "sysv", "unmapped"])
def test_shared_memory_is_said_not_to_be_counted(way):
    found = record(BESIDE, way)
    assert found.status == 0
    row = beside(found)["shared_memory"]
    assert row["noticed"] and row["bytes"] == pytest.approx(SHARED, abs=64 * KIB), row
    assert "shared memory, not counted" in found.text


def test_where_there_is_none_of_it_nothing_is_said():
    found = record(BESIDE, "none")
    rows = beside(found)
    assert rows["shared_memory"]["bytes"] == rows["zero_pages"]["bytes"] == rows["copied_in_fork"]["bytes"] == 0
    assert not any(rows[what]["noticed"] for what in ("shared_memory", "zero_pages", "copied_in_fork"))
    assert "shared memory, not counted" not in found.text


@pytest.mark.parametrize("way", ["reads", "freed"])
def test_pages_that_were_read_and_never_written_have_a_row(way):
    if not has_shared_zero_page():
        pytest.skip("this kernel has no shared zero page")
    found = record(BESIDE, way)
    row = beside(found)["zero_pages"]
    if is_na(row["bytes"]):
        assert "PAGEMAP_SCAN" in row["bytes"]["na"]
        return
    # The block's header is on the first page.
    assert SHARED - PAGE <= row["bytes"] <= SHARED and row["noticed"]
    assert "zero pages: read, unwritten" in found.text


def test_the_time_of_exit_has_a_row():
    found = record(BESIDE, "exit")
    exit_ns, cpu_ns = beside(found)["exit"]["ns"], found.json["tax"]["cpu_ns"]
    assert 0 < exit_ns < cpu_ns + found.json["tax"]["recorder_cpu_ns"]
    killed = record("sh", "-c", "kill -KILL $$")
    assert "end of a process was not seen" in beside(killed)["exit"]["ns"]["na"]


def test_what_fork_copies_is_not_said_to_be_nothing():
    row = beside(record("sh", "-c", "(:); :"))["copied_in_fork"]
    assert "pinned" in row["bytes"]["na"] and not row["noticed"]
    found = record(BESIDE, "pinned")
    if found.status == 77:
        pytest.skip("io_uring cannot pin memory here")
    row = beside(found)["copied_in_fork"]
    assert row["noticed"] and "16 MiB were pinned" in row["bytes"]["na"] and "copied inside fork" in found.text


QUOTAS = {"/sys/fs/cgroup/cpu": ("cpu.cfs_quota_us", "5000"), "/sys/fs/cgroup": ("cpu.max", "5000 100000")}


@pytest.fixture(name="quota")
def limited_cgroup():
    """Makes a control group that may use a twentieth of a CPU. That is less than the program would get on a busy
    machine.
    """
    for mount, (file, limit) in QUOTAS.items():
        folder = pathlib.Path(mount, f"zerotax-quota-{os.getpid()}")
        try:
            folder.mkdir()
            (folder / file).write_text(limit)
        except OSError:
            with contextlib.suppress(OSError):
                folder.rmdir()
            continue
        yield folder
        folder.rmdir()
        return
    pytest.skip("no control group with a CPU quota can be made here")


@root_only
def test_waiting_for_cpu_quota_has_a_row(quota):
    found = record("sh", "-c", "i=0; while [ $i -lt 300000 ]; do i=$((i + 1)); done",
                   prefix=["sh", "-c", f'echo $$ > "{quota}/cgroup.procs" && exec "$@"', "sh"], timeout=200)
    assert found.status == 0
    row = beside(found)["throttled"]
    assert row["noticed"] and row["ns"] > 0 and "waiting for CPU quota" in found.text


QUIET = "import time\nprint('ready', flush=True)\nwhile True:\n    time.sleep(0.05)\n    bytearray(1 << 20)\n"


def recorded_quiet(folder, *options, prefix=()):
    with subprocess.Popen([*prefix, sys.executable, "-c", QUIET], stdout=subprocess.PIPE, text=True,
                          env=clean_environment()) as run:
        try:
            assert run.stdout.readline() == "ready\n"
            return Outcome(folder, start_record(folder, run.pid, "--seconds", 1, *options, prefix=prefix))
        finally:
            run.kill()


@pytest.mark.parametrize("user", ["root", "nobody"])
@root_only
def test_of_a_quiet_process_there_is_no_verdict(user):
    prefix = NOBODY if user == "nobody" else []
    if prefix:
        skip_if_unreadable()
    with open_folder() as folder:
        found = recorded_quiet(folder, prefix=prefix)
    tax, text = found.json["tax"], " ".join(found.text.split())
    assert "too few samples" in tax["advice"] or "too little CPU time" in tax["advice"], tax["advice"]
    assert "watch for about" in tax["advice"] and is_na(tax["share_of_cpu"])
    assert "Nothing to gain" not in text and "Try next" not in text and "zerotax advise" not in text
    assert all(is_na(row["cpu_ns"]) or tax["cpu_ns"] == 0 for row in tax["rows"])
