"""The peak of a command is the most memory that its processes hold at one time, and not the sum of their peaks."""
import json

import pytest
from conftest import MIB, zerotax
from recording import PROGRAMS

# The peak is the heap of 64 MiB, plus stacks, data and the recorder's library in each process. An upper bound may
# include one more copy of the heap.
TRUTH = {"one": (64, 72), "all": (128, 160), "write": (128, 136)}


@pytest.mark.parametrize("way", TRUTH)
def test_the_peak_is_of_one_time(way, tmp_path):
    file = tmp_path / "baseline.json"
    done = zerotax("bless", "--baseline", file, "--", PROGRAMS / "fleet", way)
    assert done.returncode == 0, done.stderr
    [program] = json.loads(file.read_text())["programs"]
    peak = program["metrics"]["peak_bytes"]
    least, most = TRUTH[way]
    assert least * MIB <= peak["low"] <= peak["high"] <= most * MIB, peak
    assert program["processes"]["fleet"]["peak_bytes"] == peak
