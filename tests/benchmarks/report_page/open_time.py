#!/usr/bin/python3
"""Measures how long the page of 100,000 points takes to make and to open in Chromium, and its size.

Opening lasts from the request of the file until its scripts have drawn every figure. The output is the median, minimum
and maximum of nine measurements. Exit status 1 if the median is 1 s or more, 2 without a browser.
"""

from __future__ import annotations

import json
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "tests" / "support"), str(ROOT / "tests" / "support" / "sample_results")]
LIMIT_MS, TIMES = 1000, 9

try:
    import zerotax_sample as sample
    from browser import Browser
except ImportError as missing:
    print(
        f"error: {missing}; apt-get install python3-selenium chromium chromium-driver, and use /usr/bin/python3",
        file=sys.stderr,
    )
    sys.exit(2)
if not shutil.which("chromium") or not shutil.which("chromedriver"):
    print("error: there is no browser; apt-get install chromium chromium-driver", file=sys.stderr)
    sys.exit(2)


def write_run(folder: pathlib.Path) -> int:
    """Writes the results of a modeled study: 20 lines, 1,000 sizes and 5 fractions. Returns the number of points."""
    names, count = list(sample.VERSIONS), 0
    sample.write(folder, [], sample.run(100_000))
    with open(folder / "points.jsonl", "w", encoding="utf-8") as file:
        for line in range(20):
            name = names[line % len(names)]
            for step in range(1000):
                size = int(65536 * 2 ** (14 * step / 999))
                for touch in (0.0, 0.01, 0.1, 0.5, 1.0):
                    point = sample.point(name, size, touch)
                    if line >= len(names):
                        point["allocator"] = f"{name}-{line}"
                    file.write(json.dumps(point) + "\n")
                    count += 1
    return count


def opening_ms(page: pathlib.Path, folder: pathlib.Path) -> list[float]:
    """Returns the milliseconds of each opening."""
    browser = Browser(folder)
    browser.window(1280)
    times = []
    for _ in range(TIMES):
        browser.open(page)
        times.append(browser.run("return performance.getEntriesByType('navigation')[0].loadEventStart"))
    browser.close()
    return times


def main() -> int:
    """Prints the times, and returns the exit status."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        points = write_run(folder / "run")
        begin = time.monotonic()
        subprocess.run(
            [sys.executable, ROOT / "plots" / "write_page.py", folder / "run"], check=True, stdout=subprocess.DEVNULL
        )
        made = time.monotonic() - begin
        page = folder / "run" / "report.html"
        times = opening_ms(page, folder / "profile")
        size = page.stat().st_size
    median = statistics.median(times)
    print(f"report page of {points:,} points: {size / 1e6:.1f} MB, made in {made:.1f} s")
    print(f"opens in {median:.0f} ms ({min(times):.0f} to {max(times):.0f} of {TIMES}), until every figure is drawn")
    if median >= LIMIT_MS:
        print(f"off: {LIMIT_MS} ms is the most that it may take")
    return int(median >= LIMIT_MS)


if __name__ == "__main__":
    sys.exit(main())
