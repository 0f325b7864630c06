"""Programs with faults that `zerotax cow` cannot see or classify. Counts are exact, have true bounds, or are n/a."""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import time

import pytest

from conftest import NOBODY, PAGE, is_na, skip_if_unreadable, zerotax
from watching import as_root, checked, run, watch

pytestmark = [pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed"),
              pytest.mark.skipif(PAGE != 4096, reason="the program's pages are of 4 KiB")]
SOURCE = r"""
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>
#define MiB (1UL << 20)
static char data[4 * MiB] = {1};
static void *anon(size_t n, int protection) {
  char *p = mmap(0, n, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  madvise(p, n, MADV_NOHUGEPAGE);
  return p;
}
static void touch(char *p, size_t pages) { for (size_t i = 0; i < pages; i++) ((volatile char *)p)[i * 4096] = 1; }
static char *of_file(int writable) {
  char page[4096] = {1};
  int file = memfd_create("file", 0);
  for (int i = 0; i < 1024; i++) if (write(file, page, 4096) != 4096) exit(1);
  return mmap(0, 4 * MiB, PROT_READ | (writable ? PROT_WRITE : 0), MAP_PRIVATE, file, 0);
}
static void in_child(void (*work)(char *), char *p) {
  pid_t child = fork();
  int status = 0;
  if (child == 0) { work(p); _exit(0); }
  waitpid(child, &status, 0);
  if (WEXITSTATUS(status) != 0) exit(WEXITSTATUS(status));
}
static void write_1024(char *p) { touch(p, 1024); }
static void must(int done) { if (!done) _exit(77); }
static void populate(char *p) { must(madvise(p, 4 * MiB, 23) == 0); }  // MADV_POPULATE_WRITE
static void lock(char *p) { must(mlock(p, 4 * MiB) == 0); }
static void write_memory(char *p) {
  struct iovec from = {data, 4 * MiB}, to = {p, 4 * MiB};
  must(process_vm_writev(getpid(), &from, 1, &to, 1, 0) == 4 * MiB);
}
static void read_there(char *p) { must(read(open("/dev/zero", O_RDONLY), p, 4 * MiB) == 4 * MiB); }
static void write_shared(char *p) { must(write(memfd_create("file", 0), p, 4 * MiB) == 4 * MiB); }
static void after_a_signal(int unused) { (void)unused; populate(*(char **)data); _exit(0); }
static void fault_and_populate(char *p) {
  *(char **)data = p;
  signal(SIGSEGV, after_a_signal);
  ((volatile char *)anon(4096, PROT_NONE))[0] = 1;
}
static void poke(char *p) {
  pid_t child = fork();
  if (child == 0) { ptrace(PTRACE_TRACEME, 0, 0, 0); raise(SIGSTOP); _exit(0); }
  waitpid(child, 0, WUNTRACED);
  for (int i = 0; i < 1024; i++) must(ptrace(PTRACE_POKEDATA, child, p + i * 4096, 1L) == 0);
  ptrace(PTRACE_CONT, child, 0, 0);
  waitpid(child, 0, 0);
}
static void moved(char *p) {
  char *reserved = anon(4 * MiB, PROT_NONE);
  mremap(p, 4 * MiB, 4 * MiB, MREMAP_MAYMOVE | MREMAP_FIXED, reserved);
  touch(reserved, 1024);
}
static void moved_onto_used(char *p) {
  char *used = anon(4 * MiB, PROT_READ | PROT_WRITE);
  touch(used, 1024);
  mremap(p, 4 * MiB, 4 * MiB, MREMAP_MAYMOVE | MREMAP_FIXED, used);
  touch(used, 1024);
}
static void *later(void *unused) {
  (void)unused;
  for (int i = 0; i < 400; i++) {
    char *p = anon(MiB, PROT_READ | PROT_WRITE);
    touch(p, 256);
    munmap(p, MiB);
    usleep(10000);
  }
  exit(0);
}
int main(int count, char **words) {
  const char *way = words[1];
  size_t pages = count > 2 ? (size_t)atol(words[2]) : 1024;
  if (!strcmp(way, "file")) touch(of_file(1), 1024);
  if (!strcmp(way, "data")) touch(data, 1024);
  if (!strcmp(way, "protected-file")) { char *p = of_file(0); mprotect(p, 4 * MiB, PROT_READ | PROT_WRITE); touch(p, 1024); }
  if (!strcmp(way, "moved-file")) moved(of_file(1));
  if (!strcmp(way, "moved") || !strcmp(way, "moved-onto-used")) {
    char *p = anon(4 * MiB, PROT_READ | PROT_WRITE);
    touch(p, 1024);
    in_child(way[5] ? moved_onto_used : moved, p);
  }
  struct { const char *way; void (*work)(char *); } calls[] = {
      {"populate", populate}, {"mlock", lock}, {"process_vm_writev", write_memory}, {"read", read_there},
      {"write-shared", write_shared}, {"fault-and-populate", fault_and_populate}};
  char *touched = anon(4 * MiB, PROT_READ | PROT_WRITE);
  for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
    if (strcmp(way, calls[i].way)) continue;
    touch(touched, 1024);
    in_child(calls[i].work, touched);
  }
  if (!strcmp(way, "ptrace")) { touch(touched, 1024); poke(touched); }
  if (!strcmp(way, "moved-before")) {
    char *p = anon(4 * MiB, PROT_READ | PROT_WRITE), *reserved = anon(4 * MiB, PROT_NONE);
    touch(p, 1024);
    mremap(p, 4 * MiB, 4 * MiB, MREMAP_MAYMOVE | MREMAP_FIXED, reserved);
    in_child(write_1024, reserved);
  }
  if (!strcmp(way, "huge")) {
    char *p = mmap(0, 8 * MiB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    p += -(size_t)p % (2 * MiB);
    madvise(p, 4 * MiB, MADV_HUGEPAGE);
    touch(p, 1024);
    in_child(write_1024, p);
  }
  if (!strcmp(way, "huge-zeros")) {
    char *volatile p = mmap(0, 8 * MiB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    p += -(size_t)p % (2 * MiB);
    madvise(p, 4 * MiB, MADV_HUGEPAGE);
    for (int i = 0; i < 2; i++) (void)((volatile char *)p)[i * 2 * MiB];
    touch(p, 1024);
  }
  if (!strcmp(way, "populated")) {
    char *p = mmap(0, 4 * MiB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    in_child(write_1024, p);
  }
  if (!strcmp(way, "vfork")) {
    char *volatile p = anon(4 * MiB, PROT_READ | PROT_WRITE);
    touch(p, 1024);
    pid_t child = vfork();
    if (child == 0) { touch(p, 1024); _exit(0); }
    waitpid(child, 0, 0);
  }
  if (!strcmp(way, "fills")) touch(anon(pages * 4096, PROT_READ | PROT_WRITE), pages);
  if (!strcmp(way, "short")) {
    char *p = anon(pages * 4096, PROT_READ | PROT_WRITE), *own;
    touch(p, pages);
    pid_t child = fork();
    if (child == 0) {
      own = anon(pages * 4096, PROT_READ | PROT_WRITE);
      for (size_t i = 0; i < pages; i += 700) {
        size_t n = pages - i < 700 ? pages - i : 700;
        touch(p + i * 4096, n);
        touch(own + i * 4096, n);
      }
      _exit(0);
    }
    waitpid(child, 0, 0);
  }
  if (!strcmp(way, "leader-ended")) {
    pthread_t thread;
    pthread_create(&thread, 0, later, 0);
    pthread_exit(0);
  }
}
"""
# Number of pages that the program copies in each way. Starting the program copies a few more pages.
WAYS = {"file": 1024, "data": 1024, "protected-file": 1024, "moved-file": 1024, "moved": 1024, "moved-onto-used": 1024,
        "moved-before": 1024, "huge": 1024, "populated": 1024, "vfork": 0}
