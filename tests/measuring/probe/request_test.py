"""Measurements follow the request: its configuration, thread, repeats and time."""

import json
import shutil
import subprocess

import pytest
from conftest import KIB, MIB, PLANTED, is_na, measure, planted, point_of, read_folder, zerotax

FAMILY = {
    "malloc": "void* malloc(size_t n) { return __libc_malloc(n); }",
    "calloc": "void* calloc(size_t m, size_t n) { return __libc_calloc(m, n); }",
    "realloc": "void* realloc(void* p, size_t n) { return __libc_realloc(p, n); }",
    "free": "void free(void* p) { __libc_free(p); }",
}
C_LIBRARY = """
#include <stddef.h>
void* __libc_malloc(size_t); void* __libc_calloc(size_t, size_t); void* __libc_realloc(void*, size_t);
void __libc_free(void*);
"""


def needs(program):
    return pytest.mark.skipif(shutil.which(program) is None, reason=f"{program} is missing")


def test_a_configuration_reaches_the_measured_process():
    # With this fixed threshold, glibc maps every larger block each time. Without a fixed threshold, the threshold would
    # rise at the first free. The value contains an equals sign, which --env must keep.
    tunables = "GLIBC_TUNABLES=glibc.malloc.mmap_threshold=131072"
    run = measure(
        "--allocator", "glibc", "--allocator", f"other={PLANTED / 'libplanted_never.so'}", "--env", f"glibc:{tunables}",
        "--env", "other:A=b", "--size", 200 * KIB, "--ops", 8)
    point = point_of(run, "glibc")
    assert point["env"] == dict([tunables.split("=", 1)])
    assert [entry["calloc_syscalls"] for entry in point["first_ops"]] == [{"mmap": 1}] * 8
    assert point_of(run, "other")["env"] == {"A": "b"}
    plain, = measure("--allocator", "glibc", "--size", 200 * KIB, "--ops", 8)["points"]
    assert (plain["env"], plain["calloc_syscalls"]) == ({}, {})


def test_the_worker_thread_is_another_than_the_main_thread():
    run = measure("--allocator", "glibc", "--size", 64 * KIB, "--thread", "main", "--thread", "worker", "--ops", 2)
    # brk extends only the main thread's heap. For every other thread, glibc maps a heap.
    first = {point["thread"]: point["first_ops"][0]["calloc_syscalls"] for point in run["points"]}
    assert "brk" in first["main"]
    assert "brk" not in first["worker"] and "mmap" in first["worker"]


def test_what_is_asked_twice_is_measured_once():
    run = measure("--allocator", "glibc", "--size", "64KiB", "--size", 64 * KIB, "--touch", 0, "--touch", 0, "--ops", 2)
    assert len(run["points"]) == 1


def test_each_pass_has_the_repeats_of_the_plan(tmp_path):
    folder = tmp_path / "out"
    assert zerotax(
        "run", *planted("planted_memset"), "--size", 8 * MIB, "--touch", 1, "--ops", 1, "--out", folder).returncode == 0
    plan = json.loads((folder / "plan.json").read_text())
    # Three operations on 8 MiB take longer than the budget of a millisecond, but min_ops requires three.
    plan["points"][0]["repeats"] = {"ops": 9, "min_ops": 3, "audit_ops": 5, "zeroing_ops": 2, "budget_ms": 1}
    (folder / "plan.json").write_text(json.dumps(plan))
    (folder / "points.jsonl").write_text("")
    done = zerotax("run", "--resume", folder)
    assert done.returncode == 0, done.stderr
    _, [point] = read_folder(folder)
    assert point["ops"] == 3
    figures = {key: [is_na(entry[key]) for entry in point["first_ops"]]
               for key in ("calloc_ns", "zeroed_bytes", "zero_ns")}
    assert figures == {
        "calloc_ns": [False] * 3 + [True] * 2, "zeroed_bytes": [False] * 5, "zero_ns": [False] * 2 + [True] * 3}


def test_the_timeout_is_for_all_passes_of_a_point_together():
    # Eight operations take two seconds in each pass.
    point, = measure(*planted("planted_slow"), "--size", 64 * KIB, "--ops", 8, "--timeout", 3, status=1)["points"]
    assert point["status"] == "timeout"
    assert point["reason"].startswith("timing pass: not done after ")
    assert (len(point["first_ops"]), point["zeroed_bytes"]) == (8, 0)


@needs("gcc")
@pytest.mark.parametrize("missing", FAMILY)
def test_a_library_that_lacks_one_function_of_the_family_is_refused(tmp_path, missing):
    source, library = tmp_path / "part.c", tmp_path / "libpart.so"
    source.write_text(C_LIBRARY + "\n".join(text for name, text in FAMILY.items() if name != missing))
    subprocess.run(["gcc", "-shared", "-fPIC", "-fno-builtin", "-o", library, source], check=True)
    done = zerotax("run", "--allocator", f"part={library}", "--size", "64KiB", "--ops", 2)
    assert done.returncode == 2
    assert f"does not define {missing}\n" in done.stderr or f"does not define {missing}:" in done.stderr


@needs("readelf")
def test_a_library_without_a_version_is_known_by_its_own_build_id():
    notes = subprocess.run(
        ["readelf", "-n", PLANTED / "libplanted_never.so"], check=True, capture_output=True, text=True).stdout
    if "Build ID: " not in notes:
        pytest.skip("this compiler gives no build-id")
    build_id = notes.split("Build ID: ")[1].split()[0]
    point, = measure(*planted("planted_never"), "--size", 64 * KIB, "--ops", 2)["points"]
    assert point["version"] == f"build-id {build_id[:16]}"
