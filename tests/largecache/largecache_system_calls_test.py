"""What one block, taken and freed again and again, costs under `adaptive`: no system call in free, and few in calloc."""
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
    # One to see that the block is as it was; two to look at its pages, or one to give them back. Which, the clock decides.
    assert sum(point["calloc_syscalls"].values()) <= 3


@pytest.mark.parametrize(("touch", "measured_on"), [(0, 64), (1, 512)])
def test_measuring_this_machine_s_costs_takes_a_fault_for_each_page_once(touch, measured_on):
    """The first block that is handed out again is decided on by costs measured on a few pages, on many if it has many."""
    done = subprocess.run(
        [BUILD / "bin/zerotax", "run", "--allocator", "largecache", "--env", "largecache:LARGECACHE_POLICY=adaptive",
         "--size", "4MiB", "--touch", str(touch), "--json", "-"], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    point, = json.loads(done.stdout)["points"]
    # 0 where the policy need not decide yet; a few more are those of the library's own pages.
    assert sum(each["calloc_faults"] for each in point["first_ops"][1:]) <= measured_on + 16
