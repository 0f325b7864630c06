"""The page of a run in a real browser: the pages that the tests open, the browser, and the drawn lines and texts."""

import functools
import json
import shutil
import subprocess
import sys

import pytest
from conftest import MIB, SOURCE, zerotax

try:
    from browser import Browser
    from selenium.webdriver import ActionChains
    from selenium.webdriver.common.keys import Keys

    HAVE_ALL = bool(shutil.which("chromium") and shutil.which("chromedriver"))
except ImportError:
    ActionChains = Keys = None
    HAVE_ALL = False

needs_browser = pytest.mark.skipif(not HAVE_ALL, reason="install chromium chromium-driver python3-selenium")
REFERENCE = SOURCE / "results" / "reference"
RUN_FILES = [
    *("run.json", "points.jsonl", "thresholds.json", "fork.json", "snapshot.json"),
    *("recv_buffer.json", "fork_after_calloc.json"),
]
EVIDENCE = {"case": "calloc_loop", "size_bytes": 64 * MIB, "touch": 1, "thread": "main", "figures": {"zeroed_bytes": 1},
            "text": "zeroed_bytes 1 byte"}
FINDING = {
    **{"id": "mimalloc-redundant-reuse-64MiB", "rule": "redundant-reuse", "allocator": "mimalloc", "version": "2.0.9"},
    **{"env": {}, "severity": "high", "title": "zeroes needlessly", "sentence": "It does.", "knobs": []},
    "shown_in": {"figure": "heat", "columns": {"heat.f": "redundant"}},
    "evidence": [EVIDENCE],
}
CANNOT = 3  # the command's exit status if the machine does not permit watching
FORKS = """
import os, time
block = bytearray(b"x") * (8 << 20)
child = os.fork()
for place in range(0, len(block), 4096):
    block[place] = 1
if not child:
    os._exit(0)
os.wait()
time.sleep(0.2)
"""
sys.path += [str(SOURCE / "tests" / "support" / "sample_results"), str(SOURCE / "plots")]


def page_of(results, out):
    done = subprocess.run(
        [sys.executable, SOURCE / "plots" / "write_page.py", results, "--out", out],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return out


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """Makes the page of the reference run, with a finding and the results of cow added."""
    folder = tmp_path_factory.mktemp("page") / "run"
    folder.mkdir()
    for name in RUN_FILES:
        shutil.copy(REFERENCE / name, folder)
    (folder / "findings.json").write_text(
        json.dumps({"schema": "zerotax.findings/1", "run": "r", "findings": [FINDING]})
    )
    watched = zerotax("cow", "--interval", 0.1, "--json", folder / "cow.json", "--", sys.executable, "-c", FORKS)
    assert watched.returncode in (0, CANNOT), watched.stderr
    return page_of(folder, folder.parent / "report.html")


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    made = Browser(tmp_path_factory.mktemp("profile"))
    yield made
    made.close()


@pytest.fixture(autouse=True)
def quiet(browser):
    """Sets a wide, light screen. After each test, checks that nothing was logged."""
    browser.window(1000)
    browser.devtools("Emulation.setEmulatedMedia", media="", features=[])
    yield
    assert browser.logged() == []


@functools.cache
def points():
    return [json.loads(line) for line in (REFERENCE / "points.jsonl").read_text().splitlines()]


def names_at(size):
    """Returns each allocator of the reference with its untouched point of this size."""
    return {
        p["allocator"]: p for p in points() if (p["case"], p["size_bytes"], p["touch"]) == ("calloc_loop", size, 0.0)
    }


def lines(browser, figure):
    """Returns the names of the drawn lines. A line without a path is left out."""
    return browser.run(
        "return [...document.querySelectorAll(`#${arguments[0]} [data-line]`)]"
        ".filter(g => g.querySelector('.line').getAttribute('d')).map(g => g.dataset.line)",
        figure,
    )


def ticks(browser, figure):
    """Returns the texts at the axes."""
    return browser.run(
        "return [...document.querySelectorAll(`#${arguments[0]} .plot > svg text`)].map(t => t.textContent)", figure
    )
