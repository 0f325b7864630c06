"""Helpers for the tests of `zerotax record` from outside. The helpers build the planted programs of
tests/program/record/outside, and run a program that waits to be watched.
"""

import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import time

import pytest
from conftest import MIB, PAGE, ZEROTAX, check_schema, clean_environment, is_na
from waiting import wait_for

HERE = pathlib.Path(__file__).parents[1] / "program" / "record" / "outside"
# The work of the planted program `map`, in bytes.
ROUNDS = 400
KEPT = 16 * MIB
ZEROED = KEPT + ROUNDS * MIB
REFILLED = (ROUNDS - 1) * MIB
# Bytes for the start and end of a static program.
STARTING = 200 * PAGE
root_only = pytest.mark.skipif(os.geteuid() != 0, reason="root only")


def build(folder, *command):
    """Builds a program of tests/program/record/outside, or skips the test if the compiler is missing."""
    if shutil.which(command[0]) is None:
        pytest.skip(f"{command[0]} is missing: run ./run install")
    program = folder / "refills"
    environment = clean_environment(HOME=str(folder), GOCACHE=str(folder / "cache"), GO111MODULE="off", CGO_ENABLED="0")
    subprocess.run([*command, "-o", program, *([HERE / "refills.go"] if command[0] == "go" else [HERE / "refills.c"])],
                   check=True, env=environment, timeout=300)
    return program


@contextlib.contextmanager
def open_folder():
    """Makes a folder that all users may use, because pytest's folders belong to root alone."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o777)
        yield pathlib.Path(folder)


def functions(site):
    return [frame["function"] for frame in site["frames"] if not is_na(frame["function"])]


class Attached:
    """A planted program that has started. The program waits twice for a line, so that a watcher can attach."""

    def __init__(self, program, *words, prefix=(), **environment):
        self.run = subprocess.Popen([*prefix, str(program), *map(str, words), "attach"], stdin=subprocess.PIPE,
                                    stdout=subprocess.PIPE, text=True, bufsize=1, env=clean_environment(**environment))
        assert self.run.stdout.readline() == "ready\n"

    def go_on(self):
        self.run.stdin.write("\n")
        self.run.stdin.flush()

    def faults(self):
        """Waits until the program's work is done. Returns the page faults of this work."""
        before, after = map(int, self.run.stdout.readline().split())
        return after - before

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.run.kill()
        self.run.communicate()


def start_record(folder, pid, *options, prefix=()):
    """Starts a recording. If no PID is given, the options specify what is recorded."""
    process = ["--pid", str(pid)] if pid else []
    started = subprocess.Popen([*prefix, str(ZEROTAX), "record", *process, "--json", str(folder / "record.json"),
                                "--text", str(folder / "record.txt"), *map(str, options)], stderr=subprocess.PIPE,
                               text=True, env=clean_environment())
    wait_until_it_watches(started.pid)
    return started


def perf_events(pid):
    """Returns the number of perf events that the process has opened, or 0 once it has ended."""
    found = 0
    with contextlib.suppress(OSError):
        for link in os.scandir(f"/proc/{pid}/fd"):
            with contextlib.suppress(OSError):
                found += os.readlink(link.path) == "anon_inode:[perf_event]"
    return found


def wait_until_it_watches(pid):
    """Waits until the recorder's threads run, and the recorder has opened no perf event for half a second."""

    def has_threads():
        try:
            # The program that starts the recorder (setpriv) becomes the recorder.
            return len(os.listdir(f"/proc/{pid}/task")) >= 4
        except OSError:
            return True

    wait_for(has_threads, 60)
    opened, since = -1, time.monotonic()
    while time.monotonic() < since + 0.5:
        if (now := perf_events(pid)) != opened:
            opened, since = now, time.monotonic()
        time.sleep(0.02)


class Outcome:
    """The output of a recording in a folder. The recording has ended with this status."""

    def __init__(self, folder, started=None, status=0):
        if started:
            _, self.err = started.communicate(timeout=150)  # on a busy machine, --all unwinds many stacks
            assert started.returncode == status, self.err
        self.json = json.loads((folder / "record.json").read_text())
        self.text = (folder / "record.txt").read_text()
        self.totals = self.json["totals"]
        check_schema(self.json, "record")
        assert max(map(len, self.text.splitlines())) <= 80 or any(len(word) > 70 for word in self.text.split()), self.text


def check_said(found, why):
    assert found.json["outside"]["why"] == why or why in found.json["outside"]["why"]
    assert ("zerotax record: the program was recorded from outside, without zerotax's library, because "
            f"{found.json['outside']['why']}.") in " ".join(found.text.split())


def check_not_seen(found):
    """The metrics that need the library are n/a, with a reason, and never 0."""
    totals = found.totals
    for figures in (totals, totals["by_hand"], totals["in_free"]):
        assert is_na(figures["zeroed_bytes"]) and is_na(figures["redundant_zeroed_bytes"])
    assert is_na(totals["calloc_calls"]) and is_na(totals["malloc_calls"]) and is_na(totals["returned"]["bytes"])


def check_refills(found, kernel, starting=STARTING):
    assert ZEROED <= kernel["zeroed_bytes"] <= ZEROED + starting
    # The estimate depends on when zerotax takes samples, but its interval contains the true value.
    assert kernel["refilled_bytes"] == pytest.approx(REFILLED, rel=0.05)
    least, most = kernel["refilled_interval_bytes"]
    assert least <= kernel["refilled_bytes"] <= most and least - starting <= REFILLED <= most + starting
    check_not_seen(found)
