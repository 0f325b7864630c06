"""`zerotax compare`: verdicts that follow from the behavior of planted allocators, stored runs, and every output."""

import csv
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest
from answers import check_screen
from refusing import refused
from conftest import BUILD, MIB, NOBODY, PLANTED, SOURCE, check_schema, interrupt, is_na, skip_if_unreadable, zerotax

FEW = ("--touch", 0, "--rounds", 12)
COMPARE_PY = pathlib.Path("/usr/share/benchmark/compare.py")


def library(name):
    return PLANTED / f"libplanted_{name}.so"


def compare(*arguments, status=None, **how):
    done = zerotax("compare", *arguments, "--json", "-", **how)
    assert done.returncode in (0, 1, 3), done.stderr
    found = json.loads(done.stdout)
    check_schema(found, "compare")
    verdicts = {point["verdict"] for point in found["points"]}
    expected = 1 if "SLOWER" in verdicts else 0 if verdicts & {"SAME", "FASTER"} else 3
    assert done.returncode == expected and (status is None or status == expected), done.stdout
    assert found["counts"] == {
        word: sum(point["verdict"] == word for point in found["points"]) for word in found["counts"]}
    return found


def changes(point):
    return {each["figure"]: each["change"] for each in point["work"]}


def verdicts(found):
    return {(point["size_bytes"], point["touch"]): point["verdict"] for point in found["points"]}


@pytest.fixture(scope="module")
def run_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("run") / "run.json"
    done = zerotax("run", "--allocator", "glibc", "--allocator", f"memset={library('memset')}", "--size", "64KiB",
                   "--size", "1MiB", "--touch", 0, "--touch", 1, "--ops", 8, "--json", path)
    assert done.returncode == 0, done.stderr
    return path


def test_who_zeroes_from_a_size_on_is_slower_from_that_size_on():
    # NEW is OLD with a defect: above 256 KiB, NEW clears unused memory.
    found = compare(library("never"), library("memset_above"), "--size", "128KiB", "--size", "16MiB", "--touch", 0,
                    status=1)
    small, large = found["points"]
    # The small point differs only by noise. The noise may be too large for a verdict.
    assert small["verdict"] in ("SAME", "AMBIGUOUS"), small["reason"]
    assert large["verdict"] == "SLOWER", large["reason"]
    assert changes(large)["redundant_zeroed_bytes"] == "more"
    assert set(changes(small).values()) == {"none proven"}
    assert len(large["pairs"]) == found["pairs_per_point"] >= 16
    assert {pair["first"] for pair in large["pairs"]} == {"old", "new"}
    assert large["time"]["interval"]["low"] > 1


def test_figures_that_differ_are_looked_at_again():
    found = compare(library("half"), library("memset"), "--size", "2MiB", *FEW)
    point, = found["points"]
    assert [point[side]["work"]["zeroed_bytes"] for side in ("old", "new")] == [[MIB] * 7, [2 * MIB] * 7]
    # One side zeroes half of the block, and returns the other half to the kernel. This side therefore does more of one
    # kind of work, and less of another kind.
    assert (changes(point)["zeroed_bytes"], changes(point)["syscalls"]) == ("more", "less")


def test_what_only_some_calls_do_is_not_hidden_behind_a_median():
    found = compare(library("never"), library("one_in_seven"), "--size", "4MiB", *FEW)
    point, = found["points"]
    zeroed = set(point["new"]["work"]["zeroed_bytes"])
    # The steady state contains no zeroing call or one, depending on which call is the seventh. All processes behave in
    # the same way.
    assert zeroed == {MIB} and changes(point)["redundant_zeroed_bytes"] == "more", point
    assert point["new"]["modes"][:2] == ["3 of 4 calls: 0 zeroed, 0 of it redundant, 0 populated",
                                         "1 of 4 calls: 4 MiB zeroed, 4 MiB of it redundant, 4 MiB populated"]
    assert "modes" not in point["old"]
    assert any("not alike" in note for note in found["notes"])


def test_an_allocator_is_the_same_as_itself_in_what_it_does():
    found = compare("glibc", "glibc", "--size", "64KiB", "--size", "1MiB", *FEW)
    for point in found["points"]:
        assert set(changes(point).values()) == {"none proven"}, point["work"]
    shuffled = found["false_alarms"]["shuffled"]
    assert shuffled["comparisons"] >= 1000 and shuffled["share"] <= 0.02


@pytest.mark.long("pairs of large blocks; planted allocators have the flaw, too")
@pytest.mark.parametrize(("one", "other", "verdict", "change"),
                         [("jemalloc", "mimalloc", "SLOWER", "more"), ("mimalloc", "jemalloc", "FASTER", "less")])
