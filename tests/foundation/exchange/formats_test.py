"""The files that findings and compare write for other programs: each file follows the rules of its format, and all have
the same verdict.
"""

import json
import os
import subprocess
import xml.etree.ElementTree as ET

import pytest
from conftest import MIB, ZEROTAX, check_schema, clean_environment, measure, mostly_long, options, planted, zerotax
from exchanging import Page, read_bmf, read_commands, read_junit, read_markdown, verdict_of_junit
from nasty_names import shown as as_shown

# Characters that end an attribute, a CDATA section, a cell, a code span, a property or a line in some format, and color
# codes of a terminal.
HOSTILE = "a\"'<b>&lt;]]>|`*_x_ [l](u) @you #1 %0A %\r\n::error::no $x$ \x1b[31m \\| ~~s~~ </details> ü\ufffe"
NOT_UTF8 = b"bad-\xff\xfe-name"
SLOW, FAST, SAME = "zeroed_bytes more", "zeroed_bytes less", "same"


@pytest.fixture(scope="module")
def run():
    return measure(*planted("planted_memset", "planted_never"), *options("size", [65536, MIB]), *options("touch", [0, 1]),
                   "--ops", 8)


def named(run, name):
    """Returns the same run, in which the allocator has another name."""
    text = json.loads(json.dumps(run))
    for entry in [*text["allocators"], *text["points"]]:
        key = "name" if "name" in entry else "allocator"
        entry[key] = name if entry[key] == "planted_memset" else entry[key]
    return text


def formats(tmp_path, *arguments, html=False, status=None, errors="strict"):
    """Returns what a command writes in every format, and its result."""
    names = ["json", "junit", "markdown", "bmf", *(["html"] if html else [])]
    files = {name: tmp_path / f"out.{name}" for name in names}
    words = [str(word) for name, file in files.items() for word in (f"--{name}", file)]
    done = subprocess.run([ZEROTAX, *map(str, arguments), "--full", "--github", *words], env=clean_environment(),
                          capture_output=True, text=True, errors=errors, check=False, timeout=300)
    assert status is None or done.returncode == status, done.stderr
    # Progress is printed only on a slow machine.
    assert all(", now " in line for line in done.stderr.splitlines()), done.stderr
    return {name: file.read_bytes() for name, file in files.items()}, done


def check_agreement(made, done, sentence):
    """Checks that each format is valid, contains the sentence, and fails exactly if the exit status is 1."""
    fails = done.returncode == 1
    assert sentence in done.stdout
    ends = [end for end, _ in read_junit(made["junit"]).values()]
    assert any(end in ("failure", "error") for end in ends) == fails and ends
    assert verdict_of_junit(made["junit"]) == sentence
    page = read_markdown(made["markdown"].decode())
    assert sentence in page.text
    first, *others = read_commands(done.stdout)
    assert first[2] == sentence and (first[0] == "error") == fails
    assert any(name == "error" for name, _, _ in others) == fails
    return page, others, read_bmf(made["bmf"])


def test_findings_say_the_same_in_every_format(tmp_path, run):
    (tmp_path / "run.json").write_text(json.dumps(run))
    made, done = formats(tmp_path, "findings", tmp_path / "run.json", status=1)
    found = json.loads(made["json"])["findings"]
    page, annotations, figures = check_agreement(made, done, done.stdout.splitlines()[0])
    assert {words["title"].split(": ")[1] for _, words, _ in annotations} == {each["id"] for each in found}
    rows = [row for row in page.rows if row[0] != "finding"]
    assert [(row[0], row[1], row[2]) for row in rows] == [(f["id"], f["severity"], f["title"]) for f in found]
    cases = read_junit(made["junit"])
    # Each rule is a test, even a rule without findings.
    assert {name for (_, name), (end, _) in cases.items() if end == "failure"} == {each["rule"] for each in found}
    tests = [{name for suite, name in cases if suite.startswith(each)} for each in ("planted_memset", "planted_never")]
    assert tests[0] == tests[1]
    passed = {name for (suite, name), (end, _) in cases.items() if end == "passed" and suite.startswith("planted_never")}
    assert {"redundant-fresh", "not-zero", "unfinished"} <= passed
    for name in ("planted_memset", "planted_never"):
        own = [each for each in found if each["allocator"] == name]
        assert figures[name]["findings"]["value"] == len(own)
        assert figures[name]["findings-medium"]["value"] == sum(each["severity"] == "medium" for each in own)