FILLS = {"moved": 1024, "moved-onto-used": 2048, "moved-before": 1024, "vfork": 1024}
FEW = 200


@pytest.fixture(scope="module")
def program():
    # A folder of pytest would not do, because other users cannot read it.
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        folder.chmod(0o755)
        (folder / "unseen.c").write_text(SOURCE)
        subprocess.run(["gcc", "-O1", "-pthread", "-o", folder / "unseen", folder / "unseen.c"], check=True)
        yield folder / "unseen"


@pytest.mark.parametrize("way", WAYS)
def test_bounds_of_an_ordinary_user_hold(program, way):
    report, _ = watch(program, way, ZEROTAX_FAULTS="software")
    copies, zero_fills = (report["bounds"][key]["at_most"] for key in ("copies", "zero_fills"))
    assert copies >= WAYS[way] and zero_fills >= FILLS.get(way, 0), report["bounds"]
    assert report["totals"]["copies"] <= copies


@as_root
@pytest.mark.parametrize("way", WAYS)
def test_root_sees_what_the_bounds_are_about(program, way):
    totals = watch(program, way)[0]["totals"]
    # For huge pages, the number is not checked: the kernel may refuse them, or copy a huge page as a whole.
    assert WAYS[way] <= totals["copies"] <= WAYS[way] + FEW or way == "huge", totals


