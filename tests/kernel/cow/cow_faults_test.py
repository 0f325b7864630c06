"""`zerotax cow --faults` writes every fault, and reports the number of faults that it could not write."""

import collections
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import time

from conftest import NOBODY, PAGE, ZEROTAX, check_schema, clean_environment, is_na, skip_if_unreadable
from watching import CLASSES, FORKS, RANGE_BEGIN, as_root, run, watch

CLASS = dict(zip(("copy", "reuse", "zero_fill", "file", "other"), CLASSES))
PAGES, CHILD, BOTH, AFTER = KNOWN = (2000, 500, 300, 400)


def watch_each(*arguments, **how):
    """Returns the document of cow about a program, and the program's faults one by one."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o777)
        file = pathlib.Path(folder, "faults.jsonl")
        report, _ = watch(*arguments, options=["--faults", file, *how.pop("options", ())], **how)
        each = [json.loads(line) for line in file.read_text().splitlines()]
    for fault in each[:50] + each[-50:]:
        check_schema(fault, "fault")
    assert report["faults_file"] == {"path": str(file), "written": len(each), "not_written": 0, "problem": ""}
    return report, each


def check_sums(report, each):
    """Checks that the faults written one by one add up to the totals."""
    for process in report["processes"]:
        own = collections.Counter(CLASS[f["class"]] for f in each if f["pid"] == process["pid"])
        assert {key: own[key] for key in CLASSES} == {key: process["counts"][key] for key in CLASSES}
    assert sum(f["copied_bytes"] for f in each) == report["totals"]["copied_bytes"]


def on_pages(each, pid):
    """Class and page of each fault on the program's own pages, ordered by time."""
    found = [f for f in each if f["pid"] == pid and RANGE_BEGIN <= f["address"] < RANGE_BEGIN + PAGES * PAGE]
    assert [f["time_ns"] for f in found] == sorted(f["time_ns"] for f in found)
    assert all(f["tid"] == pid and f["mapping"] == "" for f in found)
    return [(f["class"], (f["address"] - RANGE_BEGIN) // PAGE) for f in found]


def expected(by_the_kernel):
    """The faults of tests/recorded/forks page by page: the parent's, and the child's."""
    parent = [("zero_fill", page) for page in range(PAGES)]
    parent += [("copy", page) for page in range(CHILD, CHILD + BOTH)]
    parent += [("reuse", page) for page in range(CHILD + BOTH, CHILD + BOTH + AFTER)]
    parent += [("reuse", page) for page in range(CHILD)]
    return parent, [("copy", page) for page in range(CHILD)] + [("copy", PAGES - 1)] * by_the_kernel


@as_root
def test_each_fault_is_told_with_its_page_time_and_instruction():
    report, each = watch_each(FORKS, *KNOWN)
    check_sums(report, each)
    parent, child = (process["pid"] for process in report["processes"])
    assert (on_pages(each, parent), on_pages(each, child)) == expected(1)
    assert sum(f["zeroed_bytes"] for f in each) == report["totals"]["zeroed_bytes"]
    assert sum(f["duration_ns"] for f in each if f["class"] == "copy") == report["totals"]["copy_ns"]
    assert sum(f["kernel"] for f in each) == report["totals"]["kernel"]
    own = [f for f in each if f["address"] >= RANGE_BEGIN and f["address"] < RANGE_BEGIN + PAGES * PAGE]
    assert all(f["write"] for f in own) and all(f["duration_ns"] > 0 for f in own)
    by_user = [f for f in own if not f["kernel"]]
    assert {(f["code"], f["code_offset"]) for f in by_user} == {(str(FORKS), by_user[0]["code_offset"])}
    symbol = subprocess.run(["addr2line", "-f", "-e", FORKS, hex(by_user[0]["code_offset"])], capture_output=True,
                            text=True, check=False).stdout
    assert "write_pages" in symbol or not symbol
    [by_kernel] = [f for f in own if f["kernel"]]
    assert by_kernel["code"] == "kernel" and by_kernel["pid"] == child


def test_an_ordinary_users_faults_lack_what_is_not_seen():
    report, each = watch_each(FORKS, *KNOWN, ZEROTAX_FAULTS="software")
    check_sums(report, each)
    parent, child = (process["pid"] for process in report["processes"])
    assert (on_pages(each, parent), on_pages(each, child)) == expected(0)
    for figure in ("write", "zeroed_bytes", "duration_ns"):
        assert all(is_na(f[figure]) for f in each)


def test_a_program_whose_name_is_no_text_is_told_all_the_same(tmp_path):
    odd = os.fsencode(tmp_path) + b"/odd \xff\xfe"
    shutil.copy(FORKS, odd)
    os.chmod(odd, 0o755)
    report, each = watch_each(odd.decode(errors="surrogateescape"), *KNOWN)
    check_sums(report, each)
    assert report["command"][0].endswith("/odd \\xff\\xfe")
    assert f"{tmp_path}/odd \\xff\\xfe" in {f["code"] for f in each}


@as_root
def test_only_what_is_counted_is_written():
    report, each = watch_each(FORKS, *KNOWN, options=["--first-child"])
    check_sums(report, each)
    assert {f["pid"] for f in each} == {report["processes"][0]["pid"]}


@as_root
def test_an_ordinary_user_writes_their_own_file():
    skip_if_unreadable()
    report, each = watch_each(FORKS, *KNOWN, prefix=NOBODY)
    check_sums(report, each)


def not_written(done, report):
    """Checks that the document was still written. The last line gives the number of missing faults, and the reason."""
    assert done.returncode == 2
    check_schema(report, "cow")
    log = report["faults_file"]
    assert log["not_written"] > 0 and log["problem"]
    assert log["written"] + log["not_written"] == sum(report["totals"][key] for key in CLASSES)
    last = done.stderr.splitlines()[-1]
    assert f"{log['not_written']} of" in last and log["problem"] in last and "give a regular file" in last
    return log


def test_a_full_disk_costs_the_lines_and_nothing_else(tmp_path):
    done = run("--faults", "/dev/full", "--json", tmp_path / "cow.json", "--", FORKS, *KNOWN)
    log = not_written(done, json.loads((tmp_path / "cow.json").read_text()))
    assert log["written"] == 0 and "No space left" in log["problem"]


def test_a_file_that_may_grow_no_more_ends_with_a_whole_line(tmp_path):
    file = tmp_path / "faults.jsonl"
    done = run("--faults", file, "--json", "/dev/stdout", "--", FORKS, 20000, 5, 5, 5,
               prefix=["prlimit", f"--fsize={1 << 20}"])
    log = not_written(done, json.loads(done.stdout))
    lines = file.read_text().splitlines(keepends=True)
    assert lines[-1].endswith("}\n") and len(lines) == log["written"] > 1000
    for line in lines:
        json.loads(line)


def through_a_pipe(read):
    """Runs cow with its faults on a pipe that `read` reads. Returns the output of `read`, the finished process, and the
    document.
    """
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "cow.json")
        with subprocess.Popen([ZEROTAX, "cow", "--faults", "-", "--json", file, "--", FORKS, "20000", "5", "5", "5"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              env=clean_environment()) as watcher:
            text = read(watcher)
            errors = watcher.stderr.read()
            code = watcher.wait()
        return text, subprocess.CompletedProcess([], code, "", errors), json.loads(file.read_text())


def test_a_reader_that_keeps_up_gets_them_all():
    text, done, report = through_a_pipe(lambda watcher: watcher.stdout.read())
    assert done.returncode == 0
    lines = text.splitlines()
    assert len(lines) == report["faults_file"]["written"] == sum(report["totals"][key] for key in CLASSES)
    check_schema(json.loads(lines[-1]), "fault")


def test_a_reader_that_goes_away_is_named():
    def leave(watcher):
        watcher.stdout.readline()
        watcher.stdout.close()
    _, done, report = through_a_pipe(leave)
    assert "Broken pipe" in not_written(done, report)["problem"]


def test_a_reader_that_sleeps_holds_up_neither_the_program_nor_the_watching():
    _, done, report = through_a_pipe(lambda watcher: time.sleep(4))
    log = not_written(done, report)
    assert "too slow" in log["problem"] and report["totals"]["lost"] == 0 and report["wall_s"] < 3


def test_a_program_that_is_not_there_leaves_an_old_file_alone(tmp_path):
    file = tmp_path / "faults.jsonl"
    file.write_text("old\n")
    assert run("--faults", file, "--", "/nonexistent/program").returncode == 2
    assert file.read_text() == "old\n"
