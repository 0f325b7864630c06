"""`zerotax check -- COMMAND` gives no false alarm, idle or beside busy processes, in a short run of program_alarms.py.

The result of the long run, results/reference/program-alarms.json, has 18 checks of each program in each state.
"""
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import check_schema

SCRIPT = Path(__file__).with_name("program_alarms.py")
REFERENCE = Path(os.environ["ZEROTAX_SOURCE"]) / "results" / "reference" / "program-alarms.json"


@pytest.mark.long("the long run covers more programs")
def test_unchanged_programs_give_no_alarm(tmp_path):
    file = tmp_path / "alarms.json"
    done = subprocess.run([sys.executable, SCRIPT, file, "--checks", "1", "--program", "threads", "--program", "perl"],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    document = json.loads(file.read_text())
    check_schema(document, "program_alarms")
    assert [entry["loaded"]["alarms"] for entry in document["programs"]] == [0, 0]


@pytest.mark.skipif(not REFERENCE.exists(), reason="the reference does not exist")
def test_the_committed_long_run_has_no_alarm():
    document = json.loads(REFERENCE.read_text())
    check_schema(document, "program_alarms")
    assert len(document["programs"]) == 10
    assert sum(entry[state]["checks"] for entry in document["programs"] for state in ("idle", "loaded")) >= 350
    for entry in document["programs"]:
        assert entry["idle"]["alarms"] == entry["loaded"]["alarms"] == 0, entry["program"]
