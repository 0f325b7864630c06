"""README.md and docs: their commands work as written, and their numbers come from results/reference."""

import json
import os
import re
import subprocess
import sys

import pytest

from conftest import BUILD, LONG_TOO, SOURCE, clean_environment, mostly_long

sys.path.append(str(SOURCE / "docs" / "generate"))
import inline_numbers  # noqa: E402

PAGES = [SOURCE / "README.md", *sorted((SOURCE / "docs").glob("*.md"))]
REFERENCE = SOURCE / "results" / "reference"
BLOCK = re.compile(r"^(?:<!-- (not run: [^\n]+|long|exit \d) -->\n)?```sh\n(.*?)^```$", re.DOTALL | re.MULTILINE)
UNITS = "ns|µs|ms|s|seconds?|minutes?|hours?|%|bytes|KiB|MiB|GiB|TiB|kB|MB|GB|×|times"
BARE_NUMBER = re.compile(rf"(?<![\w.,])\d[\d,.]*\s?(?:{UNITS})(?![\w/])")
# Limit for all pages together. A single page has no limit in bytes, because it may have pictures.
MOST_BYTES = 150_000
MOST_PAGES = 26
MOST_LINES = 250


def blocks(text):
    """Returns (how, commands) of each block of commands. `how` is "", "long", "exit N" or "not run: reason"."""
    return [(how or "", commands) for how, commands in BLOCK.findall(text)]


def prose(text):
    """Returns the text without code, tables, blocks, link targets and numbers that have a source."""
    text = inline_numbers.NUMBER.sub("", inline_numbers.DEFINITION.sub("", text))
    text = re.sub(r"^<!-- results/.*?^<!-- end -->$", "", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
    text = re.sub(r"^\|.*$", "", text, flags=re.MULTILINE)
    return re.sub(r"\]\([^)]*\)", "]", text)


def bare_numbers(text):
    return BARE_NUMBER.findall(prose(text))


def files_of(text):
    """Returns the files of results/reference whose numbers a page shows."""
    names = re.findall(r"^(?:\[[^\]\n]+\]: \S*|<!-- )results/reference/(\S+)", text, re.MULTILINE)
    return [REFERENCE / name for name in dict.fromkeys(names) if (REFERENCE / name).is_file()]


def kernels_of(text):
    """Returns the kernels under which the numbers of these files were measured. Files that do not name a kernel are
    ignored.
    """
    found = set()
    for file in files_of(text):
        if file.suffix == ".json":
            found.add((json.loads(file.read_text(encoding="utf-8")).get("environment") or {}).get("kernel"))
    return found - {None}


# Ends the programs that a block left running. Otherwise these programs would keep the block's output open after a
# failed command.
LEAVE_NOTHING = "trap 'kill $(jobs -p) 2>/dev/null || true' EXIT\n"


def run_blocks(text, folder, long_too):
    """Runs a page's blocks in a folder. Yields (commands, problem) of each block whose outcome differs from what the
    page says.
    """
    # A python3 that is only a shim would start a shell and a dozen programs, and each of these would be recorded and
    # profiled.
    path = f"{BUILD / 'bin'}:/usr/bin:{os.environ['PATH']}"
    for how, commands in blocks(text):
        if how.startswith("not run") or (how == "long" and not long_too):
            continue
        wanted = int(how.split()[1]) if how.startswith("exit") else 0
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", LEAVE_NOTHING + commands], cwd=folder, capture_output=True,
                              text=True, env=clean_environment(PATH=path), timeout=900, check=False, errors="replace")
        if done.returncode != wanted:
            yield commands, f"status {done.returncode}, not {wanted}: {done.stderr[-2000:]}"


# Pages whose commands take more than five seconds.
HEAVY = ["record.md", "loop.md", "check.md", "profile.md", "snapshot.md", "replay.md", "contract.md", "study.md", "method.md"]


@pytest.mark.parametrize("page", mostly_long(PAGES, [page for page in PAGES if page.name not in HEAVY], "its commands take long"),
                         ids=lambda page: page.name)
