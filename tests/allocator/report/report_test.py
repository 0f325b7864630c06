"""If the reproducer shows the finding on this machine, `zerotax report` writes a report in the form of the project's
tracker.
"""

import json
import os
import pathlib
import re
import subprocess
import tempfile

import pytest
from answers import check_screen
from conftest import (
    BUILD, MIB, NOBODY, SOURCE, UNHURRIED_MIMALLOC, check_schema, interrupt, is_na, planted, skip_if_unreadable,
    zerotax)

UNFILLED = re.compile(r"@[A-Z_]+@")


def report(folder, *arguments, status=0, **how):
    done = zerotax("report", *arguments, "--out", folder, **how)
    assert done.returncode == status, done.stderr + done.stdout
    return done


def read(folder):
    """Returns the checked report.json of a folder, and the text of the report."""
    found = json.loads((folder / "report.json").read_text())
    check_schema(found, "report")
    for line in (folder / "points.jsonl").read_text().splitlines():
        check_schema(json.loads(line), "point")
    text, = [path.read_text() for path in folder.glob("report.*") if path.suffix in (".md", ".txt")]
    assert not UNFILLED.search(text), "nothing is left to fill in"
    return found, text


def check_reproducer(folder, found):
    """Runs the reproducer as a reader of the report would: compiled with warnings as errors, and run with and without
    the allocator.
    """
    lines = (folder / "reproducer.c").read_text()
    assert lines.count("\n") <= 40
    subprocess.run(["cc", "-O2", "-Wall", "-Wextra", "-Werror", "-pthread", "reproducer.c", "-o", "reproducer"],
                   cwd=folder, check=True)
    for run, status in ((found["reproducer"]["shown"], 1), (found["reproducer"]["control"], 0)):
        environment = {"PATH": "/usr/bin:/bin", **run["env"]}
        if run["preload"]:
            environment["LD_PRELOAD"] = run["preload"]
        done = subprocess.run([folder / "reproducer"], env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == status == run["exit_status"], done.stdout
    (folder / "reproducer").unlink()


def check_numbers(found, text):
    """Checks that title, text and table have the measured numbers."""
    assert found["finding"]["title"] in text and found["reproducer"]["how"] in text
    assert found["reproducer"]["shown"]["output"].splitlines()[-1] in text
    for knob in found["finding"]["knobs"]:
        effect = knob["effect"]
        assert is_na(effect) or f"{effect['redundant_zeroed_bytes']:,}" in text
        assert all(f"{key}={value}" in text for key, value in knob["env"].items())
    for threshold in found["thresholds"]:
        assert f"{threshold['at_bytes']:,} bytes" in text


FLAW = "planted_memset-redundant-reuse-1MiB"


@pytest.fixture(scope="module")
def memset_report(tmp_path_factory):
    """The report of a requested finding, which is searched for only at the size in the finding's id."""
    folder = tmp_path_factory.mktemp("report") / "out"
    done = report(folder, *planted("planted_memset"), "--finding", FLAW)
    return folder, done


@pytest.mark.long("a whole study before the report")
def test_of_what_is_found_the_first_call_alone_is_not_worth_a_report(tmp_path):
    report(tmp_path / "out", *planted("planted_memset"))
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["planted_memset-redundant-reuse-100MiB"]


def test_a_planted_flaw_is_reported_and_reproduces(memset_report):
    folder, done = memset_report
    assert [path.name for path in folder.iterdir()] == [FLAW]
    found, text = read(folder / FLAW)
    check_numbers(found, text)
    check_reproducer(folder / FLAW, found)
    assert found["finding"]["severity"] == "medium" and found["thresholds"] == []
    assert "Hypothesis" in text and f"{100 * MIB:,}" in text and is_na(found["project"])
    lines = done.stdout.splitlines()
    check_screen(lines)
    text = " ".join(done.stdout.split())
    assert lines[0].startswith("A report was written for 1 finding of planted_memset") and found["finding"]["title"] in text
    assert "and not under " in text and f"{folder / FLAW}/report." in done.stdout


def test_the_table_has_the_controls_beside_it(memset_report):
    folder, _ = memset_report
    lines = (folder / FLAW / "points.jsonl").read_text().splitlines()
    points = [json.loads(line) for line in lines]
    assert {point["size_bytes"] for point in points} == {MIB, 20 * MIB, 100 * MIB}
    names = {point["allocator"] for point in points}
    assert {"planted_memset", "glibc"} <= names and "largecache" not in names
    _, text = read(folder / FLAW)
    for point in points:
        assert f"{point['size_bytes']:,} | {point['allocator']}" in text


@pytest.mark.long("a whole study before the report")
def test_a_healthy_allocator_has_nothing_to_report(tmp_path):
    done = report(tmp_path / "out", *planted("planted_never"))
    assert "nothing to report" in done.stdout
    # The output names a finding of lower severity, which the user may report.
    assert "planted_never-purge-storm-" in done.stdout
    assert not (tmp_path / "out").exists()


@pytest.mark.long("a whole study before the report")
def test_what_is_found_but_does_not_reproduce_is_refused(tmp_path):
    done = report(tmp_path / "out", *planted("planted_only_in_probe"), "--finding",
                  "planted_only_in_probe-redundant-reuse-1MiB", status=1)
    assert "could not be reproduced" in done.stderr and "exit status 0" in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.long("a whole study before the report")
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_an_ordinary_user_can_report():
    skip_if_unreadable()
    # Other users may not enter pytest's tmp_path.
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        folder.chmod(0o777)
        report(folder / "out", *planted("planted_memset"), "--finding", "planted_memset-redundant-reuse-1MiB", prefix=NOBODY)
        found, _ = read(folder / "out" / "planted_memset-redundant-reuse-1MiB")
    assert found["reproducer"]["shown"]["exit_status"] == 1


def test_an_interrupted_report_leaves_nothing_half_written(tmp_path):
    _, errors = interrupt("report", *planted("planted_memset"), "--out", tmp_path / "out", after_s=3)
    assert "only finished reports were written" in errors
    assert not (tmp_path / "out").exists()


@pytest.mark.long("a whole study before the report")
def test_an_allocator_that_gets_through_nothing_is_not_called_healthy(tmp_path):
    done = report(tmp_path / "out", *planted("planted_crash"), status=1)
    assert "could not be measured" in done.stderr and "planted_crash-crash-100MiB" in done.stdout
    assert "nothing to report" not in done.stdout


@pytest.mark.long("a whole study before the report")
def test_the_words_are_about_the_size_that_was_asked_for(tmp_path):
    # The finding extends to 100 MiB, and usually has that size in its name.
    report(tmp_path / "out", *planted("planted_dirty"), "--finding", "planted_dirty-not-zero-1MiB")
    folder = tmp_path / "out" / "planted_dirty-not-zero-1MiB"
    found, text = read(folder)
    assert found["finding"]["id"] == folder.name and found["size_bytes"] == MIB
    assert "calloc(1 MiB) hands out memory that is not zero" in text.splitlines()[0]
    check_reproducer(folder, found)


@pytest.mark.long("a whole study before the report")
def test_a_finding_that_is_not_there_is_nothing_to_report(tmp_path):
    done = report(tmp_path / "out", *planted("planted_never"), "--finding", "planted_never-redundant-fresh-1MiB")
    assert "nothing to report" in done.stdout and not (tmp_path / "out").exists()


@pytest.mark.long("a whole study before the report")
def test_a_flaw_on_purpose_is_nothing_to_report(tmp_path):
    assert "nothing to report" in report(tmp_path / "out", "--allocator", "largecache").stdout


@pytest.mark.parametrize(("arguments", "words"), [
    ([], ["--allocator"]),
    (["--allocator", "nobody"], ["nobody"]),
    ([*planted("planted_never"), "--severity", "dire"], ["dire", "medium"]),
    ([*planted("planted_never"), "--size", "7XB"], ["7XB"]),
    ([*planted("planted_never"), "--timeout", "0"], ["--timeout"]),
    ([*planted("planted_memset"), "--finding", "bogus"], ["bogus", "planted_memset-redundant-reuse-100MiB"]),
])
def test_unusable_words_are_refused(tmp_path, arguments, words):
    done = report(tmp_path / "out", *arguments, status=2)
    assert done.stdout == ""
    assert all(word in done.stderr for word in words), done.stderr
    assert not (tmp_path / "out").exists()


def test_a_folder_with_something_in_it_stays(tmp_path):
    (tmp_path / "precious").write_text("")
    done = report(tmp_path, *planted("planted_memset"), status=2)
    assert "not an empty folder" in done.stderr and [path.name for path in tmp_path.iterdir()] == ["precious"]


def test_without_a_c_compiler_the_remedy_is_said(tmp_path):
    tools = tmp_path / "bin"
    tools.mkdir()
    done = report(tmp_path / "out", *planted("planted_memset"), status=3, PATH=str(tools))
    assert "gcc" in done.stderr and not (tmp_path / "out").exists()


# One allocator for each form, with the versions of Debian 12.
REAL = {
    "distribution": ("mimalloc", "2.0.9", "redundant-fresh-20MiB", ["--size", "20MiB"], "report.txt",
                     ["fixed in 2.2.7: upgrade", "mimalloc#1104", "Tags: fixed-upstream"]),
    "github": ("jemalloc", "5.3.0", "purge-storm-100MiB", [], "report.md",
               ["### Reproducer", "```c", "oversize_threshold", "MALLOC_CONF"]),
    "bugzilla": ("glibc", "2.36", "redundant-reuse-20MiB", [], "report.txt",
                 ["Product: glibc", "Component: malloc", "GLIBC_TUNABLES=glibc.malloc.mmap_threshold=131072", "gone"]),
    "bugzilla of a worker": ("glibc", "2.36", "worker-differs-20MiB",
                             ["--env", "glibc:GLIBC_TUNABLES=glibc.malloc.mmap_threshold=1073741824"], "report.txt",
                             ["mprotect_size", "GLIBC_TUNABLES=glibc.malloc.mmap_threshold=1073741824 ./reproducer"]),
    "onetbb": ("tbbmalloc", "2021.8", "redundant-fresh-100MiB", [], "report.md",
               ["## Observed Behavior", "## Expected Behavior", "oneTBB#178 (open", "67,108,697 bytes"]),
}


@pytest.mark.long("one form is like another, and reports that are committed show each")
@pytest.mark.parametrize("form", REAL)
def test_a_real_allocator_is_reported_in_the_form_of_its_project(tmp_path, form):
    name, version, finding, more, file, words = REAL[form]
    if not (BUILD / "bin" / f"bench-{name}").exists():
        pytest.skip(f"{name} is not installed")
    if f'"version": "{version}"' not in json.dumps(versions()[name]):
        pytest.skip(f"{name} is of another version than {version}")
    if name == "mimalloc":
        more = ["--env", f"mimalloc:{UNHURRIED_MIMALLOC}"]
    report(tmp_path / "out", "--allocator", name, "--finding", f"{name}-{finding}", *more)
    folder = tmp_path / "out" / f"{name}-{finding}"
    found, text = read(folder)
    assert (folder / file).exists()
    check_numbers(found, text)
    check_reproducer(folder, found)
    assert found["fixed_in"] == ("2.2.7" if name == "mimalloc" else None)
    for word in words:
        assert word in text, word


def versions():
    """Returns the versions of the built-in allocators, measured once."""
    if not versions.known:
        done = zerotax("run", "--size", "64KiB", "--ops", 2, "--json", "-")
        versions.known = {each["name"]: each for each in json.loads(done.stdout)["allocators"]}
    return versions.known


versions.known = {}


def test_every_file_about_a_project_is_of_its_schema():
    files = sorted(SOURCE.glob("allocators/*/upstream.json"))
    assert len(files) >= 7
    for file in files:
        facts = json.loads(file.read_text())
        check_schema(facts, "upstream")
        assert facts["name"] == file.parent.name
        assert facts["form"] == "none" or (SOURCE / "harness/allocator/report" / "forms" / f"{facts['form']}.txt").exists()


def test_reports_that_are_committed_reproduced():
    folders = sorted((SOURCE / "results" / "reference" / "reports").glob("*/*/report.json"))
    for file in folders:
        found, text = read(file.parent)
        check_numbers(found, text)
        assert found["finding"]["id"] == file.parent.name
        assert (found["reproducer"]["shown"]["exit_status"], found["reproducer"]["control"]["exit_status"]) == (1, 0)