def test_who_has_the_flaw_is_slower_than_who_has_it_not(one, other, verdict, change):
    # No time is needed for the verdict: every change of a count has the same direction.
    found = compare(one, other, "--size", "20MiB", *FEW)
    for point in found["points"]:
        assert point["verdict"] == verdict, point["reason"]
        assert set(changes(point).values()) == {change}


@pytest.mark.long("pairs of many cells")
def test_mimalloc_against_a_policy_without_its_flaw_is_slower_in_the_right_cells():
    found = compare("largecache", "mimalloc", "--env", "old:LARGECACHE_POLICY=unmap", "--size", "64KiB", "--size", "20MiB",
                    *FEW, status=1)
    small, *large = found["points"]
    # Up to 127 KiB, both sides clear a reused block. Above 127 KiB, one side maps every block, and the other side
    # clears new memory.
    assert not [each for each in small["work"] if each["decides"]]
    for point in large:
        assert point["verdict"] == "SLOWER" and changes(point)["redundant_zeroed_bytes"] == "more", point["reason"]


def test_a_configuration_is_a_side():
    found = compare("glibc", "glibc", "--env", "new:MALLOC_PERTURB_=165", "--size", "64KiB", *FEW)
    assert (found["old"]["what"]["env"], found["new"]["what"]["env"]) == ({}, {"MALLOC_PERTURB_": "165"})


def test_who_crashes_cannot_be_compared():
    found = compare("glibc", f"crash={library('crash')}", "--size", "1MiB", *FEW, status=3)
    point, = found["points"]
    assert point["verdict"] == "INVALID" and point["reason"].startswith("NEW: crashed: ")
    assert point["pairs"] == [] and is_na(point["time"])


def test_a_run_against_itself_is_all_same(run_file):
    found = compare(run_file, run_file, status=0)
    assert {point["verdict"] for point in found["points"]} == {"SAME"} and len(found["points"]) == 8
    assert is_na(found["false_alarms"]["shuffled"])


def test_the_reference_against_itself_is_all_same():
    found = compare(SOURCE / "results/reference", SOURCE / "results/reference/run.json", status=0)
    assert {point["verdict"] for point in found["points"]} == {"SAME"} and len(found["points"]) > 100


def edited(run_file, path, change):
    run = json.loads(run_file.read_text())
    change(run)
    path.write_text(json.dumps(run))
    return path


def test_what_is_counted_is_judged_exactly_between_runs(run_file, tmp_path):
    def change(run):
        run["points"][0]["zeroed_bytes"] += run["points"][0]["size_bytes"]
        for key in ("median", "p05", "p95"):
            run["points"][1]["calloc_ns"][key] *= 100
        run["points"][2].update(status="timeout", reason="not done")
        del run["points"][3]
    found = compare(run_file, edited(run_file, tmp_path / "new.json", change), status=1)
    assert [point["verdict"] for point in found["points"][:4]] == ["SLOWER", "AMBIGUOUS", "INVALID", "INVALID"]
    assert [point["reason"] for point in found["points"][2:4]] == ["NEW: timeout: not done", "NEW: not in NEW"]
    assert {point["verdict"] for point in found["points"][4:]} == {"SAME"}


def test_runs_of_other_conditions_cannot_be_compared(run_file, tmp_path):
    other = edited(run_file, tmp_path / "new.json", lambda run: run["environment"].update(kernel="6.1.0", thp="always"))
    found = compare(run_file, other, status=3)
    assert {point["verdict"] for point in found["points"]} == {"INVALID"}
    assert re.search(r"kernel: .* and 6\.1\.0; thp: .* and always", found["points"][0]["reason"])
    text = zerotax("compare", "--full", run_file, other).stdout
    assert "no paired measurement" in " ".join(text.split())


@pytest.mark.long("a comparison more")
def test_text_fits_a_terminal_and_explains(tmp_path):
    files = {name: tmp_path / f"x.{name}" for name in ("json", "csv", "markdown")}
    done = zerotax("compare", "--full", library("never"), library("memset_above"), "--size", "128KiB", "--size", "16MiB",
                   *FEW, "--thread", "worker", "--explain", 1, "--explain", "calloc_loop/16777216/0/worker",
                   *[word for name, path in files.items() for word in (f"--{name}", path)])
    assert done.returncode == 1, done.stderr
    assert max(map(len, done.stdout.splitlines())) <= 80, done.stdout
    text = " ".join(done.stdout.split())
    assert "verdict: SLOWER: zeroed bytes 0 -> 16,777,216" in text
    assert "corrected interval" in text and "noise band" in text and "False alarms: " in text
    found = json.loads(files["json"].read_text())
    check_schema(found, "compare")
    with open(files["csv"], newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["verdict"] for row in rows] == [point["verdict"] for point in found["points"]]
    assert [int(row["size_bytes"]) for row in rows] == [point["size_bytes"] for point in found["points"]]
    table = [line for line in files["markdown"].read_text().splitlines() if line.startswith("|")]
    assert len(table) == 2 + len(rows)
    assert {line.replace("\\|", "").count("|") for line in table} == {8}


