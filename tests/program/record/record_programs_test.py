"""`zerotax record` on real, unmodified programs. The programs' output and exit status are unchanged, and the recording
contains known facts about them.
"""

import json
import pathlib
import shutil
import subprocess
import time
import xml.etree.ElementTree

import pytest
from conftest import MIB, ZEROTAX, check_schema, clean_environment, is_na
from recording import KNOWN, PROGRAMS, record
from waiting import free_port

PYTHON = "/usr/bin/python3"
needs_python = pytest.mark.skipif(not pathlib.Path(PYTHON).exists(), reason="no /usr/bin/python3")


@needs_python
@pytest.mark.parametrize("options", [[], ["--allocator", "jemalloc"], ["--allocator", "mimalloc"]])
def test_bytearrays_of_python_are_zeroed_by_hand(options):
    # bytearray(n) calls malloc for n + 1 bytes, and then memset over all of them. bytes(n) calls calloc for n bytes and
    # a header.
    found = record(PYTHON, "-c", "a = [bytearray(10**7) for i in range(20)]; b = bytes(5 * 10**6); print(len(a))",
                   options=options)
    assert (found.status, found.out, found.err) == (0, "20\n", "")
    row = found.size_class(10**7)
    assert row["malloc_calls"] == 20
    assert 20 * 10**7 <= row["by_hand_zeroed_bytes"] <= 20 * (10**7 + 1)
    # All of this memory is fresh from the kernel, so zeroing it was not necessary.
    assert row["by_hand_redundant_zeroed_bytes"] >= 0.99 * row["by_hand_zeroed_bytes"]
    callocs = found.size_class(5 * 10**6)
    assert callocs["calloc_calls"] == 1 and 5 * 10**6 <= callocs["requested_bytes"] <= 5 * 10**6 + 64
    site = next(s for s in found.json["sites"] if s["kind"] == "by_hand")
    assert site["calls"] == 20
    assert 0 < found.totals["share_of_wall"] and 0 < found.totals["share_of_cpu"]


def test_what_a_library_that_is_loaded_later_zeroes_is_seen():
    found = record(PROGRAMS / "opens", PROGRAMS / "libzeroes.so")
    assert (found.status, found.err) == (0, "")
    row = found.size_class(3_000_000)
    assert (row["calloc_calls"], row["malloc_calls"], row["by_hand_zeroed_bytes"]) == (2, 4, 4 * 3_000_000)
    # The sampled calls may include small calls by the dynamic linker.
    tops = [s["frames"][0] for s in found.json["sites"] if s["requested_bytes"] >= 3_000_000]
    assert {pathlib.Path(top["module"]).name for top in tops} == {"libzeroes.so"}
    assert {top["function"] for top in tops} == {"zero_by_calloc", "zero_by_hand"}


# The first compiler in the user's PATH may be ccache, which only starts the real compiler.
GCC = shutil.which("gcc", path="/usr/bin:/bin")


@pytest.mark.skipif(GCC is None, reason="no gcc")
def test_gcc_is_followed_into_the_programs_that_it_starts(tmp_path):
    source = tmp_path / "hello.c"
    source.write_text("int main(void) { return 0; }\n")
    plain, recorded = tmp_path / "plain.o", tmp_path / "recorded.o"
    subprocess.run([GCC, "-c", source, "-o", plain], check=True)
    found = record(GCC, "-c", source, "-o", recorded)
    assert (found.status, found.out, found.err) == (0, "", "")
    assert recorded.read_bytes() == plain.read_bytes()
    programs = [pathlib.Path(p["command"].split()[0]).name for p in found.json["processes"]]
    assert programs[:2] == ["gcc", "cc1"] and any(p.endswith("as") for p in programs)
    for process in found.json["processes"]:
        assert process["ended"] == "exit" and process["figures"]["malloc_calls"] > 0
    failing = record(GCC, "-c", tmp_path / "missing.c")
    assert failing.status == 1 and "missing.c" in failing.err


