"""A process puts something else at the path of its perf map. Root's command does not hang, open a device, or show data
that the process's user may not read.
"""

import contextlib
import os
import pathlib
import shutil

import pytest
from attacking import HERE, MARKER, PYTHON, Opened, attacker, ends, make_device, memory_folder, root_only

pytestmark = root_only


@contextlib.contextmanager
def code_maker(*words):
    with attacker(PYTHON, HERE / "makes_code.py", *words) as pid:
        try:
            yield pid
        finally:
            laid = pathlib.Path(f"/tmp/perf-{pid}.map")
            shutil.rmtree(laid) if laid.is_dir() else laid.unlink(missing_ok=True)


@pytest.fixture(scope="module", name="targets")
def files_of_root():
    with memory_folder() as folder:
        make_device(f"{folder}/device")
        with open(f"{folder}/secret", "w", encoding="ascii") as file:
            file.write(f"1000 7fffffff0000 {MARKER}\n")
        os.chmod(f"{folder}/secret", 0o600)
        # A map file that is older than the process would be rejected.
        os.utime(f"{folder}/secret", (1 << 32, 1 << 32))
        yield folder


@pytest.mark.parametrize("how", ["pipe", "folder", "socket", "huge", "garbage", "link device", "link secret", "bind device",
                                 "bind secret"])
def test_what_lies_at_the_name_of_a_perf_map_is_left_alone(targets, how):
    how, *names = how.split()
    opened = Opened(f"{targets}/device")
    with code_maker(how, *(f"{targets}/{name}" for name in names)) as pid:
        text = ends("profile", "--seconds", 0.3, "--json", "-", "--pid", pid)
    assert opened.names() == set()
    assert MARKER not in text


def test_a_perf_map_names_what_another_user_made():
    with code_maker("good") as pid:
        assert "made_here" in ends("profile", "--seconds", 0.3, "--json", "-", "--pid", pid)