def test_a_run_without_findings_passes_in_every_format(tmp_path, run):
    clean = dict(run, points=[p for p in run["points"] if p["allocator"] == "planted_never" and p["touch"] == 0],
                 allocators=[a for a in run["allocators"] if a["name"] == "planted_never"])
    (tmp_path / "run.json").write_text(json.dumps(clean))
    made, done = formats(tmp_path, "findings", tmp_path / "run.json", status=0)
    _, annotations, figures = check_agreement(made, done, "no findings")
    assert not annotations and figures["planted_never"]["findings"] == {"value": 0}


def changed(run, points):
    """Returns the run with changed metrics at some points of planted_memset."""
    text = json.loads(json.dumps(run))
    own = [point for point in text["points"] if point["allocator"] == "planted_memset"]
    for point, what in zip(own, points):
        if what == "missing":
            text["points"].remove(point)
        else:
            point["zeroed_bytes"] += {SLOW: 1, SAME: 0, FAST: -1}[what] * point["size_bytes"]
            point["redundant_zeroed_bytes"] = min(point["redundant_zeroed_bytes"], point["zeroed_bytes"])
    return text


# Words that the page shows for each outcome.
OUTCOMES = {"worse": "Regressed.", "better": "Improved.", "same": "Same."}


def loads_nothing(web):
    """Whether all links of a page lead into the page itself."""
    return all(link.startswith("#") for link in web.links)


def only_memset(run):
    return dict(run, points=[p for p in run["points"] if p["allocator"] == "planted_memset"],
                allocators=[a for a in run["allocators"] if a["name"] == "planted_memset"])


@pytest.mark.parametrize(("points", "kind", "status"), mostly_long(
    [([SLOW, FAST, SAME, "missing"], "worse", 1), ([FAST, SAME, SAME, SAME], "better", 0), ([SAME] * 4, "same", 0)],
    [([SLOW, FAST, SAME, "missing"], "worse", 1)], "what is worse has rows of each kind"))
def test_compare_says_the_same_in_every_format(tmp_path, run, points, kind, status):
    before = only_memset(run)
    (tmp_path / "old.json").write_text(json.dumps(before))
    (tmp_path / "new.json").write_text(json.dumps(changed(before, points)))
    made, done = formats(tmp_path, "compare", tmp_path / "old.json", tmp_path / "new.json", html=True, status=status)
    document = json.loads(made["json"])
    check_schema(document, "compare")
    assert document["verdict"] == kind
    page, annotations, figures = check_agreement(made, done, document["sentence"])
    told = {point["label"]: point["verdict"] for point in document["points"]}
    assert {row[0]: row[5] for row in page.rows if row[0] != "point"} == told
    words = {"SLOWER": "failure", "AMBIGUOUS": "skipped", "INVALID": "skipped"}
    ends = {name: end for (_, name), (end, _) in read_junit(made["junit"]).items()}
    for point in document["points"]:
        key = f"{point['case']}/{point['size_bytes']}/{point['touch']:g}/{point['thread']}"
        assert ends[key] == words.get(point["verdict"], "passed")
        work = {each["figure"]: each["new"] for each in point["work"]}
        if point["verdict"] != "INVALID":
            assert figures[f"planted_memset/{key}"]["zeroed-bytes"] == {"value": work["zeroed_bytes"]}
            assert figures[f"planted_memset/{key}"]["latency"]["value"] == point["new"]["ns"]
    assert len(annotations) == sum(verdict != "SAME" for verdict in told.values())
    web = Page(made["html"].decode())
    assert document["sentence"] in web.text and OUTCOMES[kind] in web.text and loads_nothing(web)
    outcomes = {"SLOWER": "regressed", "FASTER": "improved", "SAME": "same", "INVALID": "not compared"}
    assert {row[0]: row[1] for row in web.rows[1:]} == {name: outcomes[verdict] for name, verdict in told.items()}


