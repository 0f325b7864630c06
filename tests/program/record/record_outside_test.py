"""`zerotax record` from outside, for programs that cannot load the library, and for running processes. The tested
programs have known faults and bytes.
"""

import contextlib
import os
import pathlib
import re
import signal

import pytest
from conftest import MIB, NOBODY, PAGE, is_na, mostly_long, skip_if_unreadable, zerotax
from outside import Attached, Outcome, build, functions, open_folder, root_only, start_record
from recording import record
from waiting import wait_for

ROUNDS = 400
KEPT = 16 * MIB
ZEROED = KEPT + ROUNDS * MIB
REFILLED = (ROUNDS - 1) * MIB
# Bytes for the start and end of a static program, or for Go's runtime.
STARTING = 200 * PAGE
GO_STARTING = 4 * MIB
DENYING = ["/usr/bin/python3", str(pathlib.Path(__file__).parents[2] / "support" / "denying.py")]


@pytest.fixture(scope="module", name="static")
def static_program():
    with open_folder() as folder:
        yield build(folder, "gcc", "-static", "-g", "-O1", "-fno-builtin")


@pytest.fixture(scope="module", name="musl")
def musl_program(tmp_path_factory):
    return build(tmp_path_factory.mktemp("musl"), "musl-gcc", "-g", "-O1", "-fno-builtin")


@pytest.fixture(scope="module", name="go")
def go_program(tmp_path_factory):
    return build(tmp_path_factory.mktemp("go"), "go", "build")


def check_said(found, why):
    assert found.json["outside"]["why"] == why or why in found.json["outside"]["why"]
    assert ("zerotax record: the program was recorded from outside, without zerotax's library, because "
            f"{found.json['outside']['why']}.") in " ".join(found.text.split())


def check_not_seen(found):
    """The metrics that need the library are n/a, with a reason, and never 0."""
    totals = found.totals
    for figures in (totals, totals["by_hand"], totals["in_free"]):
        assert is_na(figures["zeroed_bytes"]) and is_na(figures["redundant_zeroed_bytes"])
    assert is_na(totals["calloc_calls"]) and is_na(totals["malloc_calls"]) and is_na(totals["returned"]["bytes"])


def check_refills(found, kernel, starting=STARTING):
    assert ZEROED <= kernel["zeroed_bytes"] <= ZEROED + starting
    # The estimate depends on when zerotax takes samples, but its interval contains the true value.
    assert kernel["refilled_bytes"] == pytest.approx(REFILLED, rel=0.05)
    least, most = kernel["refilled_interval_bytes"]
    assert least <= kernel["refilled_bytes"] <= most and least - starting <= REFILLED <= most + starting
    check_not_seen(found)


@root_only
def test_a_static_program_is_recorded_from_outside(static):
    found = record(static, "map", ROUNDS)
    assert found.status == 5
    check_said(found, "it is statically linked")
    first, last = map(int, found.out.split())
    kernel = found.totals["kernel"]
    # `last` also includes the process's faults before its exec.
    assert last - first <= kernel["minor_faults"] <= last + 50
    assert found.json["outside"]["zeroed_by"] == "counted"
    assert "rates" not in found.json["outside"]
    check_refills(found, kernel)
    assert "refill_here" in functions(found.json["sites"][0])
    assert found.json["sites"][0]["kind"] == "fault"
    low, high = found.json["sites"][0]["sampled"]["kernel_interval_bytes"]
    assert low <= ROUNDS * MIB <= high
    [kept] = [site for site in found.json["sites"] if "keep_here" in functions(site)]
    # All bytes that are populated between two samples count as equally fresh. Some refills of refill_here are therefore
    # attributed to keep_here.
    assert kept["refilled_bytes"] <= KEPT < 0.1 * found.json["sites"][0]["refilled_bytes"]


@pytest.mark.long("a static program is")
@root_only
def test_a_program_for_musl_is_recorded_from_outside(musl):
    found = record(musl, "malloc", ROUNDS)
    assert found.status == 5
    check_said(found, "it is built for musl")
    kernel = found.totals["kernel"]
    assert kernel["refilled_bytes"] == pytest.approx(REFILLED, rel=0.01)
    assert "malloc_here" in functions(found.json["sites"][0])


@root_only
def test_a_go_program_is_recorded_from_outside(go):
    found = record(go, "map", ROUNDS)
    assert found.status == 5
    check_said(found, "it is statically linked")
    check_refills(found, found.totals["kernel"], GO_STARTING)
    assert "main.fillHere" in functions(found.json["sites"][0])


