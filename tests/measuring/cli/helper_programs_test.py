"""A helper program that is interrupted or killed is not mistaken for a missing one, and leaves no files."""

import os
import signal
import subprocess

import pytest
from conftest import BUILD, INTERRUPTED_BY_SIGINT, ZEROTAX, clean_environment
from waiting import wait_for

# The script records that it has started, leaves a file as compilers do, and then runs the text `act`.
FAKE = """#!/bin/sh
echo begun >"$TMPDIR/left-behind"
touch "$MARK"
{act}
"""
# contract runs the compiler only for a broken promise, so this suite pretends that a promise is broken.
LIAR = BUILD / "tests" / "contract-liar"
LIES = {"ZEROTAX_CONTRACT_SUITE": str(LIAR), "ZEROTAX_CONTRACT_LIE": "dontneed-nothing"}
# Names of helper programs, and the commands that need each of them.
COMMANDS = {
    "python3": ["cow", "--svg", "x.svg", "--", "/bin/true"],
    "apt-get": ["run", "--allocator", "x=deb:sid/libjemalloc2", "--size", "64KiB"],
}


def run_with(name, act, folder):
    tools, temporary = folder / "tools", folder / "temporary"
    for each in (tools, temporary, folder / "cache"):
        each.mkdir()
    (tools / name).write_text(FAKE.format(act=act))
    (tools / name).chmod(0o755)
    environment = clean_environment(PATH=f"{tools}:{os.environ['PATH']}", TMPDIR=temporary, MARK=folder / "begun",
                                    XDG_CACHE_HOME=folder / "cache", HOME=folder)
    return subprocess.Popen([ZEROTAX, *COMMANDS[name]], cwd=folder, env=environment, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True)


def left(folder):
    return [str(path) for path in (folder / "temporary").rglob("*")]


@pytest.mark.parametrize("name", COMMANDS)
def test_ctrl_c_while_one_runs_is_an_interruption(name, tmp_path):
    with run_with(name, "exec sleep 600", tmp_path) as run:
        assert wait_for((tmp_path / "begun").exists)
        run.send_signal(signal.SIGINT)
        errors = run.communicate(timeout=60)[1]
    assert run.returncode == INTERRUPTED_BY_SIGINT, errors
    assert "interrupted" in errors.splitlines()[-1] and "install" not in errors, errors
    assert left(tmp_path) == []


@pytest.mark.parametrize("name", COMMANDS)
def test_one_that_was_killed_is_not_missing(name, tmp_path):
    with run_with(name, "kill -KILL $$", tmp_path) as run:
        errors = run.communicate(timeout=120)[1]
    assert run.returncode == 3, errors
    assert "killed by SIGKILL" in errors and "apt-get install" not in errors, errors
    assert left(tmp_path) == []


def test_ctrl_c_while_a_compiler_runs_is_an_interruption(tmp_path):
    if not LIAR.exists():
        pytest.skip("this build has no suite that lies")
    compiler, temporary = tmp_path / "cc", tmp_path / "temporary"
    temporary.mkdir()
    compiler.write_text(FAKE.format(act="exec sleep 600"))
    compiler.chmod(0o755)
    with subprocess.Popen([ZEROTAX, "contract", "--promise", "dontneed"], cwd=tmp_path, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True,
                          env=clean_environment(CC=compiler, TMPDIR=temporary, MARK=tmp_path / "begun", **LIES)) as run:
        assert wait_for((tmp_path / "begun").exists)
        run.send_signal(signal.SIGINT)
        errors = run.communicate(timeout=60)[1]
    assert run.returncode == INTERRUPTED_BY_SIGINT, errors
    assert left(tmp_path) == []
