"""Unusable input ends with status 2 and one line that names the problem and its remedy. Nothing is overwritten."""

import json
import os
import pathlib
import resource
import shutil
import subprocess

import pytest
from conftest import (
    KIB, MIB, PLANTED, ZEROTAX, clean_environment, csv_rows, measure, planted, read_folder, zerotax)
from refusing import refused

QUICK = ("--allocator", "glibc", "--size", "64KiB", "--ops", "2")
# A usable malloc replacement. A refusal must therefore have a different cause.
NEVER = planted("planted_never")


def snapshot(folder):
    return {path: path.read_bytes() if path.is_file() else None for path in sorted(folder.rglob("*"))}


def test_a_preload_that_is_no_malloc_replacement_is_refused(tmp_path):
    text = tmp_path / "notes.txt"
    text.write_text("not a library\n")
    empty = tmp_path / "empty.so"
    empty.touch()
    blank = tmp_path / "with blank.so"
    shutil.copy(PLANTED / "libplanted_never.so", blank)
    cut = tmp_path / "cut.so"
    cut.write_bytes((PLANTED / "libplanted_never.so").read_bytes()[:1000])
    before = snapshot(tmp_path)
    for path, words in [
            (tmp_path / "absent.so", ["absent.so", "no library"]), (tmp_path, ["not a file"]),
            (text, ["notes.txt", "not a shared library"]), (empty, ["empty.so", "not a shared library"]),
            (blank, ["with blank.so", "preload"]), (cut, ["cut.so"]), ("", ["library"]),
            ("/lib/x86_64-linux-gnu/libm.so.6", ["libm.so.6", "malloc"]),
            (PLANTED / "libplanted_partial.so", ["libplanted_partial.so", "calloc"])]:
        done = zerotax("run", "--allocator", f"x={path}", "--size", "64KiB", "--out", tmp_path / "out")
        refused(done, *words)
        assert snapshot(tmp_path) == before


@pytest.mark.parametrize("option", ["--json", "--out"])
def test_output_that_cannot_be_written_is_refused_before_anything_is_measured(tmp_path, option):
    # Permissions would not stop root. Below a file, and in /proc, not even root can write.
    file = tmp_path / "file"
    file.write_text("mine")
    before = snapshot(tmp_path)
    for path in [file / "out", "/proc/nope", "/proc/nope/out", ""]:
        refused(zerotax("run", *QUICK, option, path), str(path))
    assert snapshot(tmp_path) == before


