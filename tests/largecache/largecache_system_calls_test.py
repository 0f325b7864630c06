"""System calls of a block that is allocated and freed repeatedly under `adaptive`: none in free, and few in calloc."""
import json
import subprocess

import pytest
from conftest import BUILD


@pytest.mark.parametrize("touch", [0, 0.1, 1])
@pytest.mark.parametrize("size", ["256KiB", "20MiB"])
def test_free_makes_no_system_call_and_calloc_few(size, touch):
    done = subprocess.run(
        [BUILD / "bin/zerotax", "run", "--allocator", "largecache", "--env", "largecache:LARGECACHE_POLICY=adaptive",
         "--size", size, "--touch", str(touch), "--json", "-"], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    point, = json.loads(done.stdout)["points"]
    assert point["free_syscalls"] == {}
    # One call checks that the block is unchanged. Then two calls look at the block's pages, or one call returns the
    # pages. The clock decides which of the two happens.
    assert sum(point["calloc_syscalls"].values()) <= 3


@pytest.mark.parametrize(("touch", "measured_on"), [(0, 64), (1, 512)])
def test_measuring_this_machine_s_costs_takes_a_fault_for_each_page_once(touch, measured_on):
    """The costs that decide the first reuse of a block are measured on 64 pages, or on 512 if more pages are populated.
    """
    done = subprocess.run(
        [BUILD / "bin/zerotax", "run", "--allocator", "largecache", "--env", "largecache:LARGECACHE_POLICY=adaptive",
         "--size", "4MiB", "--touch", str(touch), "--json", "-"], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    point, = json.loads(done.stdout)["points"]
    # If the policy need not decide yet, there are no faults. A few faults beyond `measured_on` are in the library's own
    # pages.
    assert sum(each["calloc_faults"] for each in point["first_ops"][1:]) <= measured_on + 16
