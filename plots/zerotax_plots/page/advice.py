"""The part of a run's page with the advice of zerotax advise for programs: every advise*.json beside the run."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

from zerotax_plots.documents import read_document
from zerotax_plots.files import ResultsError
from zerotax_plots.units import number_text

Part = dict[str, Any]
SCHEMA = "zerotax.advise/1"
COMMAND = "zerotax advise --json advise.json -- PROGRAM"
FIGURES = ("cpu", "wall", "faults", "memory")


def _ratio(row: dict[str, Any], figure: str) -> str:
    ratio = row["ratios"][figure]
    if "median" not in ratio:
        return "n/a"
    text = number_text(ratio["median"])
    return f"{text} ({number_text(ratio['low'])} to {number_text(ratio['high'])})" if "low" in ratio else text


def _rows(document: dict[str, Any]) -> list[Part]:
    """Returns the remedies that were tried, the best by the goal first."""
    goal = document["method"]["goal"]
    tried = sorted(document["remedies"], key=lambda row: (row["reason"] != "", row["ratios"][goal].get("median", float("inf"))))
    return [
        {
            "name": row["name"],
            "line": " ".join(text for text in (row["line"], row.get("source")) if text),
            "verdict": row["verdict"],
            "note": row["reason"] or ("too heavy to be recommended" if row["heavy"] else ""),
            "figures": [_ratio(row, figure) for figure in FIGURES],
            "runs": row["runs"],
            "chosen": row["name"] == document["recommendation"]["remedy"],
        }
        for row in tried
    ]


def advice_of(document: dict[str, Any], file: str) -> Part:
    """Returns one piece of advice: the unchanged sentences of the document, and the remedies that were tried."""
    advice = document["recommendation"]
    others = [advice[key]["sentence"] for key in ("without_preload", "faster_still") if advice[key]]
    labelled = [f"{label}: {advice[key]}" for label, key in (("Gains", "gains"), ("Costs", "costs")) if advice[key]]
    return {
        "file": file,
        "program": shlex.join(document["program"]["words"]),
        "started": document["started"][:10],
        "sentence": advice["sentence"],
        "line": advice["line"] or advice.get("source", ""),
        "more": [text for text in (*labelled, advice["recorded"], *others) if text],
        "rows": _rows(document),
    }


def advice_part(folder: Path) -> Part:
    """Returns all advice of a folder. For a file that cannot be read, the page is still made, and has the reason in
    place of the advice.
    """
    advices, problems, files = [], [], []
    for path in sorted(folder.glob("advise*.json")):
        try:
            advices.append(advice_of(read_document(path, SCHEMA, "write it with this version"), path.name))
            files.append(path.name)
        except ResultsError as error:
            problems.append(f"{error}.")
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            problems.append(f"{path.name} does not match its schema ({type(error).__name__}: {error}).")
    missing = "" if advices else " ".join(problems) or "advise.json is not in this folder."
    part: Part = {"advices": advices, "problems": problems, "missing": missing, "command": COMMAND}
    return {**part, "file": ", ".join(files)} if files else part
