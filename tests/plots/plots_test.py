"""Every figure is drawn from a results folder, shows what is there and says what is not."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
PLOTS = ROOT / "plots"
sys.path[:0] = [str(PLOTS), str(ROOT / "tests" / "support" / "sample_results")]
pytest.importorskip("matplotlib", reason="install python3-matplotlib, use /usr/bin/python3")

import all_figures  # noqa: E402
import faults_vs_size  # noqa: E402
import headline  # noqa: E402
import time_vs_size  # noqa: E402
import zeroed_vs_size  # noqa: E402
import zerotax_axes as axes_module  # noqa: E402
import zerotax_sample as sample  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402
from zerotax_files import ResultsError  # noqa: E402
from zerotax_results import Na, load  # noqa: E402

MIB, GIB = 1 << 20, 1 << 30
# Those that are drawn from the points of a run alone.
FIGURES = ["faults_vs_size", "headline", "time_vs_size", "zeroed_vs_size"]
DRAW = dict(all_figures.figures())
Raw = dict[str, Any]


def script(name: str, *arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, str(PLOTS / f"{name}.py"), *map(str, arguments)],
                          capture_output=True, text=True, check=False,
                          env={**os.environ, **environment})


def lines(figure: Figure, panel: int) -> dict[str, list[tuple[float, float]]]:
    """The data lines of one panel by label; reference lines and label marks have none."""
    return {line.get_label(): list(zip(*map(list, line.get_data())))
            for line in figure.axes[panel].lines if not line.get_label().startswith("_")}


def texts(figure: Figure) -> str:
    """Every text of a figure, on one line."""
    found = [text.get_text() for text in figure.texts]
    for panel in figure.axes:
        found += [text.get_text() for text in panel.texts]
    for legend in figure.legends:
        found += [text.get_text() for text in legend.get_texts()]
    return " ".join(" ".join(found).split())


def small(*extra: Raw) -> list[Raw]:
    """glibc and mimalloc at three sizes, touch 0 and 1, and more."""
    return [sample.point(name, size, touch) for name in ("glibc", "mimalloc")
            for size in (MIB, 100 * MIB, 1000 * MIB) for touch in (0.0, 1.0)] + list(extra)


# Files and command line

def test_all_figures_finds_every_figure_script() -> None:
    found = [name for name, _ in all_figures.figures()]
    assert set(FIGURES) < set(found)
    described = re.findall(r"^\| `(\w+)\.py`", (PLOTS / "README.md").read_text(), re.MULTILINE)
    assert found == sorted(described)


def test_a_new_figure_is_found_without_being_run(tmp_path: Path) -> None:
    (tmp_path / "new.py").write_text("import nothing_like_it\nFIGURE = 'x'\ndef draw(r): pass\n")
    (tmp_path / "tool.py").write_text("FIGURE = 'x'\n")
    (tmp_path / "part.py").write_text("def draw(r): pass\n")
    assert [p.name for p in sorted(tmp_path.iterdir()) if all_figures.is_figure(p)] == ["new.py"]


@pytest.mark.parametrize("name", FIGURES)
def test_each_script_writes_a_png_and_an_svg_that_name_every_allocator(
        name: str, tmp_path: Path) -> None:
    folder = sample.write(tmp_path, sample.points())
    done = script(name, folder)
    assert (done.returncode, done.stderr) == (0, "")
    png, svg = folder / f"{name}.png", folder / f"{name}.svg"
    assert done.stdout.split() == [str(png), str(svg)]
    head = png.read_bytes()[:24]
    assert head.startswith(b"\x89PNG") and 1580 <= int.from_bytes(head[16:20], "big") <= 1620
    assert ElementTree.parse(svg).getroot().tag.endswith("svg")
    drawn = svg.read_text(encoding="utf-8")
    for allocator in sample.VERSIONS:
        assert f"<!-- {allocator} -->" in drawn


def test_the_same_results_give_the_same_bytes_in_another_process(tmp_path: Path) -> None:
    folder = sample.write(tmp_path / "r", sample.points())
    for seed in ("1", "2"):
        done = script("all_figures", folder, "--out", tmp_path / seed, PYTHONHASHSEED=seed)
        assert done.returncode == 0, done.stderr
    for name in FIGURES:
        for kind in ("svg", "png"):
            one, two = (tmp_path / seed / f"{name}.{kind}" for seed in ("1", "2"))
            assert one.read_bytes() == two.read_bytes(), f"{name}.{kind}"
    assert not list((tmp_path / "r").glob("*.svg"))


def test_format_chooses_the_files_and_a_json_file_will_do_for_a_folder(tmp_path: Path) -> None:
    head = sample.run(1)
    del head["points_file"]
    file = sample.write(tmp_path, [], {**head, "points": small()}) / "run.json"
    assert script("headline", file, "--format", "svg").returncode == 0
    assert (tmp_path / "headline.svg").exists() and not (tmp_path / "headline.png").exists()


def test_nothing_is_written_to_home(tmp_path: Path) -> None:
    folder, home = sample.write(tmp_path / "r", small()), tmp_path / "home"
    home.mkdir()
    environment = {"HOME": str(home), "TMPDIR": str(tmp_path), "MPLCONFIGDIR": ""}
    assert script("headline", folder, **environment).returncode == 0
    assert not list(home.iterdir())


def test_the_users_own_style_does_not_change_a_figure(tmp_path: Path) -> None:
    folder = sample.write(tmp_path / "r", small())
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / "matplotlibrc").write_text("lines.linewidth: 9\naxes.facecolor: red\n")
    for out, config in (("a", ""), ("b", str(tmp_path / "c"))):
        script("headline", folder, "--out", tmp_path / out, MPLCONFIGDIR=config)
    assert (tmp_path / "a/headline.svg").read_bytes() == (tmp_path / "b/headline.svg").read_bytes()


@pytest.mark.parametrize("break_it, said", [
    (lambda f: (f / "run.json").unlink(), "cannot be read"),
    (lambda f: (f / "points.jsonl").unlink(), "cannot be read"),
    (lambda f: (f / "run.json").write_text("{"), "not JSON"),
    (lambda f: (f / "run.json").write_text('{"schema": "zerotax.run/2"}'), "zerotax.run/2"),
    (lambda f: (f / "run.json").write_text("[]"), "schema is None"),
    (lambda f: (f / "points.jsonl").write_text(""), "no point of the case calloc_loop is ok"),
    (lambda f: sample.write(f, [sample.failed("glibc", MIB, 0.0, "crashed", "signal 11")]),
     "no point of the case calloc_loop is ok"),
    (lambda f: (f / "points.jsonl").write_text("{}\n"), "points.jsonl:1: no usable 'allocator'"),
    (lambda f: (f / "points.jsonl").write_text("{\n{}\n"), "points.jsonl:1: not JSON"),
    (lambda f: (f / "points.jsonl").write_text("3\n"), "a point is a JSON object"),
    (lambda f: sample.write(f, small(), {**sample.run(1), "allocators": ["glibc"]}), "wrong type"),
])
@pytest.mark.parametrize("name", ["all_figures", "time_vs_size"])
def test_unusable_results_give_one_line_with_a_remedy_and_status_2(
        break_it: Any, said: str, name: str, tmp_path: Path) -> None:
    folder = sample.write(tmp_path, small())
    break_it(folder)
    done = script(name, folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: ") and done.stderr.count("\n") == 1
    assert said in done.stderr and ";" in done.stderr


def test_a_missing_folder_and_an_unwritable_one_give_status_2(tmp_path: Path) -> None:
    done = script("headline", tmp_path / "none")
    assert done.returncode == 2 and "no such results folder; run `zerotax study" in done.stderr
    (tmp_path / "file").touch()
    folder = sample.write(tmp_path / "r", small())
    done = script("headline", folder, "--out", tmp_path / "file" / "x")
    assert done.returncode == 2 and "--out" in done.stderr and "Traceback" not in done.stderr


def test_a_figure_that_cannot_be_drawn_does_not_keep_back_the_others(tmp_path: Path) -> None:
    folder = sample.write(tmp_path, [sample.point("glibc", size) for size in (MIB, 2 * MIB)])
    # No point of the headline: that is no mistake.
    done = script("all_figures", folder)
    assert (done.returncode, len(done.stdout.split())) == (0, 2 * (len(FIGURES) - 1)), done.stderr
    (folder / "thresholds.json").write_text("{")
    again = script("all_figures", folder)
    assert again.returncode == 2 and again.stderr.startswith("error: thresholds_map: "), again.stderr
    assert len(again.stdout.split()) == len(done.stdout.split())


# What is drawn

def test_a_truncated_last_line_is_skipped_with_a_warning(tmp_path: Path, capsys: Any) -> None:
    results = load(sample.write(tmp_path, small(), tail='{"allocator": "gli'))
    assert len(results.points) == 12
    assert "points.jsonl:13: the last line is cut short" in capsys.readouterr().err


def test_a_whole_last_line_without_a_newline_counts(tmp_path: Path, capsys: Any) -> None:
    folder = sample.write(tmp_path, small())
    (folder / "points.jsonl").write_text((folder / "points.jsonl").read_text().rstrip("\n"))
    assert len(load(folder).points) == 12 and capsys.readouterr().err == ""


def test_of_points_measured_twice_the_later_counts_and_other_cases_do_not(tmp_path: Path) -> None:
    again = sample.point("glibc", MIB, calloc_ns=sample.spread(12345))
    other = sample.point("glibc", MIB, case="fork_snapshot", calloc_ns=sample.spread(1))
    results = load(sample.write(tmp_path, small(again, other)))
    assert lines(time_vs_size.draw(results), 0)["glibc"][0] == (MIB, 12345)


def test_times_of_a_host_unlike_the_others_are_left_out_and_counts_are_not(tmp_path: Path) -> None:
    points = [{**each, "host": "n2" if each["allocator"] == "mimalloc" else "n1"} for each in small()]
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
        {name: no_time if name.endswith(("_ns", "_faults")) else value for name, value in point.items()} for point in small()])
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
    drawn = [y == y for _, y in lines(figure, 0)["glibc"]]   # a gap is a NaN
    assert drawn == [True, True, False, False, True, False, False, True]
    assert "Gaps: 2 points n/a: no clock; 1 point n/a: no luck; 1 point crashed: signal 11." \
        in texts(figure)


def test_a_point_that_is_not_ok_is_not_drawn_even_with_figures(tmp_path: Path) -> None:
    bad = sample.point("glibc", 2 * MIB, status="not_zero", reason="byte 7 was 1")
    figure = faults_vs_size.draw(load(sample.write(tmp_path, small(bad))))
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
            "redundant_zeroed_bytes": sample.na("no pagemap")} for point in small()]
    with pytest.raises(ResultsError, match="no pagemap.*zerotax doctor"):
        zeroed_vs_size.draw(load(sample.write(tmp_path, raw)))


def test_the_words_say_where_and_when_it_was_measured(tmp_path: Path) -> None:
    head = sample.run(12)
    head["state"] = "interrupted"
    head["plan"].update(points_planned=40, points_finished=12)
    words = texts(time_vs_size.draw(load(sample.write(tmp_path, small(), head))))
    for word in ("Linux 6.18.44", "AMD EPYC 7B13", "2 CPUs", "THP madvise", "2026-11-20",
                 "mimalloc 2.0.9", "interrupted: 12 of 40 points"):
        assert word in words
    head["environment"] = {key: sample.na("denied") for key in head["environment"]}
    words = texts(time_vs_size.draw(load(sample.write(tmp_path, small(), head))))
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
    assert order == ["scudo", "mimalloc", "glibc"]   # by 1000 MiB; those without it last


# Identity of lines

def test_lines_are_told_apart_by_settings_thread_and_library(tmp_path: Path) -> None:
    raw = [sample.point("jemalloc", MIB), sample.point("jemalloc", MIB, thread="worker"),
           sample.point("jemalloc", MIB, env={"MALLOC_CONF": "tcache:false", "A": "$x$"}),
           sample.point("jemalloc", MIB, preload="/opt/libjemalloc-dev.so")]
    results = load(sample.write(tmp_path, raw))
    assert set(lines(time_vs_size.draw(results), 0)) == {
        "jemalloc {built in}", "jemalloc (worker)", "jemalloc [A=$x$ MALLOC_CONF=tcache:false]",
        "jemalloc {libjemalloc-dev.so}"}


def test_hostile_names_still_make_a_valid_svg(tmp_path: Path) -> None:
    env = {"X": "--><&\"$\\nosuch{$ " + "long" * 80}
    folder = sample.write(tmp_path, small(sample.point("a&b<c", MIB, env=env)))
    done = script("all_figures", folder, "--format", "svg")
    assert done.returncode == 0, done.stderr
    for name in FIGURES:
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
