"""Work of a recorded run that the preloaded library did not see. The counts of this work are known from outside, or
n/a, or bounds, but never 0.
"""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import time

import pytest
from conftest import MIB, NOBODY, PAGE, ZEROTAX, clean_environment, is_na, skip_if_unreadable
from recording import PROGRAMS, record

ENDED = PROGRAMS / "ended"
STATIC = PROGRAMS / "ended-static"
# Number of faults for loading and recording a program.
OTHER_FAULTS = 400

PARANOID = pathlib.Path("/proc/sys/kernel/perf_event_paranoid")
counted = pytest.mark.skipif(os.geteuid() != 0 and int(PARANOID.read_text() if PARANOID.exists() else 9) > 1,
                             reason="the kernel does not count faults of processes for this user")


def check_bounds(part, mib):
    """Checks the kernel's part of a process that wrote to `mib` MiB."""
    assert part["zeroed_at_least_bytes"] <= mib * MIB + OTHER_FAULTS * PAGE
    assert is_na(part["zeroed_at_most_bytes"]) or part["zeroed_at_most_bytes"] >= mib * MIB
    zeroed = part["zeroed_bytes"]
    assert is_na(zeroed) or abs(zeroed - mib * MIB) <= 0.02 * mib * MIB + OTHER_FAULTS * PAGE
    assert part["zeroed_at_most_bytes"] >= part["zeroed_at_least_bytes"] if not is_na(zeroed) else True


def is_faults_of(faults, mib):
    return mib * MIB // PAGE <= faults <= mib * MIB // PAGE + OTHER_FAULTS


def end_of(found):
    """Returns the last process. Because this process's pages cost much, the text must not claim that there is nothing
    to gain.
    """
    assert "Nothing to gain" not in found.text
    tax = found.json["tax"]
    if is_na(tax["share_of_cpu"]):
        assert is_na(tax["zeroing_cpu_ns"])
        least, most = tax["zeroing_at_least_cpu_ns"], tax["zeroing_at_most_cpu_ns"]
        said = "the part spent on zeroing memory is unknown" if least == 0 and (is_na(most) or most >= tax["cpu_ns"]) else \
            "at least" if is_na(most) else "at most" if least == 0 else " to "
        assert said in " ".join(found.text.split("\n\n")[0].split()), found.text
        assert "The kernel took 0 ns" not in found.text
    assert is_na(tax["zeroing_at_most_cpu_ns"]) or 0 < tax["zeroing_at_most_cpu_ns"] <= tax["cpu_ns"]
    return found.json["processes"][-1]


@pytest.mark.parametrize("how, status", [("kill", 128 + signal.SIGKILL), ("exit_group-inline", 7)])
def test_the_kernel_counts_the_faults_of_a_program_that_ends_without_us(how, status):
    found = record(ENDED, 100, how)
    assert found.status == status
    process = end_of(found)
    assert is_faults_of(process["kernel"]["minor_faults"], 100)
    check_bounds(process["kernel"], 100)
    assert not is_na(process["kernel"]["zeroed_at_most_bytes"])


@pytest.mark.parametrize("how", ["quick_exit", "_exit", "exit_group", "return"])
def test_however_the_c_library_ends_a_process_its_books_are_closed(how):
    found = record(ENDED, 20, how)
    assert found.status == 7
    process = end_of(found)
    assert process["ended"] == "exit" and found.json["tax"]["kernel_unknown_processes"] == 0
    part = process["kernel"]
    # The upper bound may be higher, because page faults without a known cause may have populated memory that was
    # returned unseen.
    assert part["zeroed_at_least_bytes"] == part["zeroed_bytes"] <= part["zeroed_at_most_bytes"]
    assert part["zeroed_bytes"] == pytest.approx(20 * MIB, abs=OTHER_FAULTS * PAGE)


