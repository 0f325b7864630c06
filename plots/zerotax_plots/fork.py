"""The content of a fork document: shares of its sections, and its time against populated memory."""

from __future__ import annotations

from typing import Any

from zerotax_plots.documents import title_of
from zerotax_plots.units import size_text, time_text

FILE = "fork.json"
SCHEMA = "zerotax.fork/1"
# The paper's sections, from the bottom of the bar to the top, and "-" for the rest. Lightness and hatching differ.
LOOKS = {"Search": ("#712553", ""), "uballoc": ("#0063A2", "...."), "setuctxt": ("#14A479", "////"),
         "procdup loop": ("#A9D3EE", ""), "Miscellaneous": ("#F7C65B", "\\\\\\\\"), "-": ("#DDDDDD", "xxxx")}


def bars(document: dict[str, Any]) -> list[tuple[str, dict[str, float]]]:
    """Returns the shares of fork by the paper's sections: the paper's own shares, then the shares of each sampled
    process.
    """
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
    """Returns (populated bytes, nanoseconds, whether held out) for each process in which almost all pages are of this
    kind.
    """
    model = document["model"]
    if "na" in model:
        return []
    return sorted((place["populated_bytes"], place["measured_ns"], place["sweep"] == "held back")
                  for place in model["fit"] + model["held_back"]
                  if place["kind"] == kind and place["populated_bytes"] and place.get("plain", True))


def private_pages(document: dict[str, Any]) -> str:
    """Returns the name of the pages that are not huge. If the document does not state the page size, it is 4 KiB."""
    size = document.get("environment", {}).get("page_bytes")
    return f"private pages of {size_text(size if isinstance(size, int) else 4096)}"


def line(document: dict[str, Any], kind: str) -> tuple[float, float] | None:
    """Returns the model's line for pages of one kind: the nanoseconds of a fork without these pages, and the
    nanoseconds per byte of these pages. Returns None if the line is unknown.
    """
    found = next((each for each in document["model"].get("lines", []) if each["kind"] == kind), None)
    return (found["empty_ns"], found["ns_per_byte"]) if found else None


def title(document: dict[str, Any]) -> str:
    """Returns the cost of a fork according to the model."""
    return title_of(document, "What fork costs, by section")
