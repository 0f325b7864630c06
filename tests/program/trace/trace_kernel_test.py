"""Tests that kernel events of a program are in one timeline with the events that the program records itself."""

import collections
import json
import os
import re
import shutil
import subprocess

import pytest
from conftest import NOBODY, PAGE, ZEROTAX, check_schema, clean_environment, open_to_nobody, skip_if_unreadable
from tracing import TRACED, babeltrace, numbers, summary, trace
from watching import FORKS, RANGE_BEGIN, as_root

PAGES, CHILD, BOTH, AFTER = 2000, 500, 300, 400


def as_nobody(folder):
    """Lets an ordinary user write to the folder. Skips the test if the user cannot be changed."""
    if os.geteuid() != 0 or shutil.which("setpriv") is None:
        pytest.skip("only root, with setpriv, can become somebody else")
    skip_if_unreadable()
    open_to_nobody(folder)


def run(folder, *command, prefix=(), **environment):
    done = subprocess.run([*prefix, str(ZEROTAX), "trace", "run", "--kernel", "-o", str(folder), "--", *map(str, command)],
                          timeout=120, capture_output=True, text=True, check=False, env=clean_environment(**environment))
    assert done.returncode == 0, done.stderr
    assert "were lost" not in done.stderr
    return done


def faults(folder, event):
    """Returns (kind, page number in the program's own range) of every fault in that range, by process, in the order of
    time.
    """
    found = collections.defaultdict(list)
    for line in trace("print", folder, "--event", event).stdout.splitlines():
        pid, kind, address = re.search(r' pid=(\d+) tid=\d+ kind="(\w+)" address=(\d+)', line).groups()
        if RANGE_BEGIN <= int(address) < RANGE_BEGIN + PAGES * PAGE:
            found[int(pid)].append((kind, (int(address) - RANGE_BEGIN) // PAGE))
    return found


def counts(found):
    return dict(collections.Counter(kind for kind, _ in found))


@as_root
def test_every_fault_is_in_the_timeline_with_its_class_and_time(tmp_path):
    done = run(tmp_path / "t", FORKS, PAGES, CHILD, BOTH, AFTER)
    assert "kernel events: every fault" in done.stderr
    found = faults(tmp_path / "t", "kernel_page_fault")
    parent, child = sorted(found)
    assert counts(found[parent]) == {"zero_fill": PAGES, "copy": BOTH, "reuse": AFTER + CHILD}
    assert counts(found[child]) == {"copy": CHILD + 1}  # the kernel took one of these faults, for read(2)
    types = {row["name"]: row["events"] for row in summary(tmp_path / "t")["types"]}
    assert types["kernel_fork"] == 1 and types["kernel_exit"] == 2 and types["kernel_exec"] == 1
    # Each zero-fill fault and each copy fault allocates a page.
    assert types["kernel_page_allocation"] >= PAGES + BOTH + CHILD + 1


@pytest.mark.parametrize("prefix", [[], NOBODY], ids=["as we are", "as nobody"])
def test_an_ordinary_user_sees_faults_in_user_mode(tmp_path, prefix):
    if prefix:
        as_nobody(tmp_path)
    done = run(tmp_path / "t", FORKS, PAGES, CHILD, BOTH, AFTER, prefix=prefix, ZEROTAX_FAULTS="software")
    assert "kernel events: faults in user mode" in done.stderr
    found = faults(tmp_path / "t", "kernel_page_fault_seen")
    parent, child = sorted(found)
    assert counts(found[parent]) == {"zero_fill": PAGES, "copy": BOTH, "reuse": AFTER + CHILD}
    assert counts(found[child]) == {"copy": CHILD}
    # This method reports faults without their duration.
    assert "duration_ns" not in trace("print", tmp_path / "t", "--event", "kernel_page_fault_seen").stdout


@as_root
def test_records_of_the_program_and_of_the_kernel_are_one_timeline_of_the_same_threads(tmp_path):
    done = run(tmp_path / "t", TRACED / "forks", 1000)
    assert done.returncode == 0
    assert sum(map(len, numbers(tmp_path / "t").values())) == 7000
    lines = trace("print", tmp_path / "t").stdout.splitlines()
    times = [float(line.split()[0]) for line in lines]
    assert times == sorted(times)
    # exec precedes the program's first record, and the exit follows its last record.
    assert " kernel_exec " in lines[0] and " kernel_exit " in lines[-1]
    first = lines[0].split()[1]
    assert first.startswith("forks:") and any(line.split()[1] == first and " number " in line for line in lines)


@as_root
def test_the_time_between_events_of_the_kernel_and_of_the_program_is_told_by_thread(tmp_path):
    run(tmp_path / "t", TRACED / "forks", 1000)
    report = summary(tmp_path / "t", "--begin", "kernel_fork", "--end", "kernel_exit")
    intervals = report["intervals"]
    # Parent and child each fork once and then exit. The grandchild does not fork.
    assert intervals["all"]["count"] == 2 and intervals["all"]["min_ns"] > 0
    pids = {process["pid"] for process in report["processes"]}
    assert {thread["pid"] for thread in intervals["threads"] if thread["time"]["count"]} <= pids


@as_root
def test_print_takes_one_process_or_thread(tmp_path):
    run(tmp_path / "t", TRACED / "forks", 1000)
    pids = [process["pid"] for process in summary(tmp_path / "t")["processes"] if process["name"] == "forks"]
    assert len(pids) == 3
    of = {pid: trace("print", tmp_path / "t", "--pid", pid).stdout.splitlines() for pid in pids}
    for pid, lines in of.items():
        assert lines and all(line.split()[1].startswith("forks:") for line in lines)
        main = trace("print", tmp_path / "t", "--pid", pid, "--tid", pid).stdout.splitlines()
        assert main and set(main) <= set(lines)
    assert sum(" number " in line for lines in of.values() for line in lines) == 7000


@as_root
def test_perfetto_has_faults_as_slices_of_their_length(tmp_path):
    run(tmp_path / "t", FORKS, PAGES, CHILD, BOTH, AFTER)
    trace("print", tmp_path / "t", "--perfetto", tmp_path / "p.json")
    events = json.loads((tmp_path / "p.json").read_text())["traceEvents"]
    slices = [event for event in events if event["ph"] == "X"]
    assert sum(event["name"] == "fault: zero_fill" for event in slices) >= PAGES
    for event in slices:
        assert event["dur"] == pytest.approx(event["args"]["duration_ns"] / 1000, abs=0.001)
        assert event["pid"] == event["args"]["pid"]


@as_root
def test_babeltrace_reads_the_kernels_events_too(tmp_path):
    run(tmp_path / "t", FORKS, PAGES, CHILD, BOTH, AFTER)
    lines, discarded = babeltrace(tmp_path / "t")
    assert discarded == 0
    assert len(lines) == summary(tmp_path / "t")["events"]
    assert sum('kind = "reuse"' in line for line in lines) >= AFTER + CHILD


def test_output_that_nobody_reads_any_more_ends_quietly(tmp_path):
    assert subprocess.run([TRACED / "threads", "2", "20000"], timeout=60, check=False,
                          env=clean_environment(ZEROTAX_TRACE_DIR=str(tmp_path / "t"))).returncode == 0
    done = subprocess.run(f"{ZEROTAX} trace print {tmp_path / 't'} | head -n 3", shell=True, capture_output=True, text=True,
                          timeout=60, check=False)
    assert len(done.stdout.splitlines()) == 3 and done.stderr == ""


@as_root
def test_any_tracepoint_is_recorded_with_its_fields(tmp_path):
    events = ("syscalls:sys_enter_fork", "syscalls:sys_enter_clone", "sched:sched_process_fork", "sched:sched_process_exit")
    done = subprocess.run([ZEROTAX, "trace", "run", f"--kernel={','.join(events)}", "-o", tmp_path / "t", "--",
                           FORKS, *map(str, (PAGES, CHILD, BOTH, AFTER))],
                          timeout=120, capture_output=True, text=True, check=False, env=clean_environment())
    assert done.returncode == 0, done.stderr
    types = {row["name"]: row["events"] for row in summary(tmp_path / "t")["types"]}
    # The program forks by one of the two system calls, and two processes end.
    assert types.get("syscalls:sys_enter_fork", 0) + types.get("syscalls:sys_enter_clone", 0) == 1
    assert (types["sched:sched_process_fork"], types["sched:sched_process_exit"]) == (1, 2)
    assert not any(name.startswith("kernel_") for name in types)
    fork, = trace("print", tmp_path / "t", "--event", "sched:sched_process_fork").stdout.splitlines()
    parent, comm, child = re.search(r" pid=(\d+) tid=\1 parent_comm=\"(\w+)\" parent_pid=\1 child_comm=\"\w+\" child_pid=(\d+)",
                                    fork).groups()
    assert comm == "forks" and parent != child
    lines, discarded = babeltrace(tmp_path / "t")
    assert discarded == 0 and sum("sched:sched_process_fork" in line for line in lines) == 1
    report = summary(tmp_path / "t", "--begin", "sched:sched_process_fork", "--end", "sched:sched_process_exit", "--key",
                     "child_pid=pid")
    assert report["intervals"]["all"]["count"] == 1
    assert [row["pid"] for row in report["intervals"]["threads"] if row["time"]["count"]] == [int(child)]


@as_root
def test_the_first_event_of_a_child_ends_the_time_of_its_fork(tmp_path):
    run(tmp_path / "t", FORKS, PAGES, CHILD, BOTH, AFTER)
    report = summary(tmp_path / "t", "--begin", "kernel_fork", "--end", "*", "--key", "child=pid")
    assert report["intervals"]["all"]["count"] == 1
    row, = [row for row in report["intervals"]["threads"] if row["time"]["count"]]
    fork, = trace("print", tmp_path / "t", "--event", "kernel_fork").stdout.splitlines()
    assert row["pid"] == int(re.search(r" child=(\d+)", fork).group(1))
    assert "no field 'childs'" in trace("summary", tmp_path / "t", "--begin", "kernel_fork", "--end", "*", "--key", "childs=pid",
                                        status=2).stderr


@as_root
def test_of_one_page_the_time_from_its_fault_in_one_process_to_that_in_another(tmp_path):
    run(tmp_path / "t", FORKS, PAGES, CHILD, BOTH, AFTER)
    report = summary(tmp_path / "t", "--begin", "kernel_page_fault", "--end", "kernel_page_fault", "--key", "address")
    found = faults(tmp_path / "t", "kernel_page_fault")
    of_a_page = collections.Counter(page for rows in found.values() for _, page in rows)
    # Every fault of a page except its first ends an interval. Faults of memory outside the program's range add
    # intervals.
    assert report["intervals"]["all"]["count"] >= sum(of_a_page.values()) - len(of_a_page)
    assert sum(row["count"] for row in report["intervals"]["histogram"]) == report["intervals"]["all"]["count"]


@pytest.mark.parametrize("prefix", [[], NOBODY], ids=["as we are", "as nobody"])
def test_switches_are_everybodys(tmp_path, prefix):
    if prefix:
        as_nobody(tmp_path)
    done = subprocess.run([*prefix, ZEROTAX, "trace", "run", "--kernel=switches", "-o", tmp_path / "t", "--", "sleep", "0.2"],
                          timeout=120, capture_output=True, text=True, check=False, env=clean_environment())
    assert done.returncode == 0, done.stderr
    lines = trace("print", tmp_path / "t", "--event", "kernel_switch").stdout.splitlines()
    # When the program sleeps, it gives up the processor voluntarily. Later, the kernel schedules it again.
    ways = [re.search(r" out=(\d) preempted=(\d)$", line).groups() for line in lines]
    assert ("1", "0") in ways and ways.index(("1", "0")) < len(ways) - 1 - ways[::-1].index(("0", "0"))


def test_what_there_is_to_record_is_listed(tmp_path):
    report = json.loads(trace("events", "--json", "-").stdout)
    check_schema(report, "trace_events")
    assert {"faults", "switches"} <= {event["name"] for event in report["events"]}
    if os.geteuid() != 0:
        return
    report = json.loads(trace("events", "sched:sched_switch", "--json", "-").stdout)
    check_schema(report, "trace_events")
    event, = [event for event in report["events"] if event["name"] == "sched:sched_switch"]
    fields = {field["name"]: (field["kind"], field["bytes"], field["count"]) for field in event["fields"]}
    assert fields["prev_comm"] == ("text", 1, 16) and fields["next_pid"] == ("signed", 4, 1)
    assert "prev_comm" in trace("events", "sched:sched_switch").stdout
    assert "did you mean sched:sched_switch?" in trace("run", "--kernel=sched_switch", "-o", tmp_path / "t", "--", "true",
                                                       status=2).stderr


def test_a_tracepoint_is_refused_to_an_ordinary_user_before_the_program_starts(tmp_path):
    as_nobody(tmp_path)
    done = subprocess.run([*NOBODY, ZEROTAX, "trace", "run", "--kernel=sched:sched_switch", "-o", tmp_path / "t", "--", "touch",
                           tmp_path / "ran"], timeout=120, capture_output=True, text=True, check=False, env=clean_environment())
    assert done.returncode == 3 and "root" in done.stderr and not (tmp_path / "ran").exists() and not (tmp_path / "t").exists()
