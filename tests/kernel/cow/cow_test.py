"""`zerotax cow` reports exactly the faults of a program whose faults are known."""

import json
import re
import shutil
import signal
import subprocess
import time

import pytest

from conftest import (
    MIB, NOBODY, PAGE, ZEROTAX, clean_environment, is_na, mostly_long, skip_if_unreadable, zerotax)
from watching import CLASSES, FORKS, RANGE_BEGIN, RECORDED, as_root, checked, faults, on_range, run, watch

MIXES = [(2000, 500, 300, 400), (64, 0, 1, 0), (9000, 4000, 3000, 1500)]


@as_root
@pytest.mark.parametrize("pages, child, both, after", MIXES)
def test_every_fault_on_known_pages_is_told_right(pages, child, both, after):
    report, done = watch(FORKS, pages, child, both, after)
    assert report["method"] == "tracepoints" and done.stdout == ""
    parent, forked = report["processes"]
    assert parent["parent"] == 0 and forked["parent"] == parent["pid"] == report["pid"]
    # The child has one more copy, because the kernel wrote a page for read(2).
    assert on_range(forked, pages) == faults(copies=child + 1)
    # If cow reads /proc of the child while the child ends, the kernel dismantles the child's memory only after this
    # read. Pages that the parent writes before that are copied.
    late = on_range(parent, pages)["copies"] - both
    assert 0 <= late <= after // 4
    assert on_range(parent, pages) == faults(zero_fills=pages, copies=both + late, reuses=after + child - late)
    [own] = [m for m in forked["mappings"] if m["begin"] == RANGE_BEGIN]
    assert own["counts"]["kernel"] == 1 and own["counts"]["copied_bytes"] == (child + 1) * PAGE
    if child + both > 100:
        assert "write_pages" in report["code"][0]["function"] and report["code"][0]["module"] == "forks"


@pytest.mark.long("a recording more")
@as_root
def test_a_profiler_beside_it_changes_no_figure():
    """The profiler's interrupts come amid faults, and take faults themselves when they read the stack."""
    if zerotax("profile", "--json", "-", "--", "/bin/true").returncode == 3:
        pytest.skip("this kernel permits no sampling")
    pages, child, both, after = MIXES[0]
    profiler = (str(ZEROTAX), "profile", "--hz", "2000", "--text", "/dev/null", "--")
    report, _ = watch(FORKS, pages, child, both, after, prefix=profiler)
    parent, forked = report["processes"]
    assert on_range(forked, pages) == faults(copies=child + 1)
    assert on_range(parent, pages) == faults(zero_fills=pages, copies=both, reuses=after + child)


def check_as_ordinary_user(report, pages, child, both, after):
    assert report["method"] == "software"
    parent, forked = report["processes"]
    # An ordinary user does not see the kernel's own write for read(2).
    assert on_range(forked, pages) == faults(copies=child)
    assert on_range(parent, pages) == faults(zero_fills=pages, copies=both, reuses=after + child)
    for figure in ("kernel", "zeroed_bytes", "copy_ns"):
        assert is_na(report["totals"][figure])
    assert report["totals"]["copied_bytes"] == report["totals"]["copies"] * PAGE


@pytest.mark.parametrize("pages, child, both, after", MIXES)
def test_without_tracepoints_the_same_is_told_by_who_shares_each_page(pages, child, both, after):
    report, done = watch(FORKS, pages, child, both, after, ZEROTAX_FAULTS="software")
    assert "as an ordinary user" in " ".join(done.stderr.split())
    check_as_ordinary_user(report, pages, child, both, after)


@as_root
@pytest.mark.skipif(shutil.which("setpriv") is None, reason="setpriv is missing: install util-linux")
def test_an_ordinary_user_is_told_by_who_shares_each_page():
    skip_if_unreadable()
    check_as_ordinary_user(watch(FORKS, *MIXES[0], prefix=NOBODY)[0], *MIXES[0])
    with subprocess.Popen(["/bin/sleep", "20"]) as foreign:
        done = run("--pid", foreign.pid, prefix=NOBODY)
        foreign.kill()
    assert done.returncode == 3 and len(done.stderr.splitlines()) == 1 and "root" in done.stderr


@as_root
def test_the_first_child_alone_is_counted():
    report, _ = watch(FORKS, 300, 100, 50, 50, options=["--first-child"])
    [child] = report["processes"]
    assert on_range(child, 300) == faults(copies=101)
    assert child["parent"] == report["pid"]


@as_root
def test_beside_the_first_child_is_what_its_parent_holds():
    report, done = watch(FORKS, 300, 5, 5, 5, 1, options=["--first-child", "--interval", "0.2"])
    parents = [p for interval in report["intervals"] for p in interval["processes"] if not p["child"]]
    assert all(p["pid"] == report["pid"] for p in parents) and max(p["rss_bytes"] for p in parents) > 300 * PAGE
    assert all(p["counts"][key] == 0 for p in parents for key in CLASSES)
    assert re.search(rf"^         parent {report['pid']} +0 ", done.stderr, re.MULTILINE)


