"""The figure of receiving shows each rate where it was measured, and its absence is no fault."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
PLOTS = ROOT / "plots"
sys.path[:0] = [str(PLOTS), str(ROOT / "tests" / "support" / "sample_results")]
pytest.importorskip("matplotlib", reason="install python3-matplotlib, use /usr/bin/python3")

import recv_buffer  # noqa: E402
import zerotax_main  # noqa: E402
import zerotax_sample as sample  # noqa: E402
from zerotax_figures import drawn, script, words  # noqa: E402
from zerotax_results import load  # noqa: E402

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
    raw = [*points(), sample.failed("scudo", MIB, 0.0, "failed", "its server is not there"),
           sample.receiving("jemalloc", MIB, mb_per_s=sample.na("no loop"))]
    raw[-2]["case"] = "recv_buffer"
    figure = figure_of(tmp_path, raw)
    assert set(drawn(figure.axes[0])) == set(NAMES)
    assert "its server is not there" in words(figure) and "1 point n/a: no loop" in words(figure)


def test_results_without_such_points_are_skipped_among_all_figures_and_named_alone(
        tmp_path: Path) -> None:
    folder = sample.write(tmp_path, [sample.point("glibc", size) for size in (MIB, 100 * MIB,
                                                                              1000 * MIB)])
    with pytest.raises(zerotax_main.NothingToDraw):
        recv_buffer.draw(load(folder))
    together = script("all_figures", folder)
    assert (together.returncode, together.stderr) == (0, "")
    assert not list(folder.glob("recv_buffer.*"))
    alone = script("recv_buffer", folder)
    assert alone.returncode == 2
    assert len(alone.stderr.splitlines()) == 1 and "recv_buffer" in alone.stderr


def test_it_is_drawn_among_all_figures_and_from_receiving_alone(tmp_path: Path) -> None:
    others = [sample.point("glibc", size) for size in (MIB, 100 * MIB, 1000 * MIB)]
    folder = sample.write(tmp_path / "both", others + points())
    assert script("all_figures", folder).returncode == 0
    alone = sample.write(tmp_path / "alone", points())
    assert script("recv_buffer", alone).returncode == 0
    assert (folder / "recv_buffer.svg").read_bytes() == (alone / "recv_buffer.svg").read_bytes()
