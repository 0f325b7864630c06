"""One request to end may arrive as two signals: timeout(1) signals the command, and then the whole group. The second
signal must not lose results. A signal that comes a second later ends the command at once.
"""

import fcntl
import json
import os
import signal
import subprocess
import time

import pytest

from conftest import INTERRUPTED_BY_SIGINT, ZEROTAX, clean_environment, mostly_long

SLEEP = ["/bin/sh", "-c", "sleep 600; true"]
# Commands that measure until they are interrupted, each with a key that its --json file must have.
COMMANDS = {
    "run": (["run", "--allocator", "glibc", "--ops", "100000", "--size", "100MiB", "--size", "101MiB"], "points"),
    "loop": (["run", "--loop", "--allocator", "glibc", "--size", "1MiB", "--ops", "1000000000", "--seconds", "600"], "loops"),
    "cow --pid": (["cow", "--pid", "PID"], "totals"),
    "cow": (["cow", "--", *SLEEP], "totals"),
    "profile --pid": (["profile", "--pid", "PID", "--wall", "--seconds", "600"], "samples"),
    "record": (["record", "--", *SLEEP], "processes"),
}


@pytest.mark.parametrize("pause", mostly_long([0, 0.0005, 0.01, 0.1], [0.0005, 0.1], "between these"))
@pytest.mark.parametrize("name", COMMANDS)
def test_a_second_signal_soon_after_the_first_loses_nothing(name, pause, tmp_path):
    arguments, key = COMMANDS[name]
    file = tmp_path / "result.json"
    with subprocess.Popen(["/bin/sleep", "100"]) as program:
        words = [str(program.pid) if word == "PID" else word for word in arguments]
        words[1:1] = ["--json", str(file)]
        with subprocess.Popen([ZEROTAX, *words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                              env=clean_environment(), start_new_session=True) as run:
            time.sleep(1.2)
            run.send_signal(signal.SIGINT)
            time.sleep(pause)
            if run.poll() is None:
                os.killpg(run.pid, signal.SIGINT)
            errors = run.communicate(timeout=60)[1]
        program.kill()
    assert run.returncode == INTERRUPTED_BY_SIGINT, errors
    assert key in json.loads(file.read_text())


def test_a_signal_a_second_later_ends_it_at_once():
    """Writing the summary blocks, because the pipe is not read."""
    read_end, write_end = os.pipe()
    fcntl.fcntl(write_end, fcntl.F_SETPIPE_SZ, 4096)
    os.set_blocking(write_end, False)
    try:
        while True:
            os.write(write_end, b"-" * 64)
    except BlockingIOError:
        pass
    os.set_blocking(write_end, True)
    with subprocess.Popen(["/bin/sleep", "600"]) as program:
        with subprocess.Popen([ZEROTAX, "cow", "--pid", str(program.pid)], stdout=write_end, stderr=subprocess.DEVNULL,
                              env=clean_environment()) as run:
            time.sleep(1)
            run.send_signal(signal.SIGINT)
            time.sleep(0.2)
            run.send_signal(signal.SIGINT)
            time.sleep(0.2)
            assert run.poll() is None, "it waits for its reader"
            time.sleep(1)
            run.send_signal(signal.SIGINT)
            assert run.wait(timeout=30) == -signal.SIGINT
        program.kill()
    os.close(read_end)
    os.close(write_end)
