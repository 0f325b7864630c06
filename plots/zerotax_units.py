"""Figures in the units people use: sizes in KiB to GiB, times in ns to s."""

from __future__ import annotations

import math

UNITS = ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"), (1, "B"))
TIMES = ((1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1, "ns"))


def size_text(size: float, gap: str = " ") -> str:
    """A size in bytes in its largest whole unit: 64 KiB, 100 MiB; else with a few digits."""
    for unit, name in UNITS:
        if size >= unit and size % unit == 0:
            return f"{size / unit:.0f}{gap}{name}"
    unit, name = next(((u, n) for u, n in UNITS if size >= u), UNITS[-1])
    return f"{size / unit:.4g}{gap}{name}"


def about_size_text(size: int) -> str:
    """The same, to three digits where it would be more than four: 31.9 MiB."""
    exact = size_text(size)
    if len(exact.split()[0]) <= 4:
        return exact
    unit, name = next((u, n) for u, n in UNITS if size >= u)
    return f"{size / unit:.3g} {name}"


def time_text(nanoseconds: float) -> str:
    """A time in nanoseconds to two digits or more: 5.7 µs, 43 ms, 563 ms."""
    for unit, name in TIMES:
        # From 999.5 on, the smaller unit would be written as 1000.
        if nanoseconds >= unit * 0.9995 or unit == 1:
            value = nanoseconds / unit
            return f"{value:.2g} {name}" if value < 9.95 else f"{value:.0f} {name}"
    raise AssertionError("the last unit takes every time")


def count_text(count: float) -> str:
    """A count with its thousands apart: 256,007."""
    return f"{count:,.0f}" if count >= 10 or count == int(count) else f"{count:.2g}"


def rate_text(rate: float) -> str:
    """A rate in MB/s with three digits at most: 0.036 MB/s, 2.81 MB/s, 1,930 MB/s."""
    digits = max(0, 2 - math.floor(math.log10(rate))) if rate > 0 else 0
    return f"{rate:,.{min(digits, 3)}f} MB/s" if rate < 1000 else f"{float(f'{rate:.3g}'):,.0f} MB/s"


def buffer_text(size: int) -> str:
    """A size as it was given: 100 MB is no round number of MiB."""
    return f"{size // 10**6} MB" if size % 10**6 == 0 else size_text(size)
