"""How every figure looks: one colour, marker and line style per allocator, readable in grey.

Import this module before any other part of matplotlib: it chooses where matplotlib keeps its font
cache and which backend draws, and both are fixed on first use.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any, NamedTuple


def _private_folder() -> str:
    """A folder for matplotlib's font cache that is ours alone and outside $HOME.

    It is kept between runs, as building the cache takes seconds. A name in /tmp can be taken by
    another user beforehand, so the owner is checked.
    """
    folder = Path(tempfile.gettempdir()) / f"zerotax-matplotlib-{os.getuid()}"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        status = folder.lstat()
        if folder.is_dir() and not folder.is_symlink() and status.st_uid == os.getuid() \
                and not status.st_mode & 0o022:
            return str(folder)
    except OSError:
        pass
    passing = tempfile.mkdtemp(prefix="zerotax-matplotlib-")
    atexit.register(shutil.rmtree, passing, ignore_errors=True)
    return passing


if not os.environ.get("MPLCONFIGDIR"):   # matplotlib, too, takes an empty one for none
    os.environ["MPLCONFIGDIR"] = _private_folder()

import matplotlib  # noqa: E402  (the folder must be set first)

from zerotax_results import Key  # noqa: E402

matplotlib.use("agg")
INK = "#222222"
FAINT = "#5A5A5A"
GRID = "#DDDDDD"
# The user's matplotlibrc must not change a published figure, so start from matplotlib's defaults.
matplotlib.rcdefaults()
matplotlib.rcParams.update({
    "font.family": "DejaVu Sans", "font.size": 11, "axes.labelsize": 11, "text.color": INK,
    "axes.labelcolor": INK, "axes.edgecolor": "#888888", "axes.linewidth": 0.8,
    "axes.spines.top": False, "axes.spines.right": False, "axes.axisbelow": True,
    "xtick.color": INK, "ytick.color": INK, "xtick.labelsize": 10, "ytick.labelsize": 10.5,
    "grid.color": GRID, "grid.linewidth": 0.7, "hatch.linewidth": 1.0,
    "text.parse_math": False,     # a $ in a setting is a dollar
    "svg.hashsalt": "zerotax",    # the same data give the same bytes
    "svg.fonttype": "path",       # the same picture whatever fonts the reader has
})


class Style(NamedTuple):
    """How the line of one allocator is drawn. `dash` is in units of the line width."""

    colour: str
    marker: str
    dash: Any


# Hues of Okabe and Ito (https://jfly.uni-koeln.de/color/), moved in lightness alone so that they
# also differ in grey: CIE L* 0, 40, 50, 60, 28, 69 and 76. Their yellow vanishes on white.
KNOWN = {
    "glibc": Style("#000000", "o", "-"),
    "jemalloc": Style("#0063A2", "s", (0, (5, 1.6))),
    "mimalloc": Style("#C85300", "^", (0, (8, 1.6, 1.6, 1.6))),
    "tcmalloc": Style("#14A479", "D", (0, (2.6, 1.4))),
    "tbbmalloc": Style("#712553", "v", (0, (1.1, 1.3))),
    "scudo": Style("#56B4E9", "P", (0, (6, 1.3, 1.2, 1.3, 1.2, 1.3))),
    "largecache": Style("#F7AD1E", "X", (0, (12, 2, 3, 2))),
}
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
    """Sort key of an allocator: the known ones in their fixed order, then the others by name."""
    known = list(KNOWN)
    return (known.index(name) if name in KNOWN else len(known), name)


def styles(names: set[str]) -> dict[str, Style]:
    """The style of every allocator; known names always look the same.

    Another name starts at a place that depends on it alone, and moves on while that is taken.
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
    """What each line is called: allocator, its settings if any, and " (worker)" off main.

    Two builds of one allocator are told apart by the file that was preloaded.
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
    """The colour for the rim of a marker: light ones would be lost on white."""
    parts = (int(int(colour[i:i + 2], 16) * 0.7) for i in (1, 3, 5))
    return "#" + "".join(f"{part:02X}" for part in parts)


def line_styles(keys: list[Key]) -> dict[Key, dict[str, Any]]:
    """Arguments of Axes.plot for each line: its allocator's style, its own filling of markers.

    Lines often coincide. The first are the widest, so that each shows around the next.
    """
    by_name = styles({key.allocator for key in keys})
    seen: dict[str, int] = {}
    result = {}
    for place, key in enumerate(keys):
        thick = 1 - place / max(len(keys) - 1, 6)
        style, variant = by_name[key.allocator], seen.get(key.allocator, 0)
        seen[key.allocator] = variant + 1
        result[key] = {"color": style.colour, "marker": style.marker, "linestyle": style.dash,
                       "linewidth": 1.6 + 1.0 * thick, "markersize": 5.2 + 2.8 * thick,
                       "markeredgecolor": darker(style.colour),
                       "markerfacecoloralt": "white", "markeredgewidth": 1.1,
                       "dash_capstyle": "butt", "fillstyle": FILLS[variant % len(FILLS)]}
    return result
