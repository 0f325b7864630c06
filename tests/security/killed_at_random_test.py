"""Commands that are killed or stopped at a random moment leave nothing behind: no process, file, worktree, shared
memory, cgroup or kernel event. After SIGKILL, the next command removes what the killed command left behind.
"""

import ctypes
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import time

import pytest

from conftest import BUILD, SOURCE, ZEROTAX, clean_environment
from waiting import wait_for

sys.path.append(str(SOURCE / "tests" / "regression" / "bisect"))
from projects import GOOD, HOW, QUICK, ZEROES, make_project, untouched  # noqa: E402

RECORDED = BUILD / "tests" / "recorded"
SLEEP = ["/bin/sleep", "600"]
BUSY = ["/usr/bin/python3", "-c", "while True: bytearray(10**6)"]
GLIBC = ["--allocator", "glibc"]
# {pid} is a process that allocates nonstop, {out} a folder for this command only, {project} a git repository.
COMMANDS = {
    "run": ["run", *GLIBC, "--size", "64KiB", "--size", "20MiB", "--out", "{out}/run"],
    "loop": ["run", "--loop", *GLIBC, "--size", "1MiB", "--seconds", "60", "--json", "{out}/loop.json"],
    "study": ["study", *GLIBC, "--allocator", "jemalloc", "--out", "{out}/study"],
    "thresholds": ["thresholds", *GLIBC, "--json", "{out}/thresholds.json"],
    "check": ["check", *GLIBC, "--baseline", str(SOURCE / "tests/regression/baselines"), "--json", "{out}/check.json"],
    "bless": ["bless", "--baseline", "{out}/baseline.json", "--", *BUSY[:2], "bytearray(10**7)"],
    "compare": ["compare", "glibc", "jemalloc", "--size", "1MiB", "--json", "{out}/compare.json"],
    "record": ["record", "--json", "{out}/record.json", "--", *SLEEP],
    "record --calls": ["record", "--calls", "{out}/a.calls", "--svg", "{out}/a.svg", "--", *BUSY],
    "record --pid": ["record", "--pid", "{pid}", "--seconds", "60", "--json", "{out}/outside.json"],
    "record --sizes": ["record", "--pid", "{pid}", "--sizes", "--seconds", "60", "--json", "{out}/sizes.json"],
    "record --all": ["record", "--all", "--seconds", "60", "--json", "{out}/all.json"],
    "profile": ["profile", "--pid", "{pid}", "--seconds", "60", "--json", "{out}/profile.json"],
    "cow": ["cow", "--json", "{out}/cow.json", "--", *SLEEP],
    "cow --pid": ["cow", "--pid", "{pid}", "--stacks", "--json", "{out}/cow.json"],
    "fork": ["fork", "--json", "{out}/fork.json"],
    "snapshot": ["snapshot", "--json", "{out}/snapshot.json"],
    "advise": ["advise", "--json", "{out}/advise.json", "--", str(RECORDED / "trims")],
    "top": ["top", "--samples", "100", "--interval", "0.2", "--json", "{out}/top.jsonl"],
    "trace run": ["trace", "run", "--out", "{out}/trace", "--", *SLEEP],
    "contract": ["contract", "--json", "{out}/contract.json"],
    "doctor": ["doctor", "--json", "{out}/doctor.json"],
    "report": ["report", "--allocator", "tcmalloc", "--out", "{out}/report"],
    "history": ["history", "--repo", "{project}", *HOW, *QUICK, "--range", "main~2..main", "--out", "{out}/history"],
    "bisect": ["bisect", "--repo", "{project}", *HOW, "--size", "64KiB", "--good", "main~3", "--bad", "main", "--expect",
               "zeroed_bytes == 0", "--json", "{out}/bisect.json"],
}
SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL, signal.SIGSTOP]
PR_SET_CHILD_SUBREAPER = 36
PATIENCE_S = 120


def children():
    """Returns the living descendants of this process. This process also becomes the parent of processes that a killed
    command leaves behind.
    """
    found = {}
    for task in pathlib.Path("/proc/self/task").iterdir():
        for pid in (task / "children").read_text().split():
            try:
                state = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
                line = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            except (FileNotFoundError, ProcessLookupError):
                continue
            if state in "ZX":
                continue
            found[int(pid)] = line
    return found


def of_the_kernel():
    """Returns the names of objects outside the commands' folders that commands may create: shared memory, cgroups and
    events.
    """
    found = {str(path) for folder in ("/dev/shm", "/run") for path in pathlib.Path(folder).glob("*zerotax*")}
    found |= {str(path) for path in pathlib.Path("/sys/fs/cgroup").glob("**/*zerotax*") if path.is_dir()}
    for events in ("/sys/kernel/tracing", "/sys/kernel/debug/tracing"):
        try:
            found |= set(pathlib.Path(events, "uprobe_events").read_text().splitlines())
        except OSError:
            continue
    return found


