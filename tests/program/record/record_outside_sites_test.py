"""The sites of `zerotax record` from outside: callers that stored zeros, and callers that returned memory."""

import signal
import subprocess

import pytest
from conftest import MIB, NOBODY, is_na, skip_if_unreadable, zerotax
from outside import Attached, Outcome, build, functions, open_folder, root_only, start_record
from recording import record

ROUNDS = 60


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


def returns(found):
    return [site for site in found.json["sites"] if site["sampled"].get("return_calls")]


@root_only
@pytest.mark.parametrize("way, function, kind", [
    ("unmap", "refill_here", "program"), ("free", "malloc_here", "free"), ("advise", "advise_here", "program"),
    ("shrink", "shrink_here", "program"), ("cut", "cut_here", "program")])
def test_who_returned_memory_is_counted_call_by_call(static, way, function, kind):
    found = record(static, way, ROUNDS)
    assert found.json["outside"]["why_no_returns"] == ""
    first = returns(found)[0]
    assert function in functions(first)[:4] and first["kind"] == kind
    # The function that makes the system call does not appear.
    assert not {"munmap", "__munmap", "madvise", "__madvise", "brk", "sbrk", "mremap"} & set(functions(first))
    assert first["sampled"]["return_calls"] == ROUNDS
    assert ROUNDS * MIB <= first["sampled"]["returned_at_most_bytes"] <= ROUNDS * (MIB + 8192)
    assert first["sampled"]["returned_interval_bytes"] == 2 * [first["sampled"]["returned_at_most_bytes"]]
    text = " ".join(found.text.split())
    assert f"{ROUNDS} < 60" in text, text
    assert "so much was asked for" in text


@root_only
def test_another_programs_heap_is_not_compared_with_this_ones(tmp_path):
    """Each exec puts the heap at another address. A lower address of the new heap does not mean that memory of the old
    heap was returned.
    """
    grows = tmp_path / "grows"
    (tmp_path / "grows.c").write_text("#include <unistd.h>\n#include <stdlib.h>\nint main(int n, char** words) {\n"
                                      "  sbrk(1 << 20);\n  const int left = atoi(words[1]);\n"
                                      "  char text[] = {'0' + left - 1, 0};\n"
                                      "  if (left > 0) execl(words[0], words[0], text, (char*)0);\n  return 0;\n}\n")
    subprocess.run(["gcc", "-static-pie", "-o", grows, tmp_path / "grows.c"], check=True)
    found = record(grows, 9)
    assert found.status == 0
    assert sum(site["sampled"]["returned_at_most_bytes"] for site in returns(found)) < 64 * MIB


@root_only
def test_a_storm_of_returns_is_sampled(static):
    rounds = 300_000
    found = record(static, "storm", rounds)
    first = returns(found)[0]
    assert "storm_here" in functions(first)
    least, most = first["sampled"]["returned_interval_bytes"]
    assert 0 < least < most
    # An interval twice as wide as the 95 % interval is expected to contain the true value in every run. If calls were
    # lost, the estimate may be too low.
    middle = first["sampled"]["returned_at_most_bytes"]
    assert middle - rounds * MIB <= most - least
    assert rounds * MIB - middle <= most - least + (rounds * MIB / 2 if found.json["outside"]["lost_records"] else 0)
    assert 50 < found.json["outside"]["return_samples"] < rounds / 10


@root_only
@pytest.mark.parametrize("language, function", [("static", "clear_here"), ("musl", "clear_here"), ("go", "main.clearHere")])
def test_who_stores_zeros_is_named_with_the_time(request, language, function):
    found = record(request.getfixturevalue(language), "zeros", 2000 if language == "go" else 20000)
    stores = [site for site in found.json["sites"] if site["sampled"].get("zero_cpu_ns")]
    assert function in functions(stores[0]) and stores[0]["kind"] == "by_program"
    least, most = stores[0]["sampled"]["zero_cpu_interval_ns"]
    assert least <= stores[0]["sampled"]["zero_cpu_ns"] <= most
    [row] = [row for row in found.json["tax"]["rows"] if row["cause"] == "stores"]
    assert sum(site["sampled"]["zero_cpu_ns"] for site in stores) == pytest.approx(row["cpu_ns"], rel=0.01)
    assert "stored zeros at" in found.text


