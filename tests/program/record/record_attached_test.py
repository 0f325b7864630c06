"""`zerotax record --pid`: running processes whose faults and bytes are known."""

import contextlib
import pathlib
import signal

import pytest
from conftest import MIB, NOBODY, PAGE, is_na, mostly_long, skip_if_unreadable
from outside import (REFILLED, ROUNDS, STARTING, ZEROED, Attached, Outcome, build, check_refills, check_said,
                     functions, open_folder, root_only, start_record)
from recording import record
from waiting import wait_for


@pytest.fixture(scope="module", name="static")
def static_program():
    with open_folder() as folder:
        yield build(folder, "gcc", "-static", "-g", "-O1", "-fno-builtin")


@root_only
@pytest.mark.parametrize("way, rounds", mostly_long(
    [("map", ROUNDS), ("threads", 100), ("exec", ROUNDS)], [("threads", 100)], "another program"))
def test_attached_to_a_process_the_counts_are_those_of_getrusage(static, tmp_path, way, rounds):
    with Attached(static, way, rounds) as target:
        started = start_record(tmp_path, target.run.pid, "--seconds", 60)
        target.go_on()
        faults = target.faults()
        if way != "exec":  # after its execs, the program ends by itself, which ends the recording
            started.send_signal(signal.SIGINT)
        found = Outcome(tmp_path, started, 0 if way == "exec" else 128 + signal.SIGINT)
        if way != "exec":
            target.go_on()
        assert target.run.wait() == 5, "unharmed"
    check_said(found, "it ran already")
    kernel = found.totals["kernel"]
    # The additional faults come from reading and printing a line, and from starting the program again.
    assert faults <= kernel["minor_faults"] <= faults + (STARTING // PAGE if way == "exec" else 5)
    zeroed = ZEROED if way != "threads" else rounds * MIB
    assert zeroed <= kernel["zeroed_bytes"] <= zeroed + {"map": 5, "threads": 5 + rounds * 5, "exec": 200}[way] * PAGE
    rates, run = found.json["outside"]["rates"], found.json["run"]
    assert rates["faults_per_s"] * run["wall_ns"] == pytest.approx(kernel["minor_faults"] * 1e9)
    assert rates["faults_per_cpu_s"] * (run["user_ns"] + run["system_ns"]) == pytest.approx(kernel["minor_faults"] * 1e9)
    assert "per second of CPU time" in " ".join(found.text.split())
    if way != "threads":
        assert kernel["refilled_bytes"] == pytest.approx(REFILLED, rel=0.01)
    assert "refill_here" in functions(found.json["sites"][0])
    assert is_na(found.json["run"]["exit_status"]) and (way == "exec" or "it still runs" in " ".join(found.text.split()))


@root_only
def test_attached_to_a_loop_it_names_the_site_that_the_whole_run_has(static, tmp_path):
    with Attached(static, "malloc", 10_000_000) as target:
        target.go_on()
        found = Outcome(tmp_path, start_record(tmp_path, target.run.pid, "--seconds", 2))
    assert "malloc_here" in functions(found.json["sites"][0])
    dynamic = build(tmp_path, "gcc", "-g", "-O1", "-fno-builtin")
    whole = record(dynamic, "malloc", 100)
    assert "malloc_here" in functions(max(whole.json["sites"], key=lambda site: site["refilled_bytes"]))


def recorded_lightly(folder, *program):
    """Returns the faults of a program's work, and its recording with --light."""
    with Attached(*program) as target:
        started = start_record(folder, target.run.pid, "--seconds", 60, "--light")
        target.go_on()
        faults = target.faults()
        started.send_signal(signal.SIGINT)
        return faults, Outcome(folder, started, 128 + signal.SIGINT)


@root_only
def test_without_tracepoints_faults_are_counted_and_the_rest_is_estimated(static, tmp_path):
    faults, found = recorded_lightly(tmp_path, static, "map", ROUNDS)
    kernel = found.totals["kernel"]
    assert faults <= kernel["minor_faults"] <= faults + 5
    assert found.json["outside"]["zeroed_by"] == "sampled" and "--light" in found.json["outside"]["why_no_returns"]
    # Other tests may populate huge pages at the same time. Without tracepoints, these huge pages may be this program's.
    zeroed = kernel["zeroed_bytes"]
    assert "huge pages" in zeroed["na"] if is_na(zeroed) else zeroed == pytest.approx(ZEROED, rel=0.05)
    assert "refill_here" in functions(found.json["sites"][0])
    assert is_na(found.totals["returned"]["bytes"]) and "As root" not in found.text


@root_only
def test_with_light_children_that_ended_before_a_look_are_counted_by_their_parent(static, tmp_path):
    children, pages = 100, MIB // PAGE
    own, found = recorded_lightly(tmp_path, static, "forks", children)
    # In addition to the faults for its megabyte, a child of fork takes some faults to begin and end.
    assert own + children * pages <= found.totals["kernel"]["minor_faults"] <= own + children * (pages + 60)


@root_only
def test_the_end_of_the_process_ends_the_recording(static, tmp_path):
    with Attached(static, "map", 50) as target:
        started = start_record(tmp_path, target.run.pid, "--seconds", 100)
        target.go_on()
        target.go_on()
        found = Outcome(tmp_path, started)
    assert "only the program's parent knows" in " ".join(found.text.split())
    assert found.totals["kernel"]["zeroed_bytes"] >= 50 * MIB


def check_fresh(kernel, mib):
    """Checks that all memory was populated once, and that none was returned before the end."""
    assert mib * MIB <= kernel["zeroed_bytes"] <= mib * MIB + 2 * STARTING
    assert kernel["refilled_interval_bytes"][0] == 0 and kernel["refilled_bytes"] <= STARTING
    assert kernel["returned_bytes"] <= STARTING


@root_only
def test_the_end_of_a_process_is_no_return_of_its_memory(static, tmp_path):
    for _ in range(4):  # Whether zerotax takes a sample during the exit depends on chance.
        check_fresh(record(static, "grow", 128).totals["kernel"], 128)
    with Attached(static, "grow", 128) as target:
        started = start_record(tmp_path, target.run.pid, "--seconds", 60)
        target.go_on()
        target.go_on()
        check_fresh(Outcome(tmp_path, started).totals["kernel"], 128)


@root_only
def test_a_process_whose_first_thread_has_ended_is_watched_on(static, tmp_path):
    with Attached(static, "last", ROUNDS) as target:
        wait_for(lambda: "State:\tZ" in pathlib.Path(f"/proc/{target.run.pid}/status").read_text())
        started = start_record(tmp_path, target.run.pid, "--seconds", 60)
        target.go_on()
        found = Outcome(tmp_path, started)
        assert target.run.wait() == 5, "unharmed"
    check_refills(found, found.totals["kernel"])
    assert "refill_here" in functions(found.json["sites"][0])


@root_only
def test_a_daemon_that_runs_on_is_named(static, tmp_path):
    found = record(static, "daemon", 1)
    assert "1 process that it had started runs on" in " ".join(found.text.split())
    with Attached(static, "daemon", 1) as target:
        started = start_record(tmp_path, target.run.pid, "--seconds", 60)
        target.go_on()
        found = Outcome(tmp_path, started)
    assert "1 process that it had started runs on" in " ".join(found.text.split())


@contextlib.contextmanager
def attached(static, *way, prefix=()):
    """Records a program as the same user. Yields the recording once the program's work is done."""
    with open_folder() as folder, Attached(static, *way, prefix=prefix) as target:
        started = start_record(folder, target.run.pid, "--seconds", 60, prefix=prefix)
        target.go_on()
        target.faults()
        started.send_signal(signal.SIGINT)
        yield Outcome(folder, started, 128 + signal.SIGINT)


USERS = pytest.mark.parametrize("prefix", [[], NOBODY], ids=["root", "nobody"])


@root_only
@USERS
@pytest.mark.parametrize("way", mostly_long(["shared", "memfd", "shm", "sysv"], ["memfd"], "another shared memory"))
def test_shared_memory_leaves_the_total_open_within_a_bound(static, way, prefix):
    if prefix:
        skip_if_unreadable()
    with attached(static, way, 16, prefix=prefix) as found:
        kernel = found.totals["kernel"]
        assert is_na(kernel["zeroed_bytes"]) and 16 * MIB <= kernel["zeroed_at_most_bytes"]
        assert kernel["zeroed_at_least_bytes"] <= STARTING
        [row] = [row for row in found.json["tax"]["beside"] if row["what"] == "shared_memory"]
        # The row is a lower bound, because more shared memory may have existed between two samples.
        assert row["at_least"] and 16 * MIB <= row["bytes"] <= 16 * MIB + STARTING and "> 16 MiB" in found.text


@root_only
def test_reads_of_the_page_of_zeros_zero_nothing_for_nobody_either(static):
    skip_if_unreadable()
    with attached(static, "look", 16, prefix=NOBODY) as found:
        kernel = found.totals["kernel"]
        # Huge pages that other programs populate during the recording raise the upper end of an ordinary user's
        # interval.
        assert kernel["minor_faults"] >= 16 * MIB // PAGE and kernel.get("zeroed_interval_bytes", [0])[0] <= MIB
        assert is_na(kernel["zeroed_bytes"]) or kernel["zeroed_bytes"] <= MIB
        assert not any("look_here" in functions(site) for site in found.json["sites"] if site["kind"] == "fault")


@root_only
@USERS
def test_a_child_may_return_its_parents_memory_before_a_look(static, prefix):
    if prefix:
        skip_if_unreadable()
    with attached(static, "given", 16, prefix=prefix) as found:
        least, most = found.totals["kernel"]["refilled_interval_bytes"]
        assert least <= 16 * MIB <= most, (least, most)


@root_only
@USERS
def test_memory_that_a_system_call_populates_in_a_child_counts(static, prefix):
    if prefix:
        skip_if_unreadable()
    with attached(static, "populate", 64, prefix=prefix) as found:
        kernel = found.totals["kernel"]
        assert kernel["minor_faults"] >= 64 * MIB // PAGE and kernel["zeroed_at_most_bytes"] >= 64 * MIB
        assert kernel["refilled_interval_bytes"][0] <= STARTING, "none was returned"
        assert is_na(kernel["refilled_bytes"]) or "held at the peak: ~" in " ".join(found.text.split())
