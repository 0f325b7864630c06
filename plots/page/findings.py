"""The findings part of the page: the most severe first, each piece of evidence linked to the figure that shows it."""

from __future__ import annotations

from typing import Any

from page.facts import link
from zerotax_documents import told
from zerotax_units import count_text, size_text, time_text

GRADES = ("high", "medium", "low")
MOST_EVIDENCE = 12  # points listed one by one
# By the beginning of a rule's name: the figure of the page that shows its findings, and which column.
SHOWN_IN = (
    ("redundant-fresh-first", "bytes", {"bytes.f": "first_redundant"}),
    ("first-calls-differ", "bytes", {"bytes.f": "first_redundant"}),
    ("redundant", "heat", {"heat.f": "redundant"}),
    ("worker-differs", "heat", {"heat.f": "redundant"}),
    ("zeroing-beyond", "bytes", {"bytes.f": "zeroed"}),
    ("cliff", "faults", {"faults.f": "whole_faults"}),
    ("purge", "faults", {"faults.f": "whole_faults"}),
    ("", "time", {}),
)


def place_link(rule: str, place: dict[str, Any]) -> str:
    """The fragment of the page that shows this piece of evidence."""
    figure, state = next((figure, state) for begin, figure, state in SHOWN_IN if rule.startswith(begin))
    return link(figure, place["case"], place["touch"], place["thread"], place["size_bytes"], **state)


def figure_text(name: str, value: Any) -> str:
    """A metric in the unit at the end of its name, or the reason why it is missing."""
    if isinstance(value, dict):
        return f"n/a: {value['na']}"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if name.endswith("_ns"):
        return time_text(value)
    return count_text(value) + (" bytes" if name.endswith("bytes") else "")


def effect_text(effect: dict[str, Any]) -> str:
    """What a setting changed, metric by metric, or why that is unknown."""
    if "na" in effect:
        return f"unknown: {effect['na']}"
    return "; ".join(f"{name} {figure_text(name, value)}" for name, value in effect.items())


def _settings(env: dict[str, str]) -> str:
    return " ".join(f"{key}={value}" for key, value in env.items())


def findings_part(document: dict[str, Any]) -> dict[str, Any]:
    """Every finding as the template writes it; of a severity, in the order of the document."""
    found = []
    for finding in sorted(document["findings"], key=lambda each: GRADES.index(each["severity"])):
        evidence = [
            {
                **place,
                "size": size_text(place["size_bytes"]),
                "told": [(name, figure_text(name, value)) for name, value in place["figures"].items()],
                "href": place_link(finding["rule"], place),
            }
            for place in finding["evidence"]
        ]
        knobs = [{"env": _settings(knob["env"]), "effect": effect_text(knob["effect"])} for knob in finding["knobs"]]
        version = finding["version"]
        found.append(
            {
                **finding,
                "env": _settings(finding["env"]),
                "version": version if isinstance(version, str) else "",
                "evidence": evidence[:MOST_EVIDENCE],
                "points": len(evidence),
                "knobs": knobs,
            }
        )
    return {"findings": found, "sentence": told(document)}
