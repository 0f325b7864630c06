"""A program makes the kernel zero 120 MiB, 80 MiB of them again, in awkward situations. `zerotax record` reports these
numbers, true bounds or n/a. The answer never claims that there is nothing to gain.
"""

import os
import shlex
import shutil
import signal
import subprocess
import threading
import time

import pytest
from conftest import MIB, NOBODY, PAGE, clean_environment, is_na, mostly_long, skip_if_unreadable
from recording import PROGRAMS, record

ZEROED = PROGRAMS / "zeroed"
ALL, AGAIN = 120 * MIB, 80 * MIB
# Bytes to start the C library, and the other programs that the tested program executes.
SLACK = 2 * MIB
WAYS = subprocess.run([ZEROED, "list"], capture_output=True, text=True, check=True).stdout.split() if ZEROED.exists() else []

# Situations with amounts other than ALL and AGAIN: zeroed bytes, and refilled bytes.
OTHERWISE = {
    "two": (80 * MIB, 40 * MIB),
    "exec-from-thread": (ALL, 40 * MIB),  # the second program has nothing to refill
    "threads": (ALL * 0.98, ALL * 0.975),
    "generations": (ALL, 0),
    "mremap": (ALL, 0),
    "memfd-private": (ALL, 0),
    "uffd-number": (40 * MIB, 0),
    "uffd-instruction": (40 * MIB, 0),
    "none": (0, 0),
    "writev": (ALL, 0),
}


def check_kernel(found, all_bytes, again):
    """Checks the kernel's part of all processes together, which is a number or has bounds."""
    kernel = found.totals["kernel"]
    zeroed = kernel["zeroed_bytes"]
    if is_na(zeroed):
        assert zeroed["na"]
        least, most = kernel["zeroed_at_least_bytes"], kernel["zeroed_at_most_bytes"]
        assert least <= all_bytes + SLACK
        assert is_na(most) or most >= all_bytes
    else:
        assert zeroed == pytest.approx(all_bytes, rel=0.01, abs=SLACK)
        assert kernel["refilled_bytes"] == pytest.approx(again, rel=0.01, abs=SLACK)
    assert "Nothing to gain" not in found.text, found.text


# Situations in which zeroed bytes may be n/a. A process that writes to the memory of another process takes page faults
# that populate none of its own memory. `record` does not see the end of a process under strict seccomp, so other
# programs' huge pages widen the bounds.
UNKNOWN = ("strict-seccomp", "out-of-time", "killed-from-thread", "crash-in-handler", "child-killed", "shared", "writev",
           "memfd-private", "uffd-instruction", "no-usage")
# The following situations have tests of their own.
APART = ("stop", "daemon", "instruction", "none", "sharer-survives")
# One situation of each kind: nothing awkward, an end, a thread, another program, a child, memory that moves, unknown
# numbers.
SHORT = ("fill", "raw-exit", "killed-from-thread", "exec-from-thread", "vfork", "clone", "mremap", "mremap-over",
         "out-of-time", "memfd-private", "uffd-number", "uffd-instruction", "no-usage", "strict-seccomp")


@pytest.mark.parametrize("way", mostly_long([w for w in WAYS if w not in APART], SHORT, "another way to be awkward"))
def test_what_the_kernel_zeroed_is_right_or_not_claimed(way):
    found = record(ZEROED, way)
    if found.status == 77:
        pytest.skip("not permitted here")
    assert found.status == 0 or way in UNKNOWN or way == "killed-from-thread"
    check_kernel(found, *OTHERWISE.get(way, (ALL, AGAIN)))
    assert way in UNKNOWN or not is_na(found.totals["kernel"]["zeroed_bytes"])


