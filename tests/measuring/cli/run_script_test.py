"""Tests that ./run reports packages that it cannot install, and that ./run does not repeat work."""
import os
import shutil
import subprocess

import pytest
from conftest import BUILD, NOBODY, SOURCE, open_to_nobody


def front_door(tmp_path, packages):
    """A copy of ./run with another list of packages beside it."""
    shutil.copy(SOURCE / "run", tmp_path / "run")
    (tmp_path / "packages.txt").write_text(packages)
    open_to_nobody(tmp_path, 0o755)
    return tmp_path / "run"


def without_sudo(tmp_path):
    """A PATH with the tools that ./run needs, but without sudo."""
    tools = tmp_path / "bin"
    tools.mkdir()
    for tool in ("sh", "dirname", "dpkg-query", "apt-get", "id", "cat", "mktemp", "cmake"):
        found = shutil.which(tool)
        if found:
            (tools / tool).symlink_to(found)
    return {"PATH": str(tools)}


@pytest.mark.skipif(shutil.which("dpkg-query") is None, reason="this is no Debian")
def test_who_may_not_install_is_given_the_exact_command(tmp_path):
    if os.geteuid() == 0 and shutil.which("setpriv") is None:
        pytest.skip("setpriv is missing: install util-linux")
    run = front_door(tmp_path, "# a comment\nno-such-package-1\nbash\nno-such-package-2  # lint\nno-such-package-3  # test\n"
                     "no-such-package-4  # run\n")
    prefix = [shutil.which("setpriv"), *NOBODY[1:]] if os.geteuid() == 0 else []
    done = subprocess.run([*prefix, "/bin/sh", str(run), "build"], env=without_sudo(tmp_path), capture_output=True,
                          text=True, check=False, stdin=subprocess.DEVNULL)
    assert done.returncode == 2, done
    assert "apt-get update && apt-get install -y --no-install-recommends no-such-package-1 no-such-package-4\n" in done.stderr
    assert "no-such-package-2" not in done.stderr, "only ./run lint needs it"
    assert "no-such-package-3" not in done.stderr, "only ./run test needs it"


def test_an_unknown_command_is_refused_and_the_known_ones_are_shown(tmp_path):
    done = subprocess.run(["/bin/sh", str(front_door(tmp_path, "")), "stduy"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "unknown command 'stduy'" in done.stderr
    assert "study" in done.stderr and "test" in done.stderr


def test_help_is_on_standard_output_with_status_0(tmp_path):
    done = subprocess.run(["/bin/sh", str(front_door(tmp_path, "")), "--help"], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "usage: ./run" in done.stdout


@pytest.mark.skipif(shutil.which("flock") is None, reason="flock is missing: install util-linux")
def test_two_at_once_do_not_build_in_one_folder(tmp_path):
    """Uses a fake cmake, which reports whether another cmake is running."""
    run = front_door(tmp_path, "")
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "cmake").write_text("#!/bin/sh\n[ \"$1\" = --preset ] && { : >build/build.ninja; exit; }\n"
                                 "mkdir busy || echo overlap >>said\nsleep 1\nrmdir busy\necho built >>said\n")
    (tools / "cmake").chmod(0o755)
    both = [subprocess.Popen(["/bin/sh", run, "build"], env={**os.environ, "PATH": f"{tools}:{os.environ['PATH']}"},
                             stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    errors = "".join(each.communicate(timeout=60)[1] for each in both)
    assert [each.returncode for each in both] == [0, 0], errors
    assert (tmp_path / "said").read_text() == "built\nbuilt\n" and "waiting for another ./run" in errors


@pytest.mark.skipif(not (BUILD / "build.ninja").exists(), reason="not built by ninja")
def test_a_second_build_does_nothing():
    done = subprocess.run(["ninja", "-C", str(BUILD)], capture_output=True, text=True, check=False)
    assert "no work to do" in done.stdout, done.stdout[-400:]
