"""A heat map of ratios: a row a program, a column a contender, 1 is white."""

from __future__ import annotations

from typing import Sequence

from matplotlib import colors
from matplotlib.axes import Axes

from zerotax_plots import style
from zerotax_plots.units import number_text


def draw_heat(axes: Axes, rows: Sequence[tuple[str, Sequence[float | str]]], contenders: Sequence[str],
              norm: colors.LogNorm) -> None:
    """Draws it. A word in the place of a ratio says why there is none."""
    axes.imshow([[float("nan") if isinstance(value, str) else value for value in values] for _, values in rows],
                cmap="PuOr_r", norm=norm, aspect="auto")
    for row, (_, values) in enumerate(rows):
        for column, value in enumerate(values):
            dark = not isinstance(value, str) and abs(norm(value) - 0.5) > 0.4
            axes.text(column, row, value if isinstance(value, str) else number_text(value), ha="center", va="center",
                      fontsize=5.8, color="white" if dark else style.INK)
    axes.set_xticks(range(len(contenders)), contenders, rotation=60, ha="right", rotation_mode="anchor", fontsize=8)
    axes.set_yticks(range(len(rows)), [name for name, _ in rows], fontsize=9)
    for spine in axes.spines.values():
        spine.set_visible(False)
