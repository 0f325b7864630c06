"""`zerotax snapshot --sweep`: each combination has its row, and the expected verdict if the answer is known."""

import json
import pathlib
import re
import signal
import subprocess

import pytest
from conftest import BUILD, INTERRUPTED_BY_SIGINT, KIB, MIB, ZEROTAX, check_schema, clean_environment, is_na, zerotax
from waiting import children_named, wait_for

pytestmark = pytest.mark.skipif(not (BUILD / "libexec" / "fork-snapshot").exists(), reason="this build has no fork-snapshot")


NODES = len(list(pathlib.Path("/sys/devices/system/node").glob("node[0-9]*"))) or 1


def sweep(*arguments, status=0):
    done = zerotax("snapshot", "--rounds", 2, *arguments, "--json", "-")
    assert done.returncode == status, done.stderr or done.stdout[:2000]
    document = json.loads(done.stdout)
    check_schema(document, "snapshot_sweep")
    return document


def test_each_combination_has_a_row_of_the_published_program_and_of_what_it_was_meant_to_be():
    document = sweep("--sweep", "writers=1,3", "--sweep", "size=1MiB,2MiB", "--batch", "64KiB", "--checkpointers", 2)
    assert document["axes"] == {"writers": [1, 3], "checkpointers": [2], "array_bytes": [MIB, 2 * MIB], "batch_bytes": [64 * KIB],
                                "placement": ["default"] if NODES > 1 else {"na": "this machine has one NUMA node"}}
    assert [(row["array_bytes"], row["writers"], row["alternative"]) for row in document["rows"]] == [
        (size, writers, name) for size in (MIB, 2 * MIB) for writers in (1, 3) for name in ("published", "published_fixed")]
    for row in document["rows"]:
        assert (row["status"], row["runs"], row["passes"], row["checkpointers"]) == ("ok", 2, 1, 2)
        assert row["verdict"]["copy_done_first"] == ["never", "sometimes", "always"][row["copy_done_first_runs"]]
    assert f"of {len(document['rows'])} rows" in document["sentence"]


@pytest.fixture(scope="module")
def half():
    """A sweep in which half of the snapshot is copied before the writers resume, and the other half after the writers
    have ended.
    """
    return sweep("--sweep", "writers=1,2", "--size", "4MiB", "--batch", "64KiB", "--hold", 0.5,
                 *(word for name in ("none", "fork", "shared_stop") for word in ("--alternative", name)))


def test_a_copy_that_waits_for_the_writers_is_never_done_first(half):
    for row in half["rows"]:
        if row["alternative"] == "fork":
            assert row["verdict"]["copy_done_first"] == "never" and row["copy_done_first_runs"] == 0
            assert is_na(row["verdict"]["is_it_copying"]) or row["verdict"]["is_it_copying"] == "until_end"
        elif row["alternative"] == "shared_stop":
            assert row["verdict"]["copy_done_first"] == "always"
            assert is_na(row["verdict"]["is_it_copying"]) or row["verdict"]["is_it_copying"] == "no"
        else:
            assert is_na(row["verdict"]["copy_done_first"]) and is_na(row["copy_ns"])
    assert half["sentence"].startswith("The copy is always done before the writers are in 2 of 4 rows;")


def test_writers_that_wait_for_the_childs_end_copy_nothing():
    [row] = sweep("--sweep", "writers=1", "--alternative", "fork", "--size", "4MiB", "--hold", 1)["rows"]
    assert row["verdict"]["copy_done_first"] == "always"
    assert is_na(row["faults"]) or row["verdict"]["is_it_copying"] == "no"


def test_cpu_time_is_of_all_the_time_from_before_the_writers_to_their_end(half):
    for row in half["rows"]:
        found = row["cpu_time"]
        ends = [interval["end_ns"] for interval in found["intervals"]]
        assert ends == sorted(ends) and len(ends) <= 200
        assert found["writers_begin_ns"] <= found["snapshot_ns"] <= found["writers_end_ns"] <= ends[-1]
        assert is_na(found["child_end_ns"]) == (row["alternative"] != "fork")
        assert sum(interval["user_ns"] + interval["system_ns"] for interval in found["intervals"]) > 0
        assert all(interval["child_user_ns"] % 10_000_000 == 0 for interval in found["intervals"])