@pytest.fixture(scope="module")
def baseline(tmp_path_factory):
    file = tmp_path_factory.mktemp("baseline") / "mine.json"
    done = zerotax("bless", "--allocator", f"mine={library('planted_never')}", "--baseline", file, "--size", MIB)
    assert done.returncode == 0, done.stderr
    return file


def library(name):
    return planted(name)[1].partition("=")[2]


CAUSES = {"fails", "not_zero", "misaligned", "zeroes_fresh", "zeroes_reused", "zeroes_beyond", "zeroes_in_free",
          "returns_memory", "threshold", "zeroed_bytes", "faults", "system_calls", "placement", "not_measured"}


@pytest.mark.parametrize(("name", "kinds", "status"), mostly_long(
    [("planted_never", {"same"}, 0), ("planted_memset", {"worse", "mixed"}, 1)], [("planted_memset", {"worse", "mixed"}, 1)],
    "that nothing changed"))
def test_check_says_the_same_in_every_format(tmp_path, baseline, name, kinds, status):
    made, done = formats(tmp_path, "check", "--allocator", f"mine={library(name)}", "--baseline", baseline, "--size", MIB,
                         html=True, status=status)
    document = json.loads(made["json"])
    check_schema(document, "check")
    assert document["verdict"] in kinds and done.stdout.startswith(document["sentence"])
    page, annotations, figures = check_agreement(made, done, document["sentence"])
    groups = document["checks"][0]["groups"]
    rows = {(row[0], row[2]) for row in page.rows if row[0] != "change"}
    assert rows == {(group["title"], group["sentence"]) for group in groups}
    assert {words["file"] for _, words, _ in annotations} <= {str(baseline)} and len(annotations) == len(groups)
    ends = read_junit(made["junit"])
    # Each cause is a test, even a cause without changes.
    assert {name for _, name in ends} == CAUSES
    failed = {name for (_, name), (end, _) in ends.items() if end == "failure"}
    assert failed == {group["cause"] for group in groups if group["direction"] != "better"}
    place = f"mine/calloc_loop/{MIB}/0/main"
    assert figures[place]["zeroed-bytes"]["value"] == (MIB if status else 0)
    web = Page(made["html"].decode())
    # The page's first word is the verdict, so only the rest of the sentence is searched.
    assert document["sentence"].split(": ", 1)[1] in web.text and loads_nothing(web)
    assert len([row for row in web.rows[1:] if row[1] != "same"]) == len(document["checks"][0]["changes"])


@pytest.mark.long("a check more")
def test_an_improvement_fails_no_format_but_with_strict(tmp_path, baseline):
    change = json.loads(baseline.read_text())
    for point in change["points"]:
        point["zeroed_bytes"] = point["redundant_zeroed_bytes"] = point["size_bytes"]
        for call in point["first_ops"]:
            call["zeroed_bytes"] = call["redundant_zeroed_bytes"] = point["size_bytes"]
    (tmp_path / "worse.json").write_text(json.dumps(change))
    words = ["check", "--allocator", f"mine={library('planted_never')}", "--baseline", tmp_path / "worse.json",
             "--only", "zeroed_bytes", "--only", "redundant_zeroed_bytes"]
    for strict, status in (([], 0), (["--strict"], 1)):
        made, done = formats(tmp_path, *words, *strict, status=status)
        check_agreement(made, done, json.loads(made["json"])["sentence"])
        assert "### zerotax check: better\n" in made["markdown"].decode()


def shown(text):
    """Returns the part of a text that a page can show."""
    return as_shown(text.encode())


