"""zerotax bless and check of a command name planted regressions and improvements, each with the function responsible.
Unusable input is refused.
"""
import html
import json
import os
import re
import shutil
import subprocess
import xml.etree.ElementTree as ElementTree

import pytest
from conftest import SOURCE, check_schema, mostly_long, without_progress, zerotax
from recording import PROGRAMS

REGRESSED = PROGRAMS / "regressed"
# The expected regressions: the metric, its values before and after, and the named function.
WAYS = {
    "threshold": ("page faults", "returned by free in Decoder::reset (regressed.cc:", "0 → 64 calls, 0 B → 64.2 MiB"),
    "shrink": ("requested memory", "malloc in parse_lines (regressed.cc:", "1 → 16 calls, 1 MiB → 16 MiB"),
    "reserve": ("peak of live heap", "malloc in collect (regressed.cc:", ", 2.29 MiB → 6.00 MiB"),
    "memset": ("memory zeroed by other memset 0 B → 15 MiB", "memset in render (regressed.cc:", "0 → 15 calls, 0 B → 15 MiB"),
    "calloc": ("memory zeroed by malloc+memset 0 B → 8 MiB", "memset of a new block in make_table (regressed.cc:", "0 → 1 call"),
    "loop": ("requested memory", "malloc in copy_all (regressed.cc:", "1 → 16 calls, 1 MiB → 16 MiB"),
    "trim": ("page faults", "returned by a purge in serve (regressed.cc:", "0 → 16 calls"),
    "peak": ("peak of live heap", "malloc in merge (regressed.cc:", ", 8.00 MiB → 16.0 MiB"),
    "live": ("peak of live heap", "malloc in join (regressed.cc:", ", 8.00 MiB → 16.0 MiB"),
    "child": ("memory zeroed by malloc+memset 0 B → 8 MiB", "memset of a new block in make_table (regressed.cc:", "0 → 1 call"),
    "thread": ("memory zeroed by other memset 0 B → 15 MiB", "memset in render (regressed.cc:", "0 → 15 calls"),
}


def way_of(regressed):
    return {"REGRESSED": "1"} if regressed else {}


def bless(file, *command, options=(), status=0, **environment):
    done = zerotax("bless", "--baseline", file, *options, "--", *command, **environment)
    assert done.returncode == status, done.stdout + done.stderr
    return done


def check(file, *command, options=(), status=0, **environment):
    done = zerotax("check", "--full", "--baseline", file, *options, "--", *command, **environment)
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout


def refused(done, words, status=2):
    said = without_progress(done.stderr)
    assert done.returncode == status and said.count("\n") == 1 and words in said, done.stdout + done.stderr


@pytest.fixture(scope="module")
def baseline(tmp_path_factory):
    """Returns both baselines of each regression. All baselines are in one file, which is made on demand."""
    file = tmp_path_factory.mktemp("programs") / "baseline.json"
    made = set()

    def name_of(way, regressed):
        name = f"{way}-{'after' if regressed else 'before'}"
        if name not in made:
            bless(file, REGRESSED, way, options=["--name", name], **way_of(regressed))
            made.add(name)
        return file, name
    return name_of


# One regression for each kind of metric. The other regressions vary these.
SHORT = [(way, True) for way in ("threshold", "memset", "child")] + [("memset", False)]


@pytest.mark.parametrize(("way", "worse"), mostly_long([(way, worse) for worse in (True, False) for way in WAYS], SHORT,
                                                       "the others repeat a metric, or are the other direction"),
                         ids=lambda value: value if isinstance(value, str) else "regression" if value else "improvement")
def test_the_first_line_names_metric_direction_size_and_function(baseline, way, worse, tmp_path):
    file, name = baseline(way, not worse)
    report = tmp_path / "check.json"
    text = check(file, REGRESSED, way, options=["--name", name, "--json", report], status=1 if worse else 0, **way_of(worse))
    line = text.splitlines()[0]
    metric, function, sizes = WAYS[way]
    assert line.startswith("worse: " if worse else "better: ") and function in line, line
    if worse:
        assert metric in line and sizes in line, line
    else:
        assert metric.split(" 0 B")[0] in line, line
    document = json.loads(report.read_text())
    check_schema(document, "program_check")
    assert document["sentence"] == line and document["runs"] == 3


def test_system_calls_that_change_mappings_are_counted(baseline, tmp_path):
    file, name = baseline("threshold", False)
    report = tmp_path / "check.json"
    check(file, REGRESSED, "threshold", options=["--name", name, "--json", report], status=1, REGRESSED="1")
    document = json.loads(report.read_text())
    # In each round, 64 blocks of 1 MiB are mapped and unmapped. In the baseline, the heap grew only once.
    more = document["metrics"]["mapping_calls"] - document["baseline"]["metrics"]["mapping_calls"]["high"]
    assert 120 <= more <= 128
    assert any(change["metric"] == "mapping_calls" and change["direction"] == "worse" for change in document["changes"])


