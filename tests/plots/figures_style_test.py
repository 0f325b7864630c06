"""Every figure names its host and its axes, has no bar on a log axis, and ends lines at thresholds."""

from __future__ import annotations

import importlib
import json
import math
from pathlib import Path
from typing import Any

import pytest

import time_vs_size  # sets up matplotlib first
import zerotax_sample as sample
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from zerotax_plots import histories
from zerotax_plots.axes import size_span_axis
from zerotax_plots.results import load

ROOT = Path(__file__).resolve().parents[2]
REFERENCE = ROOT / "results" / "reference"
MIB = 1 << 20
# Figures of a run's folder. The figure of a history has a separate folder.
FIGURES = ("headline", "time_vs_size", "faults_vs_size", "zeroed_vs_size", "thresholds_map", "fork", "fork_snapshot", "policies",
           "programs", "bill", "workloads", "history", "releases", "years")
# Figures whose bars are ranges of sizes rather than lengths from zero, and whose rows have names.
MAPS = ("thresholds_map", "history")
# Rows named after allocators need no axis name.
NAMED_ROWS = (*MAPS, "headline")


@pytest.fixture(scope="module")
def figures() -> dict[str, Any]:
    drawn = {}
    for name in FIGURES:
        module = importlib.import_module(name)
        load_here = {"history": lambda path, of=module: of.load_document(path, of.FILE, of.SCHEMA, ""),
                     **dict.fromkeys(("releases", "years"), histories.load_all)}.get(name, load)
        loaded = load_here(REFERENCE / name if name in ("history", "releases", "years") else REFERENCE)
        drawn[name] = module.draw(loaded)
    return drawn


def shows(axis: Any) -> bool:
    ticks = axis.get_major_ticks()
    return bool(ticks) and ticks[0].label1.get_visible()


@pytest.mark.parametrize("name", FIGURES)
def test_the_host_stands_below_the_title(figures: dict[str, Any], name: str) -> None:
    words = " ".join(text.get_text() for text in figures[name].texts)
    assert "Linux " in words and "CPUs" in words


@pytest.mark.parametrize("name", FIGURES)
def test_every_axis_that_has_numbers_has_a_name(figures: dict[str, Any], name: str) -> None:
    for axes in figures[name].axes:
        if not axes.axison:
            continue
        assert axes.get_xlabel() or not shows(axes.xaxis), axes.get_title(loc="left")
        assert axes.get_ylabel() or not shows(axes.yaxis) or name in NAMED_ROWS, axes.get_title(loc="left")


@pytest.mark.parametrize("name", [name for name in FIGURES if name not in MAPS])
def test_no_bar_stands_on_a_log_axis(figures: dict[str, Any], name: str) -> None:
    for axes in figures[name].axes:
        bars = [patch for container in axes.containers for patch in container if isinstance(patch, Rectangle)]
        assert not bars or (axes.get_xscale(), axes.get_yscale()) == ("linear", "linear")


def test_a_bar_of_one_part_is_a_sentence_and_no_bar(figures: dict[str, Any]) -> None:
    left = figures["fork"].axes[0]
    assert all(patch.get_height() < 0.995 for patch in left.patches)
    words = " ".join(text.get_text() for text in figures["fork"].texts)
    assert "All of it in one section, and so without a bar: 1 GiB, " in words


def test_a_line_ends_at_a_threshold_and_goes_on_behind_it(tmp_path: Path) -> None:
    sizes = [MIB, 2 * MIB, 4 * MIB, 8 * MIB]
    raw = [sample.point("glibc", size, touch, calloc_ns=sample.spread(1e3 * n + 1e3))
           for touch in (0.0, 1.0) for n, size in enumerate(sizes)]
    folder = sample.write(tmp_path, raw)
    of = {"allocator": "glibc", "touch": 0, "thread": "main", "noisy": False}
    (folder / "thresholds.json").write_text(json.dumps({
        "schema": "zerotax.thresholds/1", "sentence": "", "notes": [],
        "thresholds": [{**of, "at_bytes": 4 * MIB, "steady": True}, {**of, "at_bytes": 2 * MIB, "steady": False}]}))
    figure = time_vs_size.draw(load(folder))

    def line(panel: int) -> list[tuple[float, float]]:
        [found] = [each for each in figure.axes[panel].lines if each.get_label() == "glibc"]
        return list(zip(*found.get_data()))

    broken = line(0)
    assert [x for x, _ in broken] == [MIB, 2 * MIB, 4 * MIB, 4 * MIB, 8 * MIB]
    assert [math.isnan(y) for _, y in broken] == [False, False, True, False, False], "one gap, at the steady one"
    assert not any(math.isnan(y) for _, y in line(1)), "of touch 1 nothing is known"
    assert "Lines end at thresholds." in " ".join(text.get_text() for text in figure.texts)


@pytest.mark.parametrize(("low", "high", "most"), [(1 << 14, 1 << 31, 20), (1 << 14, 1 << 20, 4), (1100, 1900, 20), (5, 5, 20)])
def test_an_axis_of_bars_goes_from_end_to_end_and_has_two_names(low: int, high: int, most: int) -> None:
    axes = Figure().add_subplot()
    size_span_axis(axes, low, high, most)
    assert axes.get_xlim() == (low, max(high, low + 1))
    places = list(axes.xaxis.get_major_locator()())
    assert 2 <= len(places) <= most and min(places) >= low and max(places) <= max(high, low + 1)
