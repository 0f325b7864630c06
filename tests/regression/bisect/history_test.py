"""`zerotax history`: each version of a project is built, measured, and compared with the previous version."""

import html
import json
import os
import pathlib
import shutil
import signal
import subprocess
import time

import pytest
from conftest import INTERRUPTED_BY_SIGINT, KIB, ZEROTAX, check_schema, clean_environment
from projects import (
    BROKEN, CRASHES, GOOD, HOW, QUICK, ZEROES, builds_in, git, make_project, run, untouched)

# Versions v1 to v6. v1.10 comes after v1.9, and a release candidate comes before its release.
VERSIONS = [GOOD, GOOD, BROKEN, ZEROES, ZEROES, CRASHES, GOOD]
TAGS = [("v1.2", 1), ("v1.9", 2), ("v1.10-rc1", 3), ("v1.10", 4), ("v2.0", 5), ("v2.1", 6), ("v2.2", 7), ("nightly", 7)]
PLANTED = 4


@pytest.fixture(scope="module", name="project")
def _project(tmp_path_factory):
    """Returns a project in a folder with a space in its name, and its commits."""
    folder = tmp_path_factory.mktemp("a project") / "my allocator"
    return folder, make_project(folder, VERSIONS, TAGS)


@pytest.fixture(scope="module", name="cache")
def _cache(tmp_path_factory):
    return tmp_path_factory.mktemp("cache of builds")


@pytest.fixture(scope="module", name="by_tags")
def _by_tags(project, cache):
    """Returns (the checked document of all v… tags, its table)."""
    folder, _ = project
    with untouched(folder):
        done = run("history", folder, cache, *HOW, *QUICK, "--tags", "v*", "--json", cache / "history.json",
                   "--html", cache / "history.html")
    assert done.returncode == 0, done.stderr
    document = json.loads((cache / "history.json").read_text())
    check_schema(document, "history")
    return document, done.stdout


def row_of(document, name):
    [found] = [row for row in document["versions"] if row["name"] == name]
    return found


def test_versions_are_in_their_order_not_in_that_of_the_alphabet(by_tags):
    assert [row["name"] for row in by_tags[0]["versions"]] == [name for name, _ in TAGS if name.startswith("v")]


def test_the_page_has_a_section_for_each_version(by_tags, cache):
    document, _ = by_tags
    page = html.unescape((cache / "history.html").read_text())
    assert all(f'id="version-{row["name"]}"' in page for row in document["versions"])
    assert all(row["sentence"].split(": ", 1)[-1] in page for row in document["versions"])


def test_the_version_that_changed_something_is_the_row_that_says_so(by_tags):
    document, _ = by_tags
    assert [row["name"] for row in document["versions"] if row["changed"]] == ["v1.10", "v2.2"]
    planted = row_of(document, "v1.10")
    assert planted["compared_with"] == "v1.9"
    assert any("zeroed_bytes" in change and str(64 * KIB) in change for change in planted["difference"]["changes"])
    assert [piece["word"] for piece in planted["pieces"]] == ["needless"]
    assert [piece["word"] for piece in row_of(document, "v1.9")["pieces"]] == ["no_zeros_back"]


def test_a_version_that_does_not_build_is_a_row_with_the_end_of_its_log(by_tags):
    row = row_of(by_tags[0], "v1.10-rc1")
    assert row["state"] == "not_built" and "pieces" not in row
    assert "policy.h:3" in row["reason"]
    log = open(row["build"]["log"], encoding="utf-8").read()
    assert "this does not compile" in log and "gcc" in log
    assert row["build"]["log"] in row["sentence"]


def test_a_version_that_crashes_is_a_row_with_its_reason(by_tags):
    row = row_of(by_tags[0], "v2.1")
    assert row["state"] == "unusable" and row["build"]["state"] == "built"
    assert "SIGILL" in row["reason"]


