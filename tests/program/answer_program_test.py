"""`advise`, `profile`, `replay` and `trace summary` answer on one screen; --full prints every table."""

import subprocess

import pytest
from answers import answer_of, check_screen
from conftest import BUILD, NOBODY, SOURCE, interrupt, zerotax
from tracing import traced

pytestmark = pytest.mark.timeout(200)
PYTHON = "/usr/bin/python3"
WORK = "for i in range(100): x = b'x' * (4 << 20); del x"
MANY = "for i in $(seq 200); do /bin/true; done"
WORKLOADS = SOURCE / "harness" / "program" / "replay" / "workloads"


def full_has(text, lines, *headings):
    """With --full, the text also begins with a headline, and has these headings."""
    assert text.splitlines()[0].split(" ")[0] == lines[0].split(" ")[0], text
    assert all(heading in text for heading in headings), text


@pytest.mark.parametrize("words, subject, status", [
    ((PYTHON, "-c", WORK), "python3 ", 0),
    (("/bin/sh", "-c", MANY), "sh ", 0),
    (("/bin/true",), "true ", 0),
    (("/bin/sh", "-c", "i=0; while [ $i -lt 90000 ]; do i=$((i+1)); done; kill -9 $$"), "sh ", 137),
])
@pytest.mark.parametrize("prefix", [(), NOBODY], ids=["root", "nobody"])
def test_a_profile_fits_one_screen(words, subject, status, prefix):
    done = zerotax("profile", "--", *words, prefix=prefix, NO_COLOR="1", cwd="/")
    if done.returncode == 3:
        pytest.skip(done.stderr)
    lines = answer_of(done.stderr, subject)
    check_screen(lines)
    assert done.returncode == status and " CPU time" in lines[0] and lines[-1].endswith(": --full"), done.stderr
    assert (status == 137) == any("killed by signal 9" in line for line in lines)


def test_a_profile_of_a_process_fits_one_screen():
    with subprocess.Popen([BUILD / "tests" / "recorded" / "waits"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as program:
        try:
            program.stdout.readline()
            words = ("profile", "--pid", program.pid, "--seconds", "0.5")
            lines = zerotax(*words, "--wall").stdout.splitlines()
            full = zerotax(*words, "--full").stdout
        finally:
            program.kill()
    check_screen(lines)
    assert lines[0].startswith("In ") and f"(PID {program.pid})" in lines[0] + lines[1]
    full_has(full, [f"waits (PID {program.pid})"], "Time by activity", "Call graph", "Sort by top of stack")


def test_a_replay_fits_one_screen():
    file = WORKLOADS / "numpy.calls"
    allocators = ("--allocator", "glibc", "--allocator", "largecache")
    lines = zerotax("replay", file, *allocators).stdout.splitlines()
    check_screen(lines)
    text = "\n".join(lines)
    assert lines[0].startswith("numpy takes ") and "the least of 2 allocators" in " ".join(lines[:2]), text
    assert "kernel-zeroed" in text and "the recorded run" in text
    assert "zerotax advise -- " in text and str(file) in text
    full_has(zerotax("replay", "--full", file, *allocators).stdout, lines, "by kernel", "redundant", "differs from")


def test_replays_of_a_folder_fit_one_screen(tmp_path):
    for name in ("xz", "sqlite3"):
        (tmp_path / f"{name}.calls").write_bytes((WORKLOADS / f"{name}.calls").read_bytes())
    allocators = ("--allocator", "glibc", "--allocator", "largecache")
    lines = zerotax("replay", tmp_path, *allocators).stdout.splitlines()
    check_screen(lines)
    assert lines[0].startswith("Of 2 real programs, ") and any(line.startswith("sqlite3 ") for line in lines)
    full = zerotax("replay", "--full", tmp_path, *allocators).stdout
    full_has(full, lines, "zeros that kernel and allocator wrote", "Most memory held", "CPU time")
    assert full.count("Of 2 real programs, ") == 1, full


def test_a_trace_fits_one_screen(tmp_path):
    assert traced("first", folder=tmp_path / "t").returncode == 0
    lines = zerotax("trace", "summary", tmp_path / "t").stdout.splitlines()
    check_screen(lines)
    assert lines[0].startswith("first recorded 6 events in ") and any(line.startswith("request_done ") for line in lines)
    full_has(zerotax("trace", "summary", "--full", tmp_path / "t").stdout, lines, "       count      seconds  event\n")
    between = ("--begin", "request_done", "--end", "request_done")
    lines = zerotax("trace", "summary", tmp_path / "t", *between).stdout.splitlines()
    check_screen(lines)
    assert lines[0].startswith("2 times from request_done to request_done: median ")
    assert any(line.startswith("Where: the longest time, ") for line in lines)


@pytest.mark.parametrize("program, options, headline, part", [
    ("by_hand", (), "Nothing helps by_hand", "by_hand.c:"),
    ("fragile", ("--all", "--settings-only", "--rounds", 10, "--env", "glibc:BREAKS=1"), "", "1 remedy that failed"),
])
def test_an_advice_fits_one_screen(program, options, headline, part):
    words = ("advise", *options, "--", BUILD / "tests" / "advised" / program)
    done = zerotax(*words, NO_COLOR="1")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    check_screen(lines)
    text = " ".join(" ".join(lines).split())
    assert program in lines[0] and lines[0].startswith(headline) and part in text, done.stdout
    assert lines[-1].endswith(": --full")


def test_an_advice_with_nothing_to_gain_names_the_next_command():
    lines = zerotax("advise", "--", "/bin/sh", "-c", "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done").stdout.splitlines()
    check_screen(lines)
    text = "\n".join(lines)
    assert lines[0].startswith("sh has nothing to gain: zeroing takes ") and "zerotax profile -- /bin/sh -c" in text, text


def test_an_interrupted_advice_fits_one_screen():
    # The program sleeps so long that after 4 s the search has begun but is not done.
    text, _ = interrupt("advise", "--all", "--", "/bin/sh", "-c", "sleep 0.5", after_s=4)
    check_screen(text.splitlines())
    assert text.startswith("No remedy for sh is known yet: ") and "interrupted" in text, text
