"""The figure of a history: a bar for each version that was measured, and the words of the document."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import history as figure_module
import zerotax_sample as sample
from zerotax_plots.documents import load_document
from zerotax_figures import script
from zerotax_plots.files import NothingToDraw, ResultsError

ROOT = Path(__file__).resolve().parents[2]
KIB, MIB = 1 << 10, 1 << 20
REFERENCE = ROOT / "results" / "reference" / "history"
Raw = dict[str, Any]


def version(name: str, *pieces: tuple[int, int, str], **more: Any) -> Raw:
    """Returns a version that changed nothing, with these pieces."""
    return {"commit": "0" * 40, "tag": name, "date": "2026-11-20T05:10:00+00:00", "author": "Ada <ada@example.org>",
            "subject": "a step", "name": name, "state": "measured", "state_words": "measured",
            "build": {"na": "not tried"}, "sentence": "as before", "changed": False,
            "pieces": [{"from_bytes": low, "to_bytes": high, "word": word} for low, high, word in pieces], **more}


def document(*versions: Raw) -> Raw:
    return {"schema": "zerotax.history/1", "zerotax_version": "0.3.0", "state": "complete", "started": "2026-11-20T05:10:00Z",
            "command": ["history"], "environment": sample.run(0)["environment"], "repository": "/src/mine",
            "selection": "tags v*", "allocator": "mine",
            "recipe": {"allocator": "mine", "build": ["make"], "library": ["x.so"], "beside": []},
            "grid": {"sizes": [], "thresholds": True}, "range": {"from_bytes": 16 * KIB, "to_bytes": 256 * MIB},
            "words": {"needless": "zeroes needlessly", "no_zeros_kept": "writes no zeros, keeps memory"},
            "title": "mine: 1 of 3 versions changed what calloc and free do", "sentence": "So.", "notes": ["A note to read."],
            "versions": list(versions)}


def full() -> Raw:
    broken = version("v2", state="not_built", sentence="does not build: no rule to make it")
    del broken["pieces"]
    return document(
        version("v1", (16 * KIB, 256 * MIB, "no_zeros_kept")), broken,
        version("v3", (16 * KIB, MIB - 1, "no_zeros_kept"), (MIB, 256 * MIB, "needless"), changed=True,
                sentence="worse: every calloc from 1 MiB on zeroes fresh memory"))


def drawn(folder: Path, raw: Raw) -> Any:
    (folder / "history.json").write_text(json.dumps(raw), encoding="utf-8")
    return figure_module.draw(load_document(folder, "history.json", figure_module.SCHEMA, figure_module.REMEDY))


def texts(figure: Any) -> str:
    found = [text.get_text() for text in figure.texts]
    for panel in figure.axes:
        found += [text.get_text() for text in panel.texts]
    for legend in figure.legends:
        found += [text.get_text() for text in legend.get_texts()]
    return " ".join(" ".join(found).split())


def test_it_shows_names_sentences_and_what_the_colours_mean(tmp_path: Path) -> None:
    figure = drawn(tmp_path, full())
    said = texts(figure)
    assert figure.get_label() == full()["title"]
    for words in ("v1", "v2", "v3 ▸", "does not build: no rule to make it", "worse: every calloc from 1 MiB on", "2026-11-20",
                  "zeroes needlessly", "writes no zeros, keeps memory", "A note to read."):
        assert words in said, words
    assert "as before" not in said


def test_bars_are_the_pieces_of_the_document_from_the_top_down(tmp_path: Path) -> None:
    panel, = drawn(tmp_path, full()).axes
    bars = [(round(bar.get_x()), round(bar.get_x() + bar.get_width())) for bar in panel.patches]
    assert bars == [(16 * KIB, 256 * MIB + 1), (16 * KIB, MIB), (MIB, 256 * MIB + 1)]
    middles = [bar.get_y() + bar.get_height() / 2 for bar in panel.patches]
    assert middles[0] < middles[1] == middles[2] and panel.get_ylim()[0] > panel.get_ylim()[1]


def test_a_size_that_was_measured_alone_is_a_bar_around_it(tmp_path: Path) -> None:
    raw = document(version("v1", (64 * KIB, 64 * KIB, "needless"), (20 * MIB, 20 * MIB, "no_zeros_kept")))
    panel, = drawn(tmp_path, raw).axes
    for bar, size in zip(panel.patches, (64 * KIB, 20 * MIB)):
        assert bar.get_x() < size < bar.get_x() + bar.get_width() < 1.5 * size


def test_a_word_of_a_later_version_is_drawn_as_not_known(tmp_path: Path) -> None:
    assert drawn(tmp_path, document(version("v1", (64 * KIB, MIB, "something new")))).axes


def test_without_a_measured_version_there_is_nothing_to_draw(tmp_path: Path) -> None:
    raw = document(copy.deepcopy(full()["versions"][1]))
    with pytest.raises(NothingToDraw, match="no version was measured"):
        drawn(tmp_path, raw)


def test_what_does_not_match_its_schema_costs_one_line(tmp_path: Path) -> None:
    raw = full()
    del raw["versions"][0]["name"]
    with pytest.raises(ResultsError, match="does not match its schema"):
        drawn(tmp_path, raw)
    done = script("history", tmp_path)
    assert done.returncode == 2 and done.stderr.count("\n") == 1


def test_what_these_tests_draw_is_what_the_schema_describes() -> None:
    schemas = {path.name: json.loads(path.read_text()) for path in (ROOT / "results" / "schema").glob("*.json")}
    store = {**schemas, **{schema["$id"]: schema for schema in schemas.values()}}
    schema = schemas["history.schema.json"]
    resolver = jsonschema.RefResolver("history.schema.json", schema, store=store)
    documents = [full(), *(json.loads(path.read_text()) for path in sorted(REFERENCE.glob("*.json")))]
    for each in documents:
        if each["schema"] == "zerotax.history/1":
            if each["versions"][0]["commit"] == "0" * 40:
                each["environment"] = json.loads((REFERENCE.parent / "run.json").read_text())["environment"]
            jsonschema.Draft202012Validator(schema, resolver=resolver).validate(each)
