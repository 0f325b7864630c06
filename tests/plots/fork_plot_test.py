"""The figure of fork shows the document's shares unchanged, the measured points, and the model as a line."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

import fork
import zerotax_sample as sample
from zerotax_figures import script
from zerotax_plots import main
from zerotax_plots.files import ResultsError
from zerotax_plots.results import load

MIB, GIB = 1 << 20, 1 << 30
SHARES = {"Search": 0.05, "uballoc": 0.15, "setuctxt": 0.1, "procdup loop": 0.5, "Miscellaneous": 0.15, "-": 0.05}


def place(sweep: str, populated: int, kind: str = "private", mappings: int = 13) -> dict[str, Any]:
    huge = populated >> 21 if kind == "huge" else 0
    pages = 11 + (populated // 4096 if kind == "private" else 0)
    ns = 20_000 + 60 * pages + 500 * huge + 900 * mappings
    return {"sweep": sweep, "populated_bytes": populated, "kind": kind, "rounds_ns": [ns], "measured_ns": ns,
            "facts": {"pages": pages, "huge_pages": huge, "mappings": mappings, "descriptors": 4, "threads": 1},
            "predicted_ns": ns, "error": 0.0, "plain": mappings == 13}


def document() -> dict[str, Any]:
    samples = [{"mean_ns": 30_000.0, "sections": [{"name": name, "casper": name, "share": share}
                                                  for name, share in SHARES.items()]}]
    terms = {"fixed": 20_000, "page": 60, "huge_page": 500, "mapping": 900}
    return copy.deepcopy({
        "schema": "zerotax.fork/1", "started": "2026-11-20T00:00:00Z", "environment": {"kernel": "6.18", "cpus": 2},
        "casper": [{"section": "Search", "ms": 0.67, "percent": 5}, {"section": "uballoc", "ms": 3.86, "percent": 26},
                   {"section": "setuctxt", "ms": 3.27, "percent": 22}, {"section": "procdup loop", "ms": 5.84, "percent": 40},
                   {"section": "Miscellaneous", "ms": 1.07, "percent": 7},
                   {"section": "Total fork", "ms": 14.71, "percent": 100}],
        "processes": [{"name": "smallest", "samples": samples}],
        "model": {"terms": [{"key": key, "ns": ns} for key, ns in terms.items()],
                  "lines": [{"kind": "private", "empty_ns": 21_000, "ns_per_byte": 0.25}],
                  "fit": [place("base", 0), place("pages", MIB), place("pages", GIB), place("huge", 64 * MIB, "huge"),
                          place("mappings", 0, mappings=1013)],
                  "held_back": [place("held back", 100 * MIB), place("held back", 32 * MIB, mappings=200)]}})


def figure_of(folder: Path, of: dict[str, Any]) -> Any:
    path = folder / "fork.json"
    path.write_text(json.dumps(of), encoding="utf-8")
    return fork.draw(fork.load(path))


def test_each_bar_holds_the_shares_of_its_process_and_the_paper_is_the_first(tmp_path: Path) -> None:
    left = figure_of(tmp_path, document()).axes[0]
    heights = [round(patch.get_height(), 6) for patch in left.patches]
    assert heights == [0.05, 0.26, 0.22, 0.4, 0.07, 0.0, *SHARES.values()]
    assert [text.get_text() for text in left.get_xticklabels()] == ["CASPER, 1989\n14.7 ms", "smallest\n30.0 µs"]


def test_places_are_drawn_where_they_were_measured_and_those_held_back_apart(tmp_path: Path) -> None:
    right = figure_of(tmp_path, document()).axes[1]
    drawn = {line.get_label(): list(zip(*line.get_data())) for line in right.lines}
    assert drawn["private pages of 4 KiB: fitted"] == [(size, place("pages", size)["measured_ns"]) for size in (MIB, GIB)]
    # A process that also has many mappings does not belong to this line.
    assert drawn["private pages of 4 KiB: held back"] == [(100 * MIB, place("held back", 100 * MIB)["measured_ns"])]
    assert drawn["huge pages: fitted"] == [(64 * MIB, place("huge", 64 * MIB, "huge")["measured_ns"])]


def test_the_line_is_the_one_that_the_document_has_and_without_one_there_is_none(tmp_path: Path) -> None:
    right = figure_of(tmp_path, document()).axes[1]
    [line] = [line for line in right.lines if line.get_label().endswith(": model")]
    assert line.get_label() == "private pages of 4 KiB: model"
    for size, ns in zip(*line.get_data()):
        assert ns == pytest.approx(21_000 + size / 4)


def test_without_samples_and_without_a_model_the_figure_says_so(tmp_path: Path) -> None:
    of = document()
    of["processes"][0]["samples"] = {"na": "not permitted"}
    of["model"] = {"na": "interrupted"}
    of["notes"] = ["No sections: planted."]
    figure = figure_of(tmp_path, of)
    assert len(figure.axes[0].patches) == 6
    assert "n/a: interrupted" in [text.get_text() for text in figure.axes[1].texts]
    assert "No sections: planted." in " ".join(text.get_text() for text in figure.texts)


def test_another_document_is_refused_and_a_run_without_one_is_left_out(tmp_path: Path) -> None:
    other = tmp_path / "other.json"
    other.write_text('{"schema": "zerotax.run/1"}', encoding="utf-8")
    with pytest.raises(ResultsError, match="zerotax fork --json"):
        fork.load(other)
    folder = sample.write(tmp_path / "run", [sample.point("glibc", MIB)])
    with pytest.raises(main.NothingToDraw):
        fork.draw(load(folder))
    alone = script("fork", folder)
    assert alone.returncode == 2 and len(alone.stderr.splitlines()) == 1
