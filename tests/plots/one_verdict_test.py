"""The figures and the page repeat the words of zerotax, and judge nothing themselves."""

from __future__ import annotations

import ast
import importlib
import json
import math
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

import all_figures
import zerotax_sample as sample
from zerotax_plots.page import points as page_points
from zerotax_figures import script, words
from zerotax_plots import command, documents, summary, titles
from zerotax_plots.files import NothingToDraw
from zerotax_plots.looks import labels
from zerotax_plots.results import load, read_run

ROOT = Path(__file__).resolve().parents[2]
PLOTS, REFERENCE = ROOT / "plots", ROOT / "results" / "reference"
FOLDERS = (PLOTS, PLOTS / "zerotax_plots", PLOTS / "zerotax_plots" / "page")
MIB = 1 << 20
ZEROTAX = Path(os.environ.get("ZEROTAX_BUILD", ROOT / "build")).resolve() / "bin" / "zerotax"
OF_POINTS = ("headline", "time_vs_size", "faults_vs_size", "zeroed_vs_size", "fork_after_calloc", "recv_buffer")
DOCUMENTS = {"fork": "fork.json", "fork_snapshot": "snapshot.json", "thresholds_map": "thresholds.json",
             "policies": "policies.json", "workloads": "workloads.json"}
# Comparisons with a number in the scripts, and the purpose of each in drawing. A limit that decides what is much, slow
# or wrong belongs in a verdict of harness/ and its JSON.
DRAWING = {
    ("fork.py", "share >= 0.045"),  # space for a label
    ("fork_snapshot.py", "end > axes.get_xlim()[1] * 0.6"),  # the side of a line on which the label is written
    ("histories.py", "before - when > ROUND"),  # the place where a new band of releases begins
    ("history.py", "len(lines) > MOST_LINES"),
    ("points.py", "c <= 0.04045"),  # sRGB, and the contrast of WCAG 2
    ("points.py", "(luminance(mixed) + 0.05) / (dark + 0.05) >= least"),
    ("policies.py", "value > 60"),  # white text on a dark cell
    ("policies.py", "value < 0.016"),
    ("heat.py", "abs(norm(value) - 0.5) > 0.4"),  # white text on a dark cell
    ("recv_buffer.py", "width <= 1.6"),  # inches
    ("titles.py", "len(ranked) < 2"),  # space for names in a title
    ("titles.py", "len(names) > MOST_NAMES"),
    ("titles.py", "sum(map(len, names)) > MOST_CHARS"),
    ("years.py", "at > MARGIN"),  # space for another band on the line
    ("validate.py", "len(text) <= LONGEST"),  # a line of a message
}
# Files for axes, labels, footnotes and number texts. None of these files knows the meaning of a point.
DRAWN_BY = {"axes.py", "labels.py", "layout.py", "units.py", "files.py", "panels.py"}


def points() -> list[dict[str, Any]]:
    raw = [*sample.points(), *(sample.forking(name, MIB) for name in ("glibc", "mimalloc"))]
    return [*raw, *(sample.receiving(name, MIB) for name in ("glibc", "mimalloc"))]


def summary_of(folder: Path) -> dict[str, Any]:
    done = subprocess.run([ZEROTAX, "findings", folder, "--summary", "--json", "-"], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)  # type: ignore[no-any-return]


def svg_title(path: Path) -> str:
    found = re.search(r"<dc:title>([^<]*)</dc:title>", path.read_text(encoding="utf-8"))
    assert found
    return found[1]


