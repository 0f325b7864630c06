"""Two commands write to one file or folder at the same time: the second command waits, or names the first. Nothing is
lost or written twice.
"""

import json
import os
import re
import signal
import subprocess

import pytest
from conftest import ZEROTAX, clean_environment, options, zerotax
from waiting import wait_for

PLAN = ["--allocator", "glibc", *options("size", [f"{size}MiB" for size in range(20, 80, 5)]), "--touch", 0, "--touch", 1,
        "--audit-only"]
POINTS = 24


def start(*words, cwd):
    return subprocess.Popen([ZEROTAX, *map(str, words)], cwd=cwd, env=clean_environment(), stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True)


def stop(run):
    """Stops a command and its processes, so that its locks last as long as the test needs."""
    run.send_signal(signal.SIGSTOP)


def goes_on(run):
    run.send_signal(signal.SIGCONT)
    text, errors = run.communicate(timeout=300)
    return run.returncode, text, errors


def names_holder(line, run):
    assert re.search(rf"process {run.pid} \(.*zerotax .*, since \d{{4}}-\d\d-\d\dT", line), line


@pytest.fixture(name="begun")
def begun_run(tmp_path):
    """A run that measures into the folder o, stopped once it has a point."""
    run = start("run", *PLAN, "--out", "o", cwd=tmp_path)
    file = tmp_path / "o" / "points.jsonl"
    assert wait_for(lambda: (file.exists() and file.stat().st_size > 0) or run.poll() is not None)
    stop(run)
    assert run.poll() is None
    yield run
    if run.poll() is None:
        run.kill()
        run.communicate()


@pytest.mark.parametrize("words", [["run", "--resume", "o"], ["run", *PLAN, "--out", "o"]], ids=["resume", "another run"])
def test_a_folder_is_measured_into_by_one_command(tmp_path, begun, words):
    before = {path.name: path.read_bytes() for path in (tmp_path / "o").iterdir()}
    done = zerotax(*words, cwd=tmp_path)
    assert done.returncode == 2 and len(done.stderr.splitlines()) == 1, done.stderr
    if words[1] == "--resume":
        names_holder(done.stderr, begun)
    assert {path.name: path.read_bytes() for path in (tmp_path / "o").iterdir()} == before
    status, _, errors = goes_on(begun)
    assert status == 0, errors
    points = [json.loads(line) for line in (tmp_path / "o" / "points.jsonl").read_text().splitlines()]
    assert len(points) == POINTS
    assert zerotax("findings", "o", cwd=tmp_path).returncode in (0, 1)


def test_a_killed_run_holds_nothing(tmp_path, begun):
    begun.kill()
    begun.communicate()
    done = zerotax("run", "--resume", "o", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert len((tmp_path / "o" / "points.jsonl").read_text().splitlines()) == POINTS


def test_programs_that_are_blessed_at_once_are_all_in_the_baseline(tmp_path):
    runs = [start("bless", "--baseline", "b.json", "--name", f"n{i}", "--rounds", 3, "--", "/bin/true", cwd=tmp_path)
            for i in range(6)]
    for run in runs:
        text, errors = run.communicate(timeout=300)
        assert run.returncode == 0, errors + text
    baseline = json.loads((tmp_path / "b.json").read_text())
    assert sorted(each["name"] for each in baseline["programs"]) == [f"n{i}" for i in range(6)]
    assert [path.name for path in tmp_path.iterdir()] == ["b.json"]


def test_who_waits_for_a_baseline_says_for_whom(tmp_path):
    with subprocess.Popen(["flock", tmp_path, "sh", "-c", "echo held; read line"], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout.readline() == "held\n"
        run = start("bless", "--baseline", "b.json", "--name", "n", "--rounds", 3, "--", "/bin/true", cwd=tmp_path)
        said = ""
        while "waiting for" not in said:
            line = run.stderr.readline()
            assert line, f"it ended without a word of the holder: {said}"
            said += line
        assert f"waiting for process {holder.pid} (flock " in said and not (tmp_path / "b.json").exists()
        holder.communicate("\n")
    text, errors = run.communicate(timeout=300)
    assert run.returncode == 0, errors + text
    assert len(json.loads((tmp_path / "b.json").read_text())["programs"]) == 1


def test_who_waits_for_a_baseline_can_be_interrupted(tmp_path):
    with subprocess.Popen(["flock", tmp_path, "sh", "-c", "echo held; read line"], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, text=True) as holder:
        holder.stdout.readline()
        run = start("bless", "--baseline", "b.json", "--name", "n", "--rounds", 3, "--", "/bin/true", cwd=tmp_path)
        while "waiting for" not in (line := run.stderr.readline()):
            assert line
        run.send_signal(signal.SIGINT)
        run.communicate(timeout=60)
        holder.communicate("\n")
    assert run.returncode == 130 and not (tmp_path / "b.json").exists()


def test_two_allocators_are_not_blessed_into_one_new_file(tmp_path):
    """No baseline exists when both commands start. The second command finds the first command's baseline when it writes
    its own.
    """
    words = ["--baseline", "b.json", "--size", "64KiB"]
    runs = [start("bless", "--allocator", name, *words, cwd=tmp_path) for name in ("glibc", "largecache")]
    ends = [(run.communicate(timeout=300), run.returncode) for run in runs]
    statuses = sorted(status for _, status in ends)
    refused = [errors for (_, errors), status in ends if status == 2]
    assert statuses == [0, 2] and "is a baseline of" in refused[0], ends


def test_the_writer_of_a_log_is_named(tmp_path):
    run = start("top", "--log", "log", "--interval", "0.1", cwd=tmp_path)
    try:
        assert wait_for(lambda: (tmp_path / "log").exists() and (tmp_path / "log").stat().st_size > 0)
        done = zerotax("top", "--log", "log", "--once", cwd=tmp_path)
        assert done.returncode == 2
        names_holder(done.stderr, run)
    finally:
        os.kill(run.pid, signal.SIGINT)
        run.communicate(timeout=60)