@pytest.mark.parametrize("way", ["sharer", "sharer-killed", "sharer-exec", "sharer-vfork", "vfork"])
def test_faults_and_time_of_a_process_that_shares_memory_are_counted_with_its_bytes(way):
    plain, found = record(ZEROED, "fill"), record(ZEROED, way)
    assert found.status == 0
    check_kernel(found, ALL, AGAIN)
    kernel, tax = found.totals["kernel"], found.json["tax"]
    if way == "sharer-killed" and is_na(kernel["minor_faults"]):
        assert "shared its memory" in kernel["minor_faults"]["na"]  # the kernel does not count for this user
        return
    few = SLACK // PAGE
    for key in ("minor_faults", "zero_fill_faults"):
        assert kernel[key] == pytest.approx(plain.totals["kernel"][key], abs=few), key
    assert kernel["zero_fill_faults"] >= ALL // PAGE and tax["other_faults"]["faults"] < few
    # The denominator of all shares is the time that the kernel counted.
    run = found.json["run"]
    assert tax["cpu_ns"] + tax["recorder_cpu_ns"] >= run["user_ns"] + run["system_ns"]
    assert found.json["not_followed"] == [] and tax["not_recorded"]["processes"] == 0


def test_times_without_a_clock_are_unknown_and_not_0():
    found = record(ZEROED, "no-clock")
    if found.status == 77:
        pytest.skip("not permitted here")
    check_kernel(found, ALL, AGAIN)
    tax = found.json["tax"]
    assert tax["fault_cost"]["measured_in"] == "zerotax, after the run" and tax["fault_cost"]["samples"] == 0
    [returning] = [row for row in tax["rows"] if row["cause"] == "returning"]
    assert returning["bytes"] >= AGAIN and "clock" in returning["cpu_ns"]["na"]
    assert tax["zeroing_at_least_cpu_ns"] > 0


def test_a_process_that_shares_memory_and_outlives_the_program_makes_it_unknown():
    found = record(ZEROED, "sharer-survives")
    kernel = found.totals["kernel"]
    assert is_na(kernel["zeroed_bytes"]) and is_na(kernel["zeroed_at_most_bytes"]) and is_na(kernel["minor_faults"])
    [process] = found.processes("zeroed")
    assert any("shared its memory" in gap for gap in process["gaps"])
    assert "shared its memory (vfork, CLONE_VM) ended unseen, or still runs" in " ".join(found.text.split())
    assert "Nothing to gain" not in found.text


def test_memory_that_went_back_by_its_own_system_calls_is_not_passed_over():
    found = record(ZEROED, "instruction")
    kernel, tax = found.totals["kernel"], found.json["tax"]
    assert kernel["zeroed_at_least_bytes"] <= ALL + SLACK
    if is_na(kernel["zeroed_bytes"]):  # a sample was taken between two of the calls
        assert "returned to the kernel unseen" in kernel["zeroed_bytes"]["na"]
        assert kernel["zeroed_at_most_bytes"] >= ALL
    else:
        assert tax["other_faults"]["noticed"] and "zerotax cow -- COMMAND" in found.text
        assert tax["other_faults"]["faults"] * PAGE + kernel["zeroed_bytes"] >= ALL
    assert "Nothing to gain" not in found.text


def check_daemon(found):
    """Checks that the process that still runs is reported, and that no number includes its work."""
    missed = [m for m in found.json["not_followed"] if "still ran" in m["reason"]]
    unseen = [p for p in found.json["processes"] if p["ended"] in ("running", "unknown")]
    assert missed or unseen
    assert all(is_na(m["cpu_ns"]) and is_na(m["minor_faults"]) for m in missed)
    # On a busy machine, the process between the daemon and the program may not have ended yet.
    count = sum(m["processes"] for m in missed)
    several = len(found.json["not_followed"]) > 1
    said = f"! The numbers do not include {count} process" if several else "was not recorded and is not in the numbers"
    assert said in " ".join(found.text.split()) if missed else is_na(found.totals["kernel"]["zeroed_bytes"])
    assert "Nothing to gain" not in found.text


def test_a_daemon_that_works_on_is_not_claimed_to_do_nothing():
    check_daemon(record(ZEROED, "daemon"))


def test_a_program_that_is_stopped_twice_is_counted_on():
    def wake():
        # Wakes the program, which stops itself twice.
        deadline = time.monotonic() + 30
        while not done.is_set() and time.monotonic() < deadline:
            subprocess.run(["pkill", "-CONT", "-x", "zeroed"], check=False)
            time.sleep(0.05)

    if shutil.which("pkill") is None:
        pytest.skip("pkill is missing: install procps")
    done = threading.Event()
    waker = threading.Thread(target=wake)
    waker.start()
    try:
        found = record(ZEROED, "stop", timeout=60)
    finally:
        done.set()
        waker.join()
    assert found.status == 0
    check_kernel(found, ALL, AGAIN)