@root_only
def test_flame_graphs_are_of_time_and_returns_too(static, tmp_path):
    for way, weight, function in (("zeros", "ns", "clear_here;memset "), ("unmap", "returned", "refill_here;program ")):
        done = zerotax("record", "--folded", tmp_path / "a.folded", "--text", tmp_path / "a.txt", "--weight", weight, "--",
                       static, way, 20000 if weight == "ns" else ROUNDS)
        assert done.returncode == 5, done.stderr
        heaviest = max((tmp_path / "a.folded").read_text().splitlines(), key=lambda line: int(line.rsplit(" ", 1)[1]))
        assert function in heaviest


@root_only
def test_nobody_learns_who_stores_zeros_but_not_who_returns(static):
    skip_if_unreadable()
    found = record(static, "zeros", 20000, prefix=NOBODY)
    assert any("clear_here" in functions(site) for site in found.json["sites"] if site["sampled"].get("zero_cpu_ns"))
    assert returns(found) == [] and "only root" in found.json["outside"]["why_no_returns"]
    assert "The calls that returned memory are unknown" in " ".join(found.text.split())
    assert is_na(found.totals["returned"]["bytes"])


@pytest.fixture(scope="module", name="dynamic")
def dynamic_program(tmp_path_factory):
    return build(tmp_path_factory.mktemp("dynamic"), "gcc", "-g", "-O1", "-fno-builtin")


@root_only
@pytest.mark.parametrize("kind, caller, size", [
    ("static", "clear_here", MIB), ("static -AVX512VL", "clear_here", MIB), ("static -AVX512VL,-AVX512F", "clear_here", MIB),
    ("dynamic", "clear_here", MIB), ("musl", "clear_here", MIB), ("go", "main.clearHere", 16 * MIB)])
def test_every_store_of_zeros_is_seen_with_its_size_and_caller(kind, caller, size, request, tmp_path):
    name, *without = kind.split()  # other settings (GLIBC_TUNABLES) select other variants of memset
    environment = {"GLIBC_TUNABLES": f"glibc.cpu.hwcaps={without[0]}"} if without else {}
    with Attached(request.getfixturevalue(name), "zeros", ROUNDS, **environment) as target:
        started = start_record(tmp_path, target.run.pid, "--seconds", 60, "--sizes")
        target.go_on()
        target.faults()
        started.send_signal(signal.SIGINT)
        found = Outcome(tmp_path, started, 130)
        target.go_on()
        assert target.run.wait() == 5
    sizes = found.json["store_sizes"]
    assert sizes["lost_calls"] == 0
    [here] = [each for each in sizes["callers"] if each["frame"]["function"] == caller]
    assert (here["calls"], here["bytes"], here["smallest_bytes"], here["largest_bytes"]) == (ROUNDS, ROUNDS * size, size, size)
    assert here["sizes"] == [{"from_bytes": size, "calls": ROUNDS, "bytes": ROUNDS * size}]
    assert sizes["calls"] == sum(each["calls"] for each in sizes["callers"])
    text = " ".join(found.text.split())
    assert f"{ROUNDS} {ROUNDS * size // MIB} MiB {size // MIB} MiB {size // MIB} MiB {caller} (" in text, found.text


@root_only
def test_sizes_are_roots_and_of_what_runs(static):
    skip_if_unreadable()
    with Attached(static, "sleep", 10, prefix=NOBODY) as target:
        for prefix, options, complaint in (
                (NOBODY, ["--pid", target.run.pid], "--sizes"), ([], ["--all"], "--sizes without"),
                ([], ["--", "true"], "--sizes without")):
            done = zerotax("record", "--sizes", *options, prefix=prefix)
            assert done.returncode in (2, 3) and done.stderr.count("\n") == 1 and complaint in done.stderr, done.stderr
