"""The page of a run has a section with the advice, word for word. An invalid file of advice removes only that section.
"""

import html
import json
import shutil
import subprocess

import pytest
from advising import PROGRAMS, advise
from conftest import SOURCE, ZEROTAX

PYTHON = "/usr/bin/python3"


def section(folder, begin='<section id="advise"', end="</section>"):
    page = folder / "page.html"
    done = subprocess.run([PYTHON, SOURCE / "plots/write_page.py", folder, "--out", page, "--zerotax", ZEROTAX],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return html.unescape(page.read_text().split(begin, 1)[1].split(end, 1)[0])


@pytest.mark.long("a study and a search")
def test_the_page_of_a_run_shows_the_advice_beside_it(tmp_path):
    for name in ("run.json", "points.jsonl"):
        shutil.copy(SOURCE / "results/reference" / name, tmp_path)
    missing = section(tmp_path, '<li id="advise"', "</li>")
    assert "advise.json is not in this folder" in missing and "zerotax advise --json advise.json" in missing
    found = advise(PROGRAMS / "refill_by_trim", options=["--allocator", "mimalloc", "--rounds", "12"])
    (tmp_path / "advise-refill.json").write_text(json.dumps(found.json))
    (tmp_path / "advise-broken.json").write_text('{"schema": "zerotax.advise/1"}')
    text = section(tmp_path)
    for words in (found.advice["sentence"], found.advice["line"], found.advice["gains"], found.advice["costs"]):
        assert words in text
    assert text.count("<tr>") == 1 + len(found.json["remedies"])
    for row in found.json["remedies"]:
        assert row["name"] in text and row["line"] in text
    assert "advise-broken.json does not match its schema" in text
