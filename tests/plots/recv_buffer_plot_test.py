"""The figure of receiving shows each measured rate at its size. A run without receiving is no error."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import recv_buffer
import zerotax_sample as sample
from zerotax_figures import drawn, words
from zerotax_plots.results import load

KIB, MIB, MB = 1 << 10, 1 << 20, 1_000_000
SIZES = (16 * KIB, MIB, 100 * MB, 1000 * MIB)
NAMES = ("glibc", "mimalloc", "largecache")


def points(case: str = "recv_buffer") -> list[dict[str, Any]]:
    return [sample.receiving(name, size, case) for name in NAMES for size in SIZES]


def figure_of(folder: Path, raw: list[dict[str, Any]]) -> Any:
    return recv_buffer.draw(load(sample.write(folder, raw), case="recv_buffer"))


def test_every_rate_is_drawn_at_its_size_on_log_axes(tmp_path: Path) -> None:
    figure = figure_of(tmp_path, points())
    [axes] = figure.axes
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    assert drawn(axes) == {
        name: [(size, sample.receiving(name, size)["transfer"]["mb_per_s"]) for size in SIZES]
        for name in NAMES}


def test_plain_tcp_has_a_panel_of_its_own(tmp_path: Path) -> None:
    figure = figure_of(tmp_path, points() + points("recv_buffer_tcp"))
    assert [axes.get_title(loc="left") for axes in figure.axes] == \
        ["received by TLS 1.3", "received by plain TCP"]
    assert figure.axes[0].get_ylim() == figure.axes[1].get_ylim()


def test_the_title_names_the_widest_difference(tmp_path: Path) -> None:
    fast = sample.receiving("glibc", 100 * MB, mb_per_s=621.0)
    slow = sample.receiving("largecache", 100 * MB, mb_per_s=2.814)
    equal = [sample.receiving(name, MIB, mb_per_s=1000) for name in ("glibc", "largecache")]
    assert "Received into buffers of 100 MB: 621 MB/s with glibc, 2.81 MB/s with largecache" \
        in words(figure_of(tmp_path, [fast, slow, *equal]))


def test_what_failed_or_was_not_measured_is_a_gap_with_its_reason(tmp_path: Path) -> None:
    raw = [*points(), sample.failed("scudo", MIB, 0.0, "failed", "its server does not exist"),
           sample.receiving("jemalloc", MIB, mb_per_s=sample.na("no loop"))]
    raw[-2]["case"] = "recv_buffer"
    figure = figure_of(tmp_path, raw)
    assert set(drawn(figure.axes[0])) == set(NAMES)
    assert "its server does not exist" in words(figure) and "1 point n/a: no loop" in words(figure)