def test_a_version_that_crashes_is_measured_again_only_with_more_time(by_tags, project, cache, tmp_path):
    row = row_of(by_tags[0], "v2.1")
    copy = shutil.copytree(cache, tmp_path / "cache")  # other tests read the cache, so this test uses a copy
    library, good = (copy / pathlib.Path(row_of(by_tags[0], name)["build"]["log"]).relative_to(cache).with_name("liballocator.so")
                     for name in ("v2.1", "v2.0"))

    def again(*words):
        done = run("history", project[0], copy, *HOW, *QUICK, "--tags", "v2.1", *words, "--json", "-")
        return json.loads(done.stdout)["versions"][0]

    library.write_bytes(good.read_bytes())
    known, measured = again(), again("--timeout", "61")
    assert (known["state"], known["reason"]) == ("unusable", row["reason"])
    assert measured["state"] == "measured"


def test_the_table_has_eighty_columns_and_a_row_for_each_version(by_tags):
    document, table = by_tags
    # The path of a log is a single word, so its line may be long.
    assert max(len(line) for line in table.splitlines() if "build.log" not in line) <= 80
    for row in document["versions"]:
        assert any(line.startswith(row["name"] + " ") for line in table.splitlines())
    assert document["sentence"] in " ".join(table.split())


@pytest.mark.long("every version again")
def test_a_second_run_builds_and_measures_nothing(by_tags, project, cache):
    before = builds_in(cache)
    done = run("history", project[0], cache, *HOW, *QUICK, "--tags", "v*", "--json", "-", CC="/bin/false")
    document = json.loads(done.stdout)
    assert builds_in(cache) == before
    for row, old in zip(document["versions"], by_tags[0]["versions"]):
        assert row["build"]["earlier"] and row.get("measured_earlier", True)
        assert row.get("baseline") == old.get("baseline") and row["changed"] == old["changed"]


def test_again_builds_what_is_there(by_tags, project, cache):
    del by_tags
    before = builds_in(cache)
    done = run("history", project[0], cache, *HOW, *QUICK, "--tags", "v1.2", "--again", "--json", "-")
    assert not json.loads(done.stdout)["versions"][0]["build"]["earlier"]
    assert len([name for name, when in builds_in(cache).items() if before[name] != when]) == 1


def test_a_range_begins_with_what_its_first_commit_is_compared_with(project, cache):
    folder, commits = project
    done = run("history", folder, cache, *HOW, *QUICK, "--range", "v1.9..v2.0", "--json", "-")
    document = json.loads(done.stdout)
    check_schema(document, "history")
    assert [row["commit"] for row in document["versions"]] == commits[1:5]
    assert [row["commit"] for row in document["versions"] if row["changed"]] == [commits[PLANTED - 1]]


@pytest.mark.long("another form of the repository")
def test_a_bare_clone_gives_the_same_and_stays_as_it_is(by_tags, project, cache, tmp_path):
    git(tmp_path, "clone", "--quiet", "--bare", project[0], tmp_path / "bare clone.git")
    with untouched(tmp_path / "bare clone.git"):
        done = run("history", tmp_path / "bare clone.git", cache, *HOW, *QUICK, "--tags", "v1.*", "--json", "-")
    document = json.loads(done.stdout)
    assert [row["changed"] for row in document["versions"]] == [row["changed"] for row in by_tags[0]["versions"][:4]]


def test_a_shallow_clone_has_what_it_has(project, cache, tmp_path):
    git(tmp_path, "clone", "--quiet", "--depth", 2, "--branch", "v2.0", f"file://{project[0]}", tmp_path / "shallow")
    with untouched(tmp_path / "shallow"):
        done = run("history", tmp_path / "shallow", cache, *HOW, *QUICK, "--range", "HEAD~1..HEAD", "--json", "-")
    document = json.loads(done.stdout)
    assert [row["commit"] for row in document["versions"]] == project[1][3:5]


