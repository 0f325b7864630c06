"""The pages of compare, check and history in a real browser: their drawings, and no request beyond the file."""

import json
import shutil
import subprocess
import sys

import pytest
from conftest import BUILD, KIB, MIB, SOURCE, check_schema, options, planted, zerotax
from report_pages import REFERENCE, Keys, browser, lines, needs_browser, quiet  # noqa: F401

pytestmark = needs_browser
FAULTS = "return faults().filter(fault => !fault.startsWith('little'));"
ACCESSIBLE = (SOURCE / "tests" / "page" / "accessibility.js").read_text() + FAULTS
WORDS = {"worse": "Regressed.", "better": "Improved.", "same": "Same.", "mixed": "Mixed."}


@pytest.fixture(scope="module")
def compared(tmp_path_factory):
    """Returns the page and the document of a comparison. One side is a case of the reference; the other is the same
    case with more zeroed bytes.
    """
    folder = tmp_path_factory.mktemp("comparison")
    points = [json.loads(line) for line in (REFERENCE / "points.jsonl").read_text().splitlines()]
    points = [p for p in points if (p["case"], p["allocator"]) == ("calloc_loop", "jemalloc") and p["status"] == "ok"]
    for name, factor in (("old", 0), ("new", 1)):
        changed = [{**p, "zeroed_bytes": p["zeroed_bytes"] + factor * p["size_bytes"]} for p in points]
        (folder / name).mkdir()
        shutil.copy(REFERENCE / "run.json", folder / name)
        (folder / name / "points.jsonl").write_text("".join(json.dumps(point) + "\n" for point in changed))
    done = zerotax("compare", folder / "old", folder / "new", "--html", folder / "page.html", "--json", folder / "page.json")
    assert done.returncode == 1, done.stderr
    return folder / "page.html", json.loads((folder / "page.json").read_text())


@pytest.fixture(scope="module")
def checked(tmp_path_factory):
    """Returns the page and the document of a real check. The baseline is better at one of its two sizes."""
    folder = tmp_path_factory.mktemp("check")
    baseline = json.loads(next((SOURCE / "tests" / "regression" / "baselines").glob("glibc-*.json")).read_text())
    kept = [p for p in baseline["points"] if p["size_bytes"] in (64 * KIB, MIB) and p["thread"] == "main"]
    for point in kept:
        if (point["size_bytes"], point["touch"]) == (MIB, 0):
            point["zeroed_bytes"] = point["redundant_zeroed_bytes"] = 0
    old = {**baseline, "points": kept}
    del old["thresholds"]  # removes the thresholds from the baseline, because a search for thresholds takes longer
    (folder / "old.json").write_text(json.dumps(old))
    done = zerotax("check", "--baseline", folder / "old.json", "--html", folder / "page.html", "--json", folder / "page.json")
    assert done.returncode == 1, done.stderr
    return folder / "page.html", json.loads((folder / "page.json").read_text())


@pytest.fixture(scope="module")
def versions(tmp_path_factory):
    """Returns the page and the document of the reference's history."""
    page = tmp_path_factory.mktemp("history") / "page.html"
    document = REFERENCE / "history" / "history.json"
    script = SOURCE / "plots" / "write_comparison.py"
    subprocess.run([sys.executable, script, document, "--out", page], check=True)
    return page, json.loads(document.read_text())


def marks(browser, line):
    """Returns the widths of the marks on a line of the chart."""
    return browser.run(
        "return [...document.querySelectorAll(`#chart [data-line=${arguments[0]}] .mark`)].map(m => m.getBBox().width)", line
    )


def test_before_and_after_are_drawn_and_nothing_is_asked_of_the_network(browser, compared):
    page, document = compared
    browser.open(page, "#view=jemalloc, calloc_loop, touch 0, main thread&metric=zeroed_bytes")
    assert browser.text("h1") == f"{WORDS[document['verdict']]} {document['sentence']}"
    sizes = sorted({p["size_bytes"] for p in document["points"] if (p["touch"], p["thread"]) == (0, "main")})
    for line in ("before", "after"):
        assert len(marks(browser, line)) == len(sizes) and min(marks(browser, line)) > 5
    browser.press("#chart .plot", Keys.HOME)
    point = next(p for p in document["points"] if (p["size_bytes"], p["touch"], p["thread"]) == (sizes[0], 0, "main"))
    old, new = ({w["figure"]: w[side] for w in point["work"]}["zeroed_bytes"] for side in ("old", "new"))
    told = browser.find("#chart .plot").get_attribute("aria-valuetext")
    assert f"before {old:,} B" in told and f"after {new:,} B" in told
    assert len(browser.all("#every tbody tr")) == len(document["points"])
    verdicts = browser.run("return [...document.querySelectorAll('#every tbody td.verdict')].map(e => e.textContent)")
    counts = document["counts"]
    assert verdicts.count("regressed") == counts["SLOWER"] > 0 and verdicts.count("same") == counts["SAME"]
    assert browser.requested() == [f"file://{page}"]


