#!/usr/bin/python3
"""Takes the pictures of docs/tour.md and docs/study.md, in results/reference/tour: outputs of commands in a frame like a
terminal, check's Markdown as a comment, and the page of the reference run. Chromium renders them.

usage: docs/generate/screenshots.py [--check]

The script takes only pictures whose source has changed, because each PNG stores a digest of its source. --check takes no
picture, and exits with 1 if a picture is out of date.
"""
from __future__ import annotations

import base64
import hashlib
import html
import io
import pathlib
import re
import subprocess
import sys
import tempfile
from typing import Any, NamedTuple

from reference_text import REFERENCE, ROOT  # this import puts plots/ on the path
from zerotax_plots.output import write

TOUR = REFERENCE / "tour"
COLUMNS = 80
DIGEST = "Source-SHA256"  # key of the PNG's text chunk
LINE, MARGIN = 18, 16  # height of a line and margin of the terminal, in pixels
SCREENS = {"page": (1280, 900), "page_phone": (390, 1400)}
COMMENT_WIDTH = 800
TERMINAL_STYLE = f"""body {{ margin: 0; background: #15191e }}
pre {{ margin: 0; padding: {MARGIN}px; color: #dde3ea; font: 13px/{LINE}px "DejaVu Sans Mono", monospace }}
b {{ color: #8fd18f; font-weight: normal }}"""
COMMENT_STYLE = """body { margin: 0; padding: 20px; color: #1f2328; background: #fff; font: 14px/1.5 "DejaVu Sans", sans-serif }
h3 { margin: 0 0 12px; font-size: 17px } table { border-collapse: collapse; font-size: 12px }
th, td { border: 1px solid #d1d9e0; padding: 5px 10px; vertical-align: top } summary { margin: 4px 0 }
ul { padding-left: 20px }"""


class Terminal(NamedTuple):
    """A command, the file with its output, and the parts to show. A part extends from one match through the next match,
    plus N lines.
    """
    command: str
    file: str
    parts: list[tuple[str, str, int]]


TERMINALS = {
    "record": Terminal("zerotax record -- /usr/bin/python3 -c 'for _ in range(100): bytearray(20_000_000)'", "tour/record.txt",
                       [("", "^All causes", 0)]),
    "advise": Terminal("zerotax advise -- /usr/bin/python3 numpy_rounds.py", "advise/numpy.out",
                       [("", "--full$", 0)]),
    "cow": Terminal("zerotax cow --every-fault -- /usr/bin/python3 server.py", "tour/cow.txt",
                    [("^python3: ", "^All processes", 0)]),
}
NAMES = ["page", "page_phone", *TERMINALS, "check"]


def part_of(lines: list[str], begin: str, end: str, more: int) -> list[str]:
    """Returns the lines of a part. Raises SystemExit if they do not exist."""
    try:
        first = next(i for i, line in enumerate(lines) if re.search(begin, line))
        last = next(i for i, line in enumerate(lines) if i >= first and re.search(end, line))
    except StopIteration:
        raise SystemExit(f"no lines from '{begin}' to '{end}' below: {lines[0]}") from None
    return lines[first:last + 1 + more]


def output(file: pathlib.Path) -> str:
    """Returns the output of a command, without folders of the machine."""
    return re.sub(r"/\S*/(?=build/lib/|numpy_rounds|server\.py|libmine)", "", file.read_text(encoding="utf-8").rstrip())


def terminal_lines(shown: Terminal) -> list[str]:
    """Returns the command and the shown parts of its output. … stands for each omitted part."""
    text = output(REFERENCE / shown.file)
    lines = [f"$ {shown.command}"]
    for part in shown.parts:
        lines += [*(["…"] if len(lines) > 1 else []), *part_of(text.splitlines(), *part)]
    return lines if text.endswith(lines[-1]) else [*lines, "…"]


def columns_of(lines: list[str]) -> int:
    """Returns the number of columns that fits the longest line."""
    return max(COLUMNS, *map(len, lines))


def terminal_html(lines: list[str]) -> str:
    """Returns a page with these lines, the command in green."""
    command, text = html.escape(lines[0]), html.escape("\n".join(lines[1:]))
    return (f'<!DOCTYPE html><html data-ready="yes"><meta charset="utf-8"><style>{TERMINAL_STYLE}</style>'
            f'<pre style="width: {columns_of(lines)}ch"><b>{command}</b>\n{text}</pre></html>')