def reap():
    """Reaps the zombies among the adopted processes."""
    try:
        while os.waitpid(-1, os.WNOHANG) != (0, 0):
            pass
    except ChildProcessError:
        pass


@pytest.fixture(scope="module", name="project")
def _project(tmp_path_factory):
    folder = tmp_path_factory.mktemp("project") / "allocator"
    make_project(folder, [GOOD, GOOD, ZEROES, ZEROES])
    return folder


@pytest.fixture(name="busy")
def _busy():
    with subprocess.Popen(BUSY) as process:
        yield process
        assert process.poll() is None, "the watched process has ended"
        process.kill()


def half_written(folder):
    """Returns the files of a results folder that no reader may find there: unfinished files and damaged JSON."""
    found = []
    for path in folder.rglob("*"):
        if path.name.endswith((".new", ".tmp")):
            found.append(path.name)
        elif path.suffix in (".json", ".jsonl"):
            text = path.read_text()
            try:
                for part in text.splitlines() if path.suffix == ".jsonl" else [text]:
                    json.loads(part)
            except ValueError:
                found.append(path.name)
    return found


def filled(word, **values):
    """Replaces the placeholders in braces in one word of a command. Braces of a build command are kept."""
    for name, value in values.items():
        word = word.replace("{" + name + "}", str(value))
    return word


def kill_at_random(name, number, delay_s, folder, project, busy):
    out, temporary, cache = folder / "out", folder / "temporary", folder / "cache"
    for each in (out, temporary, cache):
        each.mkdir(parents=True)
    environment = clean_environment(TMPDIR=str(temporary), XDG_CACHE_HOME=str(cache))
    words = [filled(word, pid=busy.pid, out=out, project=project) for word in COMMANDS[name]]
    before = of_the_kernel()
    errors_file = folder / "errors"
    with errors_file.open("wb") as to, subprocess.Popen([ZEROTAX, *words], env=environment, stdout=subprocess.DEVNULL,
                                                        stderr=to, start_new_session=True) as run:
        time.sleep(delay_s)
        run.send_signal(number)
        if number == signal.SIGSTOP:  # after SIGCONT, the stopped command can be ended
            time.sleep(0.2)
            run.send_signal(signal.SIGCONT)
            run.send_signal(signal.SIGTERM)
        try:
            run.wait(timeout=PATIENCE_S)
        finally:
            run.kill()  # otherwise, the end of `with` would wait forever for a command that hangs
    errors = errors_file.read_text(errors="replace")
    # Python itself reports where SIGINT ended the recorded program.
    tracebacks = [] if BUSY[-1] in words and "KeyboardInterrupt" in errors else ["Traceback"]
    for wrong in ("terminate called", *tracebacks, "defect", "internal error"):
        assert wrong not in errors, errors

    def strays():
        reap()
        # SIGKILL cannot be passed on, so a program that a killed command started continues to run, as in a shell.
        programs = [" ".join(each) for each in (SLEEP, BUSY)] if number == signal.SIGKILL else []
        found = {pid: line for pid, line in children().items() if pid != busy.pid}
        for pid in [pid for pid, line in found.items() if line.strip() in programs]:
            os.kill(pid, signal.SIGKILL)
            del found[pid]
        return found

    left = strays()
    if left:
        wait_for(lambda: not strays(), 20)
        left = strays()
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    assert not left, f"still runs: {left}"
    if number == signal.SIGKILL:  # the next command removes what the killed command left behind
        subprocess.run([ZEROTAX, "record", "--", "/bin/true"], env=environment, capture_output=True, timeout=PATIENCE_S,
                       check=False)
    else:
        assert not half_written(out)
        assert not list(temporary.rglob("*")), "files in TMPDIR"
    assert of_the_kernel() <= before, of_the_kernel() - before


def kill_many(count, seed, folder, project, busy):
    assert ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0
    choose = random.Random(seed)
    names = [name for name in COMMANDS if os.geteuid() == 0 or name not in ("record --sizes", "record --all")]
    failures = []
    with untouched(project):
        for turn in range(count):
            name, number = names[turn % len(names)], choose.choice(SIGNALS)
            delay_s = choose.choice([0.01, 0.05, 0.2, 0.5, 1.0]) * choose.uniform(0.5, 1.5)
            try:
                kill_at_random(name, number, delay_s, folder / str(turn), project, busy)
            except (AssertionError, subprocess.TimeoutExpired) as failure:
                failures.append(f"{name}, {number.name} after {delay_s:.3f} s: {str(failure).splitlines()[0]}")
    assert not failures, "\n".join(failures)


def test_what_is_killed_at_random_leaves_nothing(tmp_path, project, busy):
    kill_many(len(COMMANDS), 58, tmp_path, project, busy)


@pytest.mark.long("three hundred commands")
def test_three_hundred_commands_killed_at_random_leave_nothing(tmp_path, project, busy):
    kill_many(300, int(os.environ.get("ZEROTAX_TEST_SEED", "1")), tmp_path, project, busy)
