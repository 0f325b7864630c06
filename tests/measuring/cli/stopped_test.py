"""Time in which the command or the measured process is stopped (SIGSTOP, Ctrl-Z) does not count as time of the
allocator.
"""

import json
import os
import signal
import subprocess
import time

import pytest
from conftest import KIB, PLANTED, ZEROTAX, clean_environment

TIMEOUT = 1
STOPPED = 2.5


def start(*words, **how):
    """Starts a run that takes about 0.6 s of its time limit of 1 s, because the allocator sleeps in each calloc."""
    return subprocess.Popen(
        [ZEROTAX, "run", *map(str, words), "--json", "-"], env=clean_environment(), stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True, **how)


def sleepy(seconds, timeout=TIMEOUT):
    return ["--allocator", f"sleeps={PLANTED / 'libplanted_sleeps.so'}", "--env", f"sleeps:PLANTED_SLEEP={seconds}",
            "--size", 256 * KIB, "--ops", 1, "--timeout", timeout]


def probes_of(driver):
    found = []
    for task in os.listdir(f"/proc/{driver}/task"):
        with open(f"/proc/{driver}/task/{task}/children", encoding="ascii") as file:
            found += [int(pid) for pid in file.read().split()]
    return found


def wait_for_probe(run):
    """The PID of the probe, once it is in the allocator's calloc."""
    for _ in range(2000):
        for pid in probes_of(run.pid):
            try:
                with open(f"/proc/{pid}/cmdline", encoding="ascii") as file:
                    if "--zerotax-samples" in file.read():
                        return pid
            except (FileNotFoundError, ProcessLookupError):
                pass
        assert run.poll() is None
        time.sleep(0.002)
    raise AssertionError("no probe was started")


def point_of(run):
    text, errors = run.communicate(timeout=60)
    assert text, errors
    point, = json.loads(text)["points"]
    return point


@pytest.mark.parametrize("who", ["driver", "probe", "both"])
def test_a_stop_longer_than_the_timeout_is_no_timeout(who):
    run = start(*sleepy(0.2))
    probe = wait_for_probe(run)
    pids = {"driver": [run.pid], "probe": [probe], "both": [run.pid, probe]}[who]
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    time.sleep(STOPPED)
    for pid in reversed(pids):
        os.kill(pid, signal.SIGCONT)
    point = point_of(run)
    assert (point["status"], point["reason"]) == ("ok", None)


def test_ctrl_z_and_fg_are_no_timeout():
    # The terminal sends the signal to the command's whole process group.
    run = start(*sleepy(0.2), start_new_session=False, preexec_fn=os.setpgrp)
    wait_for_probe(run)
    os.killpg(run.pid, signal.SIGSTOP)
    time.sleep(STOPPED)
    os.killpg(run.pid, signal.SIGCONT)
    assert point_of(run)["status"] == "ok"


def test_a_timeout_is_one_still_and_says_the_limit_that_was_set():
    # Each pass is within the limit, but both passes together exceed it.
    point = point_of(start(*sleepy(0.6)))
    assert (point["status"], point["reason"]) == ("timeout", "timing pass: not done after 1 s: in calloc, operation 1")
