"""Tests that a trace contains all records of a program, whatever its threads do and however the program ends, and that
zerotax trace shows all of these records.
"""

import json
import os
import shutil
import signal
import stat
import subprocess

import pytest
from conftest import BUILD, LONG_TOO, SOURCE, ZEROTAX, clean_environment, is_na
from tracing import TRACED, agree, babeltrace, numbers, summary, trace, traced

SIGNALLED = {"abort": -6, "segv": -11, "kill": -9}


def test_every_kind_of_field_reads_as_it_was_given(tmp_path):
    assert traced("first", folder=tmp_path / "t").returncode == 0
    lines = [line.split(" ", 1)[1] for line in (x.strip() for x in trace("print", tmp_path / "t").stdout.splitlines())]
    assert [line.split(" ", 1)[1] for line in lines] == [
        'request_done bytes=512 seconds=0.0 peer="example"',
        'request_done bytes=512 seconds=0.25 peer="example"',
        'request_done bytes=512 seconds=0.5 peer="example"',
        'every_kind i8=-8 u16=65535 i32=-32 ratio=0.5 i64=-64 letter=120 triple=[1,2,3] text="words" yes=1',
        "event integer=1 stream=2 string=3 clock=4",
        "tick"]
    others, discarded = babeltrace(tmp_path / "t")
    assert discarded == 0
    for ours, theirs in zip(lines, others, strict=True):
        assert f" {ours.split(' ')[1]}: " in theirs
    assert 'bytes = 512, seconds = 0.25, peer = "example"' in others[1]
    assert 'i8 = -8, u16 = 65535, i32 = -32, ratio = 0.5, i64 = -64' in others[3]
    assert "[0] = 1, [1] = 2, [2] = 3" in others[3] and 'text = "words"' in others[3]


@pytest.mark.parametrize("clock", ["tsc", "monotonic"])
def test_eight_threads_lose_nothing(tmp_path, clock):
    done = traced("threads", 8, 20000, folder=tmp_path / "t", ZEROTAX_TRACE_CLOCK=clock)
    assert (done.returncode, done.stderr) == (0, "")
    assert numbers(tmp_path / "t") == {who: list(range(20000)) for who in range(8)}
    assert agree(tmp_path / "t") == (160000, 0)


def test_threads_that_come_and_go_reuse_buffers(tmp_path):
    done = traced("threads", 4, 100, 25, folder=tmp_path / "t")
    assert (done.returncode, done.stderr) == (0, "")
    assert numbers(tmp_path / "t") == {who: list(range(100)) for who in range(100)}
    assert agree(tmp_path / "t") == (10000, 0)


@pytest.mark.parametrize("how", ["returns", "exit", "_exit", "abort", "segv", "kill"])
def test_nothing_is_missing_whatever_the_end(tmp_path, how):
    count = 12345
    assert traced("endings", how, count, folder=tmp_path / "t").returncode == SIGNALLED.get(how, 0)
    # The reader also finds records that are still in the buffer. Reading changes nothing, so a second reading finds the
    # same records.
    assert numbers(tmp_path / "t") == {0: list(range(count))}
    assert numbers(tmp_path / "t") == {0: list(range(count))}
    trace("repair", tmp_path / "t")
    assert not [name for _, _, names in os.walk(tmp_path) for name in names if name.startswith(".ring")]
    assert numbers(tmp_path / "t") == {0: list(range(count))}
    assert agree(tmp_path / "t") == (count, 0)


@pytest.mark.parametrize("drain", ["self", "thread"])
def test_what_was_recorded_before_a_kill_at_any_time_is_there(tmp_path, drain):
    for number in range(5 if LONG_TOO else 2):
        folder = tmp_path / f"t{number}"
        progress = tmp_path / f"progress{number}"
        progress.write_bytes(bytes(8))
        process = subprocess.Popen(
            [TRACED / "unending", progress],
            env=clean_environment(ZEROTAX_TRACE_DIR=str(folder), ZEROTAX_TRACE_DRAIN=drain, ZEROTAX_TRACE_BUFFER="256KiB"))
        while int.from_bytes(progress.read_bytes(), "little") < 10000 * (number + 1):
            assert process.poll() is None
        process.kill()
        process.wait()
        done = int.from_bytes(progress.read_bytes(), "little")
        found = numbers(folder)[0]
        discarded = summary(folder)["discarded"]
        assert found == sorted(set(found)) and found[-1] + 1 >= done - discarded
        assert len(found) + discarded >= done
        if drain == "self":
            assert discarded == 0 and found == list(range(len(found)))
        trace("repair", folder)
        assert numbers(folder)[0] == found
        assert agree(folder) == (len(found), discarded)


