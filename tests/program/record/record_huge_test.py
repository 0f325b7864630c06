"""`zerotax record` and huge pages, where one fault zeroes 2 MiB."""

import subprocess

import pytest
from conftest import MIB, huge_pages_setting, is_na
from recording import record

HUGE = 2 * MIB
PYTHON = "/usr/bin/python3"
# numpy#31590: numpy's advice for an array stays in effect when other blocks get the array's memory.
LATER = """
import numpy as np
np.empty(8 << 20, np.uint8)          # mapped, and freed: from now on glibc takes such blocks from its heap
array = np.empty(8 << 20, np.uint8)  # numpy advises huge pages; nothing is written
pin = np.empty(100_000, np.uint8)
del array
later = [np.empty(1 << 20, np.uint8) for _ in range(7)]  # below numpy's limit of 4 MiB, in the memory of the array
for block in later:
    block[0] = 1
"""


def test_huge_pages_that_numpy_advised_outlive_its_array():
    if huge_pages_setting() != "madvise":
        pytest.skip("the system's setting is not madvise")
    if subprocess.run([PYTHON, "-c", "import numpy"], check=False, capture_output=True).returncode != 0:
        pytest.skip("no numpy here")
    advised, plain = (record(PYTHON, "-c", LATER, NUMPY_MADVISE_HUGEPAGE=word).totals["kernel"] for word in "10")
    if is_na(advised["huge_bytes"]) or advised["huge_bytes"] == 0:
        pytest.skip("the kernel had no huge page left, or it is not known")
    assert plain["huge_bytes"] == 0
    # Seven bytes are written. The array's 8 MiB contain three or four whole huge pages.
    assert advised["huge_bytes"] in (3 * HUGE, 4 * HUGE)
    assert advised["zeroed_bytes"] - plain["zeroed_bytes"] > advised["huge_bytes"] - MIB
    # The number of faults does not show the difference: the advised run has no more faults than the other run.
    assert advised["minor_faults"] < plain["minor_faults"] + 100