@pytest.mark.long("a comparison more")
def test_googles_compare_reads_what_is_written(tmp_path):
    if not COMPARE_PY.exists():
        pytest.skip("compare.py is missing: install libbenchmark-tools")
    pytest.importorskip("scipy", reason="compare.py needs python3-scipy, with /usr/bin/python3")
    done = zerotax("compare", library("never"), library("memset_above"), "--size", "16MiB", *FEW,
                   "--benchmark-json", tmp_path / "b")
    assert done.returncode == 1, done.stderr
    told = subprocess.run([sys.executable, COMPARE_PY, "benchmarks", tmp_path / "b-old.json", tmp_path / "b-new.json"],
                          capture_output=True, text=True, check=False)
    assert told.returncode == 0, told.stderr
    plain = re.sub(r"\x1b\[[0-9;]*m", "", told.stdout)
    assert plain.count("calloc_loop/16777216/0/main ") >= 12
    pvalue, = re.findall(r"_pvalue\s+([0-9.]+)\s+([0-9.]+)\s+U Test, Repetitions: 12 vs 12", plain)
    assert float(pvalue[0]) < 0.01


def test_a_folder_with_an_allocators_name_is_not_meant(tmp_path):
    (tmp_path / "glibc").mkdir()
    compare("glibc", "glibc", "--size", "64KiB", *FEW, cwd=tmp_path)


@pytest.mark.long("pairs of many cells")
@pytest.mark.skipif(os.geteuid() != 0 or shutil.which("setpriv") is None,
                    reason="only root, with setpriv, can become nobody")
def test_nobody_compares_as_root_does():
    skip_if_unreadable()
    found = compare("jemalloc", "mimalloc", "--size", "20MiB", *FEW, prefix=NOBODY, status=1)
    assert set(changes(found["points"][0]).values()) == {"more"}


def test_files_that_are_no_runs_are_refused(tmp_path, run_file):
    other = tmp_path / "other.json"
    other.write_text('{"schema": "zerotax.record/1"}')
    refused(zerotax("compare", other, run_file), "zerotax.record/1", "results folder")
    refused(zerotax("compare", run_file, run_file, "--size", "1MiB"), "--size", "no effect on stored runs")
    damaged = edited(run_file, tmp_path / "bad.json", lambda run: run["points"][0].pop("syscalls"))
    refused(zerotax("compare", run_file, damaged), "damaged", "syscalls")


def test_a_reason_that_all_points_share_is_said_once(tmp_path, run_file):
    other = edited(run_file, tmp_path / "other.json", lambda run: run["environment"].update(kernel="0.1"))
    done = zerotax("compare", "--full", run_file, other)
    assert done.returncode == 3 and done.stdout.count("kernel: ") == 1 and "\n8 INVALID: kernel: " in done.stdout


def test_commands_that_take_no_library_are_compared_by_their_page_faults():
    static = BUILD / "tests" / "recorded" / "ended-static"
    words = [[static, mib, "exec", "/bin/true"] for mib in (1, 3)]
    done = zerotax("compare", "--rounds", 12, "--json", "-", "--", *words[0], "---", *words[1])
    document = json.loads(done.stdout)
    check_schema(document, "program_compare")
    assert done.returncode == 1 and "page faults" in document["sentence"], document["sentence"]


def test_a_library_is_a_side_and_no_setting():
    refused(zerotax("compare", "--env", "new:LD_PRELOAD=x.so", "--", "true", "---", "true"),
            "--env cannot set LD_PRELOAD", "give the library's path as NEW, or for commands: env LD_PRELOAD=PATH COMMAND")


def test_an_interrupted_comparison_says_so_and_keeps_its_pairs(tmp_path):
    file = tmp_path / "compare.json"
    arguments = ["glibc", "jemalloc", "--size", "64KiB", "--size", "4MiB", "--touch", "1", "--rounds", "200", "--json",
                 str(file)]
    text, _ = interrupt("compare", *arguments, said="measuring pairs: ", after_s=1)
    found = json.loads(file.read_text())
    check_schema(found, "compare")
    assert found["state"] == "interrupted"
    assert sum(len(point["pairs"]) for point in found["points"]) > 0
    check_screen(text.splitlines())
