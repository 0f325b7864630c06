"""The look of every figure: one color, marker and line style per allocator, readable in gray.

Import this module before any other part of matplotlib. This module chooses the folder of the font cache and the
backend, which matplotlib fixes on first use.
"""

from __future__ import annotations

import atexit
import os
import shutil
import stat
import tempfile
from pathlib import Path
from typing import Any


def _is_ours(folder: Path) -> bool:
    status = folder.lstat()
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid() and not status.st_mode & 0o022


def _private_folder() -> str:
    """Returns a folder for matplotlib's font cache that belongs to this user. The folder is in the user's cache, beside
    the data of `zerotax history`. It is kept between runs, because building the font cache takes seconds. If the user
    has no cache folder (no home, or another user's home, as under sudo), the folder is temporary and is removed.
    """
    home = os.environ.get("HOME", "")
    cache = Path(os.environ.get("XDG_CACHE_HOME") or f"{home}/.cache")
    folder = cache / "zerotax" / "matplotlib"
    try:
        if cache.is_absolute() and _is_ours(cache.parent):
            for each in (cache, cache / "zerotax", folder):
                each.mkdir(mode=0o700, exist_ok=True)
            if _is_ours(folder) and os.access(folder, os.W_OK):
                return str(folder)
    except OSError:
        pass
    passing = tempfile.mkdtemp(prefix="zerotax-matplotlib-")
    atexit.register(shutil.rmtree, passing, ignore_errors=True)
    return passing


if not os.environ.get("MPLCONFIGDIR"):   # matplotlib also treats an empty variable as unset
    os.environ["MPLCONFIGDIR"] = _private_folder()

import matplotlib  # noqa: E402  (the folder must be set first)

from zerotax_plots.looks import FILLS, darker, styles  # noqa: E402
from zerotax_plots.results import Key  # noqa: E402

matplotlib.use("agg")
INK = "#222222"
FAINT = "#5A5A5A"
GRID = "#DDDDDD"
# Starts from matplotlib's defaults, because the user's matplotlibrc must not change a published figure.
matplotlib.rcdefaults()
matplotlib.rcParams.update({
    "font.family": "DejaVu Sans", "font.size": 11, "axes.labelsize": 11, "text.color": INK,
    "axes.labelcolor": INK, "axes.edgecolor": "#888888", "axes.linewidth": 0.8,
    "axes.spines.top": False, "axes.spines.right": False, "axes.axisbelow": True,
    "xtick.color": INK, "ytick.color": INK, "xtick.labelsize": 10, "ytick.labelsize": 10.5,
    "grid.color": GRID, "grid.linewidth": 0.7, "hatch.linewidth": 1.0,
    "text.parse_math": False,     # a $ in a setting is a literal dollar sign
    "svg.hashsalt": "zerotax",    # the same data give the same bytes
    "svg.fonttype": "path",       # every reader sees the same picture, whatever fonts are installed
})


def line_styles(keys: list[Key]) -> dict[Key, dict[str, Any]]:
    """Returns the arguments of Axes.plot for each line: the allocator's style, and a distinct filling of markers. Lines
    often coincide. The first lines are the widest, so that each line is visible around the next one.
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
