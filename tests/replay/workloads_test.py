"""The recordings of real programs that are committed, and how well their replays predict."""
import json

import pytest
from conftest import SOURCE, check_schema, zerotax

WORKLOADS = sorted((SOURCE / "workloads").glob("*.calls"))
ACCURACY = SOURCE / "results" / "reference" / "replay-accuracy.json"
MOST_BYTES = 300_000


def test_there_are_twelve_small_ones():
    assert len(WORKLOADS) == 12
    assert max(path.stat().st_size for path in WORKLOADS) <= MOST_BYTES


@pytest.mark.parametrize("path", WORKLOADS, ids=lambda path: path.stem)
def test_each_is_replayed(tmp_path, path):
    document = tmp_path / "replay.json"
    done = zerotax("replay", path, "--allocator", "glibc", "--json", document)
    assert done.returncode == 0, done.stdout + done.stderr
    replay = json.loads(document.read_text())
    (replayed,) = replay["replays"]
    assert replayed["as_recorded"] and replayed["failed_calls"] == 0
    assert replayed["counts"]["kernel_zeroed_bytes"] > 0


def test_the_accuracy_is_that_of_all_twelve_under_six_settings():
    measured = json.loads(ACCURACY.read_text())
    check_schema(measured, "replay_accuracy")
    assert len(measured["programs"]) == 12
    assert measured["pairs"] == 72 == sum(len(each["settings"]) for each in measured["programs"])
    within = 0
    for program in measured["programs"]:
        for row in program["settings"].values():
            within += all(error is None or abs(error) <= measured["bound"] for error in row["errors"].values())
    assert within == measured["within"]
    assert measured["same_order"] == sum(not each["reversed"] for each in measured["programs"])
