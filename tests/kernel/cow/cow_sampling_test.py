"""If a program faults too fast to record each fault at a bearable cost, `zerotax cow` records some of them. The sum
stays exact. The output reports the number of recorded faults, and the error of the estimates.
"""

import json
import os
import shutil
import signal
import subprocess
import time

import pytest

from conftest import LONG_TOO, ZEROTAX, clean_environment, is_na, zerotax
from watching import CLASSES, as_root, checked, run, watch

# 50,000 zero-fills by the parent, 20,000 copies by 10 children of 2,000 pages each, and the program's own faults.
PROGRAM = """
import mmap, os, resource
size = 5000 * mmap.PAGESIZE
own = mmap.mmap(-1, size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
own.madvise(mmap.MADV_NOHUGEPAGE)
shared = mmap.mmap(-1, 2000 * mmap.PAGESIZE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
shared.madvise(mmap.MADV_NOHUGEPAGE)
def write(block, pages):
    for page in range(pages):
        block[page * mmap.PAGESIZE] = 1
write(shared, 2000)
for turn in range(10):
    write(own, 5000)
    own.madvise(mmap.MADV_DONTNEED)
    child = os.fork()
    if child == 0:
        write(shared, 2000)
        os._exit(0)
    os.waitpid(child, 0)
used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
print(sum(each.ru_minflt + each.ru_majflt for each in used), flush=True)
os._exit(0)
"""
ZERO_FILLS, COPIES = 52000, 20000
FEW = {"ZEROTAX_FAULTS_PER_SECOND": "8000"}
METHODS = [pytest.param("tracepoints", marks=as_root), "software"]
# Room for every fault of the program, because on a busy machine the program may end before the command reads any fault.
ROOM = ["--buffer", "64MiB"] if os.geteuid() == 0 else []


@pytest.mark.parametrize("method", METHODS)
def test_of_many_faults_some_are_recorded_and_their_sum_is_exact(method):
    report, done = watch("/usr/bin/python3", "-c", PROGRAM, every_fault=False, ZEROTAX_FAULTS=method, **FEW)
    totals, sampling = report["totals"], report["sampling"]
    by_the_kernel = int(done.stdout)
    # The program's own count misses its last faults, and includes those before its exec. An ordinary user does not see faults
    # that the kernel takes.
    least = by_the_kernel - (3000 if method == "software" else 500)
    assert least <= totals["handled"] <= by_the_kernel + 500
    # A fault that ends in a signal or is taken again is in only one of the two sums.
    assert abs(sum(totals[key] for key in CLASSES) - totals["handled"]) <= 3
    # A command that gets no CPU closes its window late, and may open no second one.
    assert 0 < sampling["recorded"] < totals["handled"] and sampling["windows"] >= 1
    for key, truth in (("zero_fills", ZERO_FILLS), ("copies", COPIES)):
        # The interpreter adds faults of its own, which the 5000 allow for. With fewer than ten windows, the estimate is
        # not checked.
        near = sampling["windows"] < 10 or abs(totals[key] - truth) < 5 * sampling["half_width_95"][key] + 5000
        assert near, (key, totals, sampling)
    assert is_na(totals["refills"])
    said = " ".join(done.stderr.split())
    assert f"! sampled: {sampling['recorded']:,} of {totals['handled']:,} faults were recorded one by one" in said
    begins = ("about ", "between ") if sampling["windows"] >= 10 else ("about ", "between ", "at least ")
    assert "--every-fault" in said and report["sentence"].startswith(begins)


ALONE = """
import mmap
own = mmap.mmap(-1, 5000 * mmap.PAGESIZE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
own.madvise(mmap.MADV_NOHUGEPAGE)
for turn in range(10):
    for page in range(5000):
        own[page * mmap.PAGESIZE] = 1
    own.madvise(mmap.MADV_DONTNEED)
"""


@pytest.mark.parametrize("method", METHODS)
def test_without_a_fork_pages_that_come_back_are_never_reuses(method):
    report, _ = watch("/usr/bin/python3", "-c", ALONE, every_fault=False, ZEROTAX_FAULTS=method, **FEW)
    totals = report["totals"]
    assert report["sampling"]["recorded"] < totals["handled"]
    assert totals["reuses"] < 500 and totals["copies"] < 3000 and abs(totals["zero_fills"] - 50000) < 5000, totals


