"""What zeroing takes of a recording's CPU time, as bill.json keeps it."""

from __future__ import annotations

from typing import Any


def bounds(recorded: dict[str, Any]) -> tuple[float, float]:
    """The least and the most, as shares; all of it where the upper one is not known."""
    share, most = recorded["share_of_cpu"], recorded["zeroing_at_most_cpu_ns"]
    if not isinstance(share, dict):
        return share, share
    cpu = max(1, recorded["cpu_ns"])
    return recorded["zeroing_at_least_cpu_ns"] / cpu, 1.0 if isinstance(most, dict) else min(1.0, most / cpu)
