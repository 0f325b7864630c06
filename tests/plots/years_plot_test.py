"""The figure of many releases has a column for each release, and a band for each line of releases. The figure in
results/reference is current.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import years as figure_module
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from releases_plot_test import MIB, colour, version, write
from zerotax_plots.files import NothingToDraw

ROOT = Path(__file__).resolve().parents[2]
YEARS = ROOT / "results" / "reference" / "years"


def drawn(folder: Path) -> Figure:
    return figure_module.draw(figure_module.load_all(folder))


def cells(figure: Figure) -> dict[tuple[float, float], str]:
    """Returns the color of each cell by the cell's left and upper edges."""
    return {(patch.get_x(), patch.get_y()): to_hex(patch.get_facecolor(), keep_alpha=True)
            for patch in figure.axes[0].patches if isinstance(patch, Rectangle)}


def dated(name: str, date: str, words: dict[int, str], changed: bool = False) -> dict:
    return {**version(name, words), "date": date, "changed": changed}


def test_a_column_for_each_release_and_a_row_for_each_size(tmp_path: Path) -> None:
    write(tmp_path, "mimalloc", [MIB, 20 * MIB], dated("v2.2.6", "2026-01-08", {MIB: "needless", 20 * MIB: "needless"}),
          dated("v2.2.7", "2026-01-15", {MIB: "needless", 20 * MIB: "no_zeros_kept"}, True))
    figure = drawn(tmp_path)
    by_place = sorted(cells(figure).items())
    assert [each for _, each in by_place] == [colour("needless"), colour("needless"), colour("needless"), colour("no_zeros_kept")]
    [bold] = [text for text in figure.axes[0].texts if text.get_rotation() and text.get_weight() == "bold"]
    assert bold.get_text() == "2.2.7"
    assert "2 releases, 2026 to 2026" in figure.texts[0].get_text()


def test_a_band_ends_where_dates_go_back_or_the_page_ends(tmp_path: Path) -> None:
    old = [dated(f"v1.{number}", f"2025-{number:02}-01", {MIB: "needless"}) for number in range(1, 13)]
    new = [dated(f"v2.{number}", f"2024-01-{number % 28 + 1:02}", {MIB: "needless"}) for number in range(28)]
    write(tmp_path, "mimalloc", [MIB], *old, *new)
    tops = {top for _, top in cells(drawn(tmp_path))}
    assert len(tops) == 2
    names = [text.get_text() for text in drawn(tmp_path).axes[0].texts if text.get_text().startswith("mimalloc")]
    assert names == ["mimalloc 1.1 to 1.12", "mimalloc 2.0 to 2.27"]
    write(tmp_path / "long", "mimalloc", [MIB], *(dated(f"v{number}", "2024-01-01", {MIB: "needless"}) for number in range(90)))
    edges = [left for left, _ in cells(drawn(tmp_path / "long"))]
    assert len(edges) == 90 and max(edges) < figure_module.WIDTH - figure_module.MARGIN


def test_releases_that_were_not_measured_are_empty_and_named(tmp_path: Path) -> None:
    write(tmp_path, "mine", [MIB], dated("v1", "2024-01-01", {MIB: "needless"}), dated("v2", "2024-02-01", {}))
    figure = drawn(tmp_path)
    assert sorted(cells(figure).values()) == ["#00000000", colour("needless")]
    assert any("Not measured: mine v2: too old for this system." in text.get_text() for text in figure.texts)
    write(tmp_path / "none", "mine", [MIB], dated("v1", "2024-01-01", {}))
    with pytest.raises(NothingToDraw, match="no version was measured"):
        drawn(tmp_path / "none")


def test_the_committed_figure_is_of_the_committed_histories() -> None:
    figure = drawn(YEARS)
    documents = figure_module.load_all(YEARS).run["histories"]
    svg = (YEARS / "years.svg").read_text(encoding="utf-8")
    releases = f"{len(figure_module.measured(documents))} releases"
    assert figure.get_label() in svg and releases in figure.get_label()
    assert f"Of {releases} of " in (ROOT / "docs" / "state-of-zeroing-2026.md").read_text(encoding="utf-8")
    assert len(cells(figure)) == 4 * sum(len(document["versions"]) for document in documents)
    names = [band.name for band in figure_module.bands_of(documents, 0.5)]
    assert len(set(names)) == len(names) and all(name in svg for name in names), names
    assert (YEARS / "years.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("folder", ["nothing", "a file", "another schema"])
def test_bad_input_is_two_and_one_line(tmp_path: Path, folder: str) -> None:
    (tmp_path / "a file").write_text("7")
    (tmp_path / "another schema" / "mine").mkdir(parents=True)
    (tmp_path / "another schema" / "mine" / "history.json").write_text('{"schema": "zerotax.run/1"}')
    done = subprocess.run([sys.executable, ROOT / "plots" / "years.py", tmp_path / folder, "--out", tmp_path / "out"],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 2 and done.stderr.startswith("error: ") and len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "out").exists()
