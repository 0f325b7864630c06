"""The next `zerotax history` or `bisect` removes the files that a killed one left behind, and no other files."""

import contextlib
import fcntl
import os
import pathlib
import signal
import subprocess
import time

import pytest
from conftest import INTERRUPTED_BY_SIGTERM, ZEROTAX, clean_environment
from projects import GOOD, HOW, QUICK, ZEROES, make_project, run, untouched

VERSIONS = [GOOD, GOOD, ZEROES, ZEROES]
HISTORY = ("history", *QUICK, "--range", "main~2..main")
BISECT = ("bisect", "--size", "64KiB", "--good", "main~3", "--bad", "main", "--expect", "zeroed_bytes == 0")
# Shell condition that selects the versions whose build is held: for a bisection, the steps between its ends; for a
# history, all versions.
WITHIN = {HISTORY: "true", BISECT: "! grep -qx -e 1 -e 4 notes"}
PATIENCE_S = 120


def wait_until(answer):
    end = time.monotonic() + PATIENCE_S
    while not (found := answer()):
        assert time.monotonic() < end
        time.sleep(0.02)
    return found


def commands(*texts):
    """Returns the PIDs of all live processes whose command lines contain these texts."""
    found = []
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            line = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            if all(text in line for text in texts):
                found.append(int(folder.name))
    return found


@pytest.fixture(name="project")
def _project(tmp_path):
    folder = tmp_path / "my allocator"
    make_project(folder, VERSIONS)
    return folder


@pytest.fixture(name="temporary")
def _temporary(tmp_path):
    """Returns a folder for TMPDIR. At the end of the test, no process may run that was started with this TMPDIR."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    yield folder
    for process in commands(str(tmp_path), "sleep"):
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)


@contextlib.contextmanager
def started(words, project, temporary, build):
    """Starts the command, and waits until its build is held, which the file `holds` shows. Kills the command at the
    end.
    """
    command = [ZEROTAX, words[0], "--repo", project, *words[1:], "--build", build, *HOW[2:]]
    environment = clean_environment(XDG_CACHE_HOME=str(project.parent / "cache"), TMPDIR=str(temporary))
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            wait_until(lambda: (project.parent / "holds").exists() or process.poll() is not None)
            assert process.poll() is None, process.stderr.read()
            yield process
        finally:
            process.kill()


def held_build(words, project):
    """Returns a build that waits as long as the file `hold` exists."""
    folder = project.parent
    (folder / "hold").touch()
    return (f"if {WITHIN[words]} && test -e {folder}/hold; then touch {folder}/holds; "
            f"sh -c 'sleep 1000; : {folder}'; fi; {HOW[1]}")


def kill(process, project):
    process.kill()
    process.wait()
    (project.parent / "hold").unlink()


def again(words, project, temporary, build):
    return run(words[0], project, project.parent / "cache", *words[1:], "--build", build, *HOW[2:], temporary=temporary)


@pytest.mark.parametrize("words", [HISTORY, pytest.param(BISECT, marks=pytest.mark.long("the same folders"))],
                         ids=["history", "bisect"])
def test_the_next_start_removes_what_a_killed_one_left(words, project, temporary):
    build = held_build(words, project)
    with untouched(project):
        with started(words, project, temporary, build) as process:
            kill(process, project)
        left = {path.name.rsplit("-", 1)[0] for path in temporary.iterdir()}
        assert left == {"zerotax-history", "zerotax-git"}
        assert list(temporary.glob("zerotax-git-*/repository/worktrees/*")), "a git worktree is in it"
        done = again(words, project, temporary, build)
        assert done.returncode in (0, 1) and "interrupted" not in done.stderr, done.stderr
    assert not list(temporary.iterdir())


@pytest.mark.long("two histories")
def test_a_strangers_folder_and_that_of_a_living_one_are_left_alone(project, temporary):
    stranger, living = temporary / "zerotax-history-abcdef", temporary / "zerotax-git-ABCDEF"
    for folder in (stranger, living):
        folder.mkdir(mode=0o700)
        (folder / "output").touch()
    build = held_build(HISTORY, project)
    with started(HISTORY, project, temporary, build) as process, open(living / "lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        # While the command is still running, the next command starts, and has its own folders.
        own = {path.name for path in temporary.iterdir()}
        assert len(own) == 4
        assert run("bisect", project, project.parent, *HOW, *BISECT[1:], temporary=temporary).returncode in (0, 1)
        assert {path.name for path in temporary.iterdir()} == own
        kill(process, project)
        assert again(HISTORY, project, temporary, build).returncode == 0
        assert {path for path in temporary.iterdir()} == {stranger, living}
        assert (stranger / "output").exists() and (living / "output").exists()
    assert run("history", project, project.parent / "cache", *HOW, *HISTORY[1:], temporary=temporary).returncode == 0
    assert list(temporary.iterdir()) == [stranger]


def test_a_compiler_that_is_ended_by_sigterm_leaves_nothing(project, temporary):
    # gcc creates the assembler's output file before it starts the assembler. The test holds the assembler.
    holder = project.parent / "holder.sh"
    holder.write_text(f"""#!/bin/sh
case $1 in *as) touch {project.parent}/holds; sh -c 'sleep 1000; : {project.parent}';; esac
exec "$@"
""")
    holder.chmod(0o755)
    build = HOW[1].replace("-shared", f"-wrapper '{holder}' -shared")
    with untouched(project), started(HISTORY, project, temporary, build) as process:
        assert list(temporary.rglob("cc*.s"))
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == INTERRUPTED_BY_SIGTERM, errors
    assert not list(temporary.iterdir())
