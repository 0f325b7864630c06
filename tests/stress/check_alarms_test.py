"""`zerotax check` gives no false alarm, idle or beside busy processes, in a short run of check_alarms.py.

The result of the long run, results/reference/check-alarms.json, has ten checks of each allocator in each state.
"""
import json
import os
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).with_name("check_alarms.py")
REFERENCE = Path(os.environ["ZEROTAX_SOURCE"]) / "results" / "reference" / "check-alarms.json"


def test_an_unchanged_allocator_gives_no_alarm(tmp_path):
    file = tmp_path / "alarms.json"
    done = subprocess.run(
        [sys.executable, SCRIPT, file, "--checks", "1", "--allocator", "jemalloc"],
        capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    for entry in json.loads(file.read_text())["allocators"]:
        assert (entry["idle"]["checks"], entry["loaded"]["checks"]) == (1, 1)


def test_the_committed_long_run_has_no_alarm():
    for entry in json.loads(REFERENCE.read_text())["allocators"]:
        for state in ("idle", "loaded"):
            assert entry[state]["checks"] >= 10 and entry[state]["alarms"] == 0, entry["allocator"]