@pytest.mark.skipif(os.geteuid() != 0 or shutil.which("setpriv") is None, reason="needs root and setpriv")
@pytest.mark.parametrize("way", mostly_long(["raw-exit", "killed-from-thread", "read", "daemon"], ["read"], "root's again"))
def test_an_ordinary_user_is_told_no_falsehood(way):
    skip_if_unreadable()
    found = record(ZEROED, way, prefix=NOBODY)
    check_daemon(found) if way == "daemon" else check_kernel(found, ALL, AGAIN)


@pytest.mark.skipif(shutil.which("strip") is None, reason="strip is missing")
def test_a_stripped_program_lacks_names_and_no_bytes(tmp_path):
    stripped = tmp_path / "zeroed"
    subprocess.run(["strip", "-s", "-o", stripped, ZEROED], check=True)
    found = record(stripped, "fill")
    check_kernel(found, ALL, AGAIN)
    # The sites have modules and addresses instead of names.
    sites = [s for s in found.json["sites"] if "zeroed" in str(s["frames"])]
    assert sum(s["kernel_zeroed_bytes"] for s in sites) == pytest.approx(ALL, rel=0.01)


@pytest.mark.skipif(shutil.which("unshare") is None, reason="unshare is missing")
def test_in_namespaces_of_its_own_the_same_is_counted():
    prefix = ["unshare", *(["--user", "--map-root-user"] if os.geteuid() != 0 else []), "--pid", "--fork", "--mount-proc"]
    if subprocess.run([*prefix, "true"], check=False, capture_output=True, env=clean_environment()).returncode != 0:
        pytest.skip("no namespaces here")
    check_kernel(record(*prefix, ZEROED, "fill"), ALL, AGAIN)
    # Here, zerotax itself runs in the namespaces.
    check_kernel(record(ZEROED, "fill", prefix=prefix), ALL, AGAIN)


@pytest.mark.skipif(shutil.which("unshare") is None, reason="unshare is missing")
def test_a_program_in_a_pid_namespace_is_included_once():
    prefix = ["unshare", *(["--user", "--map-root-user"] if os.geteuid() != 0 else []), "--pid", "--fork", "--mount-proc"]
    if subprocess.run([*prefix, "true"], check=False, capture_output=True, env=clean_environment()).returncode != 0:
        pytest.skip("no namespaces here")
    for words in ([ZEROED, "fill"], ["sh", "-c", f"{ZEROED} fill; {ZEROED} fill; exit 7"]):
        found = record("sh", "-c", f"{shlex.join(map(str, [*prefix, *words]))}; exit 7")
        assert found.json["not_followed"] == [] and "in the numbers" not in found.text and "numbers do not" not in found.text
    # A program from which nothing is recorded is counted, too.
    static = PROGRAMS / "ended-static"
    found = record("sh", "-c", f"{static} 1 exit; {shlex.join(map(str, [*prefix, ZEROED, 'fill']))}; exit 7")
    assert [missed["processes"] for missed in found.json["not_followed"]] == [1]


@pytest.mark.skipif(shutil.which("unshare") is None or os.geteuid() != 0, reason="needs root and unshare")
def test_without_proc_there_is_a_bound_and_a_name():
    found = record("unshare", "-m", "sh", "-c", f"umount -l /proc && exec {ZEROED} fill")
    if found.status == 1:
        pytest.skip("no mount namespaces here")
    kernel = found.totals["kernel"]
    most = kernel["zeroed_at_most_bytes"]
    assert kernel["zeroed_at_least_bytes"] <= ALL + SLACK
    assert is_na(most) or ALL <= most < 100 * ALL
    assert "zeroed: " in found.text and "\n! : " not in found.text


def test_a_shell_that_is_killed_with_its_children_is_counted():
    found = record("sh", "-c", f"{ZEROED} fill & wait; kill -KILL $$")
    assert found.status == 128 + signal.SIGKILL
    check_kernel(found, ALL, AGAIN)
