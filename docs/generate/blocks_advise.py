"""docs/advise.md: advice on real programs, and the same by hand."""
from __future__ import annotations

import re
import statistics

from reference_text import REFERENCE, reference, table
from zerotax_plots.units import time_text

PAGE = "docs/advise.md"
PROGRAMS = ("numpy", "node", "gcc", "redis", "sqlite3", "git")
WORDS = {"nothing_helps": "nothing helps", "nothing_to_gain": "nothing to gain"}


def by_hand(name: str) -> str:
    """The medians of the runs by hand, as they are and with the remedy; empty if there are none."""
    file = REFERENCE / "advise" / f"{name}.txt"
    seconds: dict[str, list[float]] = {}
    for how, user, system in re.findall(r"^(.*): ([0-9.]+) user, ([0-9.]+) system$",
                                        file.read_text(encoding="utf-8") if file.exists() else "", re.MULTILINE):
        seconds.setdefault(how, []).append(float(user) + float(system))
    return " → ".join(time_text(statistics.median(each) * 1e9) for each in seconds.values())


def row(name: str) -> list[str]:
    """A program: what is recommended, and what that gains."""
    advice = reference(f"advise/{name}.json")["recommendation"]
    found = re.search(r"CPU time (.*?) -> (.*?) \(([0-9.]+) times", advice["gains"])
    gained = [f"{found[1]} → {found[2]}", found[3]] if found else ["", ""]
    return [name, advice["remedy"] or WORDS[advice["kind"]], *gained, by_hand(name)]


def programs_block() -> str:
    """A row for each program."""
    return table(["program", "advice", "CPU time", "ratio", "CPU time by hand"], [row(name) for name in PROGRAMS])


BLOCKS = {"results/reference/advise": programs_block}
