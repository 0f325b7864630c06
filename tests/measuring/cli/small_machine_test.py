"""On a machine with too few resources, the exit status is 3 with the true reason. The command never reports the lack of
resources as a finding about an allocator.
"""

import os
import shutil
import subprocess

import pytest
from conftest import BUILD, KIB, SOURCE, ZEROTAX, clean_environment, planted, skip_if_unreadable

GLIBC = ["--allocator", "glibc"]
COMMANDS = {
    "run": ["run", *GLIBC, "--size", "64MiB", "--ops", 8],
    "study": ["study", *GLIBC, "--out", "out"],
    "thresholds": ["thresholds", *GLIBC, "--from", "64MiB", "--to", "128MiB"],
    "bless": ["bless", *GLIBC, "--baseline", "b.json"],
    "check": ["check", *GLIBC, "--baseline", SOURCE / "tests" / "regression" / "baselines"],
    "compare": ["compare", "glibc", "glibc", "--size", "64MiB", "--touch", 0],
    "compare along": ["compare", "glibc", "largecache", "--along", "size", "--from", "32MiB", "--to", "64MiB"],
    "report": ["report", *GLIBC, "--out", "out"],
    "profile": ["profile", *GLIBC, "--size", "64KiB", "--seconds", "0.1"],
}
EVERY = pytest.mark.parametrize("words", COMMANDS.values(), ids=COMMANDS)


def run_in(tmp_path, prefix, words):
    return subprocess.run([*map(str, prefix), ZEROTAX, *map(str, words)], cwd=tmp_path, env=clean_environment(),
                          capture_output=True, text=True, timeout=60, check=False)


def limited(tmp_path, limit, words):
    return run_in(tmp_path, ["sh", "-c", f'ulimit {limit}; exec "$@"', "sh"], words)


def check_refused(done, *reasons):
    assert done.returncode == 3, (done.returncode, done.stdout[:500], done.stderr[:500])
    last = done.stderr.splitlines()[-1]
    assert last.startswith("zerotax: ")
    for reason in reasons:
        assert reason in last
    for wrong in ("defect", "build it", "unknown case", "different builds"):
        assert wrong not in done.stderr
    assert "case.calloc_loop" not in done.stdout  # a key in the probe's description of itself


@EVERY
def test_an_address_space_that_is_too_small_is_named(words, tmp_path):
    check_refused(limited(tmp_path, "-v 60000", words), "ulimit -v 60000")


@EVERY
def test_too_few_descriptors_are_named(words, tmp_path):
    check_refused(limited(tmp_path, "-n 6", words), "ulimit -n 6")


def test_a_limit_of_file_sizes_is_named(tmp_path):
    check_refused(limited(tmp_path, "-f 1", COMMANDS["run"]), "ulimit -f")


def test_a_crash_where_memory_is_limited_is_no_finding(tmp_path):
    done = limited(tmp_path, "-v 4000000", ["run", *planted("planted_crash"), "--size", 256 * KIB, "--ops", 8])
    check_refused(done, "planted_crash: killed by SIGSEGV in calloc, operation 3", "ulimit -v 4000000")


def test_a_limit_that_leaves_room_is_no_hindrance(tmp_path):
    done = limited(tmp_path, "-v 4000000", COMMANDS["run"])
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become a user with no other process")
def test_too_few_processes_are_named(tmp_path):
    skip_if_unreadable()
    tmp_path.chmod(0o777)
    nobody_else = ["setpriv", "--reuid=64321", "--regid=64321", "--clear-groups", "prlimit", "--nproc=1:1"]
    check_refused(run_in(tmp_path, nobody_else, COMMANDS["run"]), "ulimit -u 1")


@pytest.mark.skipif(os.geteuid() != 0 or shutil.which("unshare") is None, reason="only root can hide /proc")
@EVERY
def test_a_missing_proc_is_named(words, tmp_path):
    hide = ["unshare", "-m", "sh", "-c", 'mount -t tmpfs none /proc; exec "$@"', "sh"]
    if subprocess.run([*hide, "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("mounts are not permitted here")
    check_refused(run_in(tmp_path, hide, words), "/proc is not mounted")


def test_shared_memory_that_is_denied_is_named(tmp_path):
    check_refused(run_in(tmp_path, [BUILD / "tests" / "planted" / "without-memfd"], COMMANDS["run"]), "memfd_create",
                  "seccomp")


# Commands that start threads and read kernel events about a process.
WATCHES = {
    "record --pid": ["record", "--pid", "PID", "--seconds", "0.3"],
    "profile --pid": ["profile", "--pid", "PID", "--seconds", "0.3"],
    "profile": ["profile", "--", "/bin/true"],
    "cow": ["cow", "--", "/bin/true"],
    "record": ["record", "--calls", "x.calls", "--force", "--", "/bin/true"],
    "snapshot": ["snapshot", "--allocator", "glibc", "--size", "4MiB", "--alternative", "fork"],
}


@pytest.mark.parametrize("name", WATCHES)
def test_no_amount_of_memory_ends_a_watch_by_a_signal(name, tmp_path):
    """The steps are so small that each allocation, mapping and thread is the first to fail at some limit."""
    with subprocess.Popen(["/bin/sleep", "600"]) as program:
        try:
            words = [str(program.pid) if word == "PID" else word for word in WATCHES[name]]
            for kib in range(50_000, 300_000, 25_000):
                done = limited(tmp_path, f"-v {kib}", words)
                assert done.returncode in (0, 1, 3), (kib, done.returncode, done.stderr[-500:])
                if done.returncode == 3:
                    last = done.stderr.splitlines()[-1]
                    assert last.startswith("zerotax: ") and "defect" not in last, (kib, done.stderr[-500:])
        finally:
            program.kill()
    assert not [path for path in os.listdir("/dev/shm") if path.startswith("zerotax")]


@pytest.mark.parametrize("name", ["profile --pid", "record --pid", "cow"])
def test_a_thread_that_may_not_be_started_is_named(name, tmp_path):
    if os.geteuid() != 0 or shutil.which("setpriv") is None:
        pytest.skip("needs root, to become a user without other processes")
    skip_if_unreadable()
    # The limit counts all processes of one user together.
    somebody = ["setpriv", "--reuid=64322", "--regid=64322", "--clear-groups"]
    with subprocess.Popen([*somebody, "/bin/sleep", "600"]) as program:
        try:
            words = [str(program.pid) if word == "PID" else word for word in WATCHES[name]]
            ends = set()
            for processes in range(1, 5):
                done = run_in("/", ["prlimit", f"--nproc={processes}", *somebody], words)
                assert done.returncode in (0, 2, 3), (processes, done.returncode, done.stderr[-500:])
                assert "defect" not in done.stderr, done.stderr
                ends.add(done.returncode)
            assert 3 in ends
        finally:
            program.kill()