@pytest.mark.long("a recording more")
def test_an_unchanged_program_is_the_same_wherever_it_was_built(baseline, tmp_path):
    file, name = baseline("threshold", True)
    check_schema(json.loads(file.read_text()), "program_baseline")
    copy = shutil.copy(REGRESSED, tmp_path / "regressed")
    text = check(file, copy, "threshold", options=["--name", name], REGRESSED="1")
    assert text.startswith("same: 31 metrics as in the baseline\n")


def test_improvements_fail_where_that_is_wanted(baseline):
    file, name = baseline("memset", True)
    check(file, REGRESSED, "memset", options=["--name", name, "--strict"], status=1)


def test_what_is_accepted_passes(tmp_path):
    file = tmp_path / "baseline.json"
    bless(file, REGRESSED, "memset")
    bless(file, "true")
    text = check(file, REGRESSED, "memset", status=1, REGRESSED="1")
    accept = next(line for line in text.splitlines() if line.startswith("If this is intended"))
    words = accept.partition(": zerotax ")[2].split()
    assert zerotax(*words, REGRESSED="1").returncode == 0
    check(file, REGRESSED, "memset", REGRESSED="1")
    check(file, "true")


@pytest.mark.long("a recording more")
def test_settings_are_those_of_the_baseline_unless_others_are_given(tmp_path):
    file = tmp_path / "baseline.json"
    bless(file, REGRESSED, "memset", options=["--env", "regressed:REGRESSED=1"])
    assert check(file, REGRESSED, "memset").startswith("same")
    assert "settings: different" in check(file, REGRESSED, "memset", options=["--env", "regressed:OTHER=1"])


@pytest.mark.long("ten recordings under load")
def test_bless_sees_what_depends_on_the_load(tmp_path):
    file = tmp_path / "baseline.json"
    bless(file, REGRESSED, "poll")
    bless(file, REGRESSED, "memset", options=["--name", "steady"])
    varying, steady = json.loads(file.read_text())["programs"]
    assert (varying["runs"], steady["runs"]) == (10, 3)
    low, high = varying["metrics"]["malloc_bytes"].values()
    assert high > 1.5 * low


@pytest.mark.long("a recording more")
def test_a_process_of_another_name_has_metrics_of_its_own(tmp_path):
    file, command = tmp_path / "baseline.json", ["sh", "-c", f"{REGRESSED} calloc; true"]
    bless(file, *command)
    assert "memory zeroed by malloc+memset of regressed" in check(file, *command, status=1, REGRESSED="1")


def test_other_formats_show_each_change(baseline, tmp_path):
    file, name = baseline("memset", False)
    outputs = {kind: tmp_path / kind for kind in ("junit", "markdown", "bmf")}
    words = [word for kind, path in outputs.items() for word in (f"--{kind}", path)]
    text = check(file, REGRESSED, "memset", options=["--name", name, "--github", *words], status=1, REGRESSED="1")
    assert "::error" in text
    suites = ElementTree.parse(outputs["junit"]).getroot()
    assert int(suites.get("failures")) > 0
    assert all(each.get("message").startswith("worse: ") and each.get("message").count("worse:") == 1
               for each in suites.iter("failure"))
    # The names of tests do not depend on the changes, so that a service can track them.
    same = tmp_path / "same.xml"
    check(file, REGRESSED, "memset", options=["--name", name, "--junit", same])
    tests = [{each.get("name") for each in root.iter("testcase")} for root in (suites, ElementTree.parse(same).getroot())]
    assert tests[0] == tests[1] and "minor_faults" in tests[0]
    assert outputs["markdown"].read_text().startswith("### zerotax check: worse")
    assert json.loads(outputs["bmf"].read_text())[name]["by-program-zeroed-bytes"]["value"] == 15 << 20


def test_a_page_shows_the_verdict_both_sides_what_changed_and_where(baseline, tmp_path):
    file, name = baseline("reserve", False)
    page, report = tmp_path / "page.html", tmp_path / "check.json"
    check(file, REGRESSED, "reserve", options=["--name", name, "--html", page, "--json", report], status=1, REGRESSED="1")
    text = page.read_text()
    document = json.loads(report.read_text())
    words = " ".join(html.unescape(re.sub("<[^>]+>", " ", text[text.index("<main"):text.index("</main")])).split())
    assert words.startswith("Regressed. " + document["sentence"].removeprefix("worse: "))
    assert f"{name} in {file}, 3 runs; Linux {document['baseline']['measured_on']['kernel']}" in words
    assert document["accept"] in words and str(REGRESSED) in words
    parts = {each["direction"]: each["line"] for each in reversed(document["changes"])}
    assert set(parts) == {"worse", "neither"}
    for direction, line in parts.items():
        assert line in html.unescape(text.split(f'id="{direction}"')[1].split("</details>")[0])
    [place] = [site["line"] for site in document["sites"]]
    assert f"{place} 1 → 7 2.29 MiB → 7.94 MiB" in words
    for metric in document["words"].values():
        assert f'<th scope="row">{html.escape(metric)}</th>' in text
    worse = sum(each["direction"] == "worse" for each in document["changes"])
    assert f"Every metric {worse} regressed, {len(document['changes']) - worse} changed" in words
    assert "<script src" not in text and "http://" not in text.replace("http://www.w3.org", "")