def test_hostile_names_break_no_format_of_findings(tmp_path, run):
    folder = os.path.join(os.fsencode(tmp_path), NOT_UTF8)
    os.mkdir(folder)
    file = os.fsdecode(os.path.join(folder, b"run.json"))
    with open(file, "w", encoding="utf-8") as out:
        json.dump(named(run, HOSTILE), out)
    made, done = formats(tmp_path, "findings", file, status=1, errors="surrogateescape")
    suites = {suite for suite, _ in read_junit(made["junit"])}
    assert any(suite.startswith(shown(HOSTILE)) for suite in suites), suites
    page = read_markdown(made["markdown"].decode())
    assert any(row[0].startswith(shown(HOSTILE)) for row in page.rows), page.rows
    assert "bad-\\xff\\xfe-name" in page.text and "bad-\\xff\\xfe-name" in ET.fromstring(made["junit"]).find(
        ".//property[@name='subject']").get("value")
    commands = read_commands(done.stdout[done.stdout.index("::error title=zerotax findings::"):])
    assert commands[0][2] == verdict_of_junit(made["junit"])
    assert "no" not in [message for _, _, message in commands]
    assert any(name.startswith(shown(HOSTILE)) for name in read_bmf(made["bmf"]))


@pytest.mark.long("the same of findings")
def test_hostile_names_break_no_format_of_compare(tmp_path, run):
    old = named(only_memset(run), HOSTILE)
    new = json.loads(json.dumps(old))
    new["points"][0]["zeroed_bytes"] += new["points"][0]["size_bytes"]
    for name, text in (("old", old), ("new", new)):
        (tmp_path / f"{name}.json").write_text(json.dumps(text))
    made, done = formats(tmp_path, "compare", tmp_path / "old.json", tmp_path / "new.json", html=True, status=1)
    assert read_commands(done.stdout) and all(suite == shown(HOSTILE) for suite, _ in read_junit(made["junit"]))
    assert all(name.startswith(shown(HOSTILE)) for name in read_bmf(made["bmf"]))
    read_markdown(made["markdown"].decode())
    web = Page(made["html"].decode())
    assert loads_nothing(web)
    for name in ("old", "new"):
        (tmp_path / f"{name}.json").write_text((tmp_path / f"{name}.json").read_text().replace(json.dumps(HOSTILE), '"plain"'))
    done = zerotax("compare", tmp_path / "old.json", tmp_path / "new.json", "--html", "-")
    assert web.tags == Page(done.stdout).tags


def test_a_long_list_stays_below_githubs_limit_and_says_what_is_missing(tmp_path, run):
    point = next(p for p in run["points"] if p["allocator"] == "planted_memset" and p["touch"] == 0 and p["size_bytes"] == MIB)
    many = [dict(point, size_bytes=MIB + 4096 * i, zeroed_bytes=MIB + 4096 * i, redundant_zeroed_bytes=MIB + 4096 * i)
            for i in range(900)]
    worse = [dict(each, zeroed_bytes=2 * each["zeroed_bytes"]) for each in many]
    for name, points in (("old", many), ("new", worse)):
        (tmp_path / f"{name}.json").write_text(json.dumps(dict(only_memset(run), points=points)))
    file = tmp_path / "out.md"
    done = zerotax("compare", tmp_path / "old.json", tmp_path / "new.json", "--markdown", file, "--github")
    assert done.returncode == 1, done.stderr
    text = file.read_text()
    page = read_markdown(text)
    rows = [row for row in page.rows if row[0] != "point"]
    assert 100 < len(rows) < 900 and "900 SLOWER" in page.text
    assert f"{900 - len(rows)} more rows, of which {900 - len(rows)} fail." in page.text
    assert len([each for each in read_commands(done.stdout) if each[0] == "error"]) == 10


@pytest.mark.long("a check more")
def test_one_format_may_be_standard_output_and_stands_there_alone(tmp_path, run):
    (tmp_path / "run.json").write_text(json.dumps(run))
    for option, read in (("junit", lambda text: read_junit(text.encode())), ("bmf", read_bmf), ("markdown", read_markdown)):
        done = zerotax("findings", tmp_path / "run.json", f"--{option}", "-")
        assert done.returncode == 1 and read(done.stdout)
    done = zerotax("compare", tmp_path / "run.json", tmp_path / "run.json", "--html", "-")
    assert done.returncode == 0 and Page(done.stdout).text
    done = zerotax("findings", tmp_path / "run.json", "--json", "-", "--github")
    assert done.returncode == 2 and "both write standard output" in done.stderr
