"""Numbers as text: the only formatter of times, bytes, counts, ratios and percentages in Python.

The rules are those of the C++ side, and of plots/zerotax_plots/page/units.js. tests/units_cases.json checks all three.
"""

from __future__ import annotations

import math

UNITS = ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"), (1, "B"))
TIMES = ((1e9, "s"), (1e6, "ms"), (1e3, "µs"))


def _three(value: float) -> str:
    """Returns three digits, of which at most two follow the point. A value that rounds up to 10 or 100 has as many
    digits as 10 or 100.
    """
    texts = (f"{value:.{places}f}" for places in (2, 1))
    return next((text for text in texts if len(text) <= 4), f"{value:.0f}")


def _trimmed(text: str) -> str:
    """Returns a number with its unit, without zeros at the end of its fraction: "1.50 µs" becomes "1.5 µs"."""
    number, gap, unit = text.partition(" ")
    return (number.rstrip("0").rstrip(".") if "." in number else number) + gap + unit


def _rounded(value: float) -> int:
    """Returns the nearest whole number, and rounds a half away from zero, as C's llround does."""
    return math.floor(value + 0.5)


def time_text(nanoseconds: float) -> str:
    """Formats a time in nanoseconds: 850 ns, 1.54 µs, 43.0 ms, 1.05 s."""
    for unit, name in TIMES:
        # From 999.5 on, the smaller unit would be written as 1000.
        if nanoseconds >= unit * 0.9995:
            return f"{_three(nanoseconds / unit)} {name}"
    return f"{nanoseconds:.0f} ns"


def size_text(size: float) -> str:
    """Formats a size in bytes in its largest unit, exact or to three digits: 100 MiB, 1.50 GiB, 127 KiB for 130049."""
    for unit, name in UNITS[:-1]:
        if size >= unit:
            return f"{size / unit:.0f} {name}" if size % unit == 0 else f"{_three(size / unit)} {name}"
    return f"{size:.0f} B"


def count_text(count: float) -> str:
    """Formats a count with thousands separators: 256,007. A fractional count, such as a mean, has three digits."""
    return f"{count:,.0f}" if count == int(count) else number_text(count)


def counted_text(count: float, singular: str) -> str:
    """Formats a count with its noun: 1 fault, 2 faults."""
    return f"{count_text(count)} {singular}{'' if count == 1 else 's'}"


def exact_size_text(size: float) -> str:
    """Formats a size in bytes, to the byte: 131,049 B."""
    return f"{count_text(size)} B"


def number_text(value: float) -> str:
    """Formats a rate, a ratio in a table, or a count to three digits where space is short: 2.81, 1,930, 45.6 M."""
    if value >= 999.5e6:
        return f"{value / 1e9:.3g} G"
    if value >= 1e6:
        return f"{value / 1e6:.3g} M"
    return f"{value:.3g}" if value < 999.5 else f"{_rounded(value):,}"


def rate_text(rate: float) -> str:
    """Formats a rate in MB/s: 2.81 MB/s, 1,930 MB/s."""
    return f"{number_text(rate)} MB/s"


def ratio_text(ratio: float) -> str:
    """Formats a ratio in a sentence, to two digits: 1.3, 42, 1,700,000."""
    if len(text := f"{ratio:.1f}") <= 3:
        return text
    # The ratio is at least 9.95, which rounds to 10.
    unit = 10.0 ** max(0, math.floor(math.log10(ratio)) - 1)
    return f"{_rounded(_rounded(ratio / unit) * unit):,}"


def percent_text(share: float) -> str:
    """Formats a share in percent: 33.5 % for 0.335."""
    return f"{100 * share:.1f} %"


def whole_percent_text(share: float) -> str:
    """Formats a share in percent where precision does not matter: 34 % for 0.335."""
    return f"{100 * share:.0f} %"


def plain_text(value: float) -> str:
    """Formats a number as a user would type it, such as a touch or an interval: 0.25, 1."""
    return f"{value:g}"


def given_size_text(size: int) -> str:
    """Formats a size as a user would type it. For example, 100 MB is not a round number of MiB."""
    return f"{size // 10**6} MB" if size and size % 10**6 == 0 and size % (1 << 20) else size_text(size)


def tick_time_text(nanoseconds: float) -> str:
    """Formats a time at the tick of an axis: 1 µs, 2.5 µs."""
    return _trimmed(time_text(nanoseconds))


def tick_size_text(size: float) -> str:
    """Formats a size at the tick of an axis. Uses the largest unit in which the size is a whole number (16060 KiB), or
    else four digits.
    """
    for unit, name in UNITS:
        if size >= unit and size % unit == 0:
            return f"{size / unit:.0f} {name}"
    unit, name = next((each for each in UNITS if size >= each[0]), UNITS[-1])
    return f"{size / unit:.4g} {name}"
