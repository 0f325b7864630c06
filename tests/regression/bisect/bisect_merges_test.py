"""`zerotax bisect` on merged lines of commits: it follows first parents, describes a merge, and finds the commit in the
merged line.

`bisect` finds fixes as well as regressions.
"""

import json

import pytest

from conftest import check_schema
from projects import BROKEN, GOOD, HOW, ZEROES, make_graph, run, untouched
from refusing import refused


@pytest.fixture(scope="module", name="cache")
def _cache(tmp_path_factory):
    return tmp_path_factory.mktemp("builds")


def bisected(folder, cache, good, bad, *options, status=0):
    """Returns the document of a bisection for `zeroed_bytes == 0`, and its text."""
    with untouched(folder):
        done = run("bisect", folder, cache, *HOW, "--good", good, "--bad", bad, "--size", "64KiB", "--expect",
                   "zeroed_bytes == 0", "--json", cache / "bisect.json", "--report", cache / "report.md", *options)
    assert done.returncode == status, done.stderr
    document = json.loads((cache / "bisect.json").read_text())
    check_schema(document, "bisect")
    # The path of a log is a single word, so its line may be long.
    assert max(len(line) for line in done.stdout.splitlines() if "build.log" not in line) <= 80
    return document, " ".join(done.stdout.split())


def answers(document):
    """Returns the answer of each version, by the version's commit."""
    return {each["commit"]: each["answer"] for each in [document["good"], document["bad"], *document["steps"]]}


# The line `side` zeroes from s2 on. The merge m brings this behavior to main.
BROUGHT = [("a", GOOD, []), ("s1", GOOD, ["a"]), ("s2", ZEROES, ["s1"]), ("s3", ZEROES, ["s2"]), ("b", GOOD, ["a"]),
           ("m", ZEROES, ["b", "s3"]), ("c", ZEROES, ["m"])]


def test_the_merge_is_named_and_the_commit_that_it_brought(tmp_path, cache):
    named = make_graph(tmp_path / "p", BROUGHT)
    document, text = bisected(tmp_path / "p", cache, named["a"], named["c"])
    assert document["first_bad"]["commit"] == named["m"] and document["first_bad"]["before"]["commit"] == named["b"]
    assert document["origin"]["commit"] == named["s2"] and document["origin"]["value"] == "zeroed_bytes is 65,536"
    [merge] = document["merges"]
    assert [(each["commit"], each["answer"]) for each in merge["parents"]] == [(named["b"], "good"), (named["s3"], "bad")]
    assert f"its parent {named['s3'][:10]} brought it" in text and f"{named['s2'][:10]} is the first" in text
    # The document shows the commit that made the change, with the commit's files.
    assert f"commit {named['s2']} author" in text and named["c"] not in text
    # Every answer that the result depends on was measured.
    assert {answers(document)[named[name]] for name in ("b", "s1")} == {"good"}
    assert {answers(document)[named[name]] for name in ("m", "s2", "s3")} == {"bad"}
    report = (cache / "report.md").read_text()
    assert named["s2"] in report and "Step s2" in report


def test_first_parents_alone_are_followed_if_that_is_asked_for(tmp_path, cache):
    named = make_graph(tmp_path / "p", BROUGHT)
    document, text = bisected(tmp_path / "p", cache, named["a"], named["c"], "--first-parent")
    assert document["first_bad"]["commit"] == named["m"] and "na" in document["origin"]
    assert named["s1"] not in answers(document) and "Without --first-parent, the line of that parent is searched as well" in text


def test_a_commit_of_another_line_that_the_merge_left_out_is_not_named(tmp_path, cache):
    """The case of mimalloc v2.2.6 to v2.2.7. Another line had the same change, which was lost when that line was
    merged.
    """
    line = [("a", GOOD, []), ("s1", ZEROES, ["a"]), ("s2", ZEROES, ["s1"]), ("b", GOOD, ["a"]), ("m", GOOD, ["b", "s2"]),
            ("c", GOOD, ["m"]), ("d", ZEROES, ["c"]), ("e", ZEROES, ["d"])]
    named = make_graph(tmp_path / "p", line)
    document, _ = bisected(tmp_path / "p", cache, named["a"], named["e"])
    assert document["first_bad"]["commit"] == named["d"] and document["merges"] == []
    assert document["first_bad"]["before"]["answer"] == "good"


def test_a_merge_can_do_it_itself(tmp_path, cache):
    named = make_graph(tmp_path / "p", [("a", GOOD, []), ("s", GOOD, ["a"]), ("b", GOOD, ["a"]), ("m", ZEROES, ["b", "s"]),
                                        ("c", ZEROES, ["m"])])
    document, text = bisected(tmp_path / "p", cache, named["a"], named["c"])
    assert document["first_bad"]["commit"] == named["m"] and "na" in document["origin"]
    assert "made the change itself: each of its parents is as expected" in text


