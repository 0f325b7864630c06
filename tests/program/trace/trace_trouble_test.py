"""After a full buffer or disk, a bad setting or a damaged file, there is a clear message, the counts add up, and the
program continues.
"""

import os
import resource
import subprocess

import pytest
from conftest import NOBODY, clean_environment, skip_if_unreadable
from tracing import TRACED, agree, numbers, summary, trace, traced


@pytest.mark.parametrize("mode", ["lost", "overwrite"])
@pytest.mark.parametrize("drain", ["thread", "self", "off"])
def test_what_finds_no_room_is_counted(tmp_path, mode, drain):
    done = traced("pressure", 200000, folder=tmp_path / "t", ZEROTAX_TRACE_BUFFER="64KiB", ZEROTAX_TRACE_MODE=mode,
                  ZEROTAX_TRACE_DRAIN=drain)
    assert (done.returncode, done.stderr) == (0, "")
    # babeltrace2 does not count records that were overwritten before the stream's first packet was written.
    kept, discarded = agree(tmp_path / "t", discarded_too=mode == "lost")
    assert kept + discarded == 200000
    assert int(done.stdout) == discarded
    if drain == "self":
        assert discarded == 0
    if drain == "off":
        first = 0 if mode == "lost" else discarded
        assert numbers(tmp_path / "t") == {0: list(range(first, first + kept))}


def test_a_record_larger_than_a_packet_is_said_once_and_counted(tmp_path):
    done = traced("pressure", 1000, "big", folder=tmp_path / "t", ZEROTAX_TRACE_BUFFER="64KiB")
    assert done.stderr.count("\n") == 1 and "8192 bytes" in done.stderr and "ZEROTAX_TRACE_BUFFER" in done.stderr
    assert agree(tmp_path / "t") == (1000, 1)


def test_a_limit_on_the_size_of_files_does_not_end_the_program(tmp_path):
    for limit, least in ((100 << 10, 0), (5 << 20, 100000)):
        folder = tmp_path / str(limit)
        done = subprocess.run(
            [TRACED / "pressure", "500000"], env=clean_environment(ZEROTAX_TRACE_DIR=str(folder)), capture_output=True,
            text=True, check=False, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
        assert done.returncode == 0
        assert done.stderr.count("\n") == 1 and "File too large" in done.stderr and "ZEROTAX_TRACE_DIR" in done.stderr
        report = summary(folder)
        assert report["events"] >= least and report["events"] + report["discarded"] == 500000


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount a small disk")
def test_a_full_disk_costs_records_and_nothing_else(tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=6m", "tmpfs", disk], capture_output=True, check=False).returncode:
        pytest.skip("a tmpfs cannot be mounted here")
    try:
        done = traced("pressure", 500000, folder=disk / "t")
        assert done.returncode == 0
        assert done.stderr.count("\n") == 1 and "No space left" in done.stderr
        kept, discarded = agree(disk / "t")
        assert kept + discarded == 500000 and 0 < kept
        # A buffer of 64 MiB does not fit on the disk of 6 MiB.
        done = traced("pressure", 1000, folder=disk / "other", ZEROTAX_TRACE_BUFFER="64MiB")
        assert (done.returncode, done.stdout) == (0, "1000\n")
        assert done.stderr.count("\n") == 1 and "No space left" in done.stderr
    finally:
        subprocess.run(["umount", disk], check=True)


def test_a_folder_that_may_not_be_written_is_said(tmp_path):
    skip_if_unreadable()
    prefix = NOBODY if os.geteuid() == 0 else []
    locked = tmp_path / "locked"
    locked.mkdir(mode=0o555)
    done = subprocess.run([*prefix, TRACED / "first"], env=clean_environment(ZEROTAX_TRACE_DIR=str(locked / "t")),
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert done.stderr.count("\n") == 1 and "Permission denied" in done.stderr and "ZEROTAX_TRACE_DIR" in done.stderr


@pytest.mark.parametrize("variable, value", [
    ("MODE", "keep"), ("DRAIN", "yes"), ("CLOCK", "hpet"), ("BUFFER", "4 lots"), ("BUFFER", "-1"), ("BUFFER", "1KiB"),
    ("BUFFER", "99999999999GiB")])
def test_a_bad_setting_is_said_and_the_program_runs(tmp_path, variable, value):
    done = traced("first", folder=tmp_path / "t", **{f"ZEROTAX_TRACE_{variable}": value})
    assert done.returncode == 0
    assert done.stderr.count("\n") == 1 and done.stderr.startswith("zerotax-recorder: ")
    assert not (tmp_path / "t").exists()


def test_closed_descriptors_do_not_matter(tmp_path):
    # A daemon closes all descriptors that it does not know. Files that it opens later get the same numbers.
    done = subprocess.run(
        ["sh", "-c", f"exec 0<&- 1>&- 2>&-; exec {TRACED / 'threads'} 4 50000"],
        env=clean_environment(ZEROTAX_TRACE_DIR=str(tmp_path / "t")), check=False)
    assert done.returncode == 0
    assert agree(tmp_path / "t") == (200000, 0)


def test_a_damaged_trace_says_what_is_missing(tmp_path):
    traced("endings", "returns", 30000, folder=tmp_path / "t")
    stream = next((tmp_path / "t").glob("*/stream-0"))
    with open(stream, "r+b") as file:
        file.truncate(stream.stat().st_size - 1000)
    done = trace("summary", tmp_path / "t")
    assert "stream-0: cut in packet" in " ".join(done.stdout.split())
    kept = numbers(tmp_path / "t")[0]
    assert kept == list(range(len(kept))) and 29900 < len(kept) < 30000
    trace("repair", tmp_path / "t")
    agree(tmp_path / "t")
