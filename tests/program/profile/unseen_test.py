"""zerotax profile reports work that it cannot sample: processes that live for less than a sampling period."""

import json
import os
import shutil
import subprocess

import pytest
from conftest import BUILD, NOBODY, ZEROTAX, check_schema, clean_environment, open_to_nobody, skip_if_unreadable, zerotax

SHORT_LIVES = BUILD / "tests" / "recorded" / "short_lives"
LIVES = 3000


def run_profile(tmp_path, *words, prefix=()):
    done = subprocess.run([*prefix, ZEROTAX, "profile", "--full", *map(str, words), "--", SHORT_LIVES, str(LIVES)],
                          capture_output=True, text=True, check=False, env=clean_environment(), cwd=tmp_path)
    return done


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may sample CPUs")
def test_root_sees_processes_that_are_shorter_than_a_sampling_period(tmp_path):
    if zerotax("profile", "--json", "-", "--", "/bin/true").returncode == 3:
        pytest.skip("this kernel permits no sampling")
    done = run_profile(tmp_path, "--json", tmp_path / "profile.json")
    found = json.loads((tmp_path / "profile.json").read_text())
    check_schema(found, "profile")
    assert done.returncode == 0, done.stderr
    assert found["method"]["samples_of"] == "CPUs"
    # If each thread were sampled by its own clock, only one thread in a hundred would be sampled.
    assert found["unseen"]["share"] < 0.5
    assert "Call graph" in done.stderr
    # Programs of others on the sampled CPUs must not be in the tree.
    assert {root["function"] for root in found["tree"]} == {"short_lives"}


@pytest.mark.long("a busy program more")
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
@pytest.mark.skipif(shutil.which("setpriv") is None, reason="setpriv is missing: install util-linux")
def test_where_most_goes_unseen_there_is_no_call_tree(tmp_path):
    skip_if_unreadable()
    open_to_nobody(tmp_path)
    done = run_profile(tmp_path, "--json", "profile.json", "--folded", "folded", "--svg", "flame.svg", prefix=NOBODY)
    assert done.returncode == 3, done.stderr
    if "does not permit sampling" in done.stderr:
        pytest.skip("this kernel permits no sampling without privileges")
    assert "of which less than half was sampled" in done.stderr and " was not sampled (" in done.stderr
    assert "Call graph" not in done.stderr and "no call tree" in done.stderr
    found = json.loads((tmp_path / "profile.json").read_text())
    check_schema(found, "profile")
    assert found["unseen"]["share"] > 0.5 and found["exit_status"] == 0
    assert "as root" in found["unseen"]["remedy"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["profile.json"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
@pytest.mark.skipif(shutil.which("setpriv") is None, reason="setpriv is missing: install util-linux")
def test_nobody_cannot_sample_a_program_that_has_more_rights_than_they(tmp_path):
    skip_if_unreadable()
    program = next((p for p in ("/bin/su", "/usr/bin/mount", "/usr/bin/passwd") if os.path.exists(p)), None)
    if program is None or not os.stat(program).st_mode & 0o4000:
        pytest.skip("there is no setuid program here")
    done = subprocess.run([*NOBODY, ZEROTAX, "profile", "--", program, "--help"], capture_output=True, text=True, check=False,
                          env=clean_environment(), cwd="/")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (3, "", 1), done.stderr
    assert "setuid" in done.stderr
