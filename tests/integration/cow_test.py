"""`zerotax cow` tells exactly what a program of known faults did."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time

import pytest

from conftest import BUILD, NOBODY, PAGE, ZEROTAX, check_schema, clean_environment, is_na, skip_if_unreadable

FORKS = BUILD / "tests" / "recorded" / "forks"
RANGE_BEGIN = 0x100000000000
CLASSES = ("copies", "reuses", "zero_fills", "file_faults", "other")
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="tracepoints are root's")


def run(*arguments, prefix=(), **environment):
    return subprocess.run([*prefix, str(ZEROTAX), "cow", *map(str, arguments)], timeout=120,
                          env=clean_environment(**environment), capture_output=True, text=True, check=False)


def checked(report):
    """The report, if it is what the schema says and adds up."""
    check_schema(report, "cow")
    for key in CLASSES:
        total = report["totals"][key]
        for parts in (report["processes"], report["intervals"], report["code"]):
            assert sum(part["counts"][key] for part in parts) == total, key
        for process in report["processes"]:
            assert sum(m["counts"][key] for m in process["mappings"]) == process["counts"][key], key
    assert report["totals"]["lost"] == 0
    return report


def watch(*arguments, options=(), **how):
    """The command's report on a program, and what it said."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o777)
        file = pathlib.Path(folder, "cow.json")
        done = run("--json", file, *options, "--", *arguments, **how)
        assert done.returncode == 0, done.stderr
        return checked(json.loads(file.read_text())), done


def on_range(process, pages):
    """Faults on the program's own pages: exact, for nothing else lies there."""
    found = [m for m in process["mappings"] if m["begin"] == RANGE_BEGIN]
    if not found:
        return faults()  # a mapping without any is not told of
    assert len(found) == 1 and found[0]["end"] == RANGE_BEGIN + pages * PAGE and found[0]["kind"] == "anonymous"
    return {key: found[0]["counts"][key] for key in CLASSES}


def faults(**counts):
    return {**dict.fromkeys(CLASSES, 0), **counts}


MIXES = [(2000, 500, 300, 400), (64, 0, 1, 0), (9000, 4000, 3000, 1500)]


@as_root
@pytest.mark.parametrize("pages, child, both, after", MIXES)
def test_every_fault_on_known_pages_is_told_right(pages, child, both, after):
    report, done = watch(FORKS, pages, child, both, after)
    assert report["method"] == "tracepoints" and done.stdout == ""
    parent, forked = report["processes"]
    assert parent["parent"] == 0 and forked["parent"] == parent["pid"] == report["pid"]
    # One more of the child's: the kernel wrote it, for read(2).
    assert on_range(forked, pages) == faults(copies=child + 1)
    assert on_range(parent, pages) == faults(zero_fills=pages, copies=both, reuses=after + child)
    [own] = [m for m in forked["mappings"] if m["begin"] == RANGE_BEGIN]
    assert own["counts"]["kernel"] == 1 and own["counts"]["copied_bytes"] == (child + 1) * PAGE
    if child + both > 100:
        assert "write_pages" in report["code"][0]["function"] and report["code"][0]["module"] == "forks"


def check_as_ordinary_user(report, pages, child, both, after):
    assert report["method"] == "software"
    parent, forked = report["processes"]
    # What the kernel wrote for read(2) is not seen.
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


def at_random(seed, give_back, method):
    """Of a program that knows what each of its faults did: that, and what was reported, for each process."""
    report, done = watch(
        BUILD / "tests" / "recorded" / "forks_at_random", 2000, 12, seed, give_back, ZEROTAX_FAULTS=method)
    truth = {int(pid): counts for pid, *counts in (map(int, line.split()) for line in done.stdout.splitlines())}
    told = {p["pid"]: [on_range(p, 2000)[key] for key in ("copies", "reuses", "zero_fills")] for p in report["processes"]}
    assert told.keys() == truth.keys() and len(truth) == 25
    assert sum(map(sum, truth.values())) > 50_000
    return [(truth[pid], told[pid]) for pid in truth]


@as_root
@pytest.mark.parametrize("seed", [1, 2])
def test_every_one_of_fifty_thousand_random_faults_is_told_right(seed):
    for truth, told in at_random(seed, 1, "tracepoints"):
        assert (told[0], told[2]) == (truth[0], truth[2])
        # Another fault may fall between the two looks at the count, and then is taken for one of the page.
        assert truth[1] - 2 <= told[1] <= truth[1]


