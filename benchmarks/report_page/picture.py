#!/usr/bin/python3
"""Pictures of the first screen of a results folder's page, as Chromium shows it on a desktop and on a phone:
picture.py RESULTS FILE.png writes FILE.png and FILE_phone.png"""

from __future__ import annotations

import base64
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
SCREENS = {"": (1280, 900), "_phone": (390, 1400)}  # pixels: by what the file's name ends with


def main(results: str, picture: str) -> int:
    """Writes the pictures; returns the exit status."""
    from browser import Browser

    with tempfile.TemporaryDirectory() as name:
        page = pathlib.Path(name) / "report.html"
        make = [sys.executable, ROOT / "plots" / "page" / "write_page.py", results, "--out", page]
        subprocess.run(make, check=True, stdout=subprocess.DEVNULL)
        browser = Browser(pathlib.Path(name) / "profile")
        browser.devtools("Emulation.setScrollbarsHidden", hidden=True)
        for end, (width, height) in SCREENS.items():
            browser.window(width, height, mobile=width < 600)
            browser.open(page)
            browser.frame()
            taken = browser.devtools("Page.captureScreenshot", format="png")
            file = pathlib.Path(picture)
            file = file.with_name(file.stem + end + file.suffix)
            file.write_bytes(base64.b64decode(taken["data"]))
            if smaller := shutil.which("convert"):  # as many colours as it has are a third of the file
                subprocess.run([smaller, file, "-strip", "-colors", "128", f"PNG8:{file}"], check=True)
        browser.close()
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 3:
        print((__doc__ or "").strip(), file=sys.stderr)
        sys.exit(2)
    sys.exit(main(*sys.argv[1:]))
