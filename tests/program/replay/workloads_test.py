"""The committed recordings of real programs, and the accuracy of their replays."""
import json
import struct
import subprocess
import sys

import pytest
from conftest import SOURCE, check_schema, zerotax

WORKLOADS = sorted((SOURCE / "harness/program/replay/workloads").glob("*.calls"))
ACCURACY = SOURCE / "results" / "reference" / "replay-accuracy.json"
MOST_BYTES = 300_000


def test_there_are_twelve_small_ones():
    assert len(WORKLOADS) == 12
    assert max(path.stat().st_size for path in WORKLOADS) <= MOST_BYTES


@pytest.mark.parametrize("path", WORKLOADS, ids=lambda path: path.stem)
def test_each_is_replayed(tmp_path, path):
    document = tmp_path / "replay.json"
    done = zerotax("replay", path, "--allocator", "glibc", "--json", document)
    assert done.returncode == 0, done.stdout + done.stderr
    replay = json.loads(document.read_text())
    (replayed,) = replay["replays"]
    assert replayed["as_recorded"] and replayed["failed_calls"] == 0
    assert replayed["counts"]["kernel_zeroed_bytes"] > 0


CONVERT = [sys.executable, SOURCE / "harness/program/replay/workloads" / "convert.py"]
TRACED = """
#include <mcheck.h>
#include <stdlib.h>
int main(void) {
  mtrace();
  for (int i = 0; i < 20; ++i) {
    void* volatile one = malloc(300000);
    void* volatile other = calloc(100, 1000);
    other = realloc(other, 400000);
    free(one);
    free(other);
  }
  return 0;
}
"""


def converted(tmp_path, trace):
    """Returns the replay of a trace that another recorder made."""
    calls, document = tmp_path / "x.calls", tmp_path / "x.json"
    assert subprocess.run([*CONVERT, trace, calls], check=False).returncode == 0
    done = zerotax("replay", calls, "--allocator", "glibc", "--json", document)
    assert done.returncode == 0, done.stderr
    assert "the recording has no counts of the run" in done.stdout
    return json.loads(document.read_text())


def test_a_trace_of_mtrace_is_replayed(tmp_path):
    program, trace = tmp_path / "traced", tmp_path / "trace.txt"
    subprocess.run(["cc", "-O0", "-x", "c", "-o", program, "-"], input=TRACED, text=True, check=True)
    subprocess.run([program], env={"MALLOC_TRACE": str(trace), "LD_PRELOAD": "libc_malloc_debug.so.0"}, check=True)
    replay = converted(tmp_path, trace)
    assert replay["recording"]["calls"] == 20 * 5
    # Blocks are above the mmap threshold. At least the first block of each kind is mapped and written to completely.
    assert replay["replays"][0]["counts"]["kernel_zeroed_bytes"] >= 700_000


def test_a_log_of_logalloc_is_replayed(tmp_path):
    log = tmp_path / "malloc.log"
    log.write_text("1 1 malloc(300000)=#1\n1 1 calloc(3,1000)=#2\n1 2 realloc(#1,500000)=#3\n1 2 memalign(64,100)=#1\n"
                   "1 1 free(#3)\n1 1 free(#2)\n1 2 free(#0)\n1 1 jemalloc_stats()\n")
    recording = converted(tmp_path, log)["recording"]
    assert (recording["calls"], recording["processes"], recording["threads"]) == (6, 1, 2)


def trace_utils_record(kind, thread=0, old=0, new=0, size=0, alignment=0):
    return struct.pack("<iI5Q16x", thread, kind, old, new, size, alignment, 0)


def test_a_trace_of_malloc_trace_utils_is_replayed(tmp_path):
    trace = tmp_path / "mtrace.out"
    trace.write_bytes(b"".join([
        trace_utils_record(255, old=0x1234, size=8),
        trace_utils_record(1 | 1 << 8, thread=7, new=0x1000, size=300_000),  # malloc served from the thread's cache
        trace_utils_record(2, thread=7, new=0x9000, size=3000),
        trace_utils_record(4, thread=8, old=0x1000, new=0x2000, size=500_000),
        trace_utils_record(5, thread=8, new=0x1000, size=100, alignment=64),
        trace_utils_record(6, thread=7, new=0xa000, size=5000),  # valloc
        trace_utils_record(8, thread=7, old=22, new=0xb000, size=5000, alignment=3),  # a failed posix_memalign
        trace_utils_record(8, thread=7, old=0, new=0xb000, size=5000, alignment=32),
        trace_utils_record(1, thread=7, size=1 << 60),  # a failed malloc
        trace_utils_record(3, thread=7, old=0x2000),
        trace_utils_record(3, thread=8, old=0x1000),
        trace_utils_record(3, thread=8),
        bytes(64)]))
    replay = converted(tmp_path, trace)
    recording = replay["recording"]
    assert (recording["calls"], recording["processes"], recording["threads"]) == (8, 1, 2)
    assert replay["replays"][0]["counts"]["kernel_zeroed_bytes"] >= 500_000


def test_a_trace_of_malloc_trace_utils_with_an_unknown_call_is_refused(tmp_path):
    trace = tmp_path / "mtrace.out"
    trace.write_bytes(trace_utils_record(255, old=0x1234, size=8) + trace_utils_record(9, new=1, size=1))
    done = subprocess.run([*CONVERT, trace, tmp_path / "x.calls"], capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "record 1 has a call of kind 9" in done.stderr and done.stderr.count("\n") == 1


@pytest.mark.parametrize("text", ["", "hello\n", "1 1 malloc(x)=#1\n", "= Start\n@ a:[0x1] + 0x10\nnonsense\n"])
def test_what_is_no_trace_is_refused_in_one_line(tmp_path, text):
    trace = tmp_path / "trace"
    trace.write_text(text)
    done = subprocess.run([*CONVERT, trace, tmp_path / "x.calls"], capture_output=True, text=True, check=False)
    assert done.returncode == 2 and done.stderr.count("\n") == 1 and not (tmp_path / "x.calls").exists()


def test_the_accuracy_is_that_of_all_twelve_under_six_settings():
    measured = json.loads(ACCURACY.read_text())
    check_schema(measured, "replay_accuracy")
    assert len(measured["programs"]) == 12
    assert measured["pairs"] == 72 == sum(len(each["settings"]) for each in measured["programs"])
    within = 0
    for program in measured["programs"]:
        for row in program["settings"].values():
            within += all(error is None or abs(error) <= measured["bound"] for error in row["errors"].values())
    assert within == measured["within"]
    assert measured["same_order"] == sum(not each["reversed"] for each in measured["programs"])
