"""The pictures of docs/tour.md can be made again and show the content of their sources. The committed pictures were
made from these sources.
"""
import json
import os
import re
import shutil
import subprocess
import sys

import numpy
import pytest
from conftest import BUILD, SOURCE
from PIL import Image
from report_pages import needs_browser

sys.path.append(str(SOURCE / "docs" / "generate"))
import screenshots  # noqa: E402
from screenshots import LINE, MARGIN, NAMES, REFERENCE, SCREENS, TERMINALS, TOUR  # noqa: E402

needs_parser = pytest.mark.skipif(shutil.which("cmark-gfm") is None, reason="install cmark-gfm")
MOST_BYTES = 120_000
STALE = "run docs/examples/tour.sh results/reference/tour, docs/generate/update_pages.py and docs/generate/screenshots.py"
SOURCES = {name: terminal.file for name, terminal in TERMINALS.items()} | {
    "check": "tour/check.md", "page": "points.jsonl", "page_phone": "points.jsonl"}


def grey(file):
    """Returns the brightness of each pixel, 0 to 255."""
    with Image.open(file) as picture:
        return numpy.asarray(picture.convert("L"), dtype=int)


def is_blank(pixels):
    """Whether hardly any pixel differs from the background."""
    return bool(pixels.std() < 15 or (abs(pixels - pixels[2, 2]) > 60).mean() < 0.02)


def ends_of_lines(file, columns):
    """Returns the number of columns up to the last ink of each line in a picture of a terminal; 0 for an empty line."""
    pixels = grey(file)
    wide = (pixels.shape[1] - 2 * MARGIN) / columns
    ends = []
    for top in range(MARGIN, pixels.shape[0] - MARGIN, LINE):
        ink = numpy.flatnonzero((pixels[top:top + LINE] > 90).any(axis=0))
        ends.append(round((ink[-1] - MARGIN) / wide + 0.5) if len(ink) else 0)
    return ends


def differing(file, lines):
    """Returns the lines of a terminal whose length differs in the picture."""
    ends = ends_of_lines(file, screenshots.columns_of(lines))
    assert len(ends) == len(lines), (len(ends), len(lines))
    return [line for line, end in zip(lines, ends) if abs(len(line.rstrip()) - end) > 1]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Makes each picture again. Returns the folder of the pictures, and the browser's text by name of the picture."""
    from browser import Browser

    out, folder = tmp_path_factory.mktemp("pictures"), tmp_path_factory.mktemp("documents")
    browser = Browser(folder / "profile")
    browser.devtools("Emulation.setScrollbarsHidden", hidden=True)
    texts = {}
    for name in NAMES:
        screenshots.take(browser, name, folder, out)
        texts[name] = browser.run("return document.body.innerText")
        assert browser.run("return document.documentElement.scrollWidth <= innerWidth"), f"{name} is wider than its picture"
    browser.close()
    return out, texts


@pytest.mark.long("a browser, and every figure")
@needs_browser
@needs_parser
@pytest.mark.parametrize("name", NAMES)
def test_a_picture_can_be_made_again_and_is_not_blank(made, name):
    new, committed = grey(made[0] / f"{name}.png"), grey(TOUR / f"{name}.png")
    assert not is_blank(new) and not is_blank(committed)
    if name in SCREENS:
        assert new.shape == committed.shape == SCREENS[name][::-1]
    # A picture in another font may differ in width or height by at most a fifth.
    assert all(abs(one - other) <= other / 5 for one, other in zip(new.shape, committed.shape))
    assert screenshots.is_up_to_date(name, made[0])
    assert (TOUR / f"{name}.png").stat().st_size <= MOST_BYTES


@needs_browser
@needs_parser
@pytest.mark.parametrize("name", TERMINALS)
def test_a_terminal_shows_each_line_of_its_output(made, name):
    lines = screenshots.terminal_lines(TERMINALS[name])
    assert made[1][name].splitlines() == lines
    assert differing(made[0] / f"{name}.png", lines) == []


@needs_browser
@needs_parser
def test_the_page_and_the_comment_show_their_verdict(made):
    sentence = json.loads((REFERENCE / "summary.json").read_text(encoding="utf-8"))["sentences"][0]["text"]
    assert sentence in made[1]["page"] and sentence in made[1]["page_phone"]
    verdict = " ".join((TOUR / "check.txt").read_text(encoding="utf-8").split(". ")[0].split())
    assert verdict.startswith("worse: ") and verdict in made[1]["check"]


def test_the_committed_pictures_are_of_their_present_source():
    old = [name for name in NAMES if not screenshots.is_up_to_date(name)]
    assert not old, f"run docs/generate/screenshots.py: {old}"


