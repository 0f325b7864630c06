"""Shared by the tests of `zerotax record` from outside: the planted programs of tests/program/record/outside, and a running
process of a program that waits to be watched."""

import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import time

import pytest
from conftest import ZEROTAX, check_schema, clean_environment, is_na
from waiting import wait_for

HERE = pathlib.Path(__file__).parents[1] / "program" / "record" / "outside"
root_only = pytest.mark.skipif(os.geteuid() != 0, reason="root only")


def build(folder, *command):
    """A program of tests/program/record/outside; skips where its compiler is missing."""
    if shutil.which(command[0]) is None:
        pytest.skip(f"{command[0]} is missing: run ./run install")
    program = folder / "refills"
    environment = clean_environment(HOME=str(folder), GOCACHE=str(folder / "cache"), GO111MODULE="off", CGO_ENABLED="0")
    subprocess.run([*command, "-o", program, *([HERE / "refills.go"] if command[0] == "go" else [HERE / "refills.c"])],
                   check=True, env=environment, timeout=300)
    return program


@contextlib.contextmanager
def open_folder():
    """A folder that everybody may use: those of pytest are root's alone."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o777)
        yield pathlib.Path(folder)


def functions(site):
    return [frame["function"] for frame in site["frames"] if not is_na(frame["function"])]


class Attached:
    """A planted program that has started, and waits for a line twice: attach while it waits."""

    def __init__(self, program, *words, prefix=(), **environment):
        self.run = subprocess.Popen([*prefix, str(program), *map(str, words), "attach"], stdin=subprocess.PIPE,
                                    stdout=subprocess.PIPE, text=True, bufsize=1, env=clean_environment(**environment))
        assert self.run.stdout.readline() == "ready\n"

    def go_on(self):
        self.run.stdin.write("\n")
        self.run.stdin.flush()

    def faults(self):
        """Those of its work, when it has done it."""
        before, after = map(int, self.run.stdout.readline().split())
        return after - before

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.run.kill()
        self.run.communicate()


def start_record(folder, pid, *options, prefix=()):
    """Without a PID, the options say what is recorded."""
    process = ["--pid", str(pid)] if pid else []
    started = subprocess.Popen([*prefix, str(ZEROTAX), "record", *process, "--json", str(folder / "record.json"),
                                "--text", str(folder / "record.txt"), *map(str, options)], stderr=subprocess.PIPE,
                               text=True, env=clean_environment())
    wait_until_it_watches(started.pid)
    return started


def perf_events(pid):
    """How many perf events it has opened; none once it has ended."""
    found = 0
    with contextlib.suppress(OSError):
        for link in os.scandir(f"/proc/{pid}/fd"):
            with contextlib.suppress(OSError):
                found += os.readlink(link.path) == "anon_inode:[perf_event]"
    return found


def wait_until_it_watches(pid):
    """Its threads run, and for half a second it has opened no more perf events."""

    def has_threads():
        try:
            # What starts it (setpriv) becomes it.
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
    """What a recording wrote into a folder, once it has ended with that status."""

    def __init__(self, folder, started=None, status=0):
        if started:
            _, self.err = started.communicate(timeout=60)
            assert started.returncode == status, self.err
        self.json = json.loads((folder / "record.json").read_text())
        self.text = (folder / "record.txt").read_text()
        self.totals = self.json["totals"]
        check_schema(self.json, "record")
        assert max(map(len, self.text.splitlines())) <= 80 or any(len(word) > 70 for word in self.text.split()), self.text