def test_an_exec_begins_a_trace_of_its_own(tmp_path):
    assert traced("endings", "exec", 5000, folder=tmp_path / "t").returncode == 0
    trace("repair", tmp_path / "t")
    report = summary(tmp_path / "t")
    assert len(report["processes"]) == 2 and len({p["pid"] for p in report["processes"]}) == 1
    assert numbers(tmp_path / "t") == {0: list(range(5000)) * 2} or sorted(numbers(tmp_path / "t")[0]) == sorted(
        list(range(5000)) * 2)
    assert agree(tmp_path / "t") == (10000, 0)


@pytest.mark.parametrize("end", ["returns", "_exit"])
def test_children_and_their_threads_have_streams_of_their_own(tmp_path, end):
    assert traced("forks", 3000, end, folder=tmp_path / "t").returncode == 0
    trace("repair", tmp_path / "t")
    found = numbers(tmp_path / "t")
    assert found == {who: list(range(6000 if who < 2 else 3000)) for who in (0, 1, 11, 2, 12)}
    assert len(summary(tmp_path / "t")["processes"]) == 3
    assert agree(tmp_path / "t") == (21002, 0)


def test_handlers_record_too(tmp_path):
    done = traced("handlers", 200 if LONG_TOO else 40, folder=tmp_path / "t", ZEROTAX_TRACE_DRAIN="self")
    assert done.returncode == 0
    count, handled = map(int, done.stdout.split())
    found = numbers(tmp_path / "t")
    assert found[0] == list(range(count)) and handled > 20 and found[1] == list(range(handled))
    agree(tmp_path / "t")


def test_a_trace_by_call_can_be_begun_anew_while_others_record(tmp_path):
    done = traced("restarts", tmp_path, 5, 0, folder="")
    assert (done.returncode, done.stderr) == (0, "")
    for number in range(5):
        folder = tmp_path / f"round-{number}"
        assert numbers(folder)[0] == list(range(2000))
        found = numbers(folder)[1]
        assert len(found) >= 1000 and found == sorted(set(found))
        # The other thread may have lost records while the trace was stopped. No later packet may report these records
        # as lost.
        agree(folder, discarded_too=False)


def test_what_a_thread_has_recorded_is_kept_when_it_completes_a_packet_at_the_stop(tmp_path):
    rounds = 600 if LONG_TOO else 100
    assert traced("restarts", tmp_path, rounds, 3, folder="").returncode == 0
    streams = [len(list(folder.glob("process-*/stream-*"))) for folder in tmp_path.iterdir()]
    assert len(streams) == rounds and min(streams) == 2, streams


@pytest.mark.parametrize("kind", ["recorder", "recorder_static"])
def test_a_library_that_is_opened_later_may_record(tmp_path, kind):
    done = traced("plugin_host", TRACED / f"plugin_{kind}.so", 1000, folder=tmp_path / "t")
    assert (done.returncode, done.stderr) == (0, "")
    assert sorted(numbers(tmp_path / "t")[7]) == sorted(list(range(1000)) * 2)
    assert agree(tmp_path / "t") == (2000, 0)


def test_run_gives_the_program_its_folder_and_its_status(tmp_path):
    done = trace("run", "-o", tmp_path / "t", "--json", tmp_path / "t.json", "--", TRACED / "endings", "kill", 1000, status=137)
    assert "1,000 events" in done.stderr and done.stdout == ""
    assert json.loads((tmp_path / "t.json").read_text())["events"] == 1000
    assert agree(tmp_path / "t") == (1000, 0)
    assert "already exists" in trace("run", "-o", tmp_path / "t", "--", "true", status=2).stderr
    assert "recorded nothing" in trace("run", "-o", tmp_path / "none", "--", "true").stderr


