"""Every number in README.md comes from results/reference, and README.md names only things that exist."""
import json
import os
import pathlib
import re
import subprocess
import sys

import pytest

SOURCE = pathlib.Path(os.environ.get("ZEROTAX_SOURCE", pathlib.Path(__file__).parents[2]))


def test_the_readme_shows_what_the_reference_run_says():
    check = subprocess.run([sys.executable, SOURCE / "docs/generate/update_pages.py", "--check"],
                           capture_output=True, text=True, check=False)
    assert check.returncode == 0, check.stderr


def test_every_link_of_every_page_leads_somewhere():
    pages = [p for p in SOURCE.rglob("*.md") if "build" not in p.relative_to(SOURCE).parts[0]]
    assert pages
    for page in pages:
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
            if "://" not in target:
                assert (page.parent / target).exists(), f"{page}: {target}"


def test_the_index_links_every_page_of_docs():
    """The index of docs, or a README in the page's folder, links each page."""
    linked = {(index.parent / target).resolve() for index in (SOURCE / "docs").rglob("README.md")
              for target in re.findall(r"\]\(([^)#]+)\)", index.read_text(encoding="utf-8"))}
    missing = {page.resolve() for page in (SOURCE / "docs").rglob("*.md")} - linked - {(SOURCE / "docs/README.md").resolve()}
    assert not missing, missing
    assert "(docs/README.md)" in (SOURCE / "README.md").read_text(encoding="utf-8")


def test_the_reference_run_is_complete_and_valid():
    check = subprocess.run([sys.executable, SOURCE / "plots/validate.py", SOURCE / "results/reference"],
                           capture_output=True, text=True, check=False)
    assert check.returncode == 0, check.stdout + check.stderr


def test_the_first_screen_has_a_result_and_the_two_commands():
    first = (SOURCE / "README.md").read_text(encoding="utf-8").splitlines()[:16]
    assert any(line.startswith("![") and "results/reference/" in line for line in first)
    assert {"./run study", "./run test"} <= {line.split("  ")[0] for line in first}


def test_the_number_of_calls_decides_what_tcmalloc_refills(tmp_path):
    """docs/study.md says that on a slower CPU the last call of a point may be the third call, which refills the whole
    block.
    """
    zerotax = pathlib.Path(os.environ["ZEROTAX_BUILD"]) / "bin/zerotax"
    if not (zerotax.parent / "bench-tcmalloc").exists():
        pytest.skip("install libgoogle-perftools-dev, and build")
    words = [zerotax, "run", "--allocator", "tcmalloc", "--size", "1000MiB", "--ops", "3", "--audit-only", "--json", "run.json"]
    subprocess.run(words, cwd=tmp_path, check=True, capture_output=True)
    [point] = json.loads((tmp_path / "run.json").read_text())["points"]
    if point["status"] != "ok":
        pytest.skip(point["reason"])
    assert point["refilled_bytes"] == 1000 << 20 and "madvise" in point["first_ops"][1]["free_syscalls"]
    [reference] = [each for each in map(json.loads, (SOURCE / "results/reference/points.jsonl").read_text().splitlines())
                   if each["allocator"] == "tcmalloc" and each["size_bytes"] == 1000 << 20 and each["touch"] == 0]
    assert (reference["ops"], reference["calloc_faults"], reference["first_ops"][2]["calloc_faults"]) == (8, 0, 256_000)


def examples():
    """Yields (page, words) for every command line of zerotax in the pages."""
    for path in (SOURCE / "README.md", *sorted((SOURCE / "docs").glob("*.md"))):
        page, text = path.name, path.read_text(encoding="utf-8")
        blocks = "\n".join(re.findall(r"^```sh\n(.*?)^```$", text, re.DOTALL | re.MULTILINE))
        for command in [*re.findall(r"`(zerotax [^`\n]+)`", text), *re.findall(r"^(?:\$ )?(zerotax .*)$", blocks, re.MULTILINE)]:
            words = command.split("  #")[0].split(" -- ")[0].split()
            # Words in capitals are placeholders. One word is misspelled on purpose, to show the answer.
            if words[1].islower() and words[1] != "tresholds":
                yield page, words


def test_every_example_names_a_command_and_options_that_exist():
    zerotax = pathlib.Path(os.environ["ZEROTAX_BUILD"]) / "bin/zerotax"
    helps = {}
    for page, words in examples():
        name = words[1]
        if name not in helps:
            shown = subprocess.run([zerotax, name, "--help"], capture_output=True, text=True, check=False)
            assert shown.returncode == 0, f"{page}: zerotax {name}: {shown.stderr}"
            helps[name] = shown.stdout
        for word in words[2:]:
            option = re.match(r"--[a-z-]+", word)
            assert not option or name == "trace" or option.group() in helps[name], f"{page}: {' '.join(words)}"
    assert len(helps) >= 20
