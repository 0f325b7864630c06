"""Every number in README.md comes from results/reference, and README names only what is there."""
import os
import pathlib
import re
import subprocess
import sys

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
    index = (SOURCE / "docs/README.md").read_text(encoding="utf-8")
    linked = {(SOURCE / "docs" / target).resolve() for target in re.findall(r"\]\(([^)#]+)\)", index)}
    missing = {page for page in (SOURCE / "docs").rglob("*.md") if page.name != "README.md"} - linked
    assert not missing, missing
    assert "(docs/README.md)" in (SOURCE / "README.md").read_text(encoding="utf-8")


def test_the_reference_run_is_complete_and_valid():
    check = subprocess.run([sys.executable, SOURCE / "plots/validate.py", SOURCE / "results/reference"],
                           capture_output=True, text=True, check=False)
    assert check.returncode == 0, check.stdout + check.stderr
