"""The messages of `zerotax cow` if it cannot watch a program, or only parts of it."""

import json
import os
import re
import resource
import shutil
import subprocess
import threading
import time

import pytest

from conftest import KIB, MIB, NOBODY, ZEROTAX, check_schema, clean_environment, skip_if_unreadable
from watching import FORKS, as_root, checked, run

# A user for this test only, because the kernel counts locked memory per user. Without RLIMIT_MEMLOCK,
# perf_event_mlock_kb is the limit.
SOMEBODY = ["prlimit", "--memlock=0:0", *NOBODY[:1], "--reuid=65533", *NOBODY[2:]]
as_somebody = pytest.mark.skipif(shutil.which("setpriv") is None, reason="setpriv is missing: install util-linux")


def one_line(text):
    assert len(text.splitlines()) == 1, text
    return text


@pytest.mark.parametrize("options, environment, size", [
    ([], {"ZEROTAX_FAULTS": "software"}, r"(2 MiB|512 KiB)"),
    (["--buffer", "64KiB"], {"ZEROTAX_FAULTS": "software"}, "64 KiB"),
    pytest.param(["--buffer", "4KiB"], {}, "4 KiB", marks=as_root),
])
def test_events_that_found_no_room_are_counted_and_said_with_the_remedy(tmp_path, options, environment, size):
    script = f"kill -STOP $PPID; {FORKS} 100000 5 5 5; kill -CONT $PPID"
    done = run("--json", tmp_path / "cow.json", *options, "--", "/bin/sh", "-c", script, **environment)
    assert done.returncode == 0, done.stderr
    report = json.loads((tmp_path / "cow.json").read_text())
    check_schema(report, "cow")
    assert report["totals"]["lost"] > 0
    said = " ".join(done.stderr.split())
    lost = report["totals"]["lost"]
    assert re.search(f"! {lost:,} events? lost, because the per-CPU buffer of {size} was full", said)
    assert "larger --buffer" in said


@pytest.mark.parametrize("word", ["1KiB", "100KiB", "2GiB", "x"])
def test_a_buffer_of_no_usable_size_is_refused(word):
    done = run("--buffer", word, "--", "true")
    assert done.returncode == 2 and word in one_line(done.stderr)


@as_root
@as_somebody
def test_a_user_whose_memory_for_events_is_used_up_is_told_so():
    skip_if_unreadable()
    with subprocess.Popen([*SOMEBODY, ZEROTAX, "cow", "--", "/bin/sh", "-c", "echo; exec sleep 20"], text=True,
                          env=clean_environment(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as first:
        first.stdout.readline()
        done = run("--", "true", prefix=SOMEBODY)
        first.terminate()
    assert done.returncode == 3
    assert "per CPU for events" in one_line(done.stderr) and "perf_event_mlock_kb" in done.stderr


@as_root
@as_somebody
def test_a_user_who_has_less_memory_left_for_events_watches_with_that():
    skip_if_unreadable()
    command = [*SOMEBODY, ZEROTAX, "cow", "--buffer", "256KiB", "--", "/bin/sh", "-c", "echo; exec sleep 20"]
    with subprocess.Popen(command, text=True, env=clean_environment(), stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL) as first:
        first.stdout.readline()
        done = run("--json", "-", "--", FORKS, 100, 5, 5, 5, prefix=SOMEBODY)
        first.terminate()
    assert done.returncode == 0, done.stderr
    assert 16 * KIB <= checked(json.loads(done.stdout))["buffer_bytes"] < 512 * KIB


@as_root
@as_somebody
def test_an_ordinary_user_has_as_much_as_is_permitted():
    skip_if_unreadable()
    hard = resource.getrlimit(resource.RLIMIT_MEMLOCK)[1]
    limit = 8 * MIB if hard == resource.RLIM_INFINITY else min(hard, 8 * MIB)
    large = 2 * MIB if limit // os.sysconf("SC_NPROCESSORS_CONF") >= 2 * MIB else 512 * KIB
    for locked, expected in ((0, 512 * KIB), (limit, large)):
        done = run("--json", "-", "--", "true", prefix=["prlimit", f"--memlock={locked}", *SOMEBODY[2:]])
        assert json.loads(done.stdout)["buffer_bytes"] == expected


@as_root
def test_root_has_eight_mebibytes_for_each_cpu():
    assert json.loads(run("--json", "-", "--", "true").stdout)["buffer_bytes"] == 8 * MIB


@pytest.mark.parametrize("method", [pytest.param("tracepoints", marks=as_root), "software"])
def test_a_process_that_ends_while_it_is_joined_is_watched_or_said_to_be_gone(method):
    seen = set()
    for milliseconds in [*range(0, 24, 2), 400]:
        program = subprocess.Popen(["/bin/sleep", str(milliseconds / 1000)])
        # Waits at once, so that the program does not become a zombie when it ends.
        reaper = threading.Thread(target=program.wait)
        reaper.start()
        done = run("--pid", program.pid, ZEROTAX_FAULTS=method)
        reaper.join()
        seen.add(done.returncode)
        if done.returncode == 0:
            assert f"process {program.pid}" in done.stdout and done.stderr == ""
        else:
            said = one_line(done.stderr)
            assert done.returncode == 2 and done.stdout == ""
            assert any(words in said for words in ("no process", "ended before", "zombie"))
    assert seen == {0, 2}


def test_a_zombie_has_nothing_to_be_watched():
    with subprocess.Popen(["/bin/true"]) as program:
        time.sleep(0.3)
        done = run("--pid", program.pid)
    assert done.returncode == 2 and "zombie" in one_line(done.stderr)
