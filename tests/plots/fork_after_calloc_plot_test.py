"""The figure of forks shows each measured time at its size. A run without forks is no error."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import fork_after_calloc
import zerotax_sample as sample
from zerotax_figures import words
from zerotax_plots.results import load

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