@pytest.mark.skipif(shutil.which("redis-server") is None, reason="redis-server is missing: install redis")
def test_redis_server_under_its_benchmark(tmp_path):
    port = str(free_port())
    report = tmp_path / "redis.json"
    command = [ZEROTAX, "record", "--json", report, "--text", tmp_path / "redis.txt", "--", "redis-server",
               "--bind", "127.0.0.1", "--port", port, "--save", "", "--dir", str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, env=clean_environment()) as server:
        ask = ["redis-cli", "-h", "127.0.0.1", "-p", port]
        deadline = time.monotonic() + 30
        while subprocess.run([*ask, "ping"], capture_output=True, check=False).returncode != 0:
            assert time.monotonic() < deadline and server.poll() is None
            time.sleep(0.05)
        subprocess.run(["redis-benchmark", "-h", "127.0.0.1", "-p", port, "-q", "-n", "2000", "-d", "1000", "-t", "set,get"],
                       check=True, capture_output=True)
        # SETRANGE beyond the end of a string fills the gap with zeros, by malloc and memset.
        subprocess.run([*ask, "setrange", "key", str(20 * MIB), "x"], check=True, capture_output=True)
        subprocess.run([*ask, "shutdown", "nosave"], check=False, capture_output=True)
        assert server.wait(timeout=30) == 0
    found = json.loads(report.read_text())
    check_schema(found, "record")
    by_hand = [s for s in found["sites"] if s["kind"] == "by_hand" and s["zeroed_bytes"] >= 20 * MIB]
    assert len(by_hand) == 1 and by_hand[0]["calls"] == 1
    assert found["totals"]["malloc_calls"] > 4000
    [process] = found["processes"]
    assert process["gaps"] == []


def test_folded_stacks_and_flame_graph_weigh_what_the_report_says(tmp_path):
    folded, svg = tmp_path / "stacks.folded", tmp_path / "graph.svg"
    for weight in ("redundant", "zeroed", "ns"):
        found = record(KNOWN, options=["--folded", folded, "--svg", svg, "--weight", weight])
        lines = [line.rsplit(" ", 1) for line in folded.read_text().splitlines()]
        key = {"redundant": "redundant_zeroed_bytes", "zeroed": "zeroed_bytes", "ns": "zero_ns"}[weight]
        expected = sum(s[key] + (0 if weight == "ns" else s["sampled"][key]) for s in found.json["sites"])
        assert sum(int(value) for _, value in lines) == expected > 0
        assert any(stack.endswith("main;calloc_and_free(int, unsigned long);calloc") for stack, _ in lines)
        assert any(stack.endswith(";memset") for stack, _ in lines)
        root = xml.etree.ElementTree.parse(svg).getroot()
        titles = [t.text for t in root.iter("{http://www.w3.org/2000/svg}title")]
        assert any(t.startswith("all: ") and t.endswith("100.0 %") for t in titles)
        assert any(t.startswith("calloc_and_free(int, unsigned long): ") for t in titles)


def test_a_program_may_store_the_address_of_calloc_in_a_stub_of_its_own():
    found = record(PROGRAMS / "stored")
    assert found.totals["calloc_calls"] == 3 and found.json["processes"][0]["allocator"].endswith("/libc.so.6")


def test_a_program_with_an_allocator_of_its_own_is_told_of():
    found = record(PROGRAMS / "own")
    assert (found.status, found.out) == (0, "own\n")
    [process] = found.json["processes"]
    assert any("calloc of its own" in gap for gap in process["gaps"]) and process["allocator"].endswith("/own")
    for figures in (found.totals, process["figures"]):
        for key in ("calloc_calls", "requested_bytes", "zeroed_bytes", "redundant_zeroed_bytes", "zero_ns"):
            assert is_na(figures[key]), key
    assert is_na(found.totals["share_of_wall"]) and "! own:" in found.text


def test_a_program_that_zeroes_nothing_has_an_empty_graph(tmp_path):
    folded, svg = tmp_path / "stacks.folded", tmp_path / "graph.svg"
    found = record("/bin/true", options=["--folded", folded, "--svg", svg])
    assert found.status == 0 and found.totals["zeroed_bytes"] == 0 and folded.read_text() == ""
    assert not is_na(found.totals["share_of_wall"]) and found.totals["share_of_wall"] == 0
    xml.etree.ElementTree.parse(svg)