REFILLS = f"""
import ctypes, mmap
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
begin, size = ctypes.c_void_p({RANGE_BEGIN}), ctypes.c_size_t(1000 * {PAGE})
alone = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x10  # MAP_FIXED: beside nothing else
assert libc.mmap(begin, size, mmap.PROT_READ | mmap.PROT_WRITE, alone, -1, ctypes.c_long(0)) == begin.value
block = (ctypes.c_char * size.value).from_address(begin.value)
for _ in range(3):
    for page in range(1000):
        block[page * {PAGE}] = b"1"
    assert libc.madvise(begin, size, mmap.MADV_DONTNEED) == 0
"""


@pytest.mark.parametrize("method", [pytest.param("tracepoints", marks=as_root), "software"])
def test_pages_that_come_back_are_refills_and_without_copies_they_are_told_too(method):
    report, done = watch("/usr/bin/python3", "-c", REFILLS, ZEROTAX_FAULTS=method)
    [process] = report["processes"]
    [block] = [m for m in process["mappings"] if m["begin"] == RANGE_BEGIN]
    assert (block["counts"]["zero_fills"], block["counts"]["refills"], block["counts"]["copies"]) == (3000, 2000, 0)
    tables = done.stderr[done.stderr.index("zero-filled"):]
    row = re.compile(rf"^ +[\d,]+ +[\d,]+ +[\d,]+ +[\d,]+ .* parent {report['pid']} python3$", re.MULTILINE)
    assert row.search(tables) and re.search(r"^ +0 +(0 +)?3,000 +2,000 +(0 +)*0 B  anonymous ", tables, re.MULTILINE)


@as_root
def test_processes_are_chosen_by_the_beginning_of_their_name():
    script = f"{FORKS} 300 100 50 50; /bin/true"
    report, _ = watch("/bin/sh", "-c", script, options=["--comm", "for"])
    assert {process["name"] for process in report["processes"]} == {"forks"}
    report, _ = watch("/bin/sh", "-c", script, options=["--comm", "nothing"])
    assert report["processes"] == [] and report["totals"]["copies"] == 0


@as_root
def test_one_page_a_second_is_one_copy_a_second():
    report, done = watch(FORKS, 100, 5, 5, 5, 3, options=["--interval", "1"])
    forked = report["processes"][1]
    later = [[p["counts"]["copies"] for p in interval["processes"] if p["pid"] == forked["pid"]]
             for interval in report["intervals"][1:3]]
    assert later == [[1], [1]]
    lines = done.stderr.splitlines()
    sums = [line for line in lines if re.match(r"\d\d:\d\d:\d\d all ", line)]
    assert len(sums) == len(report["intervals"]) and all(" @ " in line for line in sums[1:3])
    its = f"child {forked['pid']}"
    assert sum(line.startswith(f"         {its} ") for line in lines) >= 3
    began, ended = [line[9:] for line in lines if re.match(rf"\d\d:\d\d:\d\d {its} ", line)]
    assert (began, ended) == (f"{its} began: forks, forked by {report['pid']}", f"{its} ended")
    assert "\x1b" not in done.stderr
    live = report["intervals"][1]["processes"]
    assert len(live) == 2
    for process in live:
        assert process["vsz_bytes"] >= process["rss_bytes"] > 100 * PAGE
        assert is_na(process["pss_bytes"]) or 0 < process["pss_bytes"] <= process["rss_bytes"]


@pytest.mark.parametrize("method, by_the_kernel", [pytest.param("tracepoints", 1, marks=as_root), ("software", 0)])
def test_a_running_process_is_joined_until_it_ends(method, by_the_kernel):
    with subprocess.Popen([FORKS, "200", "5", "5", "5", "3"]) as program:
        time.sleep(0.5)
        done = run("--pid", program.pid, "--json", "-", "--interval", "0.5", ZEROTAX_FAULTS=method)
        assert program.wait() == 0
    assert done.returncode == 0, done.stderr
    report = checked(json.loads(done.stdout))
    parent, child = report["processes"]
    # Watching began after the fork. The child then made three copies, and the kernel made one copy. The parent made
    # its copies last.
    assert report["method"] == method
    assert on_range(child, 200) == faults(copies=3 + by_the_kernel)
    assert on_range(parent, 200) == faults(copies=5, reuses=5 + 5)


@as_root
def test_ctrl_c_ends_the_watching_of_a_process_with_what_was_seen():
    with subprocess.Popen(["/bin/sleep", "60"]) as program:
        with subprocess.Popen([ZEROTAX, "cow", "-p", str(program.pid), "--interval", "0.1"], stdout=subprocess.PIPE,
                              text=True, env=clean_environment()) as watcher:
            watcher.stdout.readline()
            watcher.stdout.readline()
            watcher.send_signal(signal.SIGINT)
            rest = watcher.stdout.read()
            assert watcher.wait() == 130
        program.kill()
    assert f"Process {program.pid}" in rest and "pages copied" in rest


