"""The figure of forks shows each time where it was measured, and its absence is no fault."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
PLOTS = ROOT / "plots"
sys.path[:0] = [str(PLOTS), str(ROOT / "tests" / "support" / "sample_results")]
pytest.importorskip("matplotlib", reason="install python3-matplotlib, use /usr/bin/python3")

import fork_after_calloc  # noqa: E402
import zerotax_main  # noqa: E402
import zerotax_sample as sample  # noqa: E402
from zerotax_figures import script, words  # noqa: E402
from zerotax_results import load  # noqa: E402

MIB, GIB = 1 << 20, 1 << 30
SIZES = (MIB, 100 * MIB, GIB)
NAMES = ("glibc", "mimalloc")


def points() -> list[dict[str, Any]]:
    return [sample.forking(name, size, touch) for name in NAMES for size in SIZES for touch in (0.0, 1.0)]


def figure_of(folder: Path, raw: list[dict[str, Any]]) -> Any:
    return fork_after_calloc.draw(load(sample.write(folder, raw), case="fork_after_calloc"))


def drawn(axes: Any) -> dict[str, list[float]]:
    return {line.get_label(): list(line.get_ydata()) for line in axes.lines
            if not line.get_label().startswith("_")}


def test_fork_stands_above_the_writes_after_it_untouched_beside_touched(tmp_path: Path) -> None:
    untouched_fork, touched_fork, untouched_writes, _ = figure_of(tmp_path, points()).axes
    for axes, touch in ((untouched_fork, 0.0), (touched_fork, 1.0)):
        assert drawn(axes) == {name: [sample.forking(name, size, touch)["fork"]["fork_ns"]["median"]
                                      for size in SIZES] for name in NAMES}
    forks = [sample.forking("glibc", size)["fork"] for size in SIZES]
    assert drawn(untouched_writes)["glibc"] == [
        fork["child"]["write_ns"]["median"] + fork["parent"]["write_ns"]["median"] for fork in forks]


def test_the_title_compares_the_largest_block_that_nobody_wrote(tmp_path: Path) -> None:
    raw = [sample.forking("glibc", GIB, fork_ns=sample.spread(158_000.0)),
           sample.forking("mimalloc", GIB, fork_ns=sample.spread(16_400_000.0)),
           sample.forking("mimalloc", MIB, fork_ns=sample.spread(99_000_000.0)),
           sample.forking("glibc", GIB, 1.0, fork_ns=sample.spread(1.0))]
    assert "With 1 GiB from calloc that nobody wrote, fork takes 158 µs under glibc, 16.4 ms under mimalloc" \
        in " ".join(words(figure_of(tmp_path, raw)).split())


def test_what_was_not_measured_is_a_gap_with_its_reason(tmp_path: Path) -> None:
    raw = [*points(), sample.forking("jemalloc", MIB, fork_ns=sample.na("no clock"))]
    assert "no clock" in words(figure_of(tmp_path, raw))


def test_results_without_such_points_are_skipped_among_all_figures_and_named_alone(tmp_path: Path) -> None:
    folder = sample.write(tmp_path, [sample.point("glibc", size) for size in (MIB, 100 * MIB, 1000 * MIB)])
    with pytest.raises(zerotax_main.NothingToDraw):
        fork_after_calloc.draw(load(folder))
    together = script("all_figures", folder)
    assert (together.returncode, together.stderr) == (0, "")
    alone = script("fork_after_calloc", folder)
    assert alone.returncode == 2
    assert len(alone.stderr.splitlines()) == 1 and "fork_after_calloc" in alone.stderr


def test_it_is_drawn_among_all_figures(tmp_path: Path) -> None:
    others = [sample.point("glibc", size) for size in (MIB, 100 * MIB, 1000 * MIB)]
    folder = sample.write(tmp_path / "both", others + points())
    assert script("all_figures", folder).returncode == 0
    alone = sample.write(tmp_path / "alone", points())
    assert script("fork_after_calloc", alone).returncode == 0
    assert (folder / "fork_after_calloc.svg").read_bytes() == (alone / "fork_after_calloc.svg").read_bytes()