@pytest.mark.skipif(NODES > 1, reason="this machine has several NUMA nodes")
def test_a_placement_needs_two_nodes():
    done = zerotax("snapshot", "--sweep", "placement=same,apart", "--size", "1MiB", "--batch", "64KiB")
    assert done.returncode == 3 and "this machine has one NUMA node" in done.stderr and done.stdout == ""


@pytest.mark.skipif(NODES < 2, reason="this machine has one NUMA node")
def test_pages_lie_where_they_were_asked_to():
    document = sweep("--sweep", "placement=same,apart,interleaved", "--size", "8MiB", "--alternative", "fork")
    same, apart, interleaved = [row["placed"] for row in document["rows"]]
    assert same == {"array": {"first": 1, "second": 0}, "destination": {"first": 1, "second": 0}}
    assert apart == {"array": {"first": 1, "second": 0}, "destination": {"first": 0, "second": 1}}
    for part in interleaved.values():
        assert part["first"] == pytest.approx(1 / NODES, abs=0.02) and part["second"] == pytest.approx(1 / NODES, abs=0.02)


def test_a_row_that_is_wrong_is_a_finding_and_the_others_are_kept():
    document = sweep("--sweep", "writers=1", "--size", "1MiB", "--batch", "64KiB", "--alternative", "planted_torn",
                     "--alternative", "fork", status=1)
    torn, fork = document["rows"]
    assert torn["status"] == "wrong" and is_na(torn["verdict"]) and is_na(torn["writers_wall_ns"])
    assert fork["status"] == "ok" and document["state"] == "complete"


def test_table_and_plot_have_at_most_80_columns_and_say_what_the_marks_are():
    done = zerotax("snapshot", "--sweep", "writers=1,28", "--size", "8MiB", "--rounds", 1, "--plot", "--full")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert all(len(line) <= 80 for line in lines), max(lines, key=len)
    first = next(i for i, line in enumerate(lines) if line.startswith("alternative")) + 1
    assert [line.split()[0] for line in lines[first:first + 4]] == ["published", "published_fixed"] * 2
    assert all(re.search(r" [0-9]/1 +(no|till end|after it|n/a)$", line) for line in lines[first:first + 4])
    assert "The copy is always done before the writers are in" in done.stdout
    assert "published, 8 MiB in batches of 2 MiB, 28 writers, 4 checkpointers: CPU time in " in " ".join(done.stdout.split())
    assert "E the child's end, W the writers' end" in done.stdout


def test_the_plot_of_an_ordinary_run_is_of_each_alternative():
    done = zerotax("snapshot", "--size", "4MiB", "--rounds", 1, "--alternative", "none", "--alternative", "fork", "--plot")
    assert done.returncode == 0, done.stderr
    assert "none under glibc: CPU time in " in done.stdout and "fork under glibc: CPU time in " in done.stdout


def test_a_wrong_snapshot_that_only_the_child_sees_is_found():
    document = sweep("--sweep", "writers=1", "--size", "4MiB", "--alternative", "planted_child_torn", "--alternative",
                     "published", status=1)
    rows = {row["alternative"]: row for row in document["rows"]}
    torn = rows["planted_child_torn"]
    assert torn["status"] == "wrong" and "differ from the instant" in torn["reason"]
    assert rows["published"]["status"] == "ok"


def test_when_interrupted_the_rows_that_are_finished_are_kept(tmp_path):
    running = subprocess.Popen(
        [ZEROTAX, "snapshot", "--sweep", "writers=1", "--size", "4MiB", "--rounds", "1", "--alternative", "none", "--alternative",
         "planted_hang", "--json", tmp_path / "s.json"],
        env=clean_environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
    assert wait_for(lambda: children_named(running.pid, "alternative=planted_hang"))
    running.send_signal(signal.SIGINT)
    _, err = running.communicate(timeout=60)
    assert running.returncode == INTERRUPTED_BY_SIGINT and "interrupted" in err
    document = json.loads((tmp_path / "s.json").read_text())
    check_schema(document, "snapshot_sweep")
    assert document["state"] == "interrupted"
    none, hang = document["rows"]
    assert none["status"] == "ok" and none["runs"] == 1
    assert hang["status"] == "skipped" and "interrupted" in hang["reason"]
    assert not children_named(running.pid, "alternative=planted_hang")