@as_root
def test_hundreds_of_short_children_are_each_counted():
    script = "import os\nfor i in range(300):\n pid = os.fork()\n if not pid: os._exit(0)\n os.waitpid(pid, 0)\n"
    report, _ = watch("/usr/bin/python3", "-c", script)
    assert len(report["processes"]) == 301
    assert all(process["counts"]["copies"] > 0 for process in report["processes"])


@as_root
def test_the_programs_output_and_status_are_its_own():
    done = run("--", "/bin/sh", "-c", "echo out; exit 7")
    assert (done.returncode, done.stdout) == (7, "out\n")
    assert run("--", "/bin/sh", "-c", "kill -TERM $$").returncode == 128 + signal.SIGTERM


@as_root
def test_a_command_that_is_not_there_gives_status_2():
    done = run("--", "/nonexistent/program")
    assert done.returncode == 2 and len(done.stderr.splitlines()) == 1 and "no command" in done.stderr


GROWING_CHILD = """
import gc, os, time
gc.disable()
shared = [{} for _ in range(40000)]
del shared[::2]
if not os.fork():
    filled = []
    for _ in range(20):
        filled.extend({} for _ in range(4000))
        time.sleep(0.1)
    os._exit(0)
os.wait()
"""


@as_root
def test_a_script_that_fills_a_list_copies_until_its_heap_has_grown_past_what_it_shares():
    report, _ = watch("/usr/bin/python3", "-c", GROWING_CHILD, options=["--interval", "0.2"])
    of_child = [(p, own) for interval in report["intervals"] for p in interval["processes"] if p["child"]
                for own in [p["counts"]] if not is_na(p["rss_bytes"])]
    assert len(of_child) >= 8
    early, late = of_child[:3], of_child[-3:]
    # The child first fills free memory between its parent's objects, which copies pages, and then takes new memory.
    assert sum(own["copies"] for _, own in early) > 200
    assert sum(own["copies"] for _, own in late) == 0 and all(own["zero_fills"] > 50 for _, own in late)
    sizes = [p["rss_bytes"] for p, _ in of_child]
    assert sizes == sorted(sizes) and sizes[-1] > sizes[0] + 2 * MIB
    assert of_child[-1][0]["vsz_bytes"] > of_child[0][0]["vsz_bytes"]
    # Only intervals in which the child works. In earlier intervals, the parent grows. In later intervals, the
    # kernel frees the parent's memory.
    both = [i["processes"] for i in report["intervals"] if any(p["child"] for p in i["processes"])]
    parent = [p["rss_bytes"] for processes in both[len(both) // 4 + 1:-1] for p in processes
              if not p["child"] and not is_na(p["rss_bytes"])]
    # The kernel may take a page from the parent, or return one.
    assert sizes[0] < min(parent) <= max(parent) < sizes[-1] and max(parent) - min(parent) < MIB


@pytest.mark.long("a recording more")
@as_root
def test_the_figure_over_time_is_drawn_where_it_was_asked_for(tmp_path):
    pytest.importorskip("matplotlib", reason="install python3-matplotlib")
    file = tmp_path / "over time.svg"
    _, done = watch(FORKS, 300, 100, 50, 50, options=["--svg", file, "--interval", "0.05"])
    assert "<svg" in file.read_text() and list(tmp_path.iterdir()) == [file]
    assert "pages copied" in done.stderr


WORKERS = RECORDED / "workers"


@as_root
@pytest.mark.parametrize("count", mostly_long([400, 4000], [400], "ten times as many"))
def test_hundreds_of_workers_are_all_told(count):
    report, done = watch(WORKERS, count)
    parent, *workers = report["processes"]
    assert len(workers) == count and all(worker["parent"] == parent["pid"] for worker in workers)
    assert all(on_range(worker, 1) == faults(copies=1) for worker in workers)
    # The lines of an interval name only the processes that copied the most pages. A slow machine has more intervals.
    assert len(done.stderr.splitlines()) < max(count // 4, 200)


@as_root
@pytest.mark.parametrize("workers, files", [(400, None), pytest.param(4000, 2000, marks=pytest.mark.long("4,000 processes"))])
def test_workers_that_run_are_watched_or_refused_in_one_line(workers, files, tmp_path):
    """cow watches each worker with five kernel files on each CPU. If these files are too many, the program continues
    unharmed.
    """
    with subprocess.Popen([WORKERS, str(workers)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as program:
        assert program.stdout.readline() == "ready\n"
        limit = [] if files is None else ["prlimit", f"--nofile={files}"]
        with subprocess.Popen([*limit, ZEROTAX, "cow", "--pid", str(program.pid), "--interval", "0.5", "--json",
                               tmp_path / "c.json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              env=clean_environment()) as watching:
            if files is None:
                watching.stdout.readline()
            else:
                _, said = watching.communicate(timeout=100)
                assert watching.returncode == 3 and len(said.splitlines()) == 1 and "ulimit -n" in said
            program.stdin.close()
            assert program.wait(timeout=100) == 0
            if files is None:
                _, said = watching.communicate(timeout=100)
                assert watching.returncode == 0, said
                assert len(checked(json.loads((tmp_path / "c.json").read_text()))["processes"]) == workers + 1
