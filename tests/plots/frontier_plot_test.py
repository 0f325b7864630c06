"""The figure of a frontier shows each member at its CPU time and memory, and the command's own sentences."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

import frontier
from zerotax_figures import words
import zerotax_sample as sample
from zerotax_plots.files import NothingToDraw

MIB = 1 << 20
ONE = {"median": 0.5, "low": 0.4, "high": 0.6}


def member(remedy: str | None, cpu_s: float, idle: Any, knee: bool = False) -> dict[str, Any]:
    figures = {"cpu_s": cpu_s, "wall_s": cpu_s, "faults": 1000, "peak_bytes": 64 * MIB, "idle_bytes": idle}
    ratios = {"cpu": ONE, "wall": ONE, "faults": ONE, "memory": ONE, "idle": ONE}
    found = {"remedy": remedy, "line": "", "knee": knee, "best_for": [], "figures": figures, "buys": "", "pays": ""}
    return found if remedy is None else {**found, "ratios": ratios}


DOCUMENT = {"schema": "zerotax.advise/1", "zerotax_version": "0.2.0", "started": "2026-11-20T10:00:00Z",
            "environment": sample.run(1)["environment"], "recommendation": {"sentence": "Planted sentence."},
            "remedies": [{"name": "glibc: much", "ratios": {"cpu": ONE, "idle": ONE, "memory": ONE}},
                         {"name": "glibc: little", "ratios": {"cpu": {"median": 0.8}, "idle": {"median": 4}, "memory": ONE}},
                         {"name": "glibc: broken", "ratios": {"cpu": {"na": ""}, "idle": {"na": ""}, "memory": {"na": ""}}}],
            "frontier": {"steer": "faults", "rule": "Planted rule.", "levers": [],
                         "members": [member("glibc: much", 0.1, 48 * MIB, knee=True), member(None, 0.9, 8 * MIB)]}}


def drawn(folder: Path, document: dict[str, Any]) -> Any:
    (folder / "advise.json").write_text(json.dumps(document))
    return frontier.draw(frontier.load(folder))


def test_each_member_is_at_its_cpu_time_and_memory(tmp_path: Path) -> None:
    figure = drawn(tmp_path, DOCUMENT)
    places = {(line.get_xdata()[0], line.get_ydata()[0]) for line in figure.axes[0].lines if line.get_marker() in ("o", "s")}
    assert places == {(48.0 * MIB, 0.1e9), (8.0 * MIB, 0.9e9)}
    told = words(figure)
    assert "Planted sentence" in told and "Planted rule." in told
    labels = {text.get_text() for text in figure.axes[0].texts}
    assert labels == {"glibc: much (100 ms, 48 MiB)", "today: unchanged (900 ms, 8 MiB)"}
    assert figure.axes[0].get_xlabel() == "memory at idle"


def test_the_other_settings_are_small_dots(tmp_path: Path) -> None:
    [dots] = drawn(tmp_path, DOCUMENT).axes[0].collections[:1]
    assert dots.get_offsets().tolist() == [[32.0 * MIB, pytest.approx(0.72e9)]]


def test_unknown_memory_at_idle_is_drawn_as_the_peak(tmp_path: Path) -> None:
    document = copy.deepcopy(DOCUMENT)
    document["frontier"]["members"][1]["figures"]["idle_bytes"] = {"na": "planted"}
    places = {line.get_xdata()[0] for line in drawn(tmp_path, document).axes[0].lines if line.get_marker() == "s"}
    assert places == {64.0 * MIB}


def test_advice_without_a_frontier_has_no_figure(tmp_path: Path) -> None:
    with pytest.raises(NothingToDraw, match="contains no frontier"):
        drawn(tmp_path, {key: value for key, value in DOCUMENT.items() if key != "frontier"})
