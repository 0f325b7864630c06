"""An interrupted run keeps the points that it finished, and is resumed where it stopped."""

import json
import os
import pathlib
import signal
import subprocess
import time

import pytest
from conftest import (
    INTERRUPTED_BY_SIGINT, INTERRUPTED_BY_SIGTERM, KIB, ZEROTAX, check_schema, clean_environment, csv_rows,
    mostly_long, options, planted, read_folder, without_progress, zerotax)

# Each point is quick, but there are so many points that no run ends before it is interrupted.
POINTS = 50
SIZES = [256 * KIB + KIB * i for i in range(POINTS)]
PLAN = ["--allocator", "glibc", "--ops", "8", *options("size", SIZES)]


def start(*arguments):
    return subprocess.Popen(
        [ZEROTAX, "run", *map(str, arguments)], env=clean_environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True)


def wait_until(condition, process):
    for _ in range(3000):
        if condition():
            return
        assert process.poll() is None, "the run ended before it could be interrupted"
        time.sleep(0.01)
    raise AssertionError("waited for half a minute in vain")


def lines_of(folder):
    file = folder / "points.jsonl"
    return file.read_bytes().count(b"\n") if file.exists() else 0


def probes_of(driver):
    """PIDs of the processes that a driver has started."""
    found = []
    for task in pathlib.Path(f"/proc/{driver}/task").iterdir():
        try:
            found += [int(pid) for pid in (task / "children").read_text().split()]
        except (FileNotFoundError, ProcessLookupError):
            continue  # a thread of the driver ended during the listing
    return found


def stat_of(pid):
    """The fields of /proc/PID/stat from the state on; empty if the process is gone."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return []


def is_alive(pid):
    return stat_of(pid)[:1] not in ([], ["Z"], ["X"])


def ticks_used(pid):
    return sum(map(int, stat_of(pid)[11:13]))


def finished_bytes(folder):
    """The complete lines of points.jsonl."""
    whole, newline, _ = (folder / "points.jsonl").read_bytes().rpartition(b"\n")
    return whole + newline


def check_resumed(folder, finished):
    """Resumes the run. The folder must then be complete, and begin with the bytes of the points that were finished
    before.
    """
    done = zerotax("run", "--resume", folder)
    assert (done.returncode, without_progress(done.stderr)) == (0, "")
    assert (folder / "points.jsonl").read_bytes().startswith(finished)
    run, points = read_folder(folder)
    assert run["state"] == "complete"
    assert run["plan"]["points_finished"] == run["plan"]["points_planned"] == len(points) == POINTS
    assert len({point["size_bytes"] for point in points}) == POINTS, "a point was measured twice"
    assert len(csv_rows(folder)) == POINTS
    assert {path.name for path in folder.iterdir()} == {
        "plan.json", "run.json", "points.jsonl", "points.csv", "summary.json"}


@pytest.mark.long("a run, twice")
@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGINT, INTERRUPTED_BY_SIGINT), (signal.SIGTERM, INTERRUPTED_BY_SIGTERM)])
def test_an_interrupted_run_leaves_a_valid_folder_and_is_resumed_to_its_end(tmp_path, number, status):
    folder = tmp_path / "out"
    run = start(*PLAN, "--out", folder)
    wait_until(lambda: lines_of(folder) >= 5, run)
    run.send_signal(number)
    _, errors = run.communicate(timeout=10)
    assert run.returncode == status
    said = without_progress(errors)
    assert said.count("\n") == 1 and f"--resume {folder}" in said

    document, points = read_folder(folder)
    assert document["state"] == "interrupted"
    assert 5 <= document["plan"]["points_finished"] == len(points) == len(csv_rows(folder)) < POINTS
    assert {point["status"] for point in points} == {"ok"}, "what was interrupted is not a result"
    check_resumed(folder, finished_bytes(folder))


def test_an_interrupted_run_without_a_folder_still_writes_its_json(tmp_path):
    file = tmp_path / "run.json"
    run = start(*PLAN, "--json", file)
    wait_until(lambda: probes_of(run.pid), run)
    run.send_signal(signal.SIGINT)
    run.communicate(timeout=10)
    assert run.returncode == INTERRUPTED_BY_SIGINT
    document = json.loads(file.read_text())
    check_schema(document)
    assert document["state"] == "interrupted"
    assert document["plan"]["points_finished"] == len(document["points"]) < POINTS


def test_a_killed_driver_takes_its_probes_with_it_and_its_folder_is_resumed(tmp_path):
    folder = tmp_path / "out"
    run = start(*PLAN, "--out", folder)
    wait_until(lambda: lines_of(folder) >= 5 and probes_of(run.pid), run)
    os.kill(run.pid, signal.SIGSTOP)  # prevents another probe from starting before the kill
    probes = probes_of(run.pid)
    os.kill(run.pid, signal.SIGKILL)
    run.communicate()
    assert run.returncode == -signal.SIGKILL
    deadline = time.monotonic() + 5
    while any(map(is_alive, probes)) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not any(map(is_alive, probes))

    document = json.loads((folder / "run.json").read_text())
    check_schema(document)
    assert document["state"] == "running"
    finished = finished_bytes(folder)
    assert finished.count(b"\n") >= 5
    check_resumed(folder, finished)


def test_a_probe_that_hangs_does_not_outlive_a_killed_driver(tmp_path):
    run = start(*planted("planted_hang"), "--size", "64KiB", "--out", tmp_path / "out")

    # A probe that has used some time is past its startup.
    wait_until(lambda: any(ticks_used(pid) > 20 for pid in probes_of(run.pid)), run)
    probes = probes_of(run.pid)
    run.kill()
    run.communicate()
    time.sleep(0.2)
    assert probes and not any(map(is_alive, probes))


@pytest.mark.parametrize("cut", mostly_long([1, 100, 3000], [100], "less and more"))
def test_a_line_that_was_cut_is_measured_again(tmp_path, cut):
    folder = tmp_path / "out"
    run = start(*PLAN, "--out", folder)
    wait_until(lambda: lines_of(folder) >= 5, run)
    run.send_signal(signal.SIGINT)
    run.communicate()
    points = folder / "points.jsonl"
    points.write_bytes(points.read_bytes()[:-cut])
    check_resumed(folder, finished_bytes(folder))


def test_resuming_a_complete_folder_measures_nothing(tmp_path):
    folder = tmp_path / "out"
    sizes = options("size", ["64KiB", "65KiB"])
    assert zerotax("run", "--allocator", "glibc", "--ops", 8, *sizes, "--out", folder).returncode == 0
    before = (folder / "points.jsonl").read_bytes()
    done = zerotax("run", "--resume", folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert (folder / "points.jsonl").read_bytes() == before
    run, points = read_folder(folder)
    assert (run["state"], len(points)) == ("complete", 2)
