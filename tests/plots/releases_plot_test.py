"""The figure of releases has a cell for each version and size. The cell's color is that of calloc's behavior at this
size.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import releases as figure_module
import zerotax_sample as sample
from zerotax_plots.files import NothingToDraw, ResultsError
from matplotlib.colors import to_hex
from matplotlib.patches import Rectangle

MIB = 1 << 20


def version(name: str, words: dict[int, str]) -> dict[str, Any]:
    pieces = [{"from_bytes": size, "to_bytes": size, "word": word} for size, word in words.items()]
    return {"name": name, "date": "2026-11-20T05:10:00Z", "state": "measured" if words else "unusable",
            "state_words": "measured" if words else "does not work",
            **({"pieces": pieces} if words else {"reason": "too old for this system"})}


def write(folder: Path, allocator: str, sizes: list[int], *versions: dict[str, Any]) -> None:
    (folder / allocator).mkdir(parents=True)
    (folder / allocator / "history.json").write_text(json.dumps({
        "schema": "zerotax.history/1", "allocator": allocator, "grid": {"sizes": sizes, "thresholds": False},
        "started": "2026-11-20T05:10:00Z", "zerotax_version": "0.3.0", "environment": sample.run(0)["environment"],
        "words": {"needless": "zeroes needlessly", "no_zeros_kept": "writes no zeros, keeps memory"},
        "versions": list(versions)}))


def cells(folder: Path) -> tuple[list[str], str]:
    """Returns the colors of all cells, row by row, and the words of the figure."""
    figure = figure_module.draw(figure_module.load_all(folder))
    [axes] = figure.axes
    drawn = [(-patch.get_y(), patch.get_x(), to_hex(patch.get_facecolor(), keep_alpha=True))
             for patch in axes.patches if isinstance(patch, Rectangle)]
    texts = [text.get_text() for text in [*axes.texts, *figure.texts, *figure.legends[0].get_texts()]]
    return [colour for _, _, colour in sorted(drawn, key=lambda cell: (-cell[0], cell[1]))], " | ".join(texts)


def colour(word: str) -> str:
    return to_hex(figure_module.LOOKS[word].colour, keep_alpha=True)


def test_each_cell_has_the_colour_of_what_calloc_does_there(tmp_path: Path) -> None:
    write(tmp_path, "mimalloc", [MIB, 20 * MIB], version("bookworm 2.0.9", {MIB: "needless", 20 * MIB: "needless"}),
          version("sid 3.6.0", {MIB: "needless", 20 * MIB: "no_zeros_kept"}))
    write(tmp_path, "jemalloc", [MIB], version("bullseye 5.2.1", {MIB: "no_zeros_kept"}), version("sid 5.3.1", {}))
    colours, words = cells(tmp_path)
    nothing = "#00000000"
    assert colours == [colour("no_zeros_kept"), nothing, nothing, nothing,
                       colour("needless"), colour("needless"), colour("needless"), colour("no_zeros_kept")]
    assert all(each in words for each in ("1 MiB", "20 MiB", "bookworm 2.0.9", "zeroes needlessly", "not known"))
    assert "Not measured: jemalloc sid 5.3.1: too old for this system." in words


def test_a_folder_without_histories_or_versions_says_what_to_run(tmp_path: Path) -> None:
    with pytest.raises(ResultsError, match="zerotax history"):
        figure_module.load_all(tmp_path)
    write(tmp_path, "mine", [MIB], version("v1", {}))
    with pytest.raises(NothingToDraw, match="no version was measured"):
        figure_module.draw(figure_module.load_all(tmp_path))
