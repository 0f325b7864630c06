#!/usr/bin/python3
"""Compares zerotax's results on arm64, in virtual machines with pages of 4 and 16 KiB, with the results on this host.

Also reports which of zerotax's own tests passed in the virtual machines.

usage: arm64.py FILE.json [--tests 4K=JUNIT.xml] [--tests 16K=JUNIT.xml]

The build for arm64 is build-arm64 (./run arm64 --test, which writes the results of the tests). In a virtual machine, a
metric is the same, is n/a with a reason, or differs. With pages of 16 KiB, metrics differ by whole pages.
"""
from __future__ import annotations

import argparse
import pathlib
import sys
import tempfile
import xml.etree.ElementTree

import machines

from zerotax_plots.files import ResultsError  # noqa: E402
from zerotax_plots.output import check_replaceable, is_document, named_path, write_document  # noqa: E402

ARM64 = machines.ROOT / "build-arm64"
RELEASE = "trixie"
SCHEMA = "zerotax.arm64/1"


def tests(file: pathlib.Path) -> dict:
    """Reads ctest's JUnit file. Returns the tests that passed, and the other tests with their status."""
    cases = {case.get("name"): case.get("status") for case in xml.etree.ElementTree.parse(file).getroot().iter("testcase")}
    passed = [name for name, status in cases.items() if status == "run"]
    return {"passed": sorted(passed), "others": {name: status for name, status in sorted(cases.items()) if status != "run"}}


def main() -> int:
    """Writes the document."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=named_path)
    parser.add_argument("--tests", action="append", default=[], metavar="PAGE=FILE")
    parser.add_argument("--force", action="store_true", help="replace a file of another program")
    options = parser.parse_args()
    check_replaceable(options.file, is_document(SCHEMA), options.force)
    junit = dict(word.split("=", 1) for word in options.tests)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        place = machines.Place(folder)
        here = {"run": place.document("run", *machines.PLAN),
                "record": place.document("record", program=machines.REFILL)["totals"]["kernel"],
                "cow": machines.watched_range(place)}
        machines.REFILL[0] = str(ARM64 / "tests" / "recorded" / "refill")
        machines.FORKS = str(ARM64 / "tests" / "recorded" / "forks")
        found = []
        for page in ("4K", "16K"):
            figures = machines.figures(machines.Place(folder, f"{RELEASE},arch=aarch64,page={page}"), here)
            of_tests = {"tests": tests(junit[page])} if page in junit else {}
            found.append({"release": RELEASE, "page": page, **figures, **of_tests})
            print(page, {key: row for key, row in figures["figures"].items() if row["na"] or row["differs"]}, file=sys.stderr)
    document = {"schema": SCHEMA, "zerotax_version": here["run"]["zerotax_version"],
                "kernel": here["run"]["environment"]["kernel"], "plan": machines.PLAN, "machines": found}
    write_document(options.file, document, force=options.force)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except ResultsError as problem:
        print(f"{pathlib.Path(__file__).name}: {problem}", file=sys.stderr)
        sys.exit(2)
