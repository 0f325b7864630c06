"""The parts that all figures share: styles of allocators, numbers in words, axes, and labels that do not overlap."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import faults_vs_size
import time_vs_size
import validate
import zeroed_vs_size
import zerotax_sample as sample
from zerotax_plots import labels, looks, style
from zerotax_plots.results import Key, load

MIB, GIB = 1 << 20, 1 << 30


def test_every_known_allocator_has_its_own_colour_marker_dash_and_lightness() -> None:
    known = list(looks.KNOWN.values())
    assert list(looks.KNOWN) == list(sample.VERSIONS)
    for part in range(3):
        assert len({str(style[part]) for style in known}) == len(known)

    def lightness(colour: str) -> float:
        channels = [int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [c / 12.92 if c <= .04045 else ((c + .055) / 1.055) ** 2.4 for c in channels]
        y = .2126 * linear[0] + .7152 * linear[1] + .0722 * linear[2]
        return 116 * y ** (1 / 3) - 16 if y > .008856 else 903.3 * y
    levels = sorted(lightness(style.colour) for style in known)
    assert min(high - low for low, high in zip(levels, levels[1:])) > 6


def test_a_look_is_chosen_by_a_file_in_the_allocators_folder_alone(tmp_path: Path) -> None:
    for name, order in (("ours", 2), ("theirs", 1)):
        (tmp_path / name).mkdir()
        look = {"order": order, "colour": "#0063A2", "marker": "s", "dash": [] if name == "ours" else [5, 1.6]}
        (tmp_path / name / "plot.json").write_text(json.dumps(look))
    (tmp_path / "plain").mkdir()
    blue = looks.Style("#0063A2", "s", "-")
    assert list(looks.known_styles(tmp_path).items()) == [("theirs", blue._replace(dash=(0, (5, 1.6)))), ("ours", blue)]


def test_every_look_of_an_allocator_is_as_its_schema_says() -> None:
    pytest.importorskip("jsonschema", reason="install python3-jsonschema")
    files = sorted(looks.ALLOCATORS.glob("*/plot.json"))
    assert files and [validate.check(json.loads(path.read_text()), "plot") for path in files] == [[]] * len(files)


def test_other_allocators_get_styles_that_depend_on_names_alone() -> None:
    names = {"snmalloc", "rpmalloc", "hoard", "musl"}
    once, again = looks.styles(names), looks.styles({"glibc", *sorted(names)})
    assert {name: again[name] for name in names} == once
    assert len(set(map(str, once.values()))) == 4
    assert not set(map(str, once.values())) & set(map(str, looks.KNOWN.values()))
    alone = {str(looks.styles({name})[name]) for name in names}
    assert len(alone) > 1
    assert len(looks.styles({f"a{n}" for n in range(40)})) == 40


def test_variants_of_one_allocator_share_its_colour_and_differ_in_filling() -> None:
    keys = [Key("glibc", (), "main", ""), Key("glibc", (), "worker", "")]
    main, worker = style.line_styles(keys).values()
    assert main["color"] == worker["color"] and main["fillstyle"] != worker["fillstyle"]


def test_the_size_axis_is_labelled_at_powers_of_four(tmp_path: Path) -> None:
    panel = time_vs_size.draw(load(sample.write(tmp_path, sample.points()))).axes[2]
    assert [text.replace("\n", " ") for text in panel.xaxis.get_major_formatter().seq] == [
        "64 KiB", "256 KiB", "1 MiB", "4 MiB", "16 MiB", "64 MiB", "256 MiB", "1 GiB"]


@pytest.mark.parametrize("wanted", [
    [], [3.0], [0.0, 0.0, 0.0], [0.0, 10.0], [1.0, 1.1, 5.0, 5.0, 5.1], [10.0] * 5, [-3.0, 14.0],
    [0.0, 0.9, 1.8, 2.7, 9.9, 10.0]])
def test_labels_are_moved_apart_in_order_and_stay_inside(wanted: list[float]) -> None:
    places = labels.spread(wanted, 1.0, 0.0, 10.0)
    assert places is not None and len(places) == len(wanted)
    assert all(b - a >= 1.0 - 1e-6 for a, b in zip(places, places[1:]))
    assert all(-1e-9 <= place <= 10 + 1e-9 for place in places)


def test_labels_that_need_not_move_stay_and_a_pair_moves_evenly() -> None:
    assert labels.spread([1.0, 4.0, 9.0], 1.0, 0.0, 10.0) == [1.0, 4.0, 9.0]
    assert labels.spread([4.9, 5.1], 1.0, 0.0, 10.0) == pytest.approx([4.5, 5.5])
    assert labels.spread([5.0] * 12, 1.0, 0.0, 10.0) is None


def test_labels_at_the_ends_of_lines_do_not_overlap_and_fit_the_page(tmp_path: Path) -> None:
    raw = sample.points() + [sample.point("glibc", size, touch, thread="worker")
                             for size in sample.SIZES for touch in (0.0, 1.0)]
    for draw in (time_vs_size.draw, faults_vs_size.draw, zeroed_vs_size.draw):
        figure = draw(load(sample.write(tmp_path, raw)))
        renderer = figure.canvas.get_renderer() if hasattr(figure.canvas, "get_renderer") else None
        page = figure.bbox
        boxes = [text.get_window_extent(renderer) for panel in figure.axes
                 for text in panel.texts if text.get_transform() == panel.transAxes]
        assert len(boxes) == 4 * 8
        leaders = [line for panel in figure.axes for line in panel.lines
                   if line.get_transform() == panel.transAxes and len(line.get_xdata()) == 2]
        assert len(leaders) == len(boxes)
        for n, box in enumerate(boxes):
            assert page.x0 <= box.x0 and box.x1 <= page.x1
            assert not any(box.overlaps(other) for other in boxes[n + 1:])
        for text in figure.texts:
            assert text.get_window_extent(renderer).x1 <= page.x1


def test_words_are_wrapped_to_the_width_even_inside_a_long_word() -> None:
    lines_ = labels.wrap("two words " + "x" * 200, 2.0, 10)
    assert "".join(lines_).replace(" ", "") == "twowords" + "x" * 200
    assert all(labels.text_width(line, 10) <= 2.0 for line in lines_)


def test_a_narrow_size_axis_is_labelled_all_along(tmp_path: Path) -> None:
    raw = [sample.point("glibc", MIB + n * 4096, touch) for n in range(40) for touch in (0.0, 1.0)]
    panel = time_vs_size.draw(load(sample.write(tmp_path, raw))).axes[2]
    places = panel.xaxis.get_majorticklocs()
    assert 5 <= len(places) <= 9 and places[0] == MIB and places[-1] > MIB + 30 * 4096