def test_a_dirty_tree_is_neither_built_nor_touched(project, cache, tmp_path):
    folder = tmp_path / "dirty"
    git(tmp_path, "clone", "--quiet", project[0], folder)
    (folder / "policy.h").write_text("not even C")
    (folder / "new file").write_text("unknown to git")
    git(folder, "rm", "--quiet", "--cached", "notes")
    hook = folder / ".git" / "hooks" / "post-checkout"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch '{tmp_path}/hook ran'\n")
    hook.chmod(0o755)
    with untouched(folder):
        done = run("history", folder, cache, *HOW, *QUICK, "--tags", "v1.2", "--json", "-", GIT_DIR="/nonexistent")
    assert json.loads(done.stdout)["versions"][0]["state"] == "measured"
    assert not (tmp_path / "hook ran").exists()


def test_a_build_that_hangs_is_ended_with_all_that_it_started(project, cache, tmp_path):
    mark = f"5{os.getpid()}.25"
    hangs = f"setsid sleep {mark} & sleep {mark}"
    done = run("history", project[0], cache, "--build", hangs, "--library", "x.so", *QUICK, "--tags", "v1.2", "--tags", "v1.9",
               "--build-timeout", "0.5", temporary=tmp_path)
    assert done.returncode == 2 and "longer than" in done.stderr
    assert subprocess.run(["pgrep", "-f", f"sleep {mark}"], check=False).returncode == 1
    assert not list(tmp_path.iterdir())


def test_an_interrupted_run_keeps_what_it_has_and_the_next_one_resumes(project, tmp_path):
    mark = f"6{os.getpid()}.25"
    # The build of the third version never ends.
    build = f"grep -q 3 notes && sleep {mark}; {HOW[1]}"
    words = ["--build", build, *HOW[2:], *QUICK, "--range", "v1.2..v2.0"]
    with subprocess.Popen([ZEROTAX, "history", "--repo", project[0], *words, "--json", tmp_path / "history.json"],
                          env=clean_environment(XDG_CACHE_HOME=str(tmp_path)), stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True) as command:
        while subprocess.run(["pgrep", "-f", f"^sleep {mark}"], check=False, stdout=subprocess.PIPE).returncode != 0:
            assert command.poll() is None
            time.sleep(0.05)
        command.send_signal(signal.SIGINT)
        table, errors = command.communicate(timeout=60)
    assert command.returncode == INTERRUPTED_BY_SIGINT and "resumes" in errors.splitlines()[-1]
    assert subprocess.run(["pgrep", "-f", f"sleep {mark}"], check=False).returncode == 1
    document = json.loads((tmp_path / "history.json").read_text())
    check_schema(document, "history")
    assert document["state"] == "interrupted" and "not measured" in table
    assert [row["state"] for row in document["versions"]] == ["measured"] * 2 + ["not_measured"] * 3
    done = run("history", project[0], tmp_path, "--build", build, *HOW[2:], *QUICK, "--tags", "v1.2", "--tags", "v1.9",
               "--json", "-", CC="/bin/false")
    assert [row["measured_earlier"] for row in json.loads(done.stdout)["versions"]] == [True, True]


@pytest.mark.long("every version again")
def test_a_folder_gets_document_table_and_figure(by_tags, project, cache, tmp_path):
    done = run("history", project[0], cache, *HOW, *QUICK, "--tags", "v*", "--full", "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out" / "history.txt").read_text() == done.stdout
    document = json.loads((tmp_path / "out" / "history.json").read_text())
    assert document["title"] == by_tags[0]["title"]
    assert "<svg" in (tmp_path / "out" / "history.svg").read_text()


@pytest.mark.long("a search in each version")
def test_thresholds_are_searched_unless_it_is_said_not_to(tmp_path):
    make_project(tmp_path / "p", [GOOD, str(128 * KIB)])
    done = run("history", tmp_path / "p", tmp_path, *HOW, "--size", "64KiB", "--to", "256KiB", "--range", "HEAD~1..HEAD",
               "--json", "-")
    document = json.loads(done.stdout)
    check_schema(document, "history")
    first, second = document["versions"]
    assert second["changed"] and not first["changed"]
    # The change begins at 128 KiB, so the size of 64 KiB is unchanged.
    assert [piece["from_bytes"] for piece in second["pieces"]][-1] == 128 * KIB
    assert all("threshold" in change for change in second["difference"]["changes"])
