"""The hard cases of tests/largecache/largecache_hard_*_test.cc, run by a user without privileges. Missing privileges
may change only which cases are skipped.
"""

import os
import subprocess

import pytest

from conftest import NOBODY
from preloading import BUILD


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become the user nobody")
@pytest.mark.parametrize("part", ["*/Altered.*:*/Undone.*", "*/Pages.*:*/SwappedPages.*", "*/KernelWrites.*",
                                  "*/EveryPolicy.*:*/Process.*", "*/HardFork.*"])
def test_nobody_passes_the_unit_tests_of_hard_cases(part, tmp_path):
    program = BUILD / "tests" / "largecache_tests"
    if not program.exists() or subprocess.run([*NOBODY, "test", "-x", program], check=False).returncode != 0:
        pytest.skip(f"{program} is not built, or not for everybody")
    done = subprocess.run([*NOBODY, program, f"--gtest_filter={part}", "--gtest_brief=1"], cwd="/tmp", capture_output=True,
                          text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout[-3000:]
