"""In docs/upstream, each bug of another project has a page, a report, a reproducer that compiles, and measured numbers.
"""

import os
import re
import shutil
import subprocess

import pytest

from conftest import SOURCE

UPSTREAM = SOURCE / "docs" / "upstream"
EVIDENCE = SOURCE / "results" / "reference" / "upstream"
FOLDERS = sorted(folder for folder in UPSTREAM.iterdir() if folder.is_dir())
VERDICTS = ("real", "cured in", "not reproduced", "not ours")
MOST_LINES = 60
MOST_BYTES = 40_000
WIDEST = 140
# A count as written on pages, such as 20,971,528. Versions, years and issue numbers do not have this form.
COUNT = re.compile(r"(?<![\d.,])\d{1,3}(?:,\d{3})+(?![\d,])")


def names(folder):
    return folder.name


def text_of(folder):
    return (folder / "README.md").read_text(encoding="utf-8")


def reproducer_of(folder):
    """Returns the reproducer, in C or in another language that the bug requires."""
    found, = [path for path in folder.iterdir() if path.stem == "reproducer"]
    return found


def measured(folder):
    """Returns all integers in the results, from JSON and from the output of commands (with commas between thousands).
    """
    found = set()
    for file in (EVIDENCE / folder.name).iterdir():
        digits = r"\d+" if file.suffix == ".json" else r"\d[\d,]*"
        found.update(int(number.replace(",", "")) for number in re.findall(digits, file.read_text(encoding="utf-8")))
    return found


def test_the_table_lists_every_bug_and_links_its_page():
    table = (UPSTREAM / "README.md").read_text(encoding="utf-8")
    assert sorted(re.findall(r"\]\(([\w.-]+)/README\.md\)", table)) == [folder.name for folder in FOLDERS]
    assert len(FOLDERS) >= 10


@pytest.mark.parametrize("folder", FOLDERS, ids=names)
def test_a_page_says_what_was_claimed_measured_and_found(folder):
    text = text_of(folder)
    lines = text.splitlines()
    assert len(lines) <= MOST_LINES and all(len(line) <= WIDEST for line in lines)
    assert all(len(line) <= WIDEST for line in (folder / "report.md").read_text(encoding="utf-8").splitlines())
    for heading in ("## Claim", "## Measured", "## Command", "## Verdict"):
        assert heading in lines, heading
    assert "https://" in text and "zerotax " in text.split("## Command")[1]
    verdict = text.split("## Verdict")[1].strip()
    assert verdict.startswith(tuple(f"**{word}" for word in VERDICTS)), verdict.splitlines()[0]


@pytest.mark.parametrize("folder", FOLDERS, ids=names)
def test_every_count_of_a_page_was_measured(folder):
    files = list((EVIDENCE / folder.name).iterdir())
    assert files and all(file.stat().st_size < MOST_BYTES for file in files)
    known = measured(folder)
    # The text before this heading quotes numbers that other people measured.
    ours = {"README.md": text_of(folder).split("## Measured")[1], "report.md": (folder / "report.md").read_text(encoding="utf-8")}
    for name, text in ours.items():
        for number in COUNT.findall(text):
            assert int(number.replace(",", "")) in known, f"{name}: {number} is in no result of {folder.name}"


@pytest.mark.parametrize("folder", FOLDERS, ids=names)
def test_a_reproducer_needs_its_language_alone(folder, tmp_path):
    source = reproducer_of(folder)
    if source.suffix == ".c":
        subprocess.run(["cc", "-O2", "-Wall", "-Werror", "-pthread", source, "-o", "reproducer"], cwd=tmp_path, check=True)
        command = [tmp_path / "reproducer"]
    elif source.suffix == ".js":
        if shutil.which("node") is None:
            pytest.skip("no node")
        command = ["node", source]
    else:
        # The first build of a Go program takes a minute, so only gofmt checks its syntax.
        if shutil.which("gofmt") is None:
            pytest.skip("no gofmt")
        done = subprocess.run(["gofmt", "-l", source], capture_output=True, text=True, check=True)
        assert done.stdout == "", "gofmt would change it"
        return
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("LD_", "MALLOC_", "MIMALLOC_"))}
    done = subprocess.run([*command, "1", "3"], capture_output=True, text=True, env=environment, timeout=60, check=False)
    assert done.returncode in (0, 1) and done.stdout and not done.stderr, done.stderr
