"""`zerotax bisect` names the commit that a test planted, and leaves the repository unchanged."""

import json
import os
import signal
import subprocess
import time

import pytest
from conftest import INTERRUPTED_BY_SIGINT, KIB, ZEROTAX, check_schema, clean_environment, mostly_long
from projects import BROKEN, GOOD, HOW, ZEROES, builds_in, git, make_project, run, untouched
from refusing import refused

COMMITS, PLANTED, DO_NOT_BUILD = 40, 23, (8, 20, 31)


def version(number):
    return BROKEN if number in DO_NOT_BUILD else ZEROES if number >= PLANTED else GOOD


@pytest.fixture(scope="module", name="project")
def _project(tmp_path_factory):
    folder = tmp_path_factory.mktemp("of forty") / "my allocator"
    return folder, make_project(folder, map(version, range(1, COMMITS + 1)), [("v1.0", 1)])


@pytest.fixture(scope="module", name="cache")
def _cache(tmp_path_factory):
    return tmp_path_factory.mktemp("builds")


@pytest.fixture(scope="module", name="found")
def _found(project, cache):
    """Returns (the checked document, the text, the report) of a bisection of all forty commits, in a tree with changes.
    """
    folder, _ = project
    (folder / "policy.h").write_text("not even C")
    with untouched(folder):
        done = run("bisect", folder, cache, *HOW, "--good", "v1.0", "--bad", "main", "--size", "64KiB", "--expect",
                   "zeroed_bytes == 0", "--json", cache / "bisect.json", "--report", cache / "report.md")
    assert done.returncode == 0, done.stderr
    document = json.loads((cache / "bisect.json").read_text())
    check_schema(document, "bisect")
    return document, done.stdout, (cache / "report.md").read_text()


def test_it_names_the_planted_commit(project, found):
    document, text, _ = found
    planted = project[1][PLANTED - 1]
    assert document["first_bad"]["commit"] == planted
    assert document["first_bad"]["before"]["commit"] == project[1][PLANTED - 2]
    assert f"commit {planted}" in text and "Ada <ada@example.org>" in text and f"Step {PLANTED}:" in text


def test_it_says_what_was_measured_before_and_after(found):
    document, text, _ = found
    assert document["first_bad"]["value"] == "zeroed_bytes is 65,536"
    assert document["first_bad"]["before"]["value"] == "zeroed_bytes is 0"
    assert "zeroed_bytes is 65,536" in text
    assert any("zeroed_bytes" in change for change in document["first_bad"]["difference"]["changes"])
    assert any(finding["name"].startswith("redundant") for finding in document["first_bad"]["findings"])


def test_it_shows_which_files_the_commit_changed(found):
    document, text, _ = found
    assert "policy.h" in document["first_bad"]["diffstat"] and "policy.h" in text


def test_it_asks_no_more_than_a_bisection_must(found):
    assert 4 <= len(found[0]["steps"]) <= 9 and found[0]["between"] == COMMITS - 1


def test_versions_that_do_not_build_are_skipped(found, project):
    skipped = {step["commit"] for step in found[0]["steps"] if step["answer"] == "skipped"}
    assert skipped <= {project[1][number - 1] for number in DO_NOT_BUILD}


def test_lines_have_eighty_columns(found):
    # The path of a log is a single word, so its line may be long.
    assert max(len(line) for line in found[1].splitlines() if "build.log" not in line) <= 80


def test_the_draft_has_finding_commit_and_figures(found, project):
    report = found[2]
    for words in (project[1][PLANTED - 1], "zeroed_bytes is 65,536", "zeroed_bytes is 0", "policy.h", "git bisect",
                  "kernel", f"Step {PLANTED}"):
        assert words in report, words


@pytest.mark.long("a bisection more")
def test_a_second_bisection_builds_nothing(found, project, cache):
    before = builds_in(cache)
    # In a bare clone, bisects another effect of the same commit.
    git(project[0].parent, "clone", "--quiet", "--bare", project[0], cache / "bare.git")
    with untouched(cache / "bare.git"):
        done = run("bisect", cache / "bare.git", cache, *HOW, "--good", "v1.0", "--bad", "main", "--size", "64KiB",
                   "--expect", "redundant-fresh == 0", "--json", "-", CC="/bin/false")
    assert json.loads(done.stdout)["first_bad"]["commit"] == found[0]["first_bad"]["commit"], done.stderr
    assert builds_in(cache) == before


@pytest.mark.long("a bisection more")
def test_without_an_expectation_any_change_counts(project, cache):
    done = run("bisect", project[0], cache, *HOW, "--good", f"main~{COMMITS - 20 - 1}", "--bad", "main~14", "--size", "64KiB",
               "--no-thresholds", "--json", "-")
    document = json.loads(done.stdout)
    check_schema(document, "bisect")
    assert document["first_bad"]["commit"] == project[1][PLANTED - 1]


