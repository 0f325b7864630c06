"""What a fork document says: shares of its sections, and its time against populated memory."""

from __future__ import annotations

from typing import Any

from zerotax_documents import title_of
from zerotax_units import time_text

FILE = "fork.json"
SCHEMA = "zerotax.fork/1"
# The paper's sections, from the bottom up, and what is not in it: lightness and hatching differ.
LOOKS = {"Search": ("#712553", ""), "uballoc": ("#0063A2", "...."), "setuctxt": ("#14A479", "////"),
         "procdup loop": ("#A9D3EE", ""), "Miscellaneous": ("#F7C65B", "\\\\\\\\"), "-": ("#DDDDDD", "xxxx")}


def bars(document: dict[str, Any]) -> list[tuple[str, dict[str, float]]]:
    """Shares of fork by the paper's sections: the paper's own, then each process that was sampled."""
    every = [("CASPER, 1989\n14.7 ms", {row["section"]: row["percent"] / 100 for row in document["casper"]
                                        if row["section"] in LOOKS})]
    for process in document["processes"]:
        if isinstance(process["samples"], dict):
            continue
        forks = process["samples"][0]
        shares = dict.fromkeys(LOOKS, 0.0)
        for section in forks["sections"]:
            shares[section["casper"]] += section["share"]
        every.append((f"{process['name']}\n{time_text(forks['mean_ns'])}", shares))
    return every


def places(document: dict[str, Any], kind: str) -> list[tuple[int, float, bool]]:
    """(populated bytes, nanoseconds, held back) of the processes that have little but such pages."""
    model = document["model"]
    if "na" in model:
        return []
    return sorted((place["populated_bytes"], place["measured_ns"], place["sweep"] == "held back")
                  for place in model["fit"] + model["held_back"]
                  if place["kind"] == kind and place["populated_bytes"] and place.get("plain", True))


def terms(document: dict[str, Any]) -> dict[str, float]:
    """What each thing costs by the model, in nanoseconds; only what is known."""
    return {term["key"]: term["ns"] for term in document["model"]["terms"] if not isinstance(term["ns"], dict)}


def line(document: dict[str, Any], kind: str, size: float) -> float:
    """What the model gives for the smallest process with so many populated bytes more."""
    costs = terms(document)
    base = next(place["predicted_ns"] for place in document["model"]["fit"] if place["sweep"] == "base")
    return base + (costs["page"] * size / 4096 if kind == "private" else costs["huge_page"] * size / 2**21)


def title(document: dict[str, Any]) -> str:
    """What a fork costs, by the model."""
    return title_of(document, "What fork costs, by section")
