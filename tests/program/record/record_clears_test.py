"""`zerotax record` counts every memset of zeros that a program makes over any memory, and warns of zeros that it cannot
see.
"""

import shutil
import subprocess

import pytest
from conftest import KIB, MIB, PAGE, is_na, planted
from recording import KNOWN, PROGRAMS, record

CLEARS = PROGRAMS / "clears"


def cleared(way):
    found = record(CLEARS, way)
    assert found.status == 0 and found.err == ""
    found.clears = found.totals["by_program"]
    found.rows = {row["cause"]: row for row in found.json["tax"]["rows"]}
    return found


@pytest.mark.parametrize("way, stores, size, redundant", [
    ("mapped", 20, 64 * MIB, 1), ("dirty", 10, 8 * MIB, 0.5), ("thread", 10, 8 * MIB, 1), ("child", 20, 8 * MIB, 1)])
def test_each_memset_of_zeros_counts_over_any_memory(way, stores, size, redundant):
    found = cleared(way)
    assert (found.clears["zeroing_stores"], found.clears["zeroed_bytes"]) == (stores, stores * size)
    assert found.clears["examined_zeroed_bytes"] == found.clears["timed_zeroed_bytes"] == stores * size
    assert found.clears["redundant_zeroed_bytes"] == redundant * stores * size
    assert found.clears["zero_cpu_ns"] > 0
    row = found.rows["by_program"]
    assert row["bytes"] == stores * size and row["cpu_ns"] > 0
    tax = found.json["tax"]
    assert tax["zeroing_at_least_cpu_ns"] == sum(each["at_least_cpu_ns"] for each in tax["rows"])
    assert "stores of zeros 0 ns" not in " ".join(found.text.split())
    assert found.totals["by_hand"]["zeroed_bytes"] == 0
    sites = [s for s in found.json["sites"] if s["kind"] == "by_program"]
    assert sum(s["zeroed_bytes"] for s in sites) == stores * size
    assert {s["frames"][0]["file"].rsplit("/", 1)[-1] for s in sites} == {"clears.cc"}
    assert "program cleared other memory (memset)" in found.text


def test_the_first_memset_over_a_block_is_by_hand_and_those_that_follow_are_too_many():
    found = cleared("again")
    assert found.totals["by_hand"]["zeroed_bytes"] == 8 * MIB
    assert (found.clears["zeroing_stores"], found.clears["zeroed_bytes"]) == (9, 72 * MIB)
    assert found.clears["redundant_zeroed_bytes"] == 72 * MIB


def test_each_function_counts_once_whatever_it_calls():
    found = cleared("kin")
    assert (found.clears["zeroing_stores"], found.clears["zeroed_bytes"]) == (5000, 5000 * PAGE)


def test_small_ones_are_counted_and_never_said_to_take_no_time():
    found = cleared("small")
    assert found.clears["zeroed_bytes"] == 100_000 * PAGE
    assert is_na(found.clears["zero_cpu_ns"])
    row = found.rows["by_program"]
    assert row["bytes"] == 100_000 * PAGE and is_na(row["cpu_ns"]) and is_na(row["share_of_cpu"])
    tax = found.json["tax"]
    assert is_na(tax["zeroing_cpu_ns"]) and tax["zeroing_at_most_cpu_ns"] >= row["at_most_cpu_ns"]
    assert "stores of zeros 0 ns" not in " ".join(found.text.split())
    [site] = [s for s in found.json["sites"] if s["kind"] == "by_program"]
    assert 0.5 * row["bytes"] < site["sampled"]["zeroed_bytes"] <= row["bytes"]
    assert site["sampled"]["redundant_zeroed_bytes"] == site["sampled"]["zeroed_bytes"]


def test_a_signal_handler_does_not_overflow_the_least_stack_that_it_may_have():
    found = cleared("signal")
    assert found.clears["zeroed_bytes"] == 1000 * PAGE + MIB


def test_what_is_stored_inline_is_not_claimed():
    found = cleared("inline")
    assert found.clears["zeroed_bytes"] == 0
    assert "Those that are stored inline, by rep stos" in " ".join(found.text.split())


def test_more_than_64_large_ones_are_sampled_and_all_are_counted(tmp_path):
    program = tmp_path / "often.py"
    program.write_text("import ctypes, mmap\nm = mmap.mmap(-1, 1 << 20, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)\n"
                       "at = ctypes.addressof(ctypes.c_char.from_buffer(m))\n"
                       "for i in range(3000): ctypes.memset(at, 0, 1 << 20)\n")
    found = record("/usr/bin/python3", program)
    clears = found.totals["by_program"]
    assert 3000 * MIB <= clears["timed_zeroed_bytes"] <= clears["zeroed_bytes"] <= 3002 * MIB
    assert 64 * MIB <= clears["examined_zeroed_bytes"] <= 3000 * MIB
    assert clears["redundant_zeroed_bytes"] <= clears["examined_zeroed_bytes"]
    site = max(found.json["sites"], key=lambda s: s["zeroed_bytes"] + s["sampled"]["zeroed_bytes"])
    assert site["kind"] == "by_program"
    assert site["zeroed_bytes"] + site["sampled"]["zeroed_bytes"] <= clears["zeroed_bytes"]


def test_what_the_program_clears_again_is_not_by_hand():
    # known.cc clears these bytes in its functions clear_later and clear_twice.
    found = record(KNOWN, options=planted("planted_memset"))
    assert found.totals["by_program"]["zeroed_bytes"] == pytest.approx(400_000 + 300_000, abs=4 * KIB)


@pytest.mark.skipif(not shutil.which("javac"), reason="no JDK (openjdk-17-jdk-headless)")
def test_java_is_seen_where_it_calls_memset_and_said_to_be_seen_in_part(tmp_path):
    source = tmp_path / "Zero.java"
    source.write_text("public class Zero { static byte[] keep; public static void main(String[] a) {"
                      " for (int i = 0; i < 1000; i++) { keep = new byte[1 << 20]; keep[i] = 1; } } }")
    subprocess.run(["javac", "-J-Xmx256m", str(source)], check=True, capture_output=True, timeout=120)
    found = record("java", "-Xmx64m", "-cp", tmp_path, "Zero")
    assert found.status == 0, found.err
    assert found.totals["by_program"]["zeroed_bytes"] >= 1000 * MIB
    assert any("JIT" in gap for process in found.json["processes"] for gap in process["gaps"])