def test_an_interrupted_run_keeps_what_was_recorded(tmp_path):
    progress = tmp_path / "progress"
    progress.write_bytes(bytes(8))
    process = subprocess.Popen(
        [ZEROTAX, "trace", "run", "-o", tmp_path / "t", "--", TRACED / "unending", progress], start_new_session=True,
        env=clean_environment(ZEROTAX_TRACE_BUFFER="64KiB", ZEROTAX_TRACE_MODE="overwrite", ZEROTAX_TRACE_DRAIN="off"),
        stderr=subprocess.PIPE, text=True)
    while int.from_bytes(progress.read_bytes(), "little") < 10000:
        assert process.poll() is None
    os.killpg(process.pid, signal.SIGINT)
    errors = process.communicate(timeout=60)[1]
    assert process.returncode == 130 and "the trace is in" in errors
    kept, discarded = agree(tmp_path / "t", discarded_too=False)
    assert kept > 1000 and kept + discarded >= int.from_bytes(progress.read_bytes(), "little")


def test_time_between_two_events(tmp_path):
    traced("first", folder=tmp_path / "t")
    report = summary(tmp_path / "t", "--begin", "request_done", "--end", "every_kind")
    assert report["intervals"]["all"]["count"] == 1
    assert report["intervals"]["threads"][0]["from_without_to"] == 2
    assert report["intervals"]["all"]["min_ns"] > 0
    report = summary(tmp_path / "t", "--begin", "request_done", "--end", "request_done")
    assert report["intervals"]["all"]["count"] == 2
    report = summary(tmp_path / "t", "--begin", "tick", "--end", "request_done", status=1)
    assert is_na(report["intervals"]["all"]["median_ns"])
    assert "both" in trace("summary", tmp_path / "t", "--begin", "tick", status=2).stderr


def test_perfetto_gets_every_event(tmp_path):
    traced("first", folder=tmp_path / "t")
    trace("print", tmp_path / "t", "--perfetto", tmp_path / "p.json")
    events = json.loads((tmp_path / "p.json").read_text())["traceEvents"]
    instants = [event for event in events if event["ph"] == "i"]
    assert [event["name"] for event in instants] == ["request_done"] * 3 + ["every_kind", "event", "tick"]
    assert instants[0]["args"] == {"bytes": 512, "seconds": 0.0, "peer": "example"}
    assert [event["ts"] for event in instants] == sorted(event["ts"] for event in instants)


def test_files_can_be_read_by_whom_the_umask_lets(tmp_path):
    traced("first", folder=tmp_path / "t")
    metadata = next((tmp_path / "t").glob("*/metadata"))
    assert stat.S_IMODE(metadata.stat().st_mode) & 0o111 == 0
    copy = tmp_path / "copy"
    shutil.copytree(tmp_path / "t", copy)
    assert agree(copy) == agree(tmp_path / "t")


def test_what_is_installed_is_enough(tmp_path):
    prefix = tmp_path / "usr"
    subprocess.run(["cmake", "--install", BUILD, "--prefix", prefix], capture_output=True, check=True)
    header = next(prefix.rglob("recorder.h"))
    for kind in ("so", "a"):
        library = next(prefix.rglob(f"libzerotax-recorder.{kind}"))
        program = tmp_path / f"program-{kind}"
        subprocess.run(
            ["cc", "-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", f"-I{header.parents[1]}",
             SOURCE / "tests/traced/first.c", library, f"-Wl,-rpath,{library.parent}", "-o", program], check=True)
        folder = tmp_path / kind
        subprocess.run([program], env=clean_environment(ZEROTAX_TRACE_DIR=str(folder)), check=True)
        assert agree(folder) == (6, 0)
    subprocess.run(
        ["c++", "-std=c++20", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Wold-style-cast", "-Werror",
         f"-I{header.parents[1]}", "-fsyntax-only", SOURCE / "tests/traced/pressure.cc"], check=True)


def test_a_program_that_records_nothing_leaves_nothing(tmp_path):
    done = traced("pressure", 0, folder=tmp_path / "t")
    assert (done.returncode, done.stdout, done.stderr) == (0, "0\n", "")
    assert not list((tmp_path / "t").iterdir())
