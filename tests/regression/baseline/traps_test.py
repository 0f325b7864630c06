"""Settings that a command line omits are taken from the baseline, or must be given. Nothing is guessed."""
import json

import pytest
from check_test import SOURCE, bless, check, library
from conftest import check_schema, zerotax

BASELINES = SOURCE / "tests" / "regression" / "baselines"
SMALL = ["--size", "1MiB"]


@pytest.fixture(scope="module")
def glibc(tmp_path_factory):
    file = tmp_path_factory.mktemp("glibc") / "mine.json"
    done = zerotax("bless", "--allocator", "glibc", "--baseline", file, *SMALL)
    assert done.returncode == 0, done.stderr
    return file


@pytest.fixture(scope="module")
def mine(tmp_path_factory):
    file = tmp_path_factory.mktemp("mine") / "mine.json"
    bless("planted_never", file, *SMALL)
    return file


def refused(*words):
    done = zerotax(*words)
    assert done.returncode == 2, done.stdout
    line, = done.stderr.splitlines()
    return line


def test_without_an_allocator_the_one_that_the_baseline_names_is_measured(glibc):
    done = zerotax("check", "--full", "--baseline", glibc, *SMALL)
    assert done.returncode == 0, done.stdout
    assert "Measured glibc, which the baseline names." in done.stdout


def test_an_allocator_that_is_not_built_in_is_asked_for_with_the_command_to_give(mine):
    assert f"zerotax check --allocator mine=PATH --baseline {mine}" in refused("check", "--baseline", mine)


def test_the_baseline_of_another_built_in_allocator_is_refused(glibc):
    line = refused("check", "--allocator", "jemalloc", "--baseline", glibc)
    assert "is a baseline of glibc, not of jemalloc" in line and "zerotax compare glibc jemalloc" in line


def test_a_library_may_have_another_name_and_is_accepted_under_that_of_the_baseline(mine):
    word = f"new={library('planted_zeroes_fresh')}"
    done = zerotax("check", "--full", "--allocator", word, "--baseline", mine, "--only", "zeroed_bytes")
    assert done.returncode == 1
    assert "The baseline is of mine; new is compared with it." in done.stdout
    assert f"zerotax bless --allocator mine={library('planted_zeroes_fresh')} --baseline {mine}" in done.stdout


def test_the_settings_of_the_baseline_are_used(glibc, tmp_path):
    file = tmp_path / "set.json"
    file.write_text(json.dumps({**json.loads(glibc.read_text()), "env": {"NOBODY_READS_THIS": "1"}}))
    done = zerotax("check", "--baseline", file, "--only", "home", "--json", "-")
    assert done.returncode == 0, done.stdout
    found, = json.loads(done.stdout)["checks"]
    assert found["allocator"]["env"] == {"NOBODY_READS_THIS": "1"}
    assert "Measured with NOBODY_READS_THIS=1, as the baseline was." in found["notes"]
    file.write_text(json.dumps({**json.loads(glibc.read_text()), "env": {"LD_PRELOAD": "/x.so"}}))
    assert "LD_PRELOAD" in refused("check", "--baseline", file)


def test_a_folder_without_a_baseline_says_which_versions_it_has(tmp_path):
    line = refused("check", "--allocator", "glibc", "--baseline", tmp_path)
    assert "no baseline for glibc" in line and "zerotax bless --allocator glibc --baseline" in line
    (tmp_path / "glibc-1.0.json").write_text("{}")
    assert f"give --baseline {tmp_path}/glibc-1.0.json" in refused("check", "--allocator", "glibc", "--baseline", tmp_path)


def test_bless_overwrites_only_a_baseline_of_the_same_allocator_and_settings(mine, tmp_path):
    kept = mine.read_text()
    for words in (["--allocator", f"other={library('planted_never')}"],
                  ["--allocator", f"mine={library('planted_never')}", "--env", "mine:X=1"]):
        assert "not overwritten" in refused("bless", *words, "--baseline", mine)
    note = tmp_path / "note.txt"
    note.write_text("mine")
    assert "is not a baseline" in refused("bless", "--allocator", "glibc", "--baseline", note)
    assert (mine.read_text(), note.read_text()) == (kept, "mine")
    bless("planted_never", mine, *SMALL)
    bless("planted_never", note, *SMALL, "--force")
    check_schema(json.loads(note.read_text()), "baseline")


def test_what_differs_between_the_machines_is_named_beside_the_changes(mine, tmp_path):
    old = json.loads(mine.read_text())
    old["measured_on"] = {"kernel": "5.10.0", "cpu": "any", "thp": "always"}
    file = tmp_path / "old.json"
    file.write_text(json.dumps(old))
    said = " ".join(check("planted_never", file, "--only", "home", status=0).split())
    assert "measured elsewhere" not in said
    report = tmp_path / "check.json"
    said = " ".join(check("planted_zeroes_fresh", file, "--json", report, status=1).split())
    assert "The baseline was measured elsewhere: kernel: 5.10.0 before" in said
    document = json.loads(report.read_text())
    check_schema(document, "check")
    conditions = {entry["name"]: entry for entry in document["checks"][0]["conditions"]}
    assert conditions["transparent huge pages"]["may_explain"] is True
    assert (conditions["CPUs"]["before"], conditions["CPUs"]["may_explain"]) == ("unknown", False)


def test_an_older_baseline_without_faults_is_compared_on_what_it_has(mine, tmp_path):
    old = json.loads(mine.read_text())
    for point in old["points"]:
        for key in ("calloc_faults", "touch_faults", "free_faults", "kernel_zeroed_bytes", "returned_bytes"):
            del point[key]
    file = tmp_path / "old.json"
    file.write_text(json.dumps(old))
    check("planted_never", file, status=0)
    first = check("planted_zeroes_fresh", file, status=1).splitlines()[0]
    assert first == "worse: every calloc of 1 MiB now zeroes fresh memory: 0 → 1,048,576 bytes populated by calloc at 1 MiB"


def test_a_tolerance_makes_a_difference_none_and_says_so(mine, tmp_path):
    changed = json.loads(mine.read_text())
    for point in changed["points"]:
        # more than a tenth of any block in this test; a smaller difference alone is no change
        point["calloc_faults"] += 1000
    file = tmp_path / "changed.json"
    file.write_text(json.dumps(changed))
    assert check("planted_never", file, status=0).startswith("better: "), "fewer faults"
    check("planted_never", file, "--strict", status=1)
    said = check("planted_never", file, "--strict", "--tolerance", "calloc_faults=1000", "--explain", status=0)
    assert "not compared, within the tolerance: calloc_loop 1 MiB touch 0 main, calloc_faults" in said
    check("planted_never", file, "--strict", "--tolerance", "calloc_faults=999", status=1)
    assert "left out by --only" in check("planted_never", file, "--strict", "--only", "zeroed_bytes", status=0)
