"""The findings part of the page: the most severe first, each piece of evidence linked to the figure that shows it."""

from __future__ import annotations

from typing import Any

from page.facts import link
from zerotax_documents import told
from zerotax_units import size_text

GRADES = ("high", "medium", "low")
MOST_EVIDENCE = 12  # points listed one by one


def place_link(shown: dict[str, Any] | None, place: dict[str, Any]) -> str:
    """The fragment of the page that shows this piece of evidence; "" where the document does not say which."""
    if shown is None:
        return ""
    return link(shown["figure"], place["case"], place["touch"], place["thread"], place["size_bytes"], **shown["columns"])


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
                "text": told(place, "text"),
                "href": place_link(finding.get("shown_in"), place),
            }
            for place in finding["evidence"]
        ]
        knobs = [{"env": _settings(knob["env"]), "effect": told(knob, "text")} for knob in finding["knobs"]]
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
