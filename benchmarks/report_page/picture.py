#!/usr/bin/python3
"""A picture of the report page of a results folder, as Chromium shows it: picture.py RESULTS FILE.png"""

from __future__ import annotations

import base64
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "integration"))
VIEW = "#case=calloc_loop&touch=0&thread=main&at=104857600&go=time"
WIDTH, HEIGHT = 1000, 590   # pixels: the figure of times, from its heading on


def main(results: str, picture: str) -> int:
    """Writes the picture; returns the exit status."""
    from browser import Browser

    with tempfile.TemporaryDirectory() as name:
        page = pathlib.Path(name) / "report.html"
        make = [sys.executable, ROOT / "plots" / "page" / "write_page.py", results, "--out", page]
        subprocess.run(make, check=True, stdout=subprocess.DEVNULL)
        browser = Browser(pathlib.Path(name) / "profile")
        browser.window(WIDTH, HEIGHT)
        browser.devtools("Emulation.setScrollbarsHidden", hidden=True)
        browser.open(page, VIEW)
        browser.frame()
        taken = browser.devtools("Page.captureScreenshot", format="png")
        browser.close()
    pathlib.Path(picture).write_bytes(base64.b64decode(taken["data"]))
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 3:
        print((__doc__ or "").strip(), file=sys.stderr)
        sys.exit(2)
    sys.exit(main(*sys.argv[1:]))
