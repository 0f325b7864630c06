"""`check` finds that a program starts more processes, or starts them by fork instead of vfork."""
import json

from conftest import zerotax
from program_check_test import bless, check

PYTHON = "/usr/bin/python3"
SCRIPT = """
import os, subprocess
for _ in range(4):
    subprocess.run(["/bin/true"], preexec_fn=(lambda: None) if "FORK" in os.environ else None)
"""


def changes_of(report):
    return {each["metric"]: each for each in json.loads(report.read_text())["changes"]}


def test_fork_in_place_of_vfork_is_a_regression(tmp_path):
    file, report = tmp_path / "baseline.json", tmp_path / "check.json"
    bless(file, PYTHON, "-c", SCRIPT)
    [program] = json.loads(file.read_text())["programs"]
    assert program["metrics"]["started_processes"] == {"low": 4, "high": 4}
    assert program["metrics"]["fork_calls"] == {"low": 0, "high": 0}
    check(file, PYTHON, "-c", SCRIPT)
    text = check(file, PYTHON, "-c", SCRIPT, options=["--json", report], status=1, FORK="1")
    assert "calls of fork" in text
    change = changes_of(report)["fork_calls"]
    assert (change["direction"], change["after"]) == ("worse", 4)
    assert "started_processes" not in changes_of(report)


def test_a_metric_of_processes_can_be_expected():
    assert "fork_calls" in zerotax("help", "metrics").stdout
