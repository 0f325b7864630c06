"""The findings part of the page: by allocator and rule, with links from each piece of evidence to the figure that shows
it.
"""

from __future__ import annotations

from typing import Any

from zerotax_plots.documents import told
from zerotax_plots.page.facts import link
from zerotax_plots.units import size_text

Part = dict[str, Any]
GRADES = ("high", "medium", "low")
MOST_EVIDENCE = 8  # maximum number of points that are listed one by one
MOST_SIZES = 3     # maximum number of ranges of sizes in a row


def place_link(shown: Part | None, place: Part) -> str:
    """Returns the fragment of the page that shows this piece of evidence, or "" if the document names no figure."""
    if shown is None:
        return ""
    return link(shown["figure"], place["case"], place["touch"], place["thread"], place["size_bytes"], **shown["columns"])


def _settings(env: dict[str, str]) -> str:
    return " ".join(f"{key}={value}" for key, value in env.items())


def _anchor(*words: str) -> str:
    return "-".join(words).replace(" ", "_")


def _finding(finding: Part) -> Part:
    """Returns one finding in the form that the template needs."""
    evidence = [
        {
            **place,
            "size": size_text(place["size_bytes"]),
            "text": told(place, "text"),
            "href": place_link(finding.get("shown_in"), place),
        }
        for place in finding["evidence"]
    ]
    return {
        **finding,
        "anchor": _anchor("finding", finding["id"]),
        "evidence": evidence[:MOST_EVIDENCE],
        "points": len(evidence),
    }


def _older_remedy(findings: list[Part]) -> str:
    """Returns the statement on settings. A document of an earlier version has this statement in place of remedies."""
    lines = {
        f"`{_settings(knob['env'])}`" + (f": {told(knob, 'text')}" if told(knob, "text") else "")
        for finding in findings
        for knob in finding["knobs"]
    }
    return "; ".join(sorted(lines))


def _group(subject: str, rule: str, findings: list[Part]) -> Part:
    """Returns a row: the findings of one rule on one allocator, the most severe first."""
    findings = sorted(findings, key=lambda each: GRADES.index(each["severity"]))
    remedies: list[Part] = []
    for finding in findings:
        remedies += [each for each in finding.get("remedies", []) if each not in remedies]
    sizes = list(dict.fromkeys(told(each, "sizes") for each in findings if told(each, "sizes")))
    more = len(sizes) - MOST_SIZES
    return {
        "allocator": subject,
        "anchor": _anchor("findings", subject, rule),
        "meaning": told(findings[0], "meaning") or rule.replace("-", " "),
        "severity": findings[0]["severity"],
        "sizes": ", ".join(sizes[:MOST_SIZES]) + (f" and {more} more" if more > 0 else ""),
        "remedies": sorted(remedies, key=lambda each: each["kind"] != "version"),
        "remedy": told(findings[0], "remedy") or _older_remedy(findings),
        "findings": [_finding(each) for each in findings],
        "points": sum(len(each["evidence"]) for each in findings),
    }


def findings_part(document: Part) -> Part:
    """Returns all findings: allocators in the order of their worst findings, with a row for each rule."""
    found: dict[str, dict[str, list[Part]]] = {}
    for finding in document["findings"]:
        version = finding["version"] if isinstance(finding["version"], str) else ""
        subject = " ".join(word for word in (finding["allocator"], version, _settings(finding["env"])) if word)
        found.setdefault(subject, {}).setdefault(finding["rule"], []).append(finding)
    allocators = []
    for subject, rules in found.items():
        groups = [_group(subject, rule, findings) for rule, findings in rules.items()]
        groups.sort(key=lambda each: GRADES.index(each["severity"]))
        allocators.append({"name": subject, "groups": groups})
    allocators.sort(key=lambda by: [by["groups"][0]["severity"] == grade for grade in GRADES], reverse=True)
    return {"allocators": allocators, "findings": document["findings"], "sentence": told(document)}
