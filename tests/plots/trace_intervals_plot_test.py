"""The figure of the times between two events has a bar for each class of the trace's histogram."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import trace_intervals
from zerotax_figures import script

LIMITS = [1000, 2000, 5000, 10_000, 20_000]
COUNTS = [3, 0, 250, 1]


def document() -> dict[str, Any]:
    rows = [{"from_ns": low, "to_ns": high, "count": count} for low, high, count in zip(LIMITS, LIMITS[1:], COUNTS)]
    return {"schema": "zerotax.trace/1", "zerotax_version": "0.1.0",
            "intervals": {"from": "fork", "to": "exit", "sentence": "254 times from fork to exit: median 6.1 µs",
                          "histogram": rows}}


def test_each_class_is_a_bar_of_its_count_and_names_its_limits(tmp_path: Path) -> None:
    file = tmp_path / "t.json"
    file.write_text(json.dumps(document()))
    axes, = trace_intervals.draw(trace_intervals.load(file)).axes
    assert [bar.get_height() for bar in axes.patches] == COUNTS
    assert axes.get_ylim()[0] == 0 and axes.get_yscale() == "linear"
    assert [label.get_text() for label in axes.get_xticklabels()] == ["1 µs", "2 µs", "5 µs", "10 µs", "20 µs"]
    assert [text.get_text() for text in axes.texts] == ["3", "250", "1"]
    assert axes.get_xlabel() and axes.get_ylabel()


@pytest.mark.parametrize(("text", "told"), [
    ("{", "not JSON"), ('{"schema": "zerotax.run/1"}', "zerotax trace summary"),
    ('{"schema": "zerotax.trace/1", "intervals": {"na": "not requested"}}', "no intervals")])
def test_a_file_without_intervals_costs_one_line_and_status_2(tmp_path: Path, text: str, told: str) -> None:
    file = tmp_path / "x.json"
    file.write_text(text)
    done = script("trace_intervals", file)
    assert done.returncode == 2 and len(done.stderr.splitlines()) == 1 and told in done.stderr