@pytest.mark.skipif(shutil.which("perf") is None, reason="no perf")
def test_a_server_ended_by_a_signal_was_zeroed_what_perf_counts(tmp_path):
    def ended(*prefix):
        with subprocess.Popen([*map(str, prefix), str(ENDED), "200", "wait"], stdout=subprocess.PIPE,
                              env=clean_environment()) as run:
            assert run.stdout.readline() == b"ready\n"
            time.sleep(1)  # the server waits for requests
            [child] = {int(pid) for threads in pathlib.Path(f"/proc/{run.pid}/task").iterdir()
                       for pid in (threads / "children").read_text().split()}
            os.kill(child, signal.SIGTERM)
            run.wait(timeout=60)

    count = tmp_path / "count"
    ended("perf", "stat", "-x", ",", "-o", count, "-e", "minor-faults")
    counts = [line.split(",")[0] for line in count.read_text().splitlines() if "minor-faults" in line]
    if not counts or not counts[0].isdigit():
        pytest.skip("perf counts no faults here")
    report, text = tmp_path / "record.json", tmp_path / "record.txt"
    ended(ZEROTAX, "record", "--json", report, "--text", text, "--")
    found = json.loads(report.read_text())
    [process] = found["processes"]
    faults = int(counts[0])
    assert process["ended"] == "SIGTERM" and process["kernel"]["minor_faults"] == pytest.approx(faults, rel=0.01)
    # The result is a number, unless other processes populate huge pages during the run.
    zeroed = process["kernel"]["zeroed_bytes"]
    assert is_na(zeroed) or zeroed == pytest.approx(faults * PAGE, rel=0.02)
    assert process["kernel"]["zeroed_at_least_bytes"] == pytest.approx(200 * MIB, rel=0.02)
    assert found["tax"]["zeroing_at_least_cpu_ns"] > 0 and "0 ns in the kernel" not in text.read_text()


@counted
def test_a_child_that_was_killed_is_counted():
    found = record(ENDED, 20, "killed-child")
    assert found.status == 7
    child = end_of(found)
    assert child["began"] == "fork" and is_faults_of(child["kernel"]["minor_faults"], 20)
    check_bounds(child["kernel"], 20)


@pytest.mark.skipif(os.geteuid() != 0 or shutil.which("setpriv") is None, reason="needs root and setpriv")
def test_who_may_not_count_says_at_least():
    skip_if_unreadable()
    found = record(ENDED, 20, "killed-child", prefix=NOBODY)
    child = end_of(found)
    assert is_na(child["kernel"]["minor_faults"]) or is_faults_of(child["kernel"]["minor_faults"], 20)
    check_bounds(child["kernel"], 20)


@pytest.mark.parametrize("how", ["exec", "exec-by-number"])
def test_faults_are_counted_once_however_often_a_process_becomes_another_program(how):
    found = record(ENDED, 40, how, ENDED, 20, "exec", ENDED, 10, "return")
    assert found.status == 7
    parts = [process["kernel"] for process in found.processes("ended")]
    assert [is_faults_of(part["minor_faults"], mib) for part, mib in zip(parts, (40, 20, 10))] == [True] * 3
    assert found.totals["kernel"]["minor_faults"] == sum(part["minor_faults"] for part in parts)


def test_an_exec_that_fails_does_not_end_the_books():
    found = record(ENDED, 20, "exec-missing")
    process = end_of(found)
    assert is_faults_of(process["kernel"]["minor_faults"], 40)
    check_bounds(process["kernel"], 40)


@counted
@pytest.mark.parametrize("first", [[ENDED, 1, "exec"], ["sh", "-c", '"$@"; exit $?', "sh"]], ids=["exec", "child"])
def test_a_static_program_is_named_with_what_it_used(first):
    found = record(*first, STATIC, 40, "return")
    assert found.status == 7
    [missed] = [row for row in found.json["not_followed"] if row["program"].endswith("ended-static")]
    assert "statically linked" in missed["reason"] or "it is static" in missed["reason"]
    assert is_faults_of(missed["minor_faults"], 40) and missed["cpu_ns"] > 0
    tax = found.json["tax"]
    assert tax["not_recorded"]["minor_faults"] >= missed["minor_faults"]
    assert "was not recorded and is not in the numbers" in " ".join(found.text.split()) and "Nothing to gain" not in found.text
    assert tax["cpu_ns"] + missed["cpu_ns"] <= found.json["run"]["user_ns"] + found.json["run"]["system_ns"] + 50_000_000