def wording(lines):
    """Returns the headings of tables and the names of causes, as far as they do not depend on the counts. A cause is
    shown if it takes at least 1 % of the time. Columns of cow that are all zero are omitted.
    """
    headings = {" ".join(line.split()) for line in lines
                if len(re.split(r" {2,}", line.strip())) > 2 and not re.search(r"\d", line)
                and not line.strip().startswith("copies ")}
    causes = {found[1] for line in lines if (found := re.match(r"((?:kernel|program) [a-z ]+ \([a-z ]+\)) .* ([\d.]+) %$", line))
              and float(found[2]) > 4}
    return headings | causes


def plain(text):
    """Returns the lines of check.txt or check.md without the parts that differ from run to run."""
    text = re.sub(r"(?s)(?:  |! )Measured under load.*?meanwhile\.\n|- Measured under load[^\n]*\n", "", text)
    text = re.sub(r"/tmp/[^ /]+/|build-id [0-9a-f]+", "", text)
    return text.splitlines()


def rows_of(lines):
    """Returns the rows of check.txt's table. Below a warning of load, the answer has room for fewer rows."""
    return [line for line in lines if line.startswith(("worse ", "better "))]


def with_first_rows(lines, most):
    """Returns the lines with at most this many rows, and without the number of missing rows."""
    left_out = rows_of(lines)[most:]
    return [line for line in lines if line not in left_out and not re.fullmatch(r"and \d+ more rows", line)]


def test_the_commands_print_today_what_the_pictures_show(tmp_path, monkeypatch):
    """advise takes minutes, so the picture shows the output of the run that README.md quotes."""
    subprocess.run([SOURCE / "docs" / "examples" / "tour.sh", tmp_path / "tour", "record", "cow", "check"], check=True,
                   env={**os.environ, "ZEROTAX_BUILD": str(BUILD)}, timeout=300)
    shown = {name: wording(screenshots.terminal_lines(TERMINALS[name])) for name in ("record", "cow")}
    monkeypatch.setattr(screenshots, "REFERENCE", tmp_path)
    assert all(shown.values())
    for name, words in shown.items():
        assert words == wording(screenshots.terminal_lines(TERMINALS[name])), f"{STALE}: {name}"
    for file in ("check.txt", "check.md"):
        now, then = (plain((folder / "tour" / file).read_text(encoding="utf-8")) for folder in (tmp_path, REFERENCE))
        most = min(len(rows_of(now)), len(rows_of(then)))
        assert (file, with_first_rows(now, most)) == (file, with_first_rows(then, most)), STALE


def test_the_tour_shows_each_picture_below_its_command():
    text = (SOURCE / "docs" / "tour.md").read_text(encoding="utf-8")
    for name in NAMES:
        if name == "page_phone":
            continue
        before, _, _ = text.partition(f"](../results/reference/tour/{name}.png)")
        assert before != text and before.rpartition("![")[2].strip(), f"{name} has no alternative text"
        if name in TERMINALS:
            assert f"\n{TERMINALS[name].command}\n```\n\n![" in before[-900:], name


@pytest.mark.parametrize("name", NAMES)
def test_a_planted_change_of_the_source_is_seen(name, tmp_path, monkeypatch):
    """Changes every 1 in one source of a picture to a 2."""
    for each in {*SOURCES.values(), "run.json", "summary.json", "thresholds.json"}:
        (tmp_path / each).parent.mkdir(exist_ok=True)
        shutil.copy(REFERENCE / each, tmp_path / each)
    monkeypatch.setattr(screenshots, "REFERENCE", tmp_path)
    monkeypatch.setattr(screenshots, "TOUR", tmp_path / "tour")
    assert screenshots.is_up_to_date(name, TOUR)
    changed = tmp_path / SOURCES[name]
    changed.write_text(changed.read_text(encoding="utf-8").replace("1", "2"), encoding="utf-8")
    assert not screenshots.is_up_to_date(name, TOUR)
    assert not screenshots.is_up_to_date(name, tmp_path), "there is none"


def test_a_planted_hole_in_a_picture_is_seen(tmp_path):
    lines = screenshots.terminal_lines(TERMINALS["record"])
    with Image.open(TOUR / "record.png") as picture:
        broken = picture.convert("RGB")
    assert differing(TOUR / "record.png", lines) == [] and not is_blank(grey(TOUR / "record.png"))
    at = next(i for i, line in enumerate(lines) if line.startswith("kernel zeroed memory again"))
    ground = broken.getpixel((0, 0))
    broken.paste(ground, (300, MARGIN + at * LINE, broken.width, MARGIN + (at + 1) * LINE))
    broken.save(tmp_path / "broken.png")
    assert differing(tmp_path / "broken.png", lines) == [lines[at]]
    broken.paste(ground, (0, MARGIN + 3 * LINE, *broken.size))
    broken.save(tmp_path / "blank.png")
    assert is_blank(grey(tmp_path / "blank.png"))