def test_an_out_folder_that_holds_something_is_left_alone(tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    (out / "thesis.tex").write_text("mine")
    before = snapshot(tmp_path)
    refused(zerotax("run", *QUICK, "--out", out), str(out), "not empty", "--resume")
    assert snapshot(tmp_path) == before


def test_a_full_disk_is_named_and_the_old_file_kept(tmp_path):
    refused(zerotax("run", *QUICK, "--json", "/dev/full"), "/dev/full", "No space left")
    done = in_small_tmpfs(
        tmp_path, """echo '{"schema": "zerotax.run/1"}' > disk/j; """
                  "head -c 1M /dev/zero > disk/full 2> full; zerotax run $QUICK --json disk/j; "
                  "status=$?; cp disk/j .; exit $status")
    refused(done, "disk/j", "No space left")
    assert (tmp_path / "j").read_text() == '{"schema": "zerotax.run/1"}\n'


def test_a_results_folder_on_a_full_disk_keeps_what_was_finished_and_is_resumed_when_there_is_room(tmp_path):
    sizes = " ".join(f"--size {64 + i}KiB" for i in range(12))
    done = in_small_tmpfs(
        tmp_path, f"zerotax run --allocator glibc --ops 8 {sizes} --out disk/out; status=$?; mkdir kept; "
                  "cp disk/out/* kept; mount -o remount,size=4m disk; zerotax run --resume disk/out > table; "
                  "echo $? > resumed; cp -r disk/out .; exit $status")
    refused(done, "disk/out", "No space left", "--resume disk/out")
    kept = [line for line in (tmp_path / "kept" / "points.jsonl").read_text().splitlines(keepends=True)
            if line.endswith("\n")]
    assert 0 < len(kept) < 12
    assert (tmp_path / "resumed").read_text() == "0\n"
    run, points = read_folder(tmp_path / "out")
    assert (run["state"], len(points), len(csv_rows(tmp_path / "out"))) == ("complete", 12, 12)
    assert (tmp_path / "out" / "points.jsonl").read_text().startswith("".join(kept))


def in_small_tmpfs(folder, script):
    """Runs a script in `folder`, where `disk` is a file system of a few pages."""
    (folder / "disk").mkdir()
    mount = "mount -t tmpfs -o size=24k tmpfs disk"
    unshare = ["unshare", "--mount", "sh", "-c"]
    if os.geteuid() != 0 or subprocess.run([*unshare, mount], cwd=folder, capture_output=True, check=False).returncode:
        pytest.skip("a small file system cannot be mounted here: run as root")
    return subprocess.run(
        [*unshare, f"{mount} && {script}"], cwd=folder, capture_output=True, text=True, check=False,
        env=clean_environment(PATH=f"{ZEROTAX.parent}:{os.environ['PATH']}", QUICK=" ".join(QUICK)))


@pytest.fixture(scope="module")
def finished_folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("finished") / "out"
    done = zerotax("run", *QUICK, "--out", folder)
    assert done.returncode == 0, done.stderr
    return folder


def change(name, edit):
    def spoil(folder):
        path = folder / name
        document = json.loads(path.read_text())
        edit(document)
        path.write_text(json.dumps(document))
    return spoil


def remove(name):
    return lambda folder: (folder / name).unlink()


def overwrite(name, text):
    return lambda folder: (folder / name).write_text(text)


SPOILED = {
    "no folder": (shutil.rmtree, ["cannot read"]),
    "no plan": (remove("plan.json"), ["plan.json", "cannot read"]),
    "no run.json": (remove("run.json"), ["run.json", "cannot read"]),
    "a cut plan": (overwrite("plan.json", '{"schema": "zerotax.plan/1", "allo'), ["plan.json", "not JSON"]),
    "an empty plan": (overwrite("plan.json", ""), ["plan.json", "not JSON"]),
    "a plan that is a list": (overwrite("plan.json", "[1]"), ["plan.json", "schema"]),
    "a cut run.json": (overwrite("run.json", "{"), ["run.json", "not JSON"]),
    "a run.json that is a number": (overwrite("run.json", "7"), ["run.json", "schema"]),
    "a later run schema": (
        change("run.json", lambda run: run.update(schema="zerotax.run/99")), ["zerotax.run/99", "new folder"]),
    "a run schema that is a number": (change("run.json", lambda run: run.update(schema=7)), ["run.json", "schema"]),
    "no run schema": (change("run.json", lambda run: run.pop("schema")), ["run.json", "schema"]),
    "a start that is a number": (change("run.json", lambda run: run.update(started=7)), ["run.json"]),
    "a later plan schema": (
        change("plan.json", lambda plan: plan.update(schema="zerotax.plan/99")), ["zerotax.plan/99", "new folder"]),
    "a plan schema that is null": (change("plan.json", lambda plan: plan.update(schema=None)), ["plan.json", "schema"]),
    "a plan without points": (change("plan.json", lambda plan: plan.pop("points")), ["plan.json", "damaged"]),
    "a plan with words for numbers": (
        change("plan.json", lambda plan: plan.update(timeout_s="soon")), ["plan.json", "damaged"]),
    "a point of another allocator": (
        change("plan.json", lambda plan: plan["points"][0].update(allocator="other")), ["plan.json", "'other'"]),
    "a point of an unknown case": (
        change("plan.json", lambda plan: plan["points"][0].update(case="other")), ["plan.json", "'other'"]),
    "a point of negative size": (
        change("plan.json", lambda plan: plan["points"][0].update(size_bytes=-5)), ["plan.json", "-5"]),
    "another version of the allocator": (
        change("plan.json", lambda plan: plan["allocators"][0].update(version="1.0")), ["1.0", "new folder"]),
    "points that are a folder": (
        lambda folder: (remove("points.jsonl")(folder), (folder / "points.jsonl").mkdir()), ["points.jsonl"]),
}


@pytest.mark.parametrize(("spoil", "words"), SPOILED.values(), ids=SPOILED)
def test_a_folder_that_cannot_be_resumed_is_refused_and_left_as_it_is(tmp_path, finished_folder, spoil, words):
    folder = tmp_path / "out"
    shutil.copytree(finished_folder, folder)
    spoil(folder)
    before = snapshot(tmp_path)
    refused(zerotax("run", "--resume", folder), *words)
    assert snapshot(tmp_path) == before


def test_resume_of_a_file_is_refused(tmp_path):
    file = tmp_path / "file"
    file.write_text("mine")
    refused(zerotax("run", "--resume", file), str(file))
    assert file.read_text() == "mine"


def test_resume_takes_no_other_plan(tmp_path, finished_folder):
    folder = tmp_path / "out"
    shutil.copytree(finished_folder, folder)
    before = snapshot(tmp_path)
    refused(zerotax("run", "--resume", folder, "--size", "1MiB"), "--size")
    refused(zerotax("run", "--resume", folder, "--out", tmp_path / "new"), "--out")
    assert snapshot(tmp_path) == before


def test_more_memory_than_the_machine_has_is_a_skipped_point_and_no_error():
    run = measure("--allocator", "glibc", "--size", "64KiB", "--size", "100000GiB", "--ops", "2")
    ok, skipped = run["points"]
    assert (ok["status"], skipped["status"]) == ("ok", "skipped")
    assert "memory" in skipped["reason"]
    # A skipped point must not warm up memory, because a warm-up would take half a minute.
    largest_child_kib = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    assert largest_child_kib * KIB < 1024 * MIB


def test_a_machine_without_the_probes_ends_with_status_3_and_how_to_build_them(tmp_path):
    done = zerotax("run", *QUICK, ZEROTAX_PROBE_DIR=tmp_path)
    assert done.returncode == 3
    assert done.stderr.count("\n") == 1
    assert str(pathlib.Path(tmp_path) / "bench-glibc") in done.stderr and "build" in done.stderr