@pytest.mark.skipif(shutil.which("musl-gcc") is None, reason="musl-gcc is missing: install musl-tools")
def test_a_program_for_musl_is_recorded_from_outside_or_left_as_it_is(tmp_path):
    source = tmp_path / "musl.c"
    source.write_text('#include <stdio.h>\nint main(void) { FILE *f = fopen("/proc/self/maps", "r"); char line[4096];\n'
                      "while (fgets(line, sizeof line, f)) fputs(line, stdout); return 5; }\n")
    subprocess.run(["musl-gcc", "-O1", source, "-o", tmp_path / "musl"], check=True)
    found = record(tmp_path / "musl")
    assert found.status == 5 and "zerotax-record" not in found.out
    assert "built for musl" in found.json["outside"]["why"]
    found = record("sh", "-c", f"{tmp_path}/musl; exit 6")
    assert found.status == 6 and "/libc" in found.out and "zerotax-record" not in found.out
    [missed] = [row for row in found.json["not_followed"] if row["program"].endswith("musl")]
    assert missed["processes"] == 1 and missed["reason"]


def test_huge_pages_of_a_killed_process_are_not_priced_as_small_ones():
    found = record("/usr/bin/python3", "-c", "import mmap, os\nm = mmap.mmap(-1, 256 << 20, flags=mmap.MAP_PRIVATE | "
                   "mmap.MAP_ANONYMOUS)\nm.madvise(mmap.MADV_HUGEPAGE)\npart = b'1' * (2 << 20)\nfor _ in range(128):\n"
                   " m.write(part)\nos.kill(os.getpid(), 9)")
    tax, kernel = found.json["tax"], end_of(found)["kernel"]
    if kernel["minor_faults"] * PAGE > 128 * MIB:
        pytest.skip("no huge pages here")
    assert is_na(kernel["huge_bytes"]) and kernel["zeroed_at_least_bytes"] >= 200 * MIB
    assert not tax["capped"] and tax["zeroing_at_least_cpu_ns"] < tax["cpu_ns"]
    unseen = [row for row in tax["rows"] if row["cause"] == "unseen"]
    assert all(is_na(row["cpu_ns"]) and is_na(row["share_of_cpu"]) for row in unseen)


@pytest.mark.skipif(shutil.which("go") is None or shutil.which("gcc") is None, reason="no go")
def test_a_program_of_go_with_c_in_it_is_bounded(tmp_path):
    (tmp_path / "main.go").write_text(
        'package main\n// #include <stdlib.h>\nimport "C"\nimport "os"\nfunc main() {\n C.free(C.malloc(10))\n'
        " b := make([]byte, 64<<20)\n for i := 0; i < len(b); i += 4096 {\n  b[i] = 1\n }\n os.Exit(int(b[4096]) + 6)\n}\n")
    built = subprocess.run(["go", "build", "-o", "program", "main.go"], cwd=tmp_path, capture_output=True, text=True,
                           env=clean_environment(GOCACHE=str(tmp_path / "cache"), CGO_ENABLED="1"), check=False)
    if built.returncode != 0:
        pytest.skip(f"go builds nothing here: {built.stderr}")
    found = record(tmp_path / "program")
    assert found.status == 7
    process = end_of(found)
    # The heap may be in huge pages, which are populated before the program writes to them.
    assert process["kernel"]["minor_faults"] > 0
    assert process["kernel"]["zeroed_at_most_bytes"] >= 64 * MIB


def test_the_next_recording_removes_what_a_killed_one_left_and_no_living_ones():
    def begin():
        run = subprocess.Popen([ZEROTAX, "record", "--text", "/dev/null", "--", "sh", "-c",
                                "echo $$ $ZEROTAX_RECORD; exec sleep 60"], stdout=subprocess.PIPE, text=True,
                               env=clean_environment())
        pid, arena = run.stdout.readline().split()
        return run, int(pid), pathlib.Path(arena).parent

    dead, orphan, left = begin()
    living, program, used = begin()
    try:
        dead.kill()
        dead.wait(timeout=30)
        # The folder may be gone already, because any other recording removes folders that were left behind.
        assert record("true").status == 0
        assert not left.exists() and used.exists()
    finally:
        for pid in (orphan, program):
            os.kill(pid, signal.SIGTERM)
        dead.stdout.close()
        with living:
            assert living.wait(timeout=30) == 128 + signal.SIGTERM
    assert not used.exists()
