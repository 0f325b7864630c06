"""The measured executables are Google Benchmark programs, which accept the usual options of Google Benchmark."""

import json
import os
import subprocess

import pytest
from conftest import BUILD, MIB, clean_environment

PROBES = sorted((BUILD / "bin").glob("bench-*"))
GLIBC = BUILD / "bin" / "bench-glibc"


def benchmark(probe, *arguments):
    return subprocess.run(
        [probe, *arguments], env=clean_environment(), capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.parametrize("probe", PROBES, ids=lambda probe: probe.name)
def test_every_probe_starts_and_lists_its_benchmarks(probe):
    done = benchmark(probe, "--benchmark_list_tests")
    assert done.returncode == 0, done.stderr
    names = done.stdout.split()
    for size in (64 << 10, 100 * MIB, 1000 * MIB):
        assert f"calloc_loop/{size}/touch:0" in names
        assert f"calloc_loop/{size}/touch:100" in names


@pytest.mark.parametrize("probe", PROBES, ids=lambda probe: probe.name)
def test_every_probe_says_which_malloc_it_runs_and_which_version(probe):
    done = benchmark(probe, "--zerotax-identify")
    assert done.returncode == 0, done.stderr
    answer = dict(line.split("=", 1) for line in done.stdout.splitlines())
    functions = [answer[name] for name in ("malloc", "calloc", "realloc", "free")]
    assert len(set(functions)) == 1, "one library serves the whole family"
    assert answer["known_as"] == probe.name.removeprefix("bench-")
    assert answer["version"]


def test_a_filter_chooses_benchmarks_and_json_has_their_times_and_faults():
    done = benchmark(
        GLIBC, f"--benchmark_filter=calloc_loop/{MIB}/touch:.*", "--benchmark_format=json", "--benchmark_min_time=0.02")
    assert done.returncode == 0, done.stderr
    found = {entry["name"]: entry for entry in json.loads(done.stdout)["benchmarks"]}
    assert set(found) == {f"calloc_loop/{MIB}/touch:0", f"calloc_loop/{MIB}/touch:100"}
    for entry in found.values():
        assert entry["iterations"] > 0
        assert entry["real_time"] > 0
        assert entry["faults"] >= 0


def test_the_faults_of_a_block_that_is_mapped_each_time_are_its_pages():
    # 100 MiB is above the largest threshold of glibc, so every block is a mapping.
    done = benchmark(
        GLIBC, f"--benchmark_filter=calloc_loop/{100 * MIB}/touch:100", "--benchmark_format=json",
        "--benchmark_min_time=0.05")
    entry, = json.loads(done.stdout)["benchmarks"]
    if entry["faults"] < 1000:
        pytest.skip("huge pages are on for every mapping here, and one fault brings many pages")
    pages = 100 * MIB // os.sysconf("SC_PAGE_SIZE")
    assert pages <= entry["faults"] <= pages + 100


def test_an_unknown_option_is_refused():
    done = benchmark(GLIBC, "--benchmark_filtre=all")
    assert done.returncode == 2
    assert "benchmark_filtre" in done.stderr