def test_a_merge_within_the_line_that_was_merged_is_followed(tmp_path, cache):
    named = make_graph(tmp_path / "p", [("a", GOOD, []), ("s1", GOOD, ["a"]), ("t1", GOOD, ["s1"]), ("t2", ZEROES, ["t1"]),
                                        ("s2", GOOD, ["s1"]), ("n", ZEROES, ["s2", "t2"]), ("s3", ZEROES, ["n"]),
                                        ("b", GOOD, ["a"]), ("m", ZEROES, ["b", "s3"])])
    document, _ = bisected(tmp_path / "p", cache, named["a"], named["m"])
    assert [merge["commit"] for merge in document["merges"]] == [named["m"], named["n"]]
    assert document["origin"]["commit"] == named["t2"]


def test_a_line_that_was_never_good_is_said_to_be_that(tmp_path, cache):
    """The good version is a release with a fix. When the release's line is merged, the fix is lost."""
    named = make_graph(tmp_path / "p", [("a", ZEROES, []), ("r", GOOD, ["a"]), ("b", ZEROES, ["a"]),
                                        ("m", ZEROES, ["b", "r"]), ("c", ZEROES, ["m"])])
    document, text = bisected(tmp_path / "p", cache, named["r"], named["c"])
    assert document["first_bad"]["commit"] == named["m"] and document["first_bad"]["before"]["answer"] == "bad"
    assert f"the first parent {named['b'][:10]} is the same (zeroed_bytes is 65,536)" in text


def test_a_merged_line_that_differed_from_its_start_is_not_searched(tmp_path, cache):
    named = make_graph(tmp_path / "p", [("a", ZEROES, []), ("s", ZEROES, ["a"]), ("b", GOOD, ["a"]), ("c", GOOD, ["b"]),
                                        ("m", ZEROES, ["c", "s"])])
    document, text = bisected(tmp_path / "p", cache, named["b"], named["m"])
    assert document["first_bad"]["commit"] == named["m"] and "na" in document["origin"]
    assert f"where both begin, {named['a'][:10]} is not as expected" in text


def test_lines_without_a_common_commit_can_be_merged(tmp_path, cache):
    named = make_graph(tmp_path / "p", [("x", ZEROES, []), ("a", GOOD, []), ("m", ZEROES, ["a", "x"])])
    document, text = bisected(tmp_path / "p", cache, named["a"], named["m"])
    assert document["first_bad"]["commit"] == named["m"] and "whose line has a root of its own" in text


def test_the_fix_is_found_if_the_good_version_is_the_newer_one(tmp_path, cache):
    line = [(str(number), ZEROES if number < 7 else BROKEN if number == 9 else GOOD, [str(number - 1)] if number > 1 else [])
            for number in range(1, 13)]
    named = make_graph(tmp_path / "p", line)
    document, text = bisected(tmp_path / "p", cache, named["12"], named["1"])
    assert document["first_good"]["commit"] == named["7"] and document["first_good"]["before"]["commit"] == named["6"]
    assert "na" in document["first_bad"] and document["first_good"]["value"] == "zeroed_bytes is 0"
    assert f"{named['7'][:10]} is the first that is as expected" in text and "gone " in text
    report = (cache / "report.md").read_text()
    assert f"fixed by {named['7'][:10]}" in report and f"| after ({named['7'][:10]}) | yes |" in report


def test_a_fix_that_came_by_a_merge_is_found_in_its_line(tmp_path, cache):
    turned = [(name, {GOOD: ZEROES, ZEROES: GOOD}[version], parents) for name, version, parents in BROUGHT]
    named = make_graph(tmp_path / "p", turned)
    document, _ = bisected(tmp_path / "p", cache, named["c"], named["a"])
    assert document["first_good"]["commit"] == named["m"] and document["origin"]["commit"] == named["s2"]


def test_a_fix_is_found_without_an_expectation_too(tmp_path, cache):
    named = make_graph(tmp_path / "p", [("a", ZEROES, []), ("b", ZEROES, ["a"]), ("c", GOOD, ["b"])])
    done = run("bisect", tmp_path / "p", cache, *HOW, "--no-thresholds", "--size", "64KiB", "--good", named["c"], "--bad",
               named["a"], "--json", "-")
    document = json.loads(done.stdout)
    check_schema(document, "bisect")
    assert document["first_good"]["commit"] == named["c"]


def test_versions_that_are_one_or_of_two_lines_are_refused(tmp_path, cache):
    named = make_graph(tmp_path / "p", BROUGHT)
    words = [*HOW, "--size", "64KiB", "--expect", "zeroed_bytes == 0"]
    refused(run("bisect", tmp_path / "p", cache, *words, "--good", named["b"], "--bad", "main~2"), "are the same commit")
    refused(run("bisect", tmp_path / "p", cache, *words, "--good", named["b"], "--bad", named["s3"]),
            "neither of", "is an ancestor of the other")