def test_every_command_works_as_written(page, tmp_path):
    assert not list(run_blocks(page.read_text(encoding="utf-8"), tmp_path, LONG_TOO))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_number_comes_from_the_reference_run(page):
    assert not bare_numbers(page.read_text(encoding="utf-8")), "code, a table or a name (docs/generate/inline_numbers.py)"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_of_several_machines_names_each(page):
    text = page.read_text(encoding="utf-8")
    kernels = kernels_of(text)
    assert len(kernels) < 2 or all(kernel in text for kernel in kernels), kernels


def test_the_documentation_is_short():
    pages = PAGES[1:]
    assert len(pages) <= MOST_PAGES
    assert sum(page.stat().st_size for page in pages) <= MOST_BYTES
    assert not [page.name for page in pages if len(page.read_text(encoding="utf-8").splitlines()) > MOST_LINES]


def test_every_page_begins_with_its_question_and_ends_with_the_next_command():
    for page in PAGES[1:]:
        text = inline_numbers.DEFINITION.sub("", page.read_text(encoding="utf-8")).rstrip()
        assert re.match(r"# [^\n]+\?\n", text), page.name
        assert re.match(r"Next: `zerotax [a-z]", text.split("\n\n")[-1]), page.name


def test_a_number_is_rewritten_and_a_name_without_a_source_is_refused():
    place = SOURCE / "docs" / "page.md"
    page = 'The fit is [9][fit].\n`[a][b]`\n\n[fit]: ../results/reference/fork.json "model/r_squared number"\n'
    assert inline_numbers.with_numbers(page, place) == page.replace("[9]", "[0.935]")
    for old, new, words in (("[9][fit]", "[9][fitt]", "no number for [fitt]"), ("[9][fit]", "9", "no sentence uses fit"),
                            ("r_squared", "s_squared", "no number for [fit]"), ("fork.json", "none.json", "no number for [fit]"),
                            ("../results", "results", "no number for [fit]"),
                            ("model/r_squared number", "environment/cgroup_memory_limit_bytes bytes", "it is n/a")):
        with pytest.raises(SystemExit, match=re.escape(words)):
            inline_numbers.with_numbers(page.replace(old, new), place)


def test_planted_mistakes_are_found(tmp_path):
    fence = "```"
    page = f"{fence}sh\nzerotax --version\ntouch made\n{fence}\n\n<!-- exit 2 -->\n{fence}sh\nzerotax nonsense\n{fence}\n"
    assert not list(run_blocks(page, tmp_path, True)) and (tmp_path / "made").exists()
    [(commands, problem)] = run_blocks(page.replace("--version", "--versoin"), tmp_path, True)
    assert "versoin" in commands and "status 2" in problem
    skipped = f"<!-- not run: it fails -->\n{fence}sh\nfalse\n{fence}\n<!-- long -->\n{fence}sh\nfalse\n{fence}\n"
    assert not list(run_blocks(skipped, tmp_path, False)) and len(list(run_blocks(skipped, tmp_path, True))) == 1
    assert len(blocks(skipped)) == 2 and len(list(run_blocks(skipped + skipped, tmp_path, True))) == 2
    marked = "[5 ms][a]\n<!-- results/x -->\n7 ms\n<!-- end -->\n[a]: loop.json \"/5 ms/\"\n"
    good = f"`4 KiB`, 3 files\n| 5 ms |\n{marked}[x](a 5 ms)\n"
    assert not bare_numbers(good + f"{fence}\n5 ms\n{fence}\n")
    assert bare_numbers("It took 5 ms, 3.5 times 1,024 KiB and 81.7 % of it.") == ["5 ms", "3.5 times", "1,024 KiB", "81.7 %"]
    assert kernels_of("[a]: ../results/reference/policies.json \"x text\"\n<!-- results/reference/fork.json zeroing -->") == {
        json.loads((REFERENCE / name).read_text(encoding="utf-8"))["environment"]["kernel"]
        for name in ("policies.json", "fork.json")}
