"""`zerotax study` puts points, thresholds, summary and figures into one folder, even after interruptions."""

import json
import shutil
import signal
import subprocess
import time

import pytest
from conftest import (
    INTERRUPTED_BY_SIGINT, SOURCE, ZEROTAX, check_schema, clean_environment, planted, read_folder, without_progress, zerotax)

FILES = {"plan.json", "run.json", "points.jsonl", "points.csv", "thresholds.json", "refill_thresholds.json", "edges.json",
         "findings.json", "workloads.json", "summary.json", "summary.md"}
LANES = [("glibc", 0, "main"), ("glibc", 1, "main")]


def studied(folder, *words):
    """Runs a quick study of glibc. Returns the study's folder and output."""
    done = zerotax("study", "--allocator", "glibc", *words, "--full", "--out", folder, timeout=900)
    assert done.returncode == 0, done.stderr
    return folder, done.stdout


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """A study of counts only, because timing passes would take as long again."""
    return studied(tmp_path_factory.mktemp("study") / "out", "--audit-only")


def thresholds_in(folder):
    found = json.loads((folder / "thresholds.json").read_text())
    check_schema(found, "thresholds")
    return found


def lanes_in(found):
    return sorted((lane["allocator"], lane["touch"], lane["thread"]) for lane in found["lanes"])


