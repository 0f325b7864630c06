#!/usr/bin/env python3
"""Puts the numbers of results/reference into README.md, between its markers.

usage: results/update_readme.py [--check]     --check changes nothing; exit status 1 if README.md is out of date
"""
from __future__ import annotations

import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
REFERENCE = ROOT / "results" / "reference"


def machine(run: dict) -> str:
    """One line on what was measured, when and on which machine."""
    environment = run["environment"]
    gib = environment["memory_bytes"] / 2**30
    return (f"Measured {run['started'][:10]} on Linux {environment['kernel']}, {environment['cpu']}, "
            f"{environment['cpus']} CPUs, {gib:.0f} GiB, huge pages `{environment['thp']}`; "
            f"all of it is in [results/reference](results/reference).")


def summary_block() -> str:
    """The table and sentences of the study's summary, without its heading."""
    text = (REFERENCE / "summary.md").read_text(encoding="utf-8")
    table = text[text.index("| one calloc"):]
    run = json.loads((REFERENCE / "run.json").read_text(encoding="utf-8"))
    return f"{table.strip()}\n\n{machine(run)}"


def with_block(readme: str, block: str) -> str:
    """README with what is between its markers replaced."""
    pattern = re.compile(r"(<!-- results/reference -->\n).*?(\n<!-- end -->)", re.DOTALL)
    if not pattern.search(readme):
        raise SystemExit("README.md has no markers '<!-- results/reference -->' and '<!-- end -->'")
    return pattern.sub(lambda found: found.group(1) + block + found.group(2), readme)


def main() -> int:
    path = ROOT / "README.md"
    readme = path.read_text(encoding="utf-8")
    updated = with_block(readme, summary_block())
    if "--check" in sys.argv[1:]:
        if updated != readme:
            print("README.md is not what results/reference says: run results/update_readme.py", file=sys.stderr)
            return 1
        return 0
    path.write_text(updated, encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