@root_only
@pytest.mark.parametrize("way", ["forks", "threads"])
def test_children_and_threads_are_followed(static, way):
    found = record(static, way, 100)
    kernel = found.totals["kernel"]
    # Each child copies some pages, and each thread has a stack.
    assert 100 * MIB <= kernel["zeroed_bytes"] <= 100 * (MIB + 20 * PAGE) + STARTING
    assert kernel["minor_faults"] >= 100 * MIB // PAGE
    # The refills of a child that was never sampled are unknown, so sites with fewer samples may come first.
    assert "refill_here" in functions(max(found.json["sites"], key=lambda site: site["sampled"]["kernel_zeroed_bytes"]))


@root_only
def test_faults_that_the_kernel_takes_count(static):
    found = record(static, "read", 100)
    assert 100 * MIB <= found.totals["kernel"]["zeroed_bytes"] <= 100 * MIB + STARTING
    assert "read_here" in functions(found.json["sites"][0])


@contextlib.contextmanager
def setting(file, value):
    file = pathlib.Path(file)
    if not os.access(file, os.W_OK):
        pytest.skip(f"{file} cannot be set here")
    before = file.read_text()
    file.write_text(value)
    try:
        yield
    finally:
        file.write_text(re.findall(r"\[(\w+)\]", before)[0] if "[" in before else before)


@root_only
def test_collapsed_pages_are_copied_and_only_their_holes_are_zeroed(static):
    found = record(static, "collapse", 1)
    if found.status == 77:
        pytest.skip("no MADV_COLLAPSE, or no huge page left")
    kernel = found.totals["kernel"]
    assert 8 * MIB <= kernel["zeroed_bytes"] <= 8 * MIB + STARTING
    assert kernel["huge_bytes"] == 4 * PAGE


@root_only
def test_pages_between_small_and_huge_count(static):
    with setting("/sys/kernel/mm/transparent_hugepage/hugepages-2048kB/enabled", "never"), \
            setting("/sys/kernel/mm/transparent_hugepage/hugepages-64kB/enabled", "madvise"):
        found = record(static, "large", 1)
    kernel = found.totals["kernel"]
    assert 8 * MIB <= kernel["zeroed_bytes"] <= 8 * MIB + STARTING
    assert kernel["zero_fill_faults"] <= 8 * MIB // (64 << 10) + STARTING // PAGE


@root_only
def test_pages_of_hugetlbfs_make_the_total_unknown(static):
    pages = pathlib.Path("/proc/sys/vm/nr_hugepages")
    with setting(pages, str(int(pages.read_text()) + 4)):
        found = record(static, "hugetlb", 1)
    if found.status == 77:
        pytest.skip("no memory for huge pages here")
    kernel = found.totals["kernel"]
    assert "hugetlbfs" in kernel["zeroed_bytes"]["na"] and is_na(kernel["zeroed_at_most_bytes"])


@root_only
@pytest.mark.parametrize("language", mostly_long(["static", "musl", "go"], ["static"], "another C library"))
def test_stores_of_zeros_are_sampled(request, language):
    found = record(request.getfixturevalue(language), "zeros", 400 if language == "go" else 40_000)
    [stores] = [row for row in found.json["tax"]["rows"] if row["cause"] == "stores"]
    least, most = stores["cpu_interval_ns"]
    assert least <= stores["cpu_ns"] <= most
    # The program does little else than store zeros.
    assert most >= 0.5 * found.json["tax"]["cpu_ns"]
    assert is_na(stores["bytes"])


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
def test_what_another_image_of_a_process_populates_is_no_refill(static):
    kernel = record(static, "chain", 20).totals["kernel"]
    assert 80 * MIB <= kernel["zeroed_bytes"] <= 80 * MIB + 20 * STARTING
    assert kernel["refilled_interval_bytes"][0] == 0


@root_only
def test_memory_that_two_processes_have_grows_once(static):
    kernel = record(static, "vfork", 100).totals["kernel"]
    least, most = kernel["refilled_interval_bytes"]
    # Only the first of the 100 megabytes is growth.
    assert least <= 99 * MIB + STARTING and most >= 99 * MIB - STARTING, kernel
    assert kernel["peak_bytes"] <= KEPT + MIB + STARTING


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


