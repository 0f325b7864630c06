"""`zerotax record` from outside, for programs that cannot load the library. The tested programs have known faults and
bytes.
"""

import contextlib
import os
import pathlib
import re
import signal

import pytest
from conftest import MIB, NOBODY, PAGE, is_na, mostly_long, skip_if_unreadable, zerotax
from outside import (KEPT, REFILLED, ROUNDS, STARTING, ZEROED, Attached, Outcome, build, check_refills, check_said,
                     functions, open_folder, root_only, start_record)
from recording import record

GO_STARTING = 4 * MIB  # bytes for the start and end of Go's runtime
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