@pytest.mark.long("a page more")
def test_of_an_unchanged_program_the_page_says_so_and_asks_for_nothing(baseline, tmp_path):
    file, name = baseline("memset", True)
    page = tmp_path / "page.html"
    check(file, REGRESSED, "memset", options=["--name", name, "--html", page], REGRESSED="1")
    text = page.read_text()
    assert "Same." in text and "accept it with" not in text and 'id="changes"' not in text and 'id="places"' not in text


def test_where_no_page_can_be_made_nothing_is_run(baseline, tmp_path):
    file, name = baseline("memset", False)
    (tmp_path / "jinja2.py").write_text("raise ImportError('as if it were not installed')\n")
    done = zerotax("check", "--baseline", file, "--name", name, "--html", tmp_path / "page.html", "--", REGRESSED, "memset",
                   PYTHONPATH=str(tmp_path))
    refused(done, "no python3 with jinja2 was found", status=3)
    assert not done.stdout and not (tmp_path / "page.html").exists()


def test_it_says_what_else_is_not_as_it_was(baseline, tmp_path):
    file, name = baseline("memset", False)
    document = json.loads(file.read_text())
    for program in document["programs"]:
        program["measured_on"].update(kernel="2.4.0", allocator="glibc 2.1")
    (tmp_path / "other.json").write_text(json.dumps(document))
    text = check(tmp_path / "other.json", REGRESSED, "memset", options=["--name", name], status=1, REGRESSED="1")
    assert "kernel: 2.4.0 before, " in text and "allocator: glibc 2.1 before, glibc " in text


@pytest.mark.parametrize(("command", "words", "status"), [
    (["false"], "exit status 1", 2),
    (["sh", "-c", "echo no terminal >&2; exit 3"], "exit status 3 (no terminal)", 2),
    (["sh", "-c", "kill -SEGV $$"], "killed by SIGSEGV", 2),
    ([PROGRAMS / "static"], "statically linked", 2),
    (["/no/such/program"], "no command", 2),
    (["sh", "-c", f"{PROGRAMS / 'ending'} kill; true"], "the end of a process was not seen", 3),
    (["sh", "-c", "n=$(cat count); echo $((n+1)) >count; exit $((n > 0))"], "exit status 1", 2),
])
def test_a_command_that_cannot_be_blessed_is_refused_in_one_line(command, words, status, tmp_path):
    (tmp_path / "count").write_text("0")
    done = zerotax("bless", "--baseline", tmp_path / "b.json", "--", *command, cwd=tmp_path)
    refused(done, words, status)
    assert not (tmp_path / "b.json").exists()


def test_a_command_that_does_not_end_leaves_nothing_running(tmp_path):
    refused(zerotax("bless", "--baseline", tmp_path / "b.json", "--timeout", "0.3", "--", "sleep", "3333"), "did not end within")
    running = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    assert "sleep 3333" not in running.splitlines()


def test_a_command_that_fails_each_time_can_be_accepted(tmp_path):
    file = tmp_path / "baseline.json"
    bless(file, "sh", "-c", "exit ${STATUS-4}", options=["--allow-failing"])
    assert check(file, "sh", "-c", "exit ${STATUS-4}").startswith("same")
    refused(zerotax("check", "--baseline", file, "--", "sh", "-c", "exit ${STATUS-4}", STATUS="5"), "exit status 5, not 4")


def test_a_setuid_program_is_refused(tmp_path):
    program = shutil.copy("/bin/true", tmp_path / "true")
    os.chown(program, 65534, 65534)
    os.chmod(program, 0o4755)
    done = zerotax("bless", "--baseline", tmp_path / "b.json", "--", program)
    if done.returncode == 0:
        pytest.skip("the file system ignores setuid")
    refused(done, "cannot be recorded")


def test_baselines_of_something_else_are_refused(baseline, tmp_path):
    file, name = baseline("memset", False)
    foreign = SOURCE / "tests" / "regression" / "baselines" / "glibc-2.36.json"
    refused(zerotax("check", "--baseline", foreign, "--", "true"), "zerotax.baseline/1")
    refused(zerotax("bless", "--baseline", foreign, "--", "true"), "not a baseline of programs")
    refused(zerotax("check", "--baseline", file, "--name", name, "--", "true"), "another command")
    refused(zerotax("bless", "--baseline", file, "--name", name, "--", "true"), "another command")
    refused(zerotax("check", "--baseline", file, "--name", "nobody", "--", "true"), "no command 'nobody'")
    (tmp_path / "cut.json").write_text(file.read_text()[:1000])
    refused(zerotax("check", "--baseline", tmp_path / "cut.json", "--", "true"), "cut.json")