def test_several_runs_stand_beside_the_first(browser, compared, tmp_path):
    folder = compared[0].parent
    out = {"--html": tmp_path / "page.html", "--json": tmp_path / "page.json"}
    runs = [folder / name for name in ("old", "new", "old")]
    done = zerotax("compare", *runs, *(word for pair in out.items() for word in pair))
    document = json.loads(out["--json"].read_text())
    check_schema(document, "compare")
    assert done.returncode == 1 and [document["verdict"], document["more"][0]["verdict"]] == ["worse", "same"]
    browser.open(out["--html"], "#metric=zeroed_bytes")
    names = browser.run("return [...document.querySelectorAll('#chart [data-line]')].map(g => g.dataset.line)")
    assert names == ["before", str(folder / "new"), str(folder / "old")]
    assert "new: regressed." in browser.text("h1") and "old: same." in browser.text("h1")
    assert len(browser.all("#every tbody tr")) == 2 * len(document["points"])


def test_a_row_leads_to_its_point_in_the_chart(browser, compared):
    page, _ = compared
    browser.open(page)
    browser.click("#every tbody tr:last-child a")
    told = browser.text("#every tbody tr:last-child th")
    assert browser.run("return document.activeElement.closest('figure').id") == "chart"
    assert told.split(" touch")[0] in browser.find("#chart .plot").get_attribute("aria-valuetext")


def test_kinds_of_calls_are_told_beside_the_point(browser, tmp_path):
    old, new = tmp_path / "old", tmp_path / "new"
    library = planted("planted_one_in_seven")
    for folder in (old, new):
        assert zerotax("run", *library, *options("size", [MIB]), "--ops", 33, "--out", folder).returncode == 0
    assert zerotax("compare", old, new, "--html", tmp_path / "page.html").returncode == 3  # one process on each side
    browser.open(tmp_path / "page.html")
    browser.click("#every details summary")
    lists = "return [...document.querySelectorAll('#every .evidence')].map(list => list.children[1].innerText)"
    assert browser.run(lists) == ["4 of 28 calls: 1 MiB zeroed, 1 MiB of it redundant, 1 MiB populated"] * 2


def test_check_draws_what_did_not_change_as_well(browser, checked):
    page, document = checked
    browser.open(page, "#metric=zeroed_bytes")
    [check] = document["checks"]
    assert browser.text("h1") == f"{WORDS[document['verdict']]} {document['sentence'].split(': ', 1)[1]}"
    assert {p["verdict"] for p in check["points"]} >= {"same", "worse"}
    assert len(marks(browser, "before")) == len(marks(browser, "after")) == 2
    assert len(browser.all("#changes .group")) == len(check["groups"])
    rows = browser.run("return [...document.querySelectorAll('#every tbody tr')].map(row => row.textContent)")
    same = sum(p["verdict"] == "same" for p in check["points"])
    assert len(rows) == len(check["changes"]) + same and sum("as before" in row for row in rows) == same
    assert check["accept"] in browser.text("#summary [data-copy], #summary code")


def test_history_has_the_versions_as_its_axis(browser, versions):
    page, document = versions
    browser.open(page, "#metric=redundant_zeroed_bytes")
    names = [version["name"] for version in document["versions"]]
    drawn = browser.run("return [...document.querySelectorAll('#chart .plot > svg text')].map(t => t.textContent)")
    assert [text for text in drawn if text in names] == names
    assert "1 MiB" in lines(browser, "chart") and len(browser.all("#map .frame")) == len(names)
    browser.press("#chart .plot", Keys.END)
    assert browser.find("#chart .plot").get_attribute("aria-valuetext").startswith(names[-1])
    for version in document["versions"]:
        assert version["sentence"].removeprefix("mixed: ") in browser.text(f"[id='version-{version['name']}']")
    assert browser.requested() == [f"file://{page}"]


@pytest.mark.parametrize("made", ["compared", "checked", "versions"])
@pytest.mark.parametrize("width, most", [(1280, 900), (390, 1400)])
def test_each_fits_its_screen_and_is_accessible(browser, request, made, width, most):
    page, _ = request.getfixturevalue(made)
    browser.window(width, 900, mobile=width < 500)
    browser.open(page)
    browser.run("for (const each of document.querySelectorAll('details')) each.open = true")
    browser.frame()
    assert browser.run("return document.documentElement.scrollWidth") <= width
    assert browser.run("const b = document.querySelector('.plot').getBoundingClientRect().bottom; return b + scrollY") <= most
    assert browser.run(ACCESSIBLE) == []
    assert browser.pdf().startswith(b"%PDF")


def test_the_page_of_a_program_fits_its_screen_and_is_accessible(browser, tmp_path):
    program, file, page = BUILD / "tests" / "recorded" / "regressed", tmp_path / "baseline.json", tmp_path / "page.html"
    assert zerotax("bless", "--baseline", file, "--", program, "reserve").returncode == 0
    done = zerotax("check", "--baseline", file, "--html", page, "--", program, "reserve", REGRESSED="1")
    assert done.returncode == 1, done.stderr
    for width in (1280, 390):
        browser.window(width, 900, mobile=width < 500)
        browser.open(page)
        browser.run("for (const each of document.querySelectorAll('details')) each.open = true")
        assert browser.run("return document.documentElement.scrollWidth") <= width
        assert browser.run(ACCESSIBLE) == []
        assert browser.text("h1").startswith("Regressed. peak of live heap")
    assert browser.requested() == [f"file://{page}"]