@pytest.mark.parametrize(("expect", "value"), mostly_long([
    ("populated_bytes < 4KiB", "populated_bytes is 65,536"),
    ("first.zeroed_bytes <= 1", "first.zeroed_bytes is 65,536"),
    ("zeroed_method == none", "zeroed_method is memset"),
    ("calloc_faults < 8", "calloc_faults is 1"),
], [("first.zeroed_bytes <= 1", "first.zeroed_bytes is 65,536")], "expectation_test.cc parses each kind"))
def test_other_metrics_and_words_can_be_expected(project, cache, expect, value):
    done = run("bisect", project[0], cache, *HOW, "--good", f"main~{COMMITS - PLANTED + 1}", "--bad",
               f"main~{COMMITS - PLANTED}", "--size", "64KiB", "--expect", expect, "--json", "-")
    document = json.loads(done.stdout)
    assert document["first_bad"]["commit"] == project[1][PLANTED - 1], done.stderr
    assert document["first_bad"]["value"].startswith(value)


def test_where_neighbours_do_not_build_the_candidates_are_named(tmp_path):
    commits = make_project(tmp_path / "p", [GOOD, GOOD, BROKEN, BROKEN, ZEROES, ZEROES])
    done = run("bisect", tmp_path / "p", tmp_path, *HOW, "--good", "main~5", "--bad", "main", "--size", "64KiB", "--expect",
               "zeroed_bytes == 0", "--json", tmp_path / "bisect.json")
    assert done.returncode == 1, done.stderr
    document = json.loads((tmp_path / "bisect.json").read_text())
    check_schema(document, "bisect")
    assert {commit["commit"] for commit in document["candidates"]} == set(commits[2:5])
    assert "Not decided: one of 3 commits" in done.stdout and all(commit[:10] in done.stdout for commit in commits[2:5])


@pytest.mark.long("a search of thresholds in each version")
def test_a_threshold_can_be_expected(tmp_path):
    commits = make_project(tmp_path / "p", [GOOD, GOOD, str(1024 * KIB)])
    done = run("bisect", tmp_path / "p", tmp_path, *HOW, "--good", "main~2", "--bad", "main", "--expect", "threshold != 1MiB",
               "--size", "64KiB",
               "--to", "2MiB", "--json", "-")
    document = json.loads(done.stdout)
    check_schema(document, "bisect")
    assert document["first_bad"]["commit"] == commits[2]
    assert "1,048,576" in document["first_bad"]["value"]


def test_an_interrupted_bisection_leaves_nothing_behind(project, tmp_path):
    mark = f"8{os.getpid()}.25"
    build = f"grep -qx 1 notes || grep -qx 40 notes || {{ setsid sleep {mark} & sleep {mark}; }}; {HOW[1]}"
    (tmp_path / "temporary").mkdir()
    with untouched(project[0]), subprocess.Popen(
            [ZEROTAX, "bisect", "--repo", project[0], "--build", build, *HOW[2:], "--good", "v1.0", "--bad", "main", "--size",
             "64KiB", "--expect", "zeroed_bytes == 0"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env=clean_environment(XDG_CACHE_HOME=str(tmp_path), TMPDIR=str(tmp_path / "temporary"))) as command:
        while subprocess.run(["pgrep", "-f", f"^sleep {mark}"], check=False, stdout=subprocess.PIPE).returncode != 0:
            assert command.poll() is None
            time.sleep(0.05)
        command.send_signal(signal.SIGINT)
        text, errors = command.communicate(timeout=60)
    assert command.returncode == INTERRUPTED_BY_SIGINT and "only what is missing" in errors.splitlines()[-1]
    assert "Interrupted before the commit was found" in text
    assert subprocess.run(["pgrep", "-f", f"sleep {mark}"], check=False).returncode == 1
    assert not list((tmp_path / "temporary").iterdir())


def test_good_and_bad_must_be_what_they_are_said_to_be(project, cache):
    words = [*HOW, "--size", "64KiB", "--expect"]
    with untouched(project[0]):
        refused(run("bisect", project[0], cache, *words, "zeroed_bytes > 0", "--good", "v1.0", "--bad", "main"), "--good v1.0",
                "zeroed_bytes is 0", "zeroed_bytes is 65,536")
        refused(run("bisect", project[0], cache, *words, "zeroed_bytes == 0", "--good", "v1.0", "--bad", "main~30"), "--bad",
                "zeroed_bytes is 0")
        refused(run("bisect", project[0], cache, *words, "zeroed_bytes == 0", "--good", "main", "--bad", "v1.0"),
                "is not as expected", "give a later version")
        refused(run("bisect", project[0], cache, *words, "zeroed_bytes == 0", "--good", "v1.0", "--bad",
                    f"main~{COMMITS - DO_NOT_BUILD[2]}"), "cannot be measured", "does not build")
        refused(run("bisect", project[0], cache, *HOW, "--no-thresholds", "--size", "64KiB", "--good", "v1.0", "--bad", "v1.0"),
                "are the same commit")