@pytest.mark.long("as another user")
@root_only
def test_nobody_records_a_program_of_theirs_from_outside(static):
    skip_if_unreadable()
    found = record(static, "map", ROUNDS, prefix=NOBODY)
    check_said(found, "it is statically linked")
    assert found.json["outside"]["zeroed_by"] == "sampled"
    kernel = found.totals["kernel"]
    if is_na(kernel["zeroed_bytes"]):  # huge pages of another test may count as this program's
        assert "huge pages were populated on this machine" in kernel["zeroed_bytes"]["na"]
    else:
        assert kernel["zeroed_bytes"] == pytest.approx(ZEROED, rel=0.02)
        assert kernel["refilled_bytes"] == pytest.approx(REFILLED, rel=0.03)
        assert kernel["zeroed_at_least_bytes"] <= kernel["zeroed_interval_bytes"][0], "an estimate is no bound"
    first, last = map(int, found.out.split())
    assert last - first <= kernel["minor_faults"] <= last + 50
    assert "refill_here" in functions(found.json["sites"][0])
    with open_folder() as folder, Attached(static, "map", ROUNDS, prefix=NOBODY) as target:
        started = start_record(folder, target.run.pid, "--seconds", 60, prefix=NOBODY)
        target.go_on()
        faults = target.faults()
        started.send_signal(signal.SIGINT)
        found = Outcome(folder, started, 128 + signal.SIGINT)
    assert faults <= found.totals["kernel"]["minor_faults"] <= faults + 5
    assert "refill_here" in functions(found.json["sites"][0])


@root_only
def test_without_perf_events_there_are_bounds_and_what_would_give_more(static):
    skip_if_unreadable()
    found = record(static, "map", ROUNDS, prefix=[*NOBODY, *DENYING])
    assert found.status == 5
    kernel = found.totals["kernel"]
    assert kernel["zeroed_at_least_bytes"] <= ZEROED + STARTING
    assert kernel["zeroed_at_most_bytes"] >= ZEROED
    assert is_na(kernel["zeroed_bytes"]) and is_na(kernel["refilled_bytes"]) and found.json["sites"] == []
    assert "denies perf_event_open" in " ".join(found.text.split()) and "--cap-add PERFMON" in " ".join(found.text.split())
    first, last = map(int, found.out.split())
    assert last - first <= kernel["minor_faults"] <= last + 50


def refused(*words, status=2, prefix=()):
    done = zerotax("record", *words, prefix=prefix)
    assert done.returncode == status, (done.returncode, done.stderr)
    assert done.stdout == "" and done.stderr.count("\n") == 1 and done.stderr.startswith("zerotax: "), done.stderr
    return done.stderr


def test_bad_input_is_refused_in_one_line(tmp_path):
    assert "there is no process 4194305" in refused("--pid", 4194305)
    assert "invalid PID 0" in refused("--pid", 0)
    assert "both --pid and a command" in refused("--pid", os.getpid(), "--", "true")
    assert "invalid --seconds 0" in refused("--pid", os.getpid(), "--seconds", 0)
    assert "invalid --seconds nan" in refused("--pid", os.getpid(), "--seconds", "nan")
    assert "--seconds without --pid" in refused("--seconds", 5, "--", "true")
    assert "--pid is given" in refused("--pid", os.getpid(), "--allocator", "mimalloc")
    assert "needs zerotax's library" in refused("--pid", os.getpid(), "--weight", "redundant", "--svg", tmp_path / "a.svg")
    kthreadd = pathlib.Path("/proc/2/comm")  # the process is invisible in another PID namespace
    if kthreadd.exists() and kthreadd.read_text() == "kthreadd\n":
        assert "thread of the kernel" in refused("--pid", 2)


@root_only
def test_another_users_process_is_refused():
    skip_if_unreadable()
    assert "belongs to another user" in refused("--pid", os.getpid(), status=3, prefix=NOBODY)


def test_an_allocator_cannot_be_put_into_a_static_program(static):
    assert "statically linked" in refused("--allocator", "mimalloc", "--", static, "map", 1)


@root_only
def test_flame_graphs_are_of_what_the_kernel_zeroed(static, tmp_path):
    done = zerotax("record", "--folded", tmp_path / "a.folded", "--text", tmp_path / "a.txt", "--", static, "map", 50)
    assert done.returncode == 5
    heaviest = max((tmp_path / "a.folded").read_text().splitlines(), key=lambda line: int(line.rsplit(" ", 1)[1]))
    assert "main" in heaviest and "refill_here;fault " in heaviest