def no_command(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(command, "BUILT", tmp_path / "not there")
    monkeypatch.setenv("PATH", "/nonexistent")


def test_each_figure_of_points_has_a_title_of_its_own(tmp_path: Path) -> None:
    folder = sample.write(tmp_path, points())
    assert script("all_figures", folder, "--format", "svg").returncode == 0
    assert len({svg_title(folder / f"{name}.svg") for name in OF_POINTS}) == len(OF_POINTS)


@pytest.mark.parametrize("name", ["fork", "fork_snapshot", "thresholds_map", "workloads"])
def test_the_title_of_a_figure_of_a_document_is_what_the_document_says(tmp_path: Path, name: str) -> None:
    document = json.loads((REFERENCE / DOCUMENTS[name]).read_text())
    document.update(sentence="Planted, not measured.")
    document.pop("title", None)
    (tmp_path / DOCUMENTS[name]).write_text(json.dumps(document))
    assert script(name, tmp_path / DOCUMENTS[name], "--format", "svg").returncode == 0
    assert svg_title(tmp_path / f"{name}.svg") == "Planted, not measured"


@pytest.mark.parametrize("name", ["fork", "snapshot", "thresholds"])
def test_the_command_says_of_an_earlier_file_what_it_says_of_a_new_one(tmp_path: Path, name: str) -> None:
    new = json.loads((REFERENCE / f"{name}.json").read_text())
    told = new.pop("sentence")
    path = tmp_path / "old.json"
    path.write_text(json.dumps(new))
    read = documents.read_document(path, new["schema"], "measure again", ZEROTAX)
    assert documents.told(read) == told and told.endswith(".")


def test_without_summary_and_command_no_title_says_what_is_redundant(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = sample.write(tmp_path / "run", points())
    assert titles.zeroed(load(folder))
    no_command(monkeypatch, tmp_path)
    (folder / "summary.json").unlink(missing_ok=True)
    assert titles.zeroed(load(folder)) is None


def test_an_earlier_summary_is_made_anew_if_there_is_a_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = sample.write(tmp_path, points())
    old = summary_of(folder)
    del old["ranking"]
    (folder / "summary.json").write_text(json.dumps(old))
    assert (summary.summary_of(folder / "run.json", ZEROTAX) or {})["ranking"]
    no_command(monkeypatch, tmp_path)
    assert summary.summary_of(folder / "run.json") == old


def test_lines_are_called_in_figures_as_in_the_summary(tmp_path: Path) -> None:
    raw = [
        sample.point("mine", MIB, preload="/opt/libjemalloc-dev.so"), sample.point("glibc", MIB),
        sample.point("jemalloc", MIB, env={"MALLOC_CONF": "tcache:false", "A": "$x$"})]
    folder = sample.write(tmp_path, raw)
    drawn = labels(load(folder).series())
    told = {(each["allocator"], tuple(sorted(each["env"].items())), each["preload"]): each["name"]
            for each in summary_of(folder)["allocators"]}
    assert {(key.allocator, key.env, key.preload): name for key, name in drawn.items()} == told
    assert "jemalloc [A=$x$ MALLOC_CONF=tcache:false]" in told.values()


def test_shares_of_the_block_are_those_of_the_summary(tmp_path: Path) -> None:
    raw = [sample.point("glibc", MIB, zeroed_bytes=2 * MIB, redundant_zeroed_bytes=MIB // 4),
           sample.point("scudo", MIB, redundant_zeroed_bytes=sample.na("no pagemap"))]
    folder = sample.write(tmp_path, raw)
    document = summary_of(folder)
    columns = page_points.columns(read_run(folder), summary.rows_of(document))
    values = {figure["key"]: figure["values"] for figure in columns["figures"]}
    assert values["redundant_share"][0] == 0.25 and values["zeroed_share"][0] == 1
    assert columns["reasons"][-1 - values["redundant_share"][1]] == "n/a: not audited"
    assert "share" in {figure["unit"] for figure in columns["figures"]}


@pytest.mark.parametrize(("figure", "name"), [("time_vs_size", "operation_ns"), ("faults_vs_size", "operation_faults")])
def test_what_a_whole_operation_takes_is_what_the_summary_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, figure: str, name: str
) -> None:
    folder = sample.write(tmp_path, [sample.point("glibc", MIB), sample.point("glibc", 4 * MIB)])
    document = summary_of(folder)
    place = [*document["points"]["key"], *document["points"]["columns"]].index(name)
    document["points"]["rows"][0][place], document["points"]["rows"][1][place] = 54321, {"na": "planted"}
    (folder / "summary.json").write_text(json.dumps(document))

    def below() -> list[float]:
        return [float(y) for line in dict(all_figures.figures())[figure](load(folder)).axes[1].lines
                if line.get_label() == "glibc" for y in line.get_ydata()]

    assert below()[0] == 54321 and math.isnan(below()[1])
    columns = page_points.columns(read_run(folder), summary.rows_of(document))
    assert [each["values"][0] for each in columns["figures"] if each["key"] in ("whole_ns", "whole_faults")].count(54321) == 1
    no_command(monkeypatch, tmp_path)
    (folder / "summary.json").unlink()
    assert all(map(math.isnan, below()))


def test_the_page_names_touched_fractions_as_the_summary_does(tmp_path: Path) -> None:
    pytest.importorskip("jinja2", reason="install python3-jinja2, use /usr/bin/python3")
    import write_page  # pylint: disable=import-outside-toplevel

    folder = sample.write(tmp_path, points())
    document = summary_of(folder)
    document["touches"]["0"] = "PLANTED"
    (folder / "summary.json").write_text(json.dumps(document))
    assert '"touches":{"0":"PLANTED"' in write_page.page(folder)
    panel = dict(all_figures.figures())["time_vs_size"](load(folder)).axes[0]
    assert panel.get_title(loc="left") == "touch 0: the program writes PLANTED"


def limits(path: Path) -> set[tuple[str, str]]:
    """Returns the comparisons in a file with a number other than 0 or 1, with a fraction of a value, or with a constant
    of the file.
    """
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Compare):
            continue
        sides = [node.left, *node.comparators]
        numbers = {side.value for side in sides if isinstance(side, ast.Constant) and type(side.value) in (int, float)}
        shares = [part for part in ast.walk(node) if isinstance(part, ast.Constant) and isinstance(part.value, float)]
        named = [side for side in sides if isinstance(side, ast.Name) and side.id.isupper()]
        compares = any(isinstance(how, (ast.Lt, ast.LtE, ast.Gt, ast.GtE)) for how in node.ops)
        if numbers - {0, 1} or shares or (compares and named):
            found.add((path.name, ast.unparse(node)))
    return found


def test_no_number_in_python_is_a_limit_of_a_verdict(tmp_path: Path) -> None:
    planted = tmp_path / "figure.py"
    planted.write_text("if faults >= 0.98 * size / page or ratio > 10 or ns > SLOW: pass")
    assert len(limits(planted)) == 3
    files = [path for folder in FOLDERS for path in folder.glob("*.py") if path.name not in DRAWN_BY]
    assert len(files) > 25
    found = set().union(*map(limits, files))
    assert found == DRAWING, "judge it in harness/, or say here what it draws"


# The figure of a document shows what the document states


def drawn(name: str, folder: Path, document: dict[str, Any]) -> Any:
    """The figure of a document."""
    path = folder / DOCUMENTS[name]
    path.write_text(json.dumps(document))
    module = importlib.import_module(name)
    load_it = {"fork": "load", "fork_snapshot": "load_snapshot", "thresholds_map": "load_thresholds", "policies": "load"}
    read = getattr(module, load_it[name], None) or (
        lambda path: documents.load_document(path, module.NAME, module.SCHEMA, module.REMEDY))
    return module.draw(read(path))


def of_reference(name: str) -> dict[str, Any]:
    return json.loads((REFERENCE / DOCUMENTS[name]).read_text())  # type: ignore[no-any-return]


@pytest.mark.parametrize("name", ["fork", "fork_snapshot", "thresholds_map"])
def test_the_footnotes_of_a_figure_are_those_of_its_document(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    document = of_reference(name)
    document["notes"] = ["Planted: 7 geese.", "Planted, too."]
    told = words(drawn(name, tmp_path, document))
    assert "Planted: 7 geese." in told and "Planted, too." in told and "writers," not in told
    del document["notes"]
    assert "Planted" not in words(drawn(name, tmp_path, document))
    no_command(monkeypatch, tmp_path)
    assert "writers," not in words(drawn(name, tmp_path, document))


def test_the_marks_of_a_snapshot_are_those_of_its_document(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    document = of_reference("fork_snapshot")
    results = {result["alternative"]: result for result in document["results"]}
    results["fork"].update(slowdown=1, mark={"slowdown": 77.5, "memory_share": 0.25, "stopped_ns": 5e5})
    results["uffd_wp"]["mark"] = {"na": "planted"}
    results["none"]["mark"] = {"slowdown": 3, "memory_share": {"na": "planted"}, "stopped_ns": 2e6}
    memory, stopped = drawn("fork_snapshot", tmp_path, document).axes[:2]
    marks = [{line.get_label(): (line.get_xdata()[0], line.get_ydata()[0]) for line in axes.lines} for axes in (memory, stopped)]
    assert marks[0]["fork"] == (77.5, 0.25) and marks[1]["fork"] == (77.5, 5e5)
    assert marks[1]["none"] == (3, 2e6) and "none" not in marks[0]
    assert "uffd_wp" not in marks[0].keys() | marks[1].keys()
    for result in document["results"]:
        result["mark"] = {"na": "planted"}
    with pytest.raises(NothingToDraw):
        drawn("fork_snapshot", tmp_path, document)
    for result in document["results"]:
        del result["mark"]
    del document["notes"]
    assert drawn("fork_snapshot", tmp_path, document).axes[0].lines, "the command judges it again"
    no_command(monkeypatch, tmp_path)
    figure = drawn("fork_snapshot", tmp_path, document)
    assert not any(axes.lines for axes in figure.axes[:2]) and "earlier version" in figure.axes[0].texts[0].get_text()
    assert figure.axes[2].containers, "its faults are still there"


def test_the_ratios_of_the_policies_are_those_of_their_document(tmp_path: Path) -> None:
    document = of_reference("policies")
    cell = document["groups"][0]["cells"][0]
    cell["contenders"]["adaptive"]["to_best_allocator"] = 54321.0
    cell["contenders"]["purge"]["to_best_allocator"] = {"na": "planted"}
    document["policies"] = ["adaptive", "purge", "glibc"]
    axes = [each for each in drawn("policies", tmp_path, document).axes if each.get_visible()]
    assert [each.get_title() for each in axes] == ["adaptive", "purge", "glibc"]
    cells = [[text.get_text() for text in each.texts] for each in axes]
    assert cells[0][0] == "54,321" and cells[1][0] == "n/a"
    del document["policies"]
    with pytest.raises(NothingToDraw, match="--read"):
        drawn("policies", tmp_path, document)


# Results that harness/ judges are not judged again here

def sources(*suffixes: str) -> dict[str, str]:
    """Returns the files of the figures and of the page, without the files that write numbers as text."""
    return {str(path.relative_to(PLOTS)): path.read_text(encoding="utf-8") for folder in FOLDERS for path in folder.iterdir()
            if path.suffix in suffixes and path.name not in ("units.py", "units.js")}


def test_no_script_reads_its_answer_out_of_words() -> None:
    reads = re.compile(r"\.(?:test|exec|match|search)\(|\bre\.(?:match|search|fullmatch|findall|split)\(")
    assert reads.search("/^(crashed|failed):/.test(na)")
    assert {name: found[0] for name, text in sources(".js", ".py").items() if (found := reads.search(text))} == {}


def test_plurals_are_made_by_the_formatter_alone() -> None:
    plural = re.compile(r"""(["'])\1 if .{1,40}== 1 else (["'])s\2|=== 1 \? "" : "s"|(["'])s\3 \*|\w\(s\)[ "']""")
    for planted in ("{'' if count == 1 else 's'}", '${n === 1 ? "" : "s"}', "{'s' * (n != 1)}", "2 thread(s) that"):
        assert plural.search(planted), planted
    assert {name: found[0] for name, text in sources(".js", ".py", ".html").items() if (found := plural.search(text))} == {}


def rules() -> dict[str, list[tuple[str, str]]]:
    """Returns the figures and columns of the page that show each rule of findings, according to its source."""
    found = {}
    for path in (ROOT / "harness" / "measuring" / "judge" / "rules").glob("*.cc"):
        rules_of_file = re.split(r'(?=const FindingRule )', path.read_text(encoding="utf-8"))[1:]
        assert rules_of_file, path
        for text in rules_of_file:
            name = re.match(r'const FindingRule \w+\(\s*"([a-z-]+)"', text)
            assert name, path
            found[name[1]] = re.findall(r'\{"(time|faults|bytes|heat)"(?:, "(\w+)")?\}', text)
    return found


def test_what_a_rule_is_shown_in_is_a_figure_of_the_page_with_that_column() -> None:
    units = {"time": "time", "faults": "count", "bytes": "bytes"}
    columns = {(figure.unit, figure.key) for figure in page_points.FIGURES}
    heats = re.findall(r'^  \["(\w+)", "\w+"\],$', (PLOTS / "zerotax_plots" / "page" / "heat.js").read_text(), re.M)
    assert len(rules()) >= 12 and all(rules().values()) and "redundant" in heats
    for rule, places in rules().items():
        for figure, column in places:
            assert not column or (column in heats if figure == "heat" else (units[figure], column) in columns), rule


def test_no_rule_and_no_policy_has_a_name_in_the_scripts() -> None:
    def naming(name: str, files: dict[str, str]) -> list[str]:
        return [file for file, text in files.items() if re.search(rf"[\"']{name}[\"']", text)]

    every = sources(".js", ".py", ".html")
    for rule in rules().keys() - {"unfinished"}:  # "unfinished" is also a key of a summary
        assert naming(rule, every) == [], rule
    for policy in of_reference("policies")["policies"]:  # "dirty" is also a word of the map of thresholds
        assert naming(policy, {"policies.py": every["policies.py"]}) == [], policy


def test_the_sample_has_what_this_is_about() -> None:
    assert shutil.which(str(ZEROTAX)) and REFERENCE.is_dir()
