"""The data of the page of a run contain every point, exactly, and a reason for each missing value."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("jinja2", reason="install python3-jinja2, use /usr/bin/python3")

import zerotax_sample as sample  # noqa: E402
import write_page  # noqa: E402
from zerotax_plots.page import documents, rendering  # noqa: E402
from zerotax_plots.page import points as columns_module  # noqa: E402
from zerotax_plots.files import ResultsError  # noqa: E402
from zerotax_plots.looks import KNOWN  # noqa: E402
from zerotax_plots.results import read_run  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
PLOTS, REFERENCE = ROOT / "plots", ROOT / "results" / "reference"
MIB = 1 << 20
ZEROTAX = Path(os.environ.get("ZEROTAX_BUILD", ROOT / "build")).resolve() / "bin" / "zerotax"
HOSTILE = "<!--<script x</script><script>alert(1)</script><b>\"'&amp;`x`"


# A summary whose checked keys look current. All other content is missing.
HOLLOW = {"schema": "zerotax.summary/1", "run": {"unfinished": None}, "figures": {}, "ranking": []}


def page_of(tmp_path: Path, points: list[dict[str, Any]], **files: Any) -> str:
    folder = sample.write(tmp_path, points)
    for name, document in files.items():
        (folder / f"{name}.json").write_text(document if isinstance(document, str) else json.dumps(document))
    return write_page.page(folder, ZEROTAX)


class Words(HTMLParser):
    """Collects the elements of a page, and its text outside of scripts and styles."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[str] = []
        self.inside = ""
        self.text = ""
        self.scripts: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(tag)
        self.inside = tag
        if tag == "script":
            self.scripts.append("")

    def handle_endtag(self, tag: str) -> None:
        self.inside = ""

    def handle_data(self, data: str) -> None:
        if self.inside == "script":
            self.scripts[-1] += data
        elif self.inside != "style":
            self.text += data

    def data(self) -> Any:
        return json.loads(self.scripts[0])


def rows(data: dict[str, Any]) -> dict[tuple[Any, ...], dict[str, Any]]:
    """Converts the page's columns back to points, by case, touch, thread, name and size."""
    points, found = data["points"], {}
    for case, touch, thread, series, first, end in points["groups"]:
        for row in range(first, end):
            key = (points["cases"][case], touch, thread, points["series"][series]["name"], points["sizes"][row])
            assert key not in found
            found[key] = {figure["key"]: figure["values"][row] for figure in points["figures"]}
    return found


def test_every_point_of_the_reference_is_in_the_page_to_the_byte() -> None:
    found = rows(Words(write_page.page(REFERENCE, ZEROTAX)).data())
    raw = [json.loads(line) for line in (REFERENCE / "points.jsonl").read_text().splitlines()]
    mine = [point for point in raw if point["case"] == "calloc_loop"]  # points of recv_buffer.json replace the others
    assert len(mine) > 600
    for point in mine:
        got = found[point["case"], point["touch"], point["thread"], point["allocator"], point["size_bytes"]]
        assert (got["zeroed"], got["redundant"], got["calloc_faults"]) == (
            point["zeroed_bytes"],
            point["redundant_zeroed_bytes"],
            point["calloc_faults"],
        )
        assert got["calloc_ns"] == pytest.approx(point["calloc_ns"]["median"], rel=1e-5)
        assert got["first_redundant"] == point["first_ops"][0]["redundant_zeroed_bytes"]
    receiving = json.loads((REFERENCE / "recv_buffer.json").read_text())["points"]
    assert sum(key[0].startswith("recv_buffer") for key in found) == len(receiving)


def test_a_figure_that_is_not_there_points_at_its_reason_and_is_never_zero(tmp_path: Path) -> None:
    points = [
        sample.point("glibc", MIB, redundant_zeroed_bytes=sample.na("no pagemap here")),
        sample.failed("scudo", MIB, 0.0, "crashed", "signal 11 in calloc"),
    ]
    results = read_run(sample.write(tmp_path, points), columns_module.slim)
    made = columns_module.columns(results, {})
    redundant = next(figure["values"] for figure in made["figures"] if figure["key"] == "redundant")
    assert [made["reasons"][-1 - value] for value in redundant] == ["n/a: no pagemap here", "crashed: signal 11 in calloc"]
    assert {row: made["reasons"][-1 - value] for row, value in made["status"].items()} == {
        1: "crashed: signal 11 in calloc"
    }


def test_the_same_results_give_the_same_page(tmp_path: Path) -> None:
    assert page_of(tmp_path, sample.points()) == page_of(tmp_path, sample.points())


