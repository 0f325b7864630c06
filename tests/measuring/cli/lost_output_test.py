"""If a command's own output is lost, the command still ends when the program that it started ends. The command never
ends earlier, and not by a signal.
"""

import os
import subprocess

import pytest
from conftest import ZEROTAX, clean_environment

# The exit status that a shell reports if the reader of zerotax's output is gone, and zerotax's exit status if the disk
# is full.
READER_GONE, NO_ROOM = 141, 2
PROGRAM = ["--", "/bin/sh", "-c", 'i=0; while [ $i -lt 15 ]; do i=$((i+1)); sleep 0.1; done; touch ended']
# Commands whose messages go to standard error, because standard output belongs to the program.
COMMANDS = {
    "cow": ["cow", "--interval", "0.1", *PROGRAM],
    "record": ["record", *PROGRAM],
    "profile": ["profile", *PROGRAM],
}


def run_to_end(words, folder, stream, errors):
    return subprocess.Popen([ZEROTAX, *words], cwd=folder, env=clean_environment(), stdin=subprocess.DEVNULL,
                            stdout=stream, stderr=errors)


def measured_here(name, folder):
    """Whether this machine allows the command to watch a program."""
    (folder / "trial").mkdir()
    words = COMMANDS[name]
    done = subprocess.run([ZEROTAX, *words[:words.index("--")], "--", "/bin/true"], cwd=folder / "trial",
                          env=clean_environment(), capture_output=True, text=True, timeout=120, check=False)
    return done.returncode == 0


@pytest.mark.parametrize("name", COMMANDS)
def test_a_program_is_not_left_behind_where_nobody_reads_the_words(name, tmp_path):
    if not measured_here(name, tmp_path):
        pytest.skip("it is not permitted here")
    read_end, write_end = os.pipe()
    os.close(read_end)
    with run_to_end(COMMANDS[name], tmp_path, subprocess.DEVNULL, write_end) as run:
        os.close(write_end)
        assert run.wait(timeout=120) == READER_GONE
    assert (tmp_path / "ended").exists()


@pytest.mark.parametrize("name", COMMANDS)
def test_a_program_is_not_left_behind_where_there_is_no_room_for_the_words(name, tmp_path):
    if not measured_here(name, tmp_path):
        pytest.skip("it is not permitted here")
    with open("/dev/full", "wb") as full, run_to_end(COMMANDS[name], tmp_path, subprocess.DEVNULL, full) as run:
        assert run.wait(timeout=120) == NO_ROOM
    assert (tmp_path / "ended").exists()


def test_a_watch_ends_when_its_reader_has_gone(tmp_path):
    if not measured_here("cow", tmp_path):
        pytest.skip("it is not permitted here")
    with subprocess.Popen(["/bin/sleep", "600"]) as program:
        try:
            read_end, write_end = os.pipe()
            words = ["cow", "--interval", "0.1", "--pid", str(program.pid)]
            with run_to_end(words, tmp_path, write_end, subprocess.DEVNULL) as run:
                os.close(write_end)
                os.read(read_end, 1)
                os.close(read_end)
                assert run.wait(timeout=120) == READER_GONE
            assert program.poll() is None
        finally:
            program.kill()


def test_the_calls_are_kept_where_there_is_no_room_for_the_words(tmp_path):
    with open("/dev/full", "wb") as full, run_to_end(["record", "--calls", "x.calls", "--", "/bin/ls"], tmp_path,
                                                     subprocess.DEVNULL, full) as run:
        assert run.wait(timeout=120) == NO_ROOM
    done = subprocess.run([ZEROTAX, "replay", "x.calls", "--allocator", "glibc"], cwd=tmp_path, env=clean_environment(),
                          capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
