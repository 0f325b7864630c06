"""Axes in common units: sizes in KiB to GiB, times in ns to s, and a visible zero."""

from __future__ import annotations

import math

from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator

from zerotax_plots.units import count_text, rate_text, tick_size_text, tick_time_text

ZERO_BAND = 0.45   # half the height of the shaded band at zero, in units of the smallest value shown


def _powers(low: float, high: float, base: int, most: int) -> list[float]:
    """Returns the powers of `base` from low to high. If there are more than `most`, returns every second, third … of
    them.
    """
    first, last = math.ceil(math.log(low, base) - 1e-9), math.floor(math.log(high, base) + 1e-9)
    step = max(1, math.ceil((last - first + 1) / most))
    return [float(base) ** power for power in range(first, last + 1) if power % step == 0]


def _ticks(axis: Axis, places: list[float], texts: list[str]) -> None:
    axis.set_major_locator(FixedLocator(places))
    axis.set_major_formatter(FixedFormatter(texts))
    axis.set_minor_locator(NullLocator())


def size_axis(axes: Axes, sizes: list[int], most: int) -> None:
    """Makes x a log2 axis for sizes in bytes, with at most `most` labels."""
    low, high = min(sizes), max(sizes)
    axes.set_xscale("log", base=2)
    margin = 2 ** max(0.25, 0.025 * math.log2(high / low))
    axes.set_xlim(low / margin, high * margin)
    if math.log2(high / low) < 3:   # an axis with labels only at powers of 2 would have at most one label
        places = sorted({float(size) for size in sizes})
        places = places[::math.ceil(len(places) / most)]
    else:
        octaves = [p for p in _powers(low, high, 2, 99)]
        step = 2 if len(octaves) > 5 else 1
        while sum(round(math.log2(p)) % step == 0 for p in octaves) > most:
            step *= 2
        places = [p for p in octaves if round(math.log2(p)) % step == 0]
    _ticks(axes.xaxis, places, [tick_size_text(place).replace(" ", "\n") for place in places])


def size_span_axis(axes: Axes, low: float, high: float, most: int = 20) -> None:
    """Makes x a log2 axis for sizes in bytes that ends exactly at low and high, so that bars fill it from end to end.
    Every octave has a label, or as many octaves as there is space for.
    """
    high = max(high, low + 1)
    axes.set_xscale("log", base=2)
    axes.set_xlim(low, high)
    octaves = [float(1 << n) for n in range(math.ceil(math.log2(low)), math.floor(math.log2(high)) + 1)]
    places = octaves[::math.ceil(len(octaves) / most) if octaves else 1]
    places = places if len(places) > 1 else sorted({low, high})
    _ticks(axes.xaxis, places, [tick_size_text(place).replace(" ", "\n") for place in places])
    axes.grid(True, axis="x")
    axes.set_xlabel("size asked of calloc")


def time_axis(axes: Axes, low: float, high: float, on: str = "y") -> None:
    """Makes y (or x, with on="x") a log axis for times in nanoseconds from low to high."""
    axis, scale, limit = (axes.yaxis, axes.set_yscale, axes.set_ylim) if on == "y" else \
        (axes.xaxis, axes.set_xscale, axes.set_xlim)
    scale("log")
    low, high = limit(low, high)
    places = _powers(low, high, 10, 10)
    _ticks(axis, places, [tick_time_text(place) for place in places])


def rate_axis(axes: Axes, low: float, high: float) -> None:
    """Makes y a log axis for rates in MB/s from low to high."""
    axes.set_yscale("log")
    low, high = axes.set_ylim(low, high)
    places = _powers(low, high, 10, 10)
    _ticks(axes.yaxis, places, [rate_text(place) for place in places])


def threshold(values: list[float], base: int) -> float:
    """Returns the largest power of `base` that is at most the smallest value above 0; at least 1."""
    least = min((value for value in values if value > 0), default=1)
    return float(base) ** max(0, math.floor(math.log(least, base) + 1e-9)) if least >= 1 else 1.0


def zero_axis(axes: Axes, values: list[float], base: int) -> float:
    """Makes y a symlog axis for counts (base 10) or bytes (base 2), and returns its threshold.

    Below the threshold lies a shaded band that contains only exact zeros (the axis is linear there), so that a zero
    looks like a zero. Several lines at zero can be spread inside the band.
    """
    unit = threshold(values, base)
    high = max(max(values, default=unit) * (base if base == 10 else 4) ** 0.5, unit * base ** 2)
    axes.set_yscale("symlog", base=base, linthresh=unit,
                    linscale=0.14 * math.log(high / unit, base))
    axes.set_ylim(-ZERO_BAND * 1.25 * unit, high)
    axes.axhspan(-ZERO_BAND * unit, ZERO_BAND * unit, color="#EFEFEF", linewidth=0, zorder=0)
    places = _powers(unit, high, base, 7 if base == 10 else 99)
    if base == 2:
        step = 4 if len(places) > 8 else 2
        places = [p for p in places if round(math.log2(p)) % step == 0]
    text = count_text if base == 10 else tick_size_text
    _ticks(axes.yaxis, [0.0, *places], ["0", *[text(place) for place in places]])
    return unit
