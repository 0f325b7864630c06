"""The figure of copies over time shows the counts of each interval, for parent and children separately."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

import cow
import validate
from zerotax_figures import script, words
import zerotax_sample as sample

MIB = 1 << 20
ENDED = {"na": "it was gone when an interval ended, or is another user's"}
# Per interval: copies, reuses, zero-fills, resident bytes.
PARENT = [(0, 0, 1000, 8 * MIB), (300, 0, 0, 8 * MIB), (0, 1200, 0, ENDED)]
CHILD = [None, (500, 7, 0, 6 * MIB), (0, 0, 40, ENDED)]


def of_counts(copies: int, reuses: int, zero_fills: int) -> dict[str, int]:
    return {"copies": copies, "reuses": reuses, "zero_fills": zero_fills, "file_faults": 0, "other": 0, "kernel": 0,
            "copied_bytes": copies * 4096, "zeroed_bytes": zero_fills * 4096, "copy_ns": copies * 1500}


def document(sides: dict[int, list[Any]], lost: int = 0) -> dict[str, Any]:
    """Returns a document in the form of zerotax cow for these processes. The first process is the parent."""
    intervals, everything = [], []
    for number in range(3):
        entries = []
        for pid, of in sides.items():
            if of[number] is None:
                continue
            *counts, rss = of[number]
            entries.append({"pid": pid, "child": pid != 10, "counts": of_counts(*counts), "rss_bytes": rss,
                            "pss_bytes": ENDED, "vsz_bytes": rss})
        everything += [entry["counts"] for entry in entries]
        intervals.append({"from_s": number * 0.5, "to_s": min(number * 0.5 + 0.5, 1.2), "processes": entries,
                          "counts": total([entry["counts"] for entry in entries])})
    environment = sample.run(1)["environment"]
    return {"schema": "zerotax.cow/1", "zerotax_version": "0.1.0", "started": "2026-11-20T10:00:00Z",
            "environment": environment, "command": ["./server"], "pid": 10, "exit_status": 0,
            "method": "tracepoints", "counted": "all", "interval_s": 0.5, "wall_s": 1.2, "buffer_bytes": 8 * MIB,
            "faults_file": None, "totals": {**total(everything), "lost": lost}, "processes": [],
            "intervals": intervals, "code": []}


def total(parts: list[dict[str, int]]) -> dict[str, int]:
    return {key: sum(part[key] for part in parts) for key in of_counts(0, 0, 0)}


def figure_of(folder: Path, raw: dict[str, Any]) -> Any:
    file = folder / "cow.json"
    file.write_text(json.dumps(raw))
    return cow.draw(cow.load(file))


def lines(axes: Any) -> dict[str, list[tuple[float, float]]]:
    return {line.get_label(): list(zip(*line.get_data())) for line in axes.lines}


def test_what_is_drawn_here_is_what_the_schema_says() -> None:
    raw = document({10: PARENT, 11: CHILD})
    validate.validator("cow").validate(raw)


def test_each_class_is_a_line_of_steps_for_parent_and_children_apart(tmp_path: Path) -> None:
    figure = figure_of(tmp_path, document({10: PARENT, 11: CHILD, 12: CHILD}))
    parent, children, _ = figure.axes
    for axes, of, times in ((parent, PARENT, 1), (children, CHILD, 2)):
        drawn = lines(axes)
        for place, name in enumerate(("copies", "reuses", "zero-fills")):
            values = [entry[place] * times if entry else 0 for entry in of]
            assert [x for x, _ in drawn[name]] == [0, 0.5, 1.0, 1.2]
            for (_, y), value in zip(drawn[name], [*values, values[-1]]):
                assert y == value if value else abs(y) < 7
    assert parent.get_ylim() == children.get_ylim() and parent.get_xlim() == children.get_xlim()


def test_resident_memory_ends_where_a_process_ended(tmp_path: Path) -> None:
    memory = figure_of(tmp_path, document({10: PARENT, 11: CHILD})).axes[-1]
    drawn = lines(memory)
    assert [y for _, y in drawn["parent"]][:2] == [8 * MIB, 8 * MIB] and math.isnan(drawn["parent"][2][1])
    assert math.isnan(drawn["its children"][0][1]) and drawn["its children"][1] == (1.0, 6 * MIB)


def test_the_end_of_copying_is_marked_where_the_document_says_it(tmp_path: Path) -> None:
    raw = document({10: PARENT, 11: CHILD})
    plain = figure_of(tmp_path, {**raw, "sentence": "Planted.", "notes": []})
    told = [[text.get_text() for text in axes.texts] for axes in plain.axes]
    assert not any("nearly all copied" in texts for texts in told)
    ended = {"at_s": 0.7, "child_from_s": 0.5, "child_to_s": 1.2, "copies_until": 490, "copies_after": 10,
             "zero_fills_until": 0, "zero_fills_after": 40}
    marked = figure_of(tmp_path, {**raw, "sentence": "Planted.", "notes": [], "copying_ended": ended})
    assert "nearly all copied" in [text.get_text() for text in marked.axes[1].texts]
    for axes, kept in zip(marked.axes, plain.axes):
        more = [line.get_xdata()[0] for line in axes.lines[len(kept.lines):]]
        assert more == ([] if axes is marked.axes[0] else [0.7])


def test_a_process_alone_has_no_panel_of_children(tmp_path: Path) -> None:
    figure = figure_of(tmp_path, document({10: PARENT}))
    assert len(figure.axes) == 2
    assert "300 pages copied (1.17 MiB)" in words(figure) and "children" not in words(figure)


def test_the_title_tells_who_copied_and_lost_events_are_named(tmp_path: Path) -> None:
    told = words(figure_of(tmp_path, document({10: PARENT, 11: CHILD}, lost=1234)))
    assert "800 pages copied (3.12 MiB): 300 by the parent, 500 by its children" in told
    assert "1,234 events were lost" in told and "./server" in told


def test_footnotes_are_those_of_the_document(tmp_path: Path) -> None:
    planted = {**document({10: PARENT}, lost=1234), "sentence": "Planted.", "notes": ["Planted: 7 geese."]}
    told = words(figure_of(tmp_path, planted))
    assert "Planted: 7 geese." in told and "1,234" not in told and "./server" not in told


@pytest.mark.parametrize(("text", "told"), [
    ("{", "not JSON"), ('{"schema": "zerotax.run/1"}', "zerotax cow --json"),
    ('{"schema": "zerotax.cow/1", "intervals": []}', "contains no intervals")])
def test_an_unusable_file_costs_one_line_and_status_2(tmp_path: Path, text: str, told: str) -> None:
    file = tmp_path / "x.json"
    file.write_text(text)
    done = script("cow", file)
    assert done.returncode == 2 and len(done.stderr.splitlines()) == 1 and told in done.stderr


def test_what_the_children_share_is_a_line_of_the_memory_panel(tmp_path: Path) -> None:
    raw = document({10: PARENT, 11: CHILD, 12: CHILD})
    for interval in raw["intervals"]:
        for entry in interval["processes"]:
            known = entry["child"] and interval["from_s"] == 0.5
            entry["sharing"] = {"shared_bytes": 3 * MIB if known else ENDED, "inherited_bytes": 7 * MIB,
                                "copied_bytes": 0, "zeroed_bytes": 0}
    validate.validator("cow").validate(raw)
    memory = figure_of(tmp_path, raw).axes[-1]
    assert lines(memory)["shared by the children"] == [(1.0, 6 * MIB)]
    before = figure_of(tmp_path, document({10: PARENT, 11: CHILD})).axes[-1]
    assert "shared by the children" not in lines(before)
