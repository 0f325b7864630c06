"""The peak of a command is the most that its processes hold at one time, and not the sum of their peaks."""
import json

import pytest
from conftest import MIB, zerotax
from recording import PROGRAMS

# The heap of 64 MiB, and stacks, data and the recorder's library in each process. A bound may include one more copy.
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
    # All processes have the same name.
    assert program["processes"]["fleet"]["peak_bytes"] == peak
