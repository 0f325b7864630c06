"""Every figure is drawn from a results folder, shows its content, and states what is missing."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import pytest

import all_figures
import faults_vs_size
import headline
import time_vs_size
import zeroed_vs_size
import zerotax_sample as sample
from matplotlib.figure import Figure
from zerotax_figures import script
from zerotax_plots import axes as axes_module
from zerotax_plots.files import ResultsError
from zerotax_plots.results import Na, load

MIB, GIB = 1 << 20, 1 << 30
# Figures that are drawn only from the points of a run.
FIGURES = ["faults_vs_size", "headline", "time_vs_size", "zeroed_vs_size"]
DRAW = dict(all_figures.figures())


def lines(figure: Figure, panel: int) -> dict[str, list[tuple[float, float]]]:
    """Returns the data lines of one panel by label. Reference lines and label marks have no label."""
    return {line.get_label(): list(zip(*map(list, line.get_data())))
            for line in figure.axes[panel].lines if not line.get_label().startswith("_")}


def texts(figure: Figure) -> str:
    """Returns every text of a figure, on one line."""
    found = [text.get_text() for text in figure.texts]
    for panel in figure.axes:
        found += [text.get_text() for text in panel.texts]
    for legend in figure.legends:
        found += [text.get_text() for text in legend.get_texts()]
    return " ".join(" ".join(found).split())


def test_a_truncated_last_line_is_skipped_with_a_warning(tmp_path: Path, capsys: Any) -> None:
    results = load(sample.write(tmp_path, sample.small(), tail='{"allocator": "gli'))
    assert len(results.points) == 12
    assert "points.jsonl:13: the last line is cut short" in capsys.readouterr().err


def test_a_whole_last_line_without_a_newline_counts(tmp_path: Path, capsys: Any) -> None:
    folder = sample.write(tmp_path, sample.small())
    (folder / "points.jsonl").write_text((folder / "points.jsonl").read_text().rstrip("\n"))
    assert len(load(folder).points) == 12 and capsys.readouterr().err == ""


def test_of_points_measured_twice_the_later_counts_and_other_cases_do_not(tmp_path: Path) -> None:
    again = sample.point("glibc", MIB, calloc_ns=sample.spread(12345))
    other = sample.point("glibc", MIB, case="fork_snapshot", calloc_ns=sample.spread(1))
    results = load(sample.write(tmp_path, sample.small(again, other)))
    assert lines(time_vs_size.draw(results), 0)["glibc"][0] == (MIB, 12345)


def test_times_of_a_host_unlike_the_others_are_left_out_and_counts_are_not(tmp_path: Path) -> None:
    points = [{**each, "host": "n2" if each["allocator"] == "mimalloc" else "n1"} for each in sample.small()]
    folder = sample.write(tmp_path, points)
    run = json.loads((folder / "run.json").read_text())
    run["comparable_times"] = {"hosts": ["n1"], "left_out": {"n2": "cpu: A and B"}}
    (folder / "run.json").write_text(json.dumps(run))
    for point in load(folder).points:
        left_out = point.key.allocator == "mimalloc"
        time = point.figure("calloc_ns", "median")
        assert isinstance(time, Na) == left_out
        assert not left_out or "measured on n2, which is unlike the other hosts (cpu: A and B)" in time.why
        assert not isinstance(point.figure("zeroed_bytes"), Na)


def test_of_a_run_without_times_the_figures_of_counts_are_drawn(tmp_path: Path) -> None:
    no_time = {"na": "no timing pass was made"}
    folder = sample.write(tmp_path, [
        {name: no_time if name.endswith(("_ns", "_faults")) else value for name, value in point.items()}
        for point in sample.small()])
    done = script("all_figures", folder, "--format", "svg")
    assert (done.returncode, done.stderr) == (0, "")
    assert {path.stem for path in folder.glob("*.svg")} & set(FIGURES) == {"zeroed_vs_size"}
    alone = script("headline", folder)
    assert alone.returncode == 2 and "has a time" in alone.stderr


def test_panels_are_calloc_above_the_whole_and_touch_0_left_of_touch_1(tmp_path: Path) -> None:
    results = load(sample.write(tmp_path, [
        sample.point("glibc", size, touch, calloc_ns=sample.spread(100 + touch),
                     touch_ns=sample.spread(2000 * touch), free_ns=sample.spread(30))
        for size in (MIB, 4 * MIB) for touch in (0.0, 1.0)]))
    figure = time_vs_size.draw(results)
    assert [lines(figure, n)["glibc"][0][1] for n in range(4)] == [100, 101, 130, 2131]
    assert [panel.get_title("left")[:7] for panel in figure.axes[:2]] == ["touch 0", "touch 1"]
    assert len({panel.get_ylim() for panel in figure.axes}) == 1


def test_figures_that_are_not_available_are_gaps_and_are_counted(tmp_path: Path) -> None:
    raw = [sample.point("glibc", 1 << power) for power in range(16, 24)]
    for at, why in ((2, "no clock"), (3, "no clock"), (5, "no luck")):
        raw[at]["calloc_ns"] = sample.na(why)
    raw[6] = sample.failed("glibc", 1 << 22, 0.0, "crashed", "signal 11")
    figure = time_vs_size.draw(load(sample.write(tmp_path, raw)))
    drawn = [y == y for _, y in lines(figure, 0)["glibc"]]
    assert drawn == [True, True, False, False, True, False, False, True]
    assert "Gaps: 2 points n/a: no clock; 1 point n/a: no luck; 1 point crashed: signal 11." \
        in texts(figure)


def test_a_point_that_is_not_ok_is_not_drawn_even_with_figures(tmp_path: Path) -> None:
    bad = sample.point("glibc", 2 * MIB, status="not_zero", reason="byte 7 was 1")
    figure = faults_vs_size.draw(load(sample.write(tmp_path, sample.small(bad))))
    assert dict(lines(figure, 0)["glibc"])[2 * MIB] != dict(lines(figure, 0)["glibc"])[2 * MIB]
    assert "1 point not zero: byte 7 was 1" in texts(figure)


def test_touch_0_needs_no_time_of_writing_but_touch_1_does(tmp_path: Path) -> None:
    raw = [sample.point("glibc", size, touch, touch_ns=sample.na("not touched"))
           for size in (MIB, 4 * MIB) for touch in (0.0, 1.0)]
    figure = time_vs_size.draw(load(sample.write(tmp_path, raw)))
    assert all(y == y for _, y in lines(figure, 2)["glibc"])
    assert all(y != y for _, y in lines(figure, 3)["glibc"])


@pytest.mark.parametrize("module, key", [(faults_vs_size, "calloc_faults"),
                                         (zeroed_vs_size, "zeroed_bytes")])
def test_zeros_are_drawn_inside_the_band_of_zeros_each_at_its_own_height(
        module: Any, key: str, tmp_path: Path) -> None:
    names = list(sample.VERSIONS)
    raw = [sample.point(name, size, **{key: 0 if size < GIB else size, "free_faults": 0,
                                       "redundant_zeroed_bytes": 0})
           for name in names for size in (MIB, 16 * MIB, GIB)]
    figure = module.draw(load(sample.write(tmp_path, raw)))
    panel, unit = figure.axes[0], figure.axes[0].yaxis.get_transform().linthresh
    drawn = lines(figure, 0)
    heights = [drawn[name][0][1] for name in names]
    assert all(abs(height) <= axes_module.ZERO_BAND * unit for height in heights)
    assert len(set(heights)) == len(names)
    assert all(panel.get_ylim()[0] < height for height in heights)
    assert {drawn[name][2][1] for name in names} == {float(GIB)}
    assert panel.yaxis.get_major_formatter().seq[0] == "0"
    assert panel.yaxis.get_majorticklocs()[0] == 0
    shaded = {y for _, y in panel.patches[0].get_xy()}
    assert shaded == {-axes_module.ZERO_BAND * unit, axes_module.ZERO_BAND * unit}


def test_redundant_bytes_have_panels_of_their_own_below(tmp_path: Path) -> None:
    results = load(sample.write(tmp_path, sample.points()))
    figure = zeroed_vs_size.draw(results)
    size = 1000 * MIB
    at = [dict(lines(figure, panel)["tcmalloc"])[size] for panel in range(4)]
    assert at[:3] == [size, size, size] and abs(at[3]) < 1024 * axes_module.ZERO_BAND * 64


def test_other_touch_values_are_left_out_and_named(tmp_path: Path) -> None:
    raw = [sample.point("glibc", MIB, touch) for touch in (0.0, 0.25, 0.5, 1.0)]
    figure = time_vs_size.draw(load(sample.write(tmp_path, raw)))
    assert "Measured but not drawn here: touch 0.25, 0.5." in texts(figure)
    headings = [panel.get_title("left")[:8] for panel in figure.axes]
    assert headings == ["touch 0:", "touch 1:", "", ""]


def test_one_point_alone_makes_a_figure(tmp_path: Path) -> None:
    results = load(sample.write(tmp_path, [sample.point("glibc", 100 * MIB)]))
    for name in FIGURES:
        assert "glibc" in texts(DRAW[name](results)) \
            + str(DRAW[name](results).axes[0].get_yticklabels())


def test_figures_that_are_available_nowhere_are_an_error_with_the_reason(tmp_path: Path) -> None:
    raw = [{**point, "zeroed_bytes": sample.na("no pagemap"),
            "redundant_zeroed_bytes": sample.na("no pagemap")} for point in sample.small()]
    with pytest.raises(ResultsError, match="no pagemap.*zerotax doctor"):
        zeroed_vs_size.draw(load(sample.write(tmp_path, raw)))


def test_the_words_say_where_and_when_it_was_measured(tmp_path: Path) -> None:
    head = sample.run(12)
    head["state"] = "interrupted"
    head["plan"].update(points_planned=40, points_finished=12)
    words = texts(time_vs_size.draw(load(sample.write(tmp_path, sample.small(), head))))
    for word in ("Linux 6.18.44", "AMD EPYC 7B13", "2 CPUs", "THP madvise", "2026-11-20",
                 "mimalloc 2.0.9", "interrupted: 12 of 40 points"):
        assert word in words
    head["environment"] = {key: sample.na("denied") for key in head["environment"]}
    words = texts(time_vs_size.draw(load(sample.write(tmp_path, sample.small(), head))))
    assert "denied" not in words and "None" not in words and "2026-11-20" in words


def test_titles_name_who_pays(tmp_path: Path) -> None:
    results = load(sample.write(tmp_path, sample.points()))
    assert [DRAW[name](results).get_label() for name in FIGURES] == [
        "Inside an untouched calloc of 1 GiB, mimalloc and tbbmalloc fault in every page",
        "An untouched calloc of 1000 MiB takes 150 ns with largecache, 524 ms with mimalloc",
        "An untouched calloc of 1 GiB takes 150 ns with largecache, 537 ms with mimalloc",
        "In an untouched calloc of 1 GiB, mimalloc, tbbmalloc and tcmalloc write zeros over zeros",
    ]


def test_the_headline_writes_times_and_faults_and_what_is_missing(tmp_path: Path) -> None:
    raw = [sample.point("mimalloc", 100 * MIB, calloc_ns=sample.spread(43e6)),
           sample.point("mimalloc", 1000 * MIB, calloc_ns=sample.spread(563e6)),
           sample.point("glibc", 100 * MIB, calloc_ns=sample.spread(8.5e3)),
           sample.failed("scudo", 100 * MIB, 0.0, "timeout", "after 60 s"),
           sample.point("scudo", 1000 * MIB, calloc_ns=sample.spread(5.7e3), calloc_faults=0)]
    figure = headline.draw(load(sample.write(tmp_path, raw)))
    words = texts(figure)
    for word in ("43.0 ms 25,607 faults", "563 ms 256,007 faults", "8.50 µs 1 fault",
                 "5.70 µs 0 faults", "1000 MiB: not measured", "100 MiB: timed out",
                 "1 point timed out: after 60 s"):
        assert word in words
    order = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    # sorted by the time at 1000 MiB; lines without this time come last
    assert order == ["scudo", "mimalloc", "glibc"]


def test_lines_are_told_apart_by_settings_thread_and_library(tmp_path: Path) -> None:
    raw = [sample.point("jemalloc", MIB), sample.point("jemalloc", MIB, thread="worker"),
           sample.point("jemalloc", MIB, env={"MALLOC_CONF": "tcache:false", "A": "$x$"}),
           sample.point("jemalloc", MIB, preload="/opt/libjemalloc-dev.so")]
    results = load(sample.write(tmp_path, raw))
    assert set(lines(time_vs_size.draw(results), 0)) == {
        "jemalloc {built in}", "jemalloc (worker)", "jemalloc [A=$x$ MALLOC_CONF=tcache:false]",
        "jemalloc {libjemalloc-dev.so}"}


@pytest.mark.long("every figure")
def test_hostile_names_still_make_a_valid_svg(tmp_path: Path) -> None:
    env = {"X": "--><&\"$\\nosuch{$ " + "long" * 80}
    folder = sample.write(tmp_path, sample.small(sample.point("a&b<c", MIB, env=env)))
    for name in ("headline", "time_vs_size"):
        done = script(name, folder, "--format", "svg")
        assert done.returncode == 0, done.stderr
        ElementTree.parse(folder / f"{name}.svg")


def test_faults_of_the_whole_operation_include_those_of_free(tmp_path: Path) -> None:
    raw = [sample.point("glibc", size, touch, calloc_faults=100, touch_faults=20, free_faults=3)
           for size in (MIB, 4 * MIB) for touch in (0.0, 1.0)]
    figure = faults_vs_size.draw(load(sample.write(tmp_path, raw)))
    assert [lines(figure, n)["glibc"][0][1] for n in range(4)] == [100, 100, 123, 123]


def test_the_shaded_band_goes_from_p05_to_p95_around_calloc_only(tmp_path: Path) -> None:
    spread = {"median": 500.0, "p05": 300.0, "p95": 900.0}
    raw = [sample.point("glibc", size, calloc_ns=spread) for size in (MIB, 4 * MIB)]
    panels = time_vs_size.draw(load(sample.write(tmp_path, raw))).axes
    heights = {y for _, y in panels[0].collections[0].get_paths()[0].vertices}
    assert heights == {300.0, 900.0} and not panels[1].collections


def test_a_footnote_tells_four_reasons_and_counts_the_rest(tmp_path: Path) -> None:
    raw = [sample.point("glibc", MIB << n) for n in range(8)]
    for n in range(1, 8):
        raw[n]["calloc_ns"] = sample.na(f"reason {min(n, 6)}")
    words = texts(time_vs_size.draw(load(sample.write(tmp_path, raw))))
    assert "2 points n/a: reason 6; 1 point n/a: reason 1; 1 point n/a: reason 2; " \
           "1 point n/a: reason 3; and 2 more." in words
