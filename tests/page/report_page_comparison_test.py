"""The page of compare in a real browser: what is drawn, and that nothing leaves the file."""

import json
import shutil

import pytest
from conftest import zerotax
from report_pages import REFERENCE, browser, needs_browser, quiet  # noqa: F401

pytestmark = needs_browser


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The page of the reference of one case, against itself with more zeroed bytes; and its document."""
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


def test_before_and_after_are_drawn_and_nothing_is_asked_of_the_network(browser, made):
    page, document = made
    browser.driver.get("about:blank")
    browser.requested()
    browser.driver.get(f"file://{page}")
    assert browser.text("h1") == f"zerotax compare: {document['verdict']}" and browser.text(".sentence") == document["sentence"]
    sizes = {p["size_bytes"] for p in document["points"] if (p["touch"], p["thread"]) == (0, "main")}
    for line in ("before", "after"):
        marks = browser.run(
            "const g = [...document.querySelectorAll('.panel')]"
            ".find(p => p.querySelector('h3').textContent.includes('touch 0, main'))"
            ".querySelectorAll('figure')[1].querySelector(`[data-line=${arguments[0]}]`);"
            "return [...g.querySelectorAll('.mark')].map(m => [m.getBBox().width, m.textContent])", line)
        assert len(marks) == len(sizes) and all(width > 5 and words.startswith(line) for width, words in marks)
    assert len(browser.all("tbody tr")) == len(document["points"])
    assert browser.requested() == [f"file://{page}"]
    # Wide tables scroll by themselves, also on a telephone.
    browser.window(390, mobile=True)
    assert browser.run("return document.documentElement.scrollWidth") <= 390