# Ways in which a system call of a child or of its parent copies pages without a fault.
CALLS = ("populate", "mlock", "process_vm_writev", "ptrace", "fault-and-populate")


def watched_call(program, way, method):
    report, done = watch(program, way, status=None, ZEROTAX_FAULTS=method)
    if done.returncode == 77:
        pytest.skip("not permitted here, or unknown to this kernel")
    assert done.returncode == 0, done.stderr
    return report, " ".join(done.stderr.split())


@as_root
@pytest.mark.parametrize("way", CALLS)
def test_copies_of_system_calls_are_within_the_bounds(program, way):
    report, text = watched_call(program, way, "tracepoints")
    copies = report["totals"]["copies"]
    unseen = report["in_system_calls"]["copies"]
    assert copies <= FEW and 1024 <= unseen <= 1024 + FEW, report["in_system_calls"]
    assert report["bounds"]["copies"] == {"at_least": copies, "at_most": copies + unseen}
    assert f"as far as is known, at most {copies + unseen:,}" in report["sentence"]
    assert report["unclassified"] >= 1024 and f"! not counted: up to {unseen:,} copies" in text


@as_root
def test_a_system_call_that_faults_copies_exactly(program):
    report, text = watched_call(program, "read", "tracepoints")
    assert 1024 <= report["totals"]["copies"] <= 1024 + FEW and is_na(report["bounds"])
    assert report["in_system_calls"]["copies"] == 0 and "not counted" not in text


@as_root
def test_shared_memory_that_is_written_may_be_copies(program):
    report, _ = watched_call(program, "write-shared", "tracepoints")
    assert report["in_system_calls"]["copies"] >= 1024 and report["unclassified"] == 0


@pytest.mark.parametrize("way", [*CALLS, "read"])
def test_faults_of_system_calls_are_named_to_an_ordinary_user(program, way):
    report, text = watched_call(program, way, "software")
    assert report["unclassified"] >= 1024 and is_na(report["in_system_calls"])
    assert f"! not classified: {report['unclassified']:,} faults" in text


@as_root
def test_a_huge_page_that_replaces_the_page_of_zeros_is_no_copy(program):
    totals = watch(program, "huge-zeros")[0]["totals"]
    assert totals["copies"] <= FEW and totals["copied_bytes"] <= FEW * PAGE, totals
    assert totals["zeroed_bytes"] >= 1024 * PAGE, totals


@pytest.mark.parametrize("method", [pytest.param("tracepoints", marks=as_root), "software"])
def test_a_short_program_has_every_fault_recorded(program, method):
    pages = 10_000
    report, done = watch(program, "short", pages, every_fault=False, ZEROTAX_FAULTS=method)
    totals = report["totals"]
    assert is_na(report["sampling"]) and "sampled" not in done.stderr
    # On a busy machine, events may be lost. Then the report has their number.
    assert pages - totals["lost"] <= totals["copies"] <= pages + FEW, totals
    assert 2 * pages - totals["lost"] <= totals["zero_fills"] <= 2 * pages + FEW, totals


@as_root
def test_too_few_windows_give_a_range_and_no_estimate(program):
    pages = 10_000
    report, done = watch(program, "short", pages, every_fault=False, ZEROTAX_FAULTS_PER_SECOND="1000")
    sampling, copies = report["sampling"], report["bounds"]["copies"]
    assert copies["at_least"] <= pages + FEW and pages <= copies["at_most"]
    if sampling["windows"] < 10:
        assert is_na(sampling["half_width_95"]["copies"])
        assert report["sentence"] == f"between {copies['at_least']:,} and {copies['at_most']:,} pages copied."
        assert "about" not in report["sentence"] and report["sentence"][:-1] in " ".join(done.stderr.split())


def check_watched_again(report, pages, name):
    [lost] = report["unwatched"]
    totals = report["totals"]
    assert lost["name"] == name and not is_na(lost["faults"])
    assert totals["zero_fills"] <= pages + FEW and totals["zero_fills"] + lost["faults"] >= pages, (totals, lost)
    assert report["bounds"]["zero_fills"]["at_most"] >= pages
    assert report["bounds"]["copies"]["at_least"] == totals["copies"]