def test_names_of_users_are_text_and_never_markup(tmp_path: Path) -> None:
    points = [
        sample.point(HOSTILE, MIB, preload=f"/x/{HOSTILE}", env={HOSTILE: HOSTILE}),
        sample.failed(HOSTILE, 2 * MIB, 0.0, "crashed", HOSTILE),
    ]
    head = sample.run(2)
    head["allocators"] = [{"name": HOSTILE, "version": HOSTILE, "preload": HOSTILE, "env": {HOSTILE: HOSTILE}}]
    head["command"] = [HOSTILE]
    head["environment"]["cpu"] = HOSTILE
    folder = sample.write(tmp_path, points, head)
    found, plain = Words(write_page.page(folder, ZEROTAX)), Words(page_of(tmp_path / "plain", sample.points()))
    assert found.elements.count("script") == plain.elements.count("script") == 2
    assert HOSTILE.replace("`x`", "") in found.text
    assert found.data()["points"]["series"][0]["allocator"] == HOSTILE
    assert "alert(1)" not in found.scripts[1]


def test_the_policy_names_exactly_the_script_and_the_style_of_the_page(tmp_path: Path) -> None:
    page = page_of(tmp_path, sample.points())
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)
    assert policy and policy[1].startswith("default-src 'none';")
    assert "unsafe" not in policy[1] and "http" not in policy[1]
    style = re.search(r"<style>(.*?)</style>", page, re.S)
    assert style and rendering.fingerprint(style[1]) in policy[1]
    assert rendering.fingerprint(Words(page).scripts[1]) in policy[1]


@pytest.mark.parametrize(
    "name, command",
    [
        ("thresholds", "zerotax thresholds --json"),
        ("fork", "zerotax fork --json"),
        ("snapshot", "zerotax snapshot --json"),
        ("cow", "zerotax cow --json"),
        ("findings", "zerotax findings"),
    ],
)
@pytest.mark.parametrize("damage", [None, "{", '{"schema": "zerotax.other/1"}', "whole but empty"])
def test_what_is_missing_or_damaged_is_a_sentence_with_its_command(
    tmp_path: Path, name: str, command: str, damage: Any
) -> None:
    if damage is not None:
        schema = documents.DOCUMENTS[name][1]
        (tmp_path / f"{name}.json").write_text(json.dumps({"schema": schema}) if "empty" in damage else damage)
    part = documents.parts(tmp_path)[name]
    assert set(part) == {"missing", "command"} and f"{name}.json" in part["missing"]
    assert part["command"].startswith(command) and str(tmp_path) not in part["command"]
    text = " ".join(Words(page_of(tmp_path, sample.points())).text.split())
    assert part["command"] in text


def findings(**changes: Any) -> dict[str, Any]:
    """Returns a document with one finding in the form of zerotax.findings/1."""
    return {
        "schema": "zerotax.findings/1",
        "run": "r",
        "findings": [
            {
                "id": "f-1",
                "rule": "redundant-fresh",
                "allocator": "mimalloc",
                "version": "2.0.9",
                "env": {},
                "severity": "high",
                "shown_in": {"figure": "heat", "columns": {"heat.f": "redundant"}},
                "title": "calloc(100 MiB) is zeroed <twice>",
                "sentence": "It pays.",
                "evidence": [
                    {
                        "case": "calloc_loop",
                        "size_bytes": 100 * MIB,
                        "touch": 0,
                        "thread": "main",
                        "figures": {
                            "calloc_ns": 4e7,
                            "redundant_zeroed_bytes": 100 * MIB,
                            "zero_ns": {"na": "no clock"},
                        },
                        "text": "calloc_ns PLANTED; zero_ns n/a: no clock",
                    }
                ],
                "knobs": [
                    {"env": {"A": "1"}, "effect": {"calloc_ns": 2e3}, "text": "calloc_ns planted, too"},
                    {"env": {"B": "2"}, "effect": {"na": "not tried"}, "text": "not tried"},
                ],
                **changes,
            }
        ],
    }


def test_findings_link_to_their_evidence_and_tell_what_was_tried(tmp_path: Path) -> None:
    low = findings(id="f-0", severity="low")["findings"]
    document = findings()
    document["findings"] = low + document["findings"]
    page = page_of(tmp_path, sample.points(), findings=document)
    found = " ".join(Words(page).text.split())
    assert "calloc(100 MiB) is zeroed <twice>" in found and "It pays." in found
    assert "touch 0, main: calloc_ns PLANTED; zero_ns n/a: no clock" in found
    assert "A=1: calloc_ns planted, too; B=2: not tried" in found
    assert 'href="#case=calloc_loop&amp;touch=0&amp;thread=main&amp;heat.f=redundant&amp;at=104857600&amp;go=heat"' in page
    assert found.index("high severity") < found.index("low severity")
    assert "2 findings, 2 points" in found