def check_cliffs(folder, findings):
    """Checks that the metrics of a cliff come from the two sizes in its title, which differ by one byte."""
    edges = json.loads((folder / "edges.json").read_text())
    check_schema(edges, "run")
    cliff, = [each for each in findings if each["id"] == "glibc-cliff-33550313"]
    sizes = [each["size_bytes"] for each in cliff["evidence"]]
    assert sizes == [33_550_312, 33_550_313] * (len(sizes) // 2)
    assert {each["size_bytes"] for each in edges["points"]} >= set(sizes)
    assert cliff["title"].startswith("one byte more than 33,550,312, and ")
    # glibc clears the requested bytes and the rest of the block's chunk.
    below = cliff["evidence"][0]["figures"]["zeroed_bytes"]
    assert 33_550_312 <= below <= 33_550_312 + 16 and f"zeroed bytes go from {below:,} to 0" in cliff["title"]


def test_everything_is_in_the_folder(study):
    folder, said = study
    run, points = read_folder(folder)
    assert (run["state"], run["plan"]["study"]) == ("complete", "quick")
    assert {path.name for path in folder.iterdir()} >= FILES
    assert {point["status"] for point in points} == {"ok"}
    found = thresholds_in(folder)
    assert lanes_in(found) == LANES
    assert {(lane["from_bytes"], lane["to_bytes"]) for lane in found["lanes"]} == {(64 << 10, 160 << 20)}
    assert str(folder) in said and "thresholds.json" in said
    findings = json.loads((folder / "findings.json").read_text())
    check_schema(findings, "findings")
    # glibc's cliff is found only if thresholds were searched.
    assert "glibc-redundant-reuse-20MiB" in [each["id"] for each in findings["findings"]]
    check_cliffs(folder, findings["findings"])
    refill = json.loads((folder / "refill_thresholds.json").read_text())
    check_schema(refill, "thresholds")
    assert refill["case"] == "refill_loop" and {lane["touch"] for lane in refill["lanes"]} == {1}
    assert (folder / "summary.md").read_text() in said
    workloads = json.loads((folder / "workloads.json").read_text())
    check_schema(workloads, "workloads")
    recordings = list((SOURCE / "harness/program/replay/workloads").glob("*.calls"))
    assert workloads["complete"] and len(workloads["workloads"]) == len(recordings) == 12
    assert all([each["allocator"]["name"] for each in workload["replays"]] == ["glibc"] for workload in workloads["workloads"])
    check_schema(json.loads((folder / "summary.json").read_text()), "summary")
    assert zerotax("findings", folder, "--summary", "--full").stdout == (folder / "summary.md").read_text()
    if "figures)" in said:
        assert (folder / "thresholds_map.svg").exists()


@pytest.mark.long("a study with times takes minutes")
def test_with_times_and_another_allocator(tmp_path):
    folder, said = studied(tmp_path / "out", *planted("planted_never"))
    findings = json.loads((folder / "findings.json").read_text())["findings"]
    # An allocator that maps a fresh block each time has no cliff.
    assert {each["rule"] for each in findings if each["allocator"] == "planted_never"} == {"purge-storm", "refill-storm"}
    workloads = json.loads((folder / "workloads.json").read_text())
    assert all([each["allocator"]["name"] for each in workload["replays"]] == ["glibc", "planted_never"]
               for workload in workloads["workloads"])
    assert workloads["sentence"].startswith("Of 12 real programs, ") and workloads["sentence"] in " ".join(said.split())
    page = (folder / "report.html").read_text()
    assert "planted_never" in page
    if "figures)" in said:
        assert (folder / "headline.png").exists()


def test_the_page_of_the_run_is_its_last_word(study):
    folder, said = study
    assert said.rstrip().endswith(f"Page: {folder}/report.html (one file, for any browser)")
    page = (folder / "report.html").read_text()
    assert page.startswith("<!DOCTYPE html>") and "glibc" in page
    before = (folder / "report.html").read_bytes()
    again = subprocess.run(["/usr/bin/python3", SOURCE / "plots" / "write_page.py", folder], capture_output=True,
                           text=True, check=False)
    assert again.returncode == 0, again.stderr
    assert (folder / "report.html").read_bytes() == before


def test_without_python_s_modules_the_study_says_what_to_install(study, tmp_path):
    folder = tmp_path / "out"
    shutil.copytree(study[0], folder)
    (folder / "report.html").unlink()
    for module in ("matplotlib", "jinja2"):
        (tmp_path / f"{module}.py").write_text("raise ImportError('as if it were not installed')\n")
    done = zerotax("study", "--resume", folder, PYTHONPATH=str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert "zerotax: no page: no python3 with jinja2 was found (apt-get install python3-jinja2)" in done.stderr
    assert "zerotax: no figures: no python3 with matplotlib was found (apt-get install python3-matplotlib)" in done.stderr
    assert "Page:" not in done.stdout and not (folder / "report.html").exists()


def begin(*arguments):
    return subprocess.Popen([ZEROTAX, "study", *map(str, arguments)], env=clean_environment(), stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True)


@pytest.mark.parametrize("number", [signal.SIGINT, pytest.param(signal.SIGKILL, marks=pytest.mark.long("another whole search"))])
def test_lanes_that_were_searched_are_kept(study, tmp_path, number):
    folder = tmp_path / "out"
    shutil.copytree(study[0], folder)
    (folder / "thresholds.json").unlink()
    with begin("--resume", folder) as run:
        deadline = time.monotonic() + 300
        while not (folder / "thresholds.json").exists() and time.monotonic() < deadline:
            time.sleep(0.005)
        run.send_signal(number)
        _, errors = run.communicate(timeout=20)
    assert run.returncode == (INTERRUPTED_BY_SIGINT if number == signal.SIGINT else -number)
    before = thresholds_in(folder)
    assert 1 <= len(before["lanes"]) < len(LANES)
    if number == signal.SIGINT:  # only the run that SIGKILL ended is resumed below
        assert f"zerotax study --resume {folder}" in without_progress(errors)
        return

    # No search produces this value, so the value shows whether the lane was searched again.
    before["lanes"][0]["probes"] += 1_000_000
    (folder / "thresholds.json").write_text(json.dumps(before))
    done = zerotax("study", "--resume", folder)
    assert done.returncode == 0, done.stderr
    after = thresholds_in(folder)
    assert lanes_in(after) == LANES
    assert after["probes"] > 1_000_000
    key = [(entry["allocator"], entry["touch"], entry["at_bytes"]) for entry in after["thresholds"]]
    assert key == [(entry["allocator"], entry["touch"], entry["at_bytes"]) for entry in thresholds_in(study[0])["thresholds"]]


@pytest.mark.long("that lanes are kept takes the same path")
def test_workloads_that_were_replayed_are_kept(study, tmp_path):
    folder = tmp_path / "out"
    shutil.copytree(study[0], folder)
    workloads = json.loads((folder / "workloads.json").read_text())
    workloads["complete"] = False
    workloads["workloads"][3]["complete"] = False
    # No replay produces this value, so the value shows whether the replay was repeated.
    for workload in workloads["workloads"]:
        workload["replays"][0]["counts"]["peak_bytes"] = 7
    (folder / "workloads.json").write_text(json.dumps(workloads))
    assert zerotax("study", "--resume", folder).returncode == 0
    after = json.loads((folder / "workloads.json").read_text())
    assert after["complete"] and all(workload["complete"] for workload in after["workloads"])
    peaks = [workload["replays"][0]["counts"]["peak_bytes"] for workload in after["workloads"]]
    assert [i for i, peak in enumerate(peaks) if peak != 7] == [3]
    (folder / "workloads.json").write_text("{}")
    done = zerotax("study", "--resume", folder)
    assert done.returncode == 2 and "workloads.json" in done.stderr and done.stderr.count("\n") == 1


@pytest.mark.parametrize("damage", ["[]", "{", '{"schema": "zerotax.thresholds/1"}', '{"schema": "x", "lanes": []}'])
def test_damaged_thresholds_are_refused_and_stay(study, tmp_path, damage):
    folder = tmp_path / "out"
    shutil.copytree(study[0], folder)
    (folder / "thresholds.json").write_text(damage)
    done = zerotax("study", "--resume", folder)
    assert done.returncode == 2
    assert "thresholds.json" in done.stderr
    assert (folder / "thresholds.json").read_text() == damage


def test_a_run_of_chosen_points_is_no_study(tmp_path):
    folder = tmp_path / "out"
    assert zerotax("run", "--allocator", "glibc", "--size", "64KiB", "--ops", 2, "--out", folder).returncode == 0
    done = zerotax("study", "--resume", folder)
    assert done.returncode == 2
    assert f"zerotax run --resume {folder}" in done.stderr
    assert not (folder / "summary.md").exists()
