"""The color, marker, line style and name that each allocator has in every figure."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any, NamedTuple

from zerotax_plots.results import Key


class Style(NamedTuple):
    """The style of an allocator's line. `dash` is in units of the line width."""

    colour: str
    marker: str
    dash: Any


ALLOCATORS = Path(__file__).resolve().parents[2] / "allocators"


def known_styles(folder: Path = ALLOCATORS) -> dict[str, Style]:
    """Returns the style of every allocator whose folder has a plot.json, in the order that these files state.

    The hues are those of Okabe and Ito (https://jfly.uni-koeln.de/color/), with a changed lightness so that they also
    differ in gray: CIE L* 0, 40, 50, 60, 28, 69 and 76. Okabe and Ito's yellow is invisible on white.
    """
    found = {path.parent.name: json.loads(path.read_text(encoding="utf-8")) for path in folder.glob("*/plot.json")}
    return {
        name: Style(look["colour"], look["marker"], (0, tuple(look["dash"])) if look["dash"] else "-")
        for name, look in sorted(found.items(), key=lambda item: (item[1]["order"], item[0]))
    }


KNOWN = known_styles()
OTHERS = [
    Style("#6B6B6B", "<", (0, (4, 1, 4, 3))),
    Style("#8A7F00", ">", (0, (9, 3))),
    Style("#94526F", "p", (0, (1.2, 2.4))),
    Style("#2F6F8F", "h", (0, (3, 1, 1, 1, 1, 1, 1, 1))),
    Style("#4B3A8C", "*", (0, (14, 1.5))),
    Style("#A33B3B", "d", (0, (5, 1, 2, 1))),
]
FILLS = ("full", "none", "left", "top")


def order(name: str) -> tuple[int, str]:
    """Returns the sort key of an allocator: known allocators in their fixed order, then the others by name."""
    known = list(KNOWN)
    return (known.index(name) if name in KNOWN else len(known), name)


def styles(names: set[str]) -> dict[str, Style]:
    """Returns the style of every allocator. A known name always has the same style. For any other name, the first style
    to try depends only on the name. If that style is taken, the name gets the next free style.
    """
    chosen = {name: KNOWN[name] for name in names if name in KNOWN}
    taken: set[int] = set()
    for name in sorted(names - KNOWN.keys()):
        place = int(hashlib.sha256(name.encode()).hexdigest(), 16) % len(OTHERS)
        while place in taken and len(taken) < len(OTHERS):
            place = (place + 1) % len(OTHERS)
        taken.add(place)
        chosen[name] = OTHERS[place]
    return chosen


def labels(keys: list[Key]) -> dict[Key, str]:
    """Returns the label of each line: the allocator, its settings if any, and " (worker)" off the main thread. For two
    builds of one allocator, the label also has the preloaded file.
    """
    def label(key: Key) -> str:
        settings = " ".join(f"{name}={value}" for name, value in key.env)
        return key.allocator + (f" [{settings}]" if settings else "") \
            + (" (worker)" if key.thread == "worker" else "")

    names = [label(key) for key in keys]
    return {key: name + (f" {{{Path(key.preload).name or 'built in'}}}"
                         if names.count(name) > 1 else "")
            for key, name in zip(keys, names)}


def darker(colour: str) -> str:
    """Returns the color for the rim of a marker. Without a rim, light markers would be invisible on white."""
    parts = (int(int(colour[i:i + 2], 16) * 0.7) for i in (1, 3, 5))
    return "#" + "".join(f"{part:02X}" for part in parts)
