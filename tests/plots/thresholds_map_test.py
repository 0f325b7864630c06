"""The map of thresholds shows each lane as searched. A run without thresholds is no error."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

import thresholds_map as figure_module
import validate
import zerotax_sample as sample
from matplotlib.colors import to_rgb
from zerotax_plots import command
from zerotax_plots import lanes as lanes_module
from zerotax_plots.files import ResultsError
from zerotax_plots.results import load

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
Raw = dict[str, Any]


def signature(zeroed: str, redundant: str, free: tuple[str, ...] = (), **fresh: Any) -> Raw:
    """Returns the behavior at one size. `fresh` replaces values of the first calloc."""
    reuse = {"home": "arena", "zeroed": zeroed, "redundant": redundant, "populated": "none",
             "calloc_syscalls": [], "free_syscalls": list(free)}
    return {"status": "ok", "fresh": {**reuse, **fresh}, "reuse": reuse}


BACK = signature("none", "none", ("munmap",))
KEPT = signature("none", "none")
DIRTY = signature("all", "none")
NEEDLESS = signature("all", "all")
CRASHED = {"status": "crashed"}


def document(*lanes: tuple[str, float, str, list[Any]]) -> Raw:
    """Returns a thresholds document with these lanes. A lane is allocator, touch, thread, and behaviors with the sizes
    between these behaviors.
    """
    made: Raw = {"schema": "zerotax.thresholds/1", "zerotax_version": "0.1.0",
                 "started": "2026-11-20T05:10:00Z", "environment": sample.run(0)["environment"],
                 "thresholds": [], "lanes": [], "probes": 50 * len(lanes)}
    for allocator, touch, thread, chain in lanes:
        made["lanes"].append({
            "allocator": allocator, "version": sample.VERSIONS.get(allocator, {"na": "none"}),
            "env": {}, "touch": touch, "thread": thread, "from_bytes": 16 * KIB,
            "to_bytes": 2 * GIB, "at_from": chain[0], "probes": 50, "grid": 35,
            "noisy_bytes": []})
        made["thresholds"] += [
            {"allocator": allocator, "touch": touch, "thread": thread, "after_bytes": at - 1, "at_bytes": at, "exact": True,
             "below": below, "above": above, "changes": ["something"], "noisy": False}
            for below, at, above in zip(chain[::2], chain[1::2], chain[2::2])]
    return made


def full() -> Raw:
    """Returns a document of two allocators that together show every behavior."""
    first = copy.deepcopy(NEEDLESS)
    first["fresh"]["home"] = "mapping"
    return document(
        ("glibc", 0.0, "main", [NEEDLESS, 131_049, first, 33_550_313, BACK]),
        ("glibc", 0.0, "worker", [NEEDLESS, 132_217, first, 33_550_313, BACK]),
        ("glibc", 1.0, "main", [DIRTY, 33_550_313, BACK]),
        ("glibc", 1.0, "worker", [DIRTY, 33_550_313, BACK]),
        ("jemalloc", 0.0, "main", [KEPT, 7_340_033, BACK, GIB, CRASHED]))


def write(folder: Path, thresholds: Raw | None) -> Path:
    """Writes a results folder with this thresholds.json."""
    sample.write(folder, [sample.point("glibc", size) for size in (MIB, 100 * MIB, 1000 * MIB)])
    if thresholds is not None:
        (folder / "thresholds.json").write_text(json.dumps(thresholds), encoding="utf-8")
    return folder


def texts(figure: Any) -> str:
    """Returns every text of a figure, on one line."""
    found = [text.get_text() for text in figure.texts]
    for panel in figure.axes:
        found += [text.get_text() for text in [*panel.texts, *panel.get_yticklabels(),
                                               *panel.get_xticklabels()]]
    for legend in figure.legends:
        found += [text.get_text() for text in legend.get_texts()]
    return " ".join(" ".join(found).split())


def drawn(tmp_path: Path, thresholds: Raw) -> Any:
    return figure_module.draw(load(write(tmp_path, thresholds)))


def lanes_of(folder: Path, thresholds: Raw) -> list[lanes_module.Lane]:
    """Returns the lanes of a file of an earlier version. The zerotax command states what calloc does in these lanes."""
    return lanes_module.lanes_of(figure_module.read(write(folder, thresholds) / "thresholds.json"))


def test_lanes_join_pieces_that_look_alike_and_keep_every_mark(tmp_path: Path) -> None:
    lanes = lanes_of(tmp_path, full())
    assert [(lane.allocator, lane.label()) for lane in lanes] == [
        ("glibc", "touch 0"), ("glibc", "touch 0 (worker)"), ("glibc", "touch 1"),
        ("jemalloc", "touch 0")]
    assert lanes[0].pieces == [(16 * KIB, 33_550_313, "needless"), (33_550_313, 2 * GIB + 1, "no_zeros_back")]
    assert [(tick.at, tick.steady) for tick in lanes[0].ticks] == \
        [(131_049, False), (33_550_313, True)]
    assert [piece[2] for piece in lanes[3].pieces] == ["no_zeros_kept", "no_zeros_back", "unknown"]


def test_without_a_command_an_earlier_file_is_drawn_without_words(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "BUILT", tmp_path / "not there")
    monkeypatch.setenv("PATH", "/nonexistent")
    figure = drawn(tmp_path, full())
    assert figure.get_label() == "What calloc does, by size"
    said = texts(figure)
    assert "not known" in said and "33,550,313" in said
    assert "needlessly" not in said and "memory" not in said


def test_a_worker_lane_without_a_main_lane_is_drawn(tmp_path: Path) -> None:
    lanes = lanes_of(tmp_path, document(("glibc", 0.0, "worker", [KEPT])))
    assert [lane.label() for lane in lanes] == ["touch 0 (worker)"]


def test_the_figure_says_what_it_shows(tmp_path: Path) -> None:
    figure = drawn(tmp_path, full())
    said = texts(figure)
    for words in ("2 allocators change at 5 sizes", "33,550,313", "131,049", "132,217",
                  "7,340,033", "glibc", "jemalloc", "touch 0 (worker)", "16 KiB", "2 GiB",
                  "Linux 6.18.44", "AMD EPYC 7B13", "2026-11-20", "glibc 2.36",
                  "writes no zeros, gives memory back", "writes no zeros, keeps memory", "zeroes what was dirty",
                  "zeroes needlessly", "not known", "Unknown where a point ended as: crashed"):
        assert words in said, words
    assert "touch 1 (worker)" not in said and "Dashed" not in said
    assert figure.axes[0].get_xlim() == (16 * KIB, 2 * GIB)


def test_one_allocator_without_a_change(tmp_path: Path) -> None:
    said = texts(drawn(tmp_path, document(("scudo", 0.0, "main", [KEPT]))))
    assert "no change found in scudo" in said
    assert "zeroes needlessly" not in said, "the legend names only what is shown"


def test_noise_is_told(tmp_path: Path) -> None:
    made = full()
    made["lanes"][0]["noisy_bytes"] = [131_049]
    assert "Dashed: 1 unreliable mark" in texts(drawn(tmp_path, made))


def test_marks_that_are_close_share_no_room(tmp_path: Path) -> None:
    chain: list[Any] = [KEPT]
    for n in range(12):
        chain += [1_000_003 + 30_000 * n, (NEEDLESS, KEPT)[n % 2]]
    figure = drawn(tmp_path, document(("glibc", 0.0, "main", chain)))
    figure.canvas.draw()
    boxes = sorted((text.get_window_extent().x0, text.get_window_extent().x1)
                   for text in figure.axes[0].texts if text.get_text()[0].isdigit())
    assert boxes and all(a[1] <= b[0] for a, b in zip(boxes, boxes[1:]))


def test_behaviours_differ_in_grey_or_in_hatching() -> None:
    looks = list(figure_module.LOOKS.values())
    for n, one in enumerate(looks):
        for other in looks[n + 1:]:
            grey = [sum(w * c for w, c in zip((0.299, 0.587, 0.114), to_rgb(look.colour)))
                    for look in (one, other)]
            assert one.hatch != other.hatch or abs(grey[0] - grey[1]) > 0.3


@pytest.mark.parametrize(("text", "words"), [
    ("{", "not JSON"), ("[1]", "schema is None"), ('{"schema": "zerotax.thresholds/9"}', "/9"),
    ('{"schema": "zerotax.thresholds/1"}', "does not match its schema"),
    (json.dumps(document()), "no lane was searched"),
])
def test_a_file_that_cannot_be_drawn_costs_one_line(tmp_path: Path, text: str, words: str) -> None:
    folder = write(tmp_path, None)
    (folder / "thresholds.json").write_text(text, encoding="utf-8")
    with pytest.raises(ResultsError, match=words) as caught:
        figure_module.draw(load(folder))
    assert "\n" not in str(caught.value)


def test_what_these_tests_draw_is_what_the_schema_describes() -> None:
    pytest.importorskip("jsonschema", reason="install python3-jsonschema, use /usr/bin/python3")
    assert validate.check(full(), "thresholds") == []


def test_the_schema_is_valid_and_describes_every_property() -> None:
    pytest.importorskip("jsonschema", reason="install python3-jsonschema, use /usr/bin/python3")
    checker = validate.validator("thresholds")
    checker.check_schema(checker.schema)
    for described in [checker.schema, *checker.schema["$defs"].values()]:
        assert described["description"]
        if described.get("type") == "object":
            assert described["additionalProperties"] is False
            assert set(described["required"]) <= set(described["properties"])
            assert all(own.get("description") for own in described["properties"].values())


@pytest.mark.parametrize(("change", "words"), [
    (lambda made: made.update(schema="zerotax.thresholds/2"), "schema"),
    (lambda made: made.update(more=1), "more"),
    (lambda made: made.pop("probes"), "probes"),
    (lambda made: made["environment"].pop("kernel"), "kernel"),
    (lambda made: made["lanes"][0].update(thread="both"), "thread"),
    (lambda made: made["lanes"][0].update(touch=2), "touch"),
    (lambda made: made["lanes"][0].update(version=None), "version"),
    (lambda made: made["thresholds"][0].update(at_bytes=1.5), "at_bytes"),
    (lambda made: made["thresholds"][0].update(changes=[]), "changes"),
    (lambda made: made["thresholds"][0].update(noisy=0), "noisy"),
    (lambda made: made["thresholds"][0]["below"].pop("reuse"), "reuse"),
    (lambda made: made["thresholds"][0]["below"].update(status="crashed"), "below"),
    (lambda made: made["thresholds"][0]["below"]["reuse"].update(zeroed="most"), "zeroed"),
    (lambda made: made["thresholds"][0]["below"]["reuse"].update(home=""), "home"),
])
def test_validate_finds_what_is_wrong_in_a_file_and_in_a_folder(
        tmp_path: Path, change: Any, words: str) -> None:
    pytest.importorskip("jsonschema", reason="install python3-jsonschema, use /usr/bin/python3")
    folder = write(tmp_path, full())
    file = folder / "thresholds.json"
    assert list(validate.problems_of(folder)) == list(validate.problems_of(file)) == []
    made = copy.deepcopy(full())
    change(made)
    file.write_text(json.dumps(made), encoding="utf-8")
    for source in (folder, file):
        problems = list(validate.problems_of(source))
        assert problems and all(str(file) in problem for problem in problems)
        assert any(words in problem for problem in problems)
