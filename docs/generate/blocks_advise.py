"""docs/advise.md: advice on real programs, and the same by hand."""
from __future__ import annotations

import re
import statistics

from reference_text import REFERENCE, reference
from zerotax_units import time_text

PAGE = "docs/advise.md"
PROGRAMS = ("numpy", "node", "gcc", "redis", "sqlite3", "git")


def by_hand(name: str) -> str:
    """The medians of the runs by hand, where there are any."""
    file = REFERENCE / "advise" / f"{name}.txt"
    seconds: dict[str, list[float]] = {}
    for how, user, system in re.findall(r"^(.*): ([0-9.]+) user, ([0-9.]+) system$",
                                        file.read_text(encoding="utf-8") if file.exists() else "", re.MULTILINE):
        seconds.setdefault(how, []).append(float(user) + float(system))
    if not seconds:
        return ""
    return " By hand: " + ", ".join(f"{time_text(statistics.median(each) * 1e9)} {how}" for how, each in seconds.items()) + "."


def advice_block() -> str:
    """An item a program: the sentences of its JSON."""
    items = []
    for name in PROGRAMS:
        advice = reference(f"advise/{name}.json")["recommendation"]
        sentences = " ".join(advice[key] for key in ("sentence", "gains", "costs") if advice[key])
        items.append(f"- **{name}**: {sentences}{by_hand(name)}")
    return "\n".join(items)


def example_block() -> str:
    """What the terminal said of the first program, without folders of the machine."""
    text = (REFERENCE / "advise" / f"{PROGRAMS[0]}.out").read_text(encoding="utf-8").rstrip()
    return "```\n" + re.sub(r"/\S*/(?=build/lib/|numpy_rounds)", "", text) + "\n```"


BLOCKS = {"results/reference/advise": advice_block, f"results/reference/advise/{PROGRAMS[0]}.out": example_block}