@pytest.mark.parametrize("method", METHODS)
def test_every_fault_is_recorded_where_that_is_asked_for(method, tmp_path):
    asked = {"software": ["--every-fault"], "tracepoints": ["--faults", tmp_path / "faults.jsonl"]}
    for options in asked.values() if LONG_TOO else [asked[method]]:
        report, done = watch("/usr/bin/python3", "-c", PROGRAM, options=[*options, *ROOM], every_fault=False,
                             ZEROTAX_FAULTS=method, **FEW)
        assert is_na(report["sampling"]) and "sampled" not in done.stderr
        totals = report["totals"]
        # An ordinary user's method may learn only after the fault that a shared page was released, and then counts a
        # copy.
        assert totals["copies"] >= COPIES and (method == "software" or totals["zero_fills"] >= ZERO_FILLS)
        # Faults at the beginning and end of watching are in only one of the two counts. On a busy machine, some faults
        # are taken twice.
        assert sum(totals[key] for key in CLASSES) == pytest.approx(totals["handled"], rel=0.02)


def test_few_faults_are_all_recorded():
    report, done = watch("/bin/true", every_fault=False)
    assert is_na(report["sampling"]) and "sampled" not in done.stderr
    assert abs(sum(report["totals"][key] for key in CLASSES) - report["totals"]["handled"]) <= 20


def test_of_some_processes_alone_the_kernels_count_is_not_known():
    report, _ = watch("/usr/bin/python3", "-c", PROGRAM, options=["--comm", "python"], every_fault=False, **FEW)
    assert is_na(report["totals"]["handled"]) and report["sampling"]["recorded"] > 0


def test_watching_a_process_ends_after_so_many_seconds(tmp_path):
    with subprocess.Popen(["/bin/sleep", "60"]) as program:
        done = run("--pid", program.pid, "--seconds", 0.5, "--json", tmp_path / "cow.json")
        program.kill()
    assert done.returncode == 0, done.stderr
    report = checked(json.loads((tmp_path / "cow.json").read_text()))
    assert 0.5 <= report["wall_s"] < 30


FILLS = """
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
__attribute__((noinline)) void fill_table(char *table, size_t bytes) {
  memset(table, 1, bytes);
  __asm__ volatile("" ::: "memory");
}
__attribute__((noinline)) void copy_table(char *to, const char *table, size_t bytes) {
  memcpy(to, table, bytes);
  __asm__ volatile("" ::: "memory");
}
int main(int count, char **words) {
  size_t bytes = (size_t)atol(words[1]) * sysconf(_SC_PAGESIZE);
  char *table = malloc(bytes), *copy = malloc(bytes);
  fill_table(table, bytes);
  copy_table(copy, table, bytes);
  return count - 2;
}
"""


@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")
@pytest.mark.parametrize("method", METHODS)
def test_the_programs_function_is_named_that_called_memset(method, tmp_path):
    (tmp_path / "fills.c").write_text(FILLS)
    program = tmp_path / "fills"
    subprocess.run(["gcc", "-O1", "-fno-builtin", "-o", program, tmp_path / "fills.c"], check=True)
    report, done = watch(program, 100, options=["--stacks"], every_fault=False, ZEROTAX_FAULTS=method)
    code = {(each["function"], each["module"]): each for each in report["code"]}
    for function in ("fill_table", "copy_table"):
        caller = code[function, "fills"]
        # The kernel drops stacks if their buffer is full, as on a busy machine.
        assert caller["counts"]["zero_fills"] >= 50, report["code"]
        assert "mem" in caller["through"] and f"{function} (fills), in " in done.stderr


@as_root
def test_an_interrupt_that_comes_twice_keeps_summary_and_json(tmp_path):
    """timeout(1) signals the command, and the process group at the same time."""
    program = subprocess.Popen(["/bin/sleep", "600"])
    try:
        for turn in range(25) if LONG_TOO else range(0, 25, 4):
            file = tmp_path / f"{turn}.json"
            watcher = subprocess.Popen([ZEROTAX, "cow", "--pid", str(program.pid), "--interval", "0.05", "--json", file],
                                       stdout=subprocess.PIPE, text=True, env=clean_environment())
            watcher.stdout.readline()
            watcher.send_signal(signal.SIGINT)
            time.sleep(turn * 0.0004)
            watcher.send_signal(signal.SIGINT)
            rest = " ".join(watcher.communicate(timeout=60)[0].split())
            assert watcher.returncode == 130, turn
            assert f"Process {program.pid}" in rest and "pages copied" in rest
            checked(json.loads(file.read_text()))
    finally:
        program.kill()
        program.wait()
    assert zerotax("cow", "--read", file).returncode == 0
