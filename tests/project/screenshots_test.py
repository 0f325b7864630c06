"""The pictures of docs/tour.md: each can be made again, shows what its source says, and the committed one is of that source."""
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
    """The brightness of each pixel, 0 to 255."""
    with Image.open(file) as picture:
        return numpy.asarray(picture.convert("L"), dtype=int)


def is_blank(pixels):
    """Whether hardly any pixel is unlike the ground."""
    return bool(pixels.std() < 15 or (abs(pixels - pixels[2, 2]) > 60).mean() < 0.02)


def ends_of_lines(file, columns):
    """Of each line of a terminal's picture, how many columns it takes, as far as its ink shows: 0 for an empty one."""
    pixels = grey(file)
    wide = (pixels.shape[1] - 2 * MARGIN) / columns
    ends = []
    for top in range(MARGIN, pixels.shape[0] - MARGIN, LINE):
        ink = numpy.flatnonzero((pixels[top:top + LINE] > 90).any(axis=0))
        ends.append(round((ink[-1] - MARGIN) / wide + 0.5) if len(ink) else 0)
    return ends


def differing(file, lines):
    """The lines of a terminal that its picture does not show as long as they are."""
    ends = ends_of_lines(file, screenshots.columns_of(lines))
    assert len(ends) == len(lines), (len(ends), len(lines))
    return [line for line, end in zip(lines, ends) if abs(len(line.rstrip()) - end) > 1]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder with each picture, made now, and what the browser says that it shows, by name."""
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
    # Another font is as wide or as high within a fifth.
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
    verdict = (TOUR / "check.txt").read_text(encoding="utf-8").splitlines()[0]
    assert verdict.startswith("worse: ") and verdict in made[1]["check"]


def test_the_committed_pictures_are_of_their_present_source():
    old = [name for name in NAMES if not screenshots.is_up_to_date(name)]
    assert not old, f"run docs/generate/screenshots.py: {old}"


def wording(lines):
    """The headings of tables and the names of causes that do not depend on the counts. Rows beside zeroing are shown
    from 1 % of the time on, and columns of cow that are all zero are left out."""
    headings = {" ".join(line.split()) for line in lines
                if len(re.split(r" {2,}", line.strip())) > 2 and not re.search(r"\d", line)
                and not line.strip().startswith(("beside zeroing", "copies "))}
    causes = {found[0] for line in lines if (found := re.match(r"(kernel|allocator|program): [a-z+ ]+?(?=  )", line))}
    return headings | causes


def plain(name, text):
    """The lines of check.txt or check.md without the parts that differ from run to run."""
    text = re.sub(r"(?s)  Measured under load.*?meanwhile\.\n|- Measured under load[^\n]*\n", "", text)
    text = re.sub(r"/tmp/[^ /]+/|build-id [0-9a-f]+", "", text)
    return name, text.splitlines()


def test_the_commands_print_today_what_the_pictures_show(tmp_path, monkeypatch):
    """The output of advise, which takes minutes, is that of the run that README.md quotes."""
    subprocess.run([SOURCE / "docs" / "examples" / "tour.sh", tmp_path / "tour", "record", "cow", "check"], check=True,
                   env={**os.environ, "ZEROTAX_BUILD": str(BUILD)}, timeout=300)
    shown = {name: wording(screenshots.terminal_lines(TERMINALS[name])) for name in ("record", "cow")}
    monkeypatch.setattr(screenshots, "REFERENCE", tmp_path)
    assert all(shown.values())
    for name, words in shown.items():
        assert words == wording(screenshots.terminal_lines(TERMINALS[name])), f"{STALE}: {name}"
    for file in ("check.txt", "check.md"):
        now, then = ((folder / "tour" / file).read_text(encoding="utf-8") for folder in (tmp_path, REFERENCE))
        assert plain(file, now) == plain(file, then), STALE


def test_the_tour_shows_each_picture_below_its_command():
    text = (SOURCE / "docs" / "tour.md").read_text(encoding="utf-8")
    for name in NAMES:
        if name == "page_phone":
            continue
        before, _, _ = text.partition(f"](../results/reference/tour/{name}.png)")
        assert before != text and before.rpartition("![")[2].strip(), f"{name} has no text for who cannot see it"
        if name in TERMINALS:
            assert f"\n{TERMINALS[name].command}\n```\n\n![" in before[-900:], name


@pytest.mark.parametrize("name", NAMES)
def test_a_planted_change_of_the_source_is_seen(name, tmp_path, monkeypatch):
    """The same files but for one digit, elsewhere."""
    for each in {*SOURCES.values(), "run.json", "summary.json", "thresholds.json"}:
        (tmp_path / each).parent.mkdir(exist_ok=True)
        shutil.copy(REFERENCE / each, tmp_path / each)
    monkeypatch.setattr(screenshots, "REFERENCE", tmp_path)
    monkeypatch.setattr(screenshots, "TOUR", tmp_path / "tour")
    assert screenshots.is_up_to_date(name, TOUR)
    changed = tmp_path / SOURCES[name]
    changed.write_text(changed.read_text(encoding="utf-8").replace("1", "2", 1), encoding="utf-8")
    assert not screenshots.is_up_to_date(name, TOUR)
    assert not screenshots.is_up_to_date(name, tmp_path), "there is none"


def test_a_planted_hole_in_a_picture_is_seen(tmp_path):
    lines = screenshots.terminal_lines(TERMINALS["record"])
    with Image.open(TOUR / "record.png") as picture:
        broken = picture.convert("RGB")
    assert differing(TOUR / "record.png", lines) == [] and not is_blank(grey(TOUR / "record.png"))
    at = next(i for i, line in enumerate(lines) if line.startswith("kernel: refilled"))
    ground = broken.getpixel((0, 0))
    broken.paste(ground, (300, MARGIN + at * LINE, broken.width, MARGIN + (at + 1) * LINE))
    broken.save(tmp_path / "broken.png")
    assert differing(tmp_path / "broken.png", lines) == [lines[at]]
    broken.paste(ground, (0, MARGIN + 3 * LINE, *broken.size))
    broken.save(tmp_path / "blank.png")
    assert is_blank(grey(tmp_path / "blank.png"))