def test_a_row_of_findings_says_what_avoids_them(tmp_path: Path) -> None:
    remedy = {"kind": "setting", "env": {"A": "1"}, "line": "A=1", "confirmed": True, "text": "Set `A=1`: PLANTED."}
    fixed = {"kind": "version", "version": "3.0", "id": "x/y#1", "url": "https://example.org/1", "text": "Use mimalloc 3.0."}
    document = findings(meaning="zeros, PLANTED", sizes="64 KiB to 1 MiB", remedies=[fixed, remedy], remedy="Use it.")
    page = page_of(tmp_path, sample.points(), findings=document)
    row = page[page.index('<div class="group'):page.index("<details>", page.index('<div class="group'))]
    assert "zeros, PLANTED" in row and "64 KiB to 1 MiB" in row
    assert 'data-copy="A=1"' in row and "Set <code>A=1</code>: PLANTED." in row and 'href="https://example.org/1"' in row


def test_findings_of_an_earlier_version_have_neither_links_nor_words_and_none_are_made_up(tmp_path: Path) -> None:
    document = findings()
    finding = document["findings"][0]
    for each in (finding["evidence"][0], *finding["knobs"]):
        del each["text"]
    del finding["shown_in"]
    page = page_of(tmp_path, sample.points(), findings=document)
    found = " ".join(Words(page).text.split())
    assert "calloc_loop, 100 MiB, touch 0, main" in found and "A=1" in found
    assert "calloc_ns" not in found and "not tried" not in found and "at=104857600" not in page


def test_without_findings_the_page_says_that_there_are_none(tmp_path: Path) -> None:
    document = findings()
    document["findings"] = []
    document["sentence"] = "No rule found anything to report."
    assert "No rule found anything to report." in Words(page_of(tmp_path, sample.points(), findings=document)).text


def test_a_run_of_which_nothing_ended_well_still_has_a_page(tmp_path: Path) -> None:
    text = Words(page_of(tmp_path, [sample.failed("glibc", MIB, 0.0, "timeout", "60 s were not enough")])).text
    assert "did not end in time at 1 MiB: 60 s were not enough." in text
    empty = Words(page_of(tmp_path / "empty", []))
    assert empty.data()["points"]["groups"] == [] and "No summary: " in empty.text


def test_an_unfinished_run_says_so(tmp_path: Path) -> None:
    head = sample.run(3)
    head["state"], head["plan"]["points_finished"] = "interrupted", 1
    folder = sample.write(tmp_path, sample.points()[:1], head)
    assert "The run is interrupted: 1 of 3 points is measured." in Words(write_page.page(folder, ZEROTAX)).text


def test_the_script_writes_one_file_and_says_where(tmp_path: Path) -> None:
    folder = sample.write(tmp_path / "run", sample.points())
    before = {path.name for path in folder.iterdir()}
    done = subprocess.run(
        [sys.executable, str(PLOTS / "write_page.py"), str(folder)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout.strip()) == (0, str(folder / "report.html")), done.stderr
    assert {path.name for path in folder.iterdir()} == before | {"report.html"}


@pytest.mark.parametrize(
    "spoil, words",
    [
        (lambda folder: shutil.rmtree(folder), "no such results folder"),
        (lambda folder: (folder / "run.json").write_text("{"), "not JSON"),
        (lambda folder: (folder / "points.jsonl").write_text("[]\n"), "a point is a JSON object"),
        (lambda folder: (folder / "run.json").write_text('{"name": "of another program"}'), "its schema is None"),
        (lambda folder: (folder / "summary.json").write_text(json.dumps(HOLLOW)), "does not match its schema"),
        (lambda folder: (folder / "points.jsonl").write_bytes(b"\x80\xff\x00\n"), "points.jsonl"),
    ],
)
def test_bad_input_is_one_line_and_writes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], spoil: Any, words: str
) -> None:
    folder = sample.write(tmp_path / "run", sample.points())
    spoil(folder)
    assert write_page.main([str(folder)]) == 2
    told = capsys.readouterr().err
    assert words in told and told.count("\n") == 1 and told.startswith("error: ")
    assert not (folder / "report.html").exists()


def test_without_the_library_the_package_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rendering, "LIBRARY", tmp_path)
    with pytest.raises(ResultsError, match="apt-get install node-d3-scale node-d3-zoom"):
        rendering.library()


def luminance(colour: str) -> float:
    linear = [
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4
        for c in (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("name", KNOWN)
def test_lines_can_be_told_from_a_dark_ground(name: str) -> None:
    dark = columns_module.contrasting(KNOWN[name].colour)
    assert (luminance(dark) + 0.05) / (luminance("#15181b") + 0.05) >= 4.4


def test_an_allocator_looks_as_in_the_other_figures(tmp_path: Path) -> None:
    data = Words(
        page_of(
            tmp_path,
            [sample.point("glibc", MIB), sample.point("glibc", MIB, env={"A": "1"}), sample.point("scudo", MIB)],
        )
    ).data()
    looks = [(line["name"], line["colour"], line["marker"], line["fill"]) for line in data["points"]["series"]]
    assert looks == [
        ("glibc", KNOWN["glibc"].colour, "o", "full"),
        ("glibc [A=1]", KNOWN["glibc"].colour, "o", "none"),
        ("scudo", KNOWN["scudo"].colour, "P", "full"),
    ]