def with_rights(program, folder, mode, owner):
    folder.mkdir(mode=0o755)
    other = folder / "other"
    shutil.copy(program, other)
    shutil.chown(other, owner)
    other.chmod(mode)
    return other


RIGHTS = {"setuid": (0o4755, 65534), "unreadable": (0o711, 0)}


@as_root
@pytest.mark.skipif(shutil.which("setpriv") is None, reason="setpriv is missing: install util-linux")
@pytest.mark.parametrize("way", RIGHTS)
def test_a_program_with_other_rights_is_watched_again(program, way):
    folder = program.parent / way
    other = with_rights(program, folder, *RIGHTS[way])
    # setpriv may read the program although the user may not, so a shell starts it.
    words = [*NOBODY, "/bin/sh", "-c", f"{other} fills 20000; :"] if way == "unreadable" else [other, "fills", 20_000]
    report, done = watch(*words)
    check_watched_again(report, 20_000, "other")
    said = " ".join(done.stderr.split())
    assert "! not watched: process" in said and "MAP_POPULATE" not in said
    shutil.rmtree(folder)


@as_root
@pytest.mark.skipif(shutil.which("setpriv") is None, reason="setpriv is missing: install util-linux")
def test_what_an_ordinary_user_loses_sight_of_is_not_0(program):
    skip_if_unreadable()
    folder = program.parent / "user"
    other = with_rights(program, folder, 0o4755, 0)
    report, done = watch(other, "fills", 20_000, prefix=NOBODY)
    assert is_na(report["bounds"]["copies"]["at_most"]) and is_na(report["unwatched"][0]["faults"])
    assert report["sentence"].startswith("at least 0 pages copied") and is_na(report["unclassified"])
    assert "all later faults are missing" in " ".join(done.stderr.split())
    shutil.rmtree(folder)


@pytest.mark.parametrize("method", [pytest.param("tracepoints", marks=as_root), "software"])
def test_a_daemon_that_runs_on_is_named(method):
    report, done = watch("/bin/sh", "-c", "sleep 3 > /dev/null 2>&1 &", ZEROTAX_FAULTS=method)
    assert len(report["running"]) == 1
    assert "! The process ended, and 1 process that it had started runs on" in " ".join(done.stderr.split())
    assert any("runs on" in note for note in report["notes"])
    assert "running" not in watch("/bin/true", ZEROTAX_FAULTS=method)[0]


@pytest.mark.parametrize("method", [pytest.param("tracepoints", marks=as_root), "software"])
def test_a_process_whose_main_thread_ended_is_watched(program, tmp_path, method):
    with subprocess.Popen([program, "leader-ended"]) as process:
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            with open(f"/proc/{process.pid}/stat") as stat:
                if " Z " in stat.read():
                    break
        done = run("--pid", process.pid, "--json", tmp_path / "cow.json", ZEROTAX_FAULTS=method)
        assert process.wait(timeout=60) == 0
    assert done.returncode == 0, done.stderr
    report = checked(json.loads((tmp_path / "cow.json").read_text()))
    assert report["totals"]["zero_fills"] >= 256 and report["wall_s"] > 1
    assert all(not is_na(p["rss_bytes"]) for p in report["intervals"][0]["processes"])


def test_a_thread_is_no_process(program):
    with subprocess.Popen([program, "leader-ended"]) as process:
        while True:
            others = [int(name) for name in os.listdir(f"/proc/{process.pid}/task") if int(name) != process.pid]
            if others:
                break
        done = run("--pid", others[0])
        process.send_signal(signal.SIGKILL)
    assert done.returncode == 2
    assert f"{others[0]} is a thread of process {process.pid}: give --pid {process.pid}" in done.stderr


@pytest.mark.parametrize("method", [pytest.param("tracepoints", marks=as_root), "software"])
def test_tables_have_at_most_80_columns(program, tmp_path, method):
    long = tmp_path / ("a-program-of-a-very-long-name-" * 3)
    shutil.copy(program, long)
    done = run("--json", tmp_path / "cow.json", "--", long, "short", 2000, ZEROTAX_FAULTS=method)
    assert done.returncode == 0, done.stderr
    summary = done.stderr.split("\n\n", 1)[1].splitlines()
    assert len([line for line in summary if re.search(r"copies .* (process|mapping|code)$", line)]) == 3, summary
    # Lines that consist of one path are not counted, because a path without blanks cannot be wrapped.
    assert max(len(line) for line in summary if " " in line.strip()) <= 80
    assert zerotax("cow", "--read", tmp_path / "cow.json").returncode == 0
