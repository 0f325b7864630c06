"""The content of a document of `docs/bill/bill.py`: the share of each program's CPU time that zeroing takes."""

from __future__ import annotations

from typing import Any

FILE = "bill.json"
SCHEMA = "zerotax.bill/1"


def bounds(recorded: dict[str, Any]) -> tuple[float, float]:
    """Returns the bounds of the total as shares. If the upper bound is unknown, it is 1."""
    share, most = recorded["share_of_cpu"], recorded["zeroing_at_most_cpu_ns"]
    if not isinstance(share, dict):
        return share, share
    cpu = max(1, recorded["cpu_ns"])
    return recorded["zeroing_at_least_cpu_ns"] / cpu, 1.0 if isinstance(most, dict) else min(1.0, most / cpu)
