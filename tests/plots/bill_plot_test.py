"""The note of the bill's figure matches the document that the figure shows."""

from __future__ import annotations

import json
from pathlib import Path

import bill

REFERENCE = Path(__file__).resolve().parents[2] / "results" / "reference"


def noted(*ranges: tuple[float, float]) -> str:
    return bill.note_on([{"adaptive": {"cpu_ratio": {"median": low, "low": low, "high": high}}} for low, high in ranges])


def test_a_single_pair_of_recordings_has_no_line() -> None:
    assert "a single pair of recordings" in noted((1, 1), (0.5, 0.5)) and "a single pair" in bill.note_on([{"adaptive": None}])
    assert "the lowest and highest of its pairs" in noted((1, 1), (0.5, 0.6))


def test_the_committed_figure_has_the_note_of_the_committed_document() -> None:
    programs = [each for each in json.loads((REFERENCE / "bill.json").read_text())["programs"] if "recorded" in each]
    single = all(each["adaptive"]["pairs"] == 1 for each in programs if each["adaptive"] and "pairs" in each["adaptive"])
    assert single == ("a single pair" in bill.note_on(programs))
    assert single == ("a single pair" in (REFERENCE / "bill.svg").read_text(encoding="utf-8"))
