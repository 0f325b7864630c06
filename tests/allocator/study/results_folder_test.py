"""If a results folder disappears during a run, the run ends at the next point. Paths in results contain no redundant
parts.
"""

import json
import shutil
import subprocess
import time

import pytest
from conftest import KIB, PLANTED, ZEROTAX, clean_environment, measure, options, zerotax

SIZES = [256 * KIB + KIB * i for i in range(150)]


def run_until_lines(folder, lines):
    run = subprocess.Popen(
        [ZEROTAX, "run", "--allocator", "glibc", "--ops", "8", *options("size", SIZES), "--out", str(folder)],
        env=clean_environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    file = folder / "points.jsonl"
    for _ in range(3000):
        if file.exists() and file.read_bytes().count(b"\n") >= lines:
            return run
        assert run.poll() is None
        time.sleep(0.01)
    raise AssertionError("waited for half a minute in vain")


def test_a_folder_that_is_deleted_ends_the_run_at_the_next_point(tmp_path):
    folder = tmp_path / "out"
    run = run_until_lines(folder, 3)
    shutil.rmtree(folder)
    _, errors = run.communicate(timeout=20)
    assert run.returncode == 2
    assert f"the results folder {folder} and its " in errors.splitlines()[-1]
    assert " deleted during the run" in errors.splitlines()[-1]
    assert int(errors.split(" and its ")[1].split()[0]) < len(SIZES) // 2
    assert not folder.exists()


def test_a_folder_that_is_moved_keeps_its_points_and_can_be_resumed(tmp_path):
    folder = tmp_path / "out"
    run = run_until_lines(folder, 3)
    folder.rename(tmp_path / "elsewhere")
    _, errors = run.communicate(timeout=20)
    assert run.returncode == 2 and "was moved during the run" in errors
    points = (tmp_path / "elsewhere" / "points.jsonl").read_text().splitlines()
    assert len(points) >= 3 and all(json.loads(line)["status"] == "ok" for line in points)


@pytest.mark.parametrize("path", ["../planted/libplanted_never.so", "./libplanted_never.so"])
def test_the_path_of_an_allocator_is_told_without_detours(path):
    run = measure("--allocator", f"mine={PLANTED}/{path}", "--size", 256 * KIB, "--ops", 8)
    assert run["points"][0]["preload"] == str(PLANTED / "libplanted_never.so")
    assert run["allocators"][0]["preload"] == str(PLANTED / "libplanted_never.so")


def test_a_detour_over_a_link_still_names_the_same_file(tmp_path):
    # If w is a link, w/.. is the parent of the folder that w leads to, not the folder that contains w.
    (tmp_path / "real" / "deep").mkdir(parents=True)
    shutil.copy(PLANTED / "libplanted_never.so", tmp_path / "real" / "lib.so")
    (tmp_path / "w").symlink_to(tmp_path / "real" / "deep")
    done = zerotax("run", "--allocator", f"mine={tmp_path}/w/../lib.so", "--size", 256 * KIB, "--ops", 8, "--json", "-")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["points"][0]["preload"] == str(tmp_path / "real" / "lib.so")
