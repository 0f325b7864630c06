"""arm64 in a virtual machine. With pages of 4 KiB, every count equals the count on this machine. With pages of 16 KiB,
counts are in whole pages. Needs build-arm64 (./run arm64).
"""

import json
import os
import pathlib

import pytest
from conftest import BUILD, KIB, MIB, SOURCE, UNHURRIED_MIMALLOC, check_schema, is_na, measure, options, zerotax

ARM64 = SOURCE / "build-arm64"
ALLOCATORS = ["glibc", "mimalloc", "largecache"]
# largecache keeps a share of the machine's memory. The two machines differ in memory, so the size is fixed here.
PLAN = [*options("allocator", ALLOCATORS), "--env", f"mimalloc:{UNHURRIED_MIMALLOC}",
        "--env", "largecache:LARGECACHE_RESERVE=256MiB", *options("size", [MIB, 20 * MIB]),
        *options("touch", [0, 1]), "--ops", 4]
COUNTS = ["redundant_zeroed_bytes", "zeroed_bytes", "populated_bytes", "returned_bytes", "refilled_bytes", "kernel_zeroed_bytes",
          "calloc_faults", "calloc_syscalls", "free_syscalls"]
# On arm64, glibc's internal calls to memset are seen like other stores: in whole pages, without the header of the next
# block.
HEADER = 8

pytestmark = pytest.mark.skipif(not (ARM64 / "bin" / "zerotax").exists(), reason="there is no build-arm64: ./run arm64 makes one")


@pytest.fixture(name="here", scope="module")
def measured_here():
    return measure(*PLAN)


@pytest.mark.parametrize("page", [4, 16])
def test_counts_are_those_of_this_machine_in_pages_of_that_one(page, here, tmp_path):
    file = tmp_path / "there.json"
    place = f"vm:trixie,arch=aarch64,page={page}K,thp=madvise,build={ARM64}"
    system = os.environ.get("ZEROTAX_SYSROOT") or pathlib.Path.home() / ".cache" / "zerotax" / "sysroot-arm64"
    done = zerotax("run", "--on", place, *PLAN, "--json", file, timeout=900, XDG_CACHE_HOME=BUILD / "tests" / "cache",
                   ZEROTAX_SYSROOT=system)
    if done.returncode == 3 and ("is missing" in done.stderr or "cannot fetch" in done.stderr):
        pytest.skip(done.stderr)
    assert done.returncode == 0, done.stderr
    there = json.loads(file.read_text())
    check_schema(there)
    assert there["environment"]["page_bytes"] == page * KIB
    assert len(there["points"]) == len(here["points"]) == len(ALLOCATORS) * 4
    for point, other in zip(here["points"], there["points"]):
        place = f"{point['allocator']} {point['size_bytes']} touch {point['touch']}"
        for count in COUNTS:
            assert not is_na(other[count]), f"{place}: {count}: {other[count]}"
            if "syscalls" in count:
                assert other[count] == point[count], f"{place}: {count}"
            elif count == "calloc_faults":
                assert abs(other[count] * page - point[count] * 4) <= 2 * page, f"{place}: {count}"
            else:
                assert abs(other[count] - point[count]) <= (HEADER if page == 4 else 2 * page * KIB), f"{place}: {count}"
        assert is_na(other["calloc_ns"]) and "emulated" in other["calloc_ns"]["na"]