def comment_html() -> str:
    """Returns a page with check's Markdown as GitHub's parser renders it."""
    words = ["cmark-gfm", "--unsafe", "-e", "table", "-e", "strikethrough", "-e", "autolink"]
    body = subprocess.run(words, input=output(TOUR / "check.md"), capture_output=True, text=True, check=True).stdout
    return f'<!DOCTYPE html><html data-ready="yes"><meta charset="utf-8"><style>{COMMENT_STYLE}</style>{body}</html>'


def source_of(name: str) -> bytes:
    """Returns the source of a picture: content and style. For the page, the source is the data of the first screen and
    the style files.
    """
    if name in TERMINALS:
        return terminal_html(terminal_lines(TERMINALS[name])).encode()
    if name == "check":
        return (COMMENT_STYLE + output(TOUR / "check.md")).encode()
    folder = ROOT / "plots" / "zerotax_plots" / "page"
    look = [path for path in sorted(folder.iterdir()) if path.suffix in (".html", ".css", ".js")]
    data = [REFERENCE / each for each in ("run.json", "points.jsonl", "summary.json", "thresholds.json")]
    return repr(SCREENS[name]).encode() + b"".join(path.read_bytes() for path in [*look, *data])


def digest_of(name: str) -> str:
    """Returns the digest of a picture's source."""
    return hashlib.sha256(source_of(name)).hexdigest()


def is_up_to_date(name: str, folder: pathlib.Path = TOUR) -> bool:
    """Returns whether the picture exists and was made from the present source."""
    from PIL import Image

    file = folder / f"{name}.png"
    if not file.exists():
        return False
    with Image.open(file) as picture:
        return picture.info.get(DIGEST) == digest_of(name)


def write_document(name: str, folder: pathlib.Path) -> pathlib.Path:
    """Writes the page for the browser, and returns its path."""
    file = folder / ("page.html" if name in SCREENS else f"{name}.html")
    if name in TERMINALS:
        file.write_text(terminal_html(terminal_lines(TERMINALS[name])), encoding="utf-8")
    elif name == "check":
        file.write_text(comment_html(), encoding="utf-8")
    elif not file.exists():
        make = [sys.executable, ROOT / "plots" / "write_page.py", REFERENCE, "--out", file]
        subprocess.run(make, check=True, stdout=subprocess.DEVNULL)
    return file


def take(browser: Any, name: str, folder: pathlib.Path, out: pathlib.Path) -> None:
    """Writes out/NAME.png. The document stays in the folder and in the browser."""
    from PIL import Image, PngImagePlugin

    width, height = SCREENS.get(name, (COMMENT_WIDTH, 100))
    browser.window(width, height, mobile=width < 600)
    browser.open(write_document(name, folder))
    if name not in SCREENS:  # the picture is as large as the content of the page
        if name in TERMINALS:
            width = browser.run("return Math.ceil(document.querySelector('pre').getBoundingClientRect().width)")
        browser.window(width, height)
        height = browser.run("return document.documentElement.offsetHeight")
        browser.window(width, height)
    browser.frame()
    taken = base64.b64decode(browser.devtools("Page.captureScreenshot", format="png")["data"])
    text = PngImagePlugin.PngInfo()
    text.add_text(DIGEST, digest_of(name))
    with Image.open(io.BytesIO(taken)) as picture:  # 256 colors instead of all: a third of the file's size
        few = picture.convert("RGB").quantize(256, Image.Quantize.MAXCOVERAGE, kmeans=1, dither=Image.Dither.NONE)
        made = io.BytesIO()
        few.save(made, format="PNG", pnginfo=text, optimize=True)
    write(out / f"{name}.png", made.getvalue(), lambda old: DIGEST.encode() in old)


def make(names: list[str], out: pathlib.Path) -> None:
    """Takes these pictures."""
    sys.path.insert(0, str(ROOT / "tests" / "support"))
    from browser import Browser

    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        browser = Browser(folder / "profile")
        try:
            browser.devtools("Emulation.setScrollbarsHidden", hidden=True)
            for each in names:
                take(browser, each, folder, out)
        finally:
            browser.close()


def main(arguments: list[str]) -> int:
    """Takes or checks the pictures, and returns the exit status."""
    if arguments not in ([], ["--check"]):
        print((__doc__ or "").strip(), file=sys.stderr)
        return 2
    old = [name for name in NAMES if not is_up_to_date(name)]
    for name in old:
        print(f"results/reference/tour/{name}.png is out of date", *([": run docs/generate/screenshots.py"] if arguments else []),
              sep="", file=sys.stderr)
    if old and not arguments:
        make(old, TOUR)
    return 1 if old and arguments else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