@as_root
def test_an_ordinary_user_is_told_nearly_all_random_faults_right():
    pairs = at_random(1, 0, "software")
    wrong = sum(max(t - g, 0) for truth, told in pairs for t, g in zip(truth, told))
    assert wrong <= 0.05 * sum(sum(truth) for truth, _ in pairs)


@as_root
@pytest.mark.skipif(shutil.which("setpriv") is None, reason="setpriv is missing: install util-linux")
def test_an_ordinary_user_is_told_by_who_shares_each_page():
    skip_if_unreadable()
    check_as_ordinary_user(watch(FORKS, *MIXES[0], prefix=NOBODY)[0], *MIXES[0])
    with subprocess.Popen(["/bin/sleep", "20"]) as foreign:
        done = run("--pid", foreign.pid, prefix=NOBODY)
        foreign.kill()
    assert done.returncode == 3 and len(done.stderr.splitlines()) == 1 and "root" in done.stderr


HELD = BUILD / "tests" / "recorded" / "held"


@as_root
@pytest.mark.parametrize("how, pages, expected", [
    ("none", 16, faults(zero_fills=16, reuses=16)),
    ("pipe", 16, faults(zero_fills=16, copies=16)),
    ("base", 512, faults(zero_fills=512, copies=1, reuses=511)),
])
def test_what_a_child_gave_up_is_reused_unless_something_else_holds_it(how, pages, expected):
    report, _ = watch(HELD, how)
    assert on_range(report["processes"][0], pages) == expected


@as_root
def test_a_huge_page_that_the_child_keeps_a_part_of_is_copied_whole():
    report, _ = watch(HELD, "huge")
    found = on_range(report["processes"][0], 512)
    if found["zero_fills"] != 1:
        pytest.skip("there was no huge page to be had")
    assert found == faults(zero_fills=1, copies=512)


@as_root
def test_the_first_child_alone_is_counted():
    report, _ = watch(FORKS, 300, 100, 50, 50, options=["--first-child"])
    [child] = report["processes"]
    assert on_range(child, 300) == faults(copies=101)
    assert child["parent"] == report["pid"]


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
    lines = [line for line in done.stderr.splitlines() if line.startswith(("2.00 s", "3.00 s"))]
    assert len(lines) >= 2 and all(line.endswith("  @") for line in lines[:2])
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
    # It was joined after the fork: the child's three pages and the kernel's one are left, and the parent's.
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
    assert f"process {program.pid}" in rest and "pages copied" in rest


@as_root
def test_many_short_children_are_each_counted():
    script = "import os\nfor i in range(300):\n pid = os.fork()\n if not pid: os._exit(0)\n os.waitpid(pid, 0)\n"
    report, _ = watch("/usr/bin/python3", "-c", script)
    assert len(report["processes"]) == 301
    assert all(process["counts"]["copies"] > 0 for process in report["processes"])


def test_events_that_nobody_read_in_time_are_counted_and_said(tmp_path):
    script = f"kill -STOP $PPID; {FORKS} 30000 5 5 5; kill -CONT $PPID"
    done = run("--json", tmp_path / "cow.json", "--", "/bin/sh", "-c", script, ZEROTAX_FAULTS="software")
    assert done.returncode == 0, done.stderr
    report = json.loads((tmp_path / "cow.json").read_text())
    check_schema(report, "cow")
    assert report["totals"]["lost"] > 0
    assert f"! {report['totals']['lost']} events were lost" in done.stderr


@as_root
def test_the_programs_output_and_status_are_its_own():
    done = run("--", "/bin/sh", "-c", "echo out; exit 7")
    assert (done.returncode, done.stdout) == (7, "out\n")
    assert run("--", "/bin/sh", "-c", "kill -TERM $$").returncode == 128 + signal.SIGTERM


@pytest.mark.parametrize("arguments, words", [
    ([], "neither a process nor a command"),
    (["--pid", "1", "--", "true"], "a process and a command"),
    (["--pid", "0"], "no process"),
    (["--pid", "4194304"], "no process"),
    (["--interval", "0", "--", "true"], "no usable time"),
    (["--first-child", "--comm", "x", "--", "true"], "leave one of the two out"),
    (["--json", "/nonexistent/x", "--", "true"], "/nonexistent"),
])
def test_unusable_words_give_one_line_and_status_2(arguments, words):
    done = run(*arguments)
    assert done.returncode == 2 and done.stdout == ""
    assert len(done.stderr.splitlines()) == 1 and words in done.stderr


@as_root
def test_a_command_that_is_not_there_gives_status_2():
    done = run("--", "/nonexistent/program")
    assert done.returncode == 2 and len(done.stderr.splitlines()) == 1 and "no command" in done.stderr
