"""Each figure script writes only its own files, and the same files every time. A script refuses in one line what it
cannot draw.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import pytest

import all_figures
import zerotax_sample as sample
from zerotax_figures import script

ROOT = Path(__file__).resolve().parents[2]
PLOTS = ROOT / "plots"
MIB = 1 << 20
# Figures that are drawn only from the points of a run.
FIGURES = ["faults_vs_size", "headline", "time_vs_size", "zeroed_vs_size"]


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


@pytest.mark.long("all figures twice")
def test_the_same_results_give_the_same_bytes_in_another_process(tmp_path: Path) -> None:
    folder = sample.write(tmp_path / "r", sample.small())
    for seed in ("1", "2"):
        done = script("all_figures", folder, "--out", tmp_path / seed, PYTHONHASHSEED=seed)
        assert done.returncode == 0, done.stderr
    for name in (f"{name}.{kind}" for name in FIGURES for kind in ("svg", "png")):
        assert (tmp_path / "1" / name).read_bytes() == (tmp_path / "2" / name).read_bytes(), name
    assert not list((tmp_path / "r").glob("*.svg"))


def test_format_chooses_the_files_and_a_json_file_will_do_for_a_folder(tmp_path: Path) -> None:
    head = sample.run(1)
    del head["points_file"]
    file = sample.write(tmp_path, [], {**head, "points": sample.small()}) / "run.json"
    assert script("headline", file, "--format", "svg").returncode == 0
    assert (tmp_path / "headline.svg").exists() and not (tmp_path / "headline.png").exists()


@pytest.mark.parametrize("place", ["home", "no home", "a home that others may write to"])
def test_only_the_users_cache_is_left_behind(tmp_path: Path, place: str) -> None:
    folder, home, temporary = sample.write(tmp_path / "r", sample.small()), tmp_path / "home", tmp_path / "t"
    temporary.mkdir()
    if place != "no home":
        home.mkdir(mode=0o700)
    if place.startswith("a home"):
        home.chmod(0o777)
    environment = {"HOME": str(home), "XDG_CACHE_HOME": "", "TMPDIR": str(temporary), "MPLCONFIGDIR": ""}
    assert script("headline", folder, **environment).returncode == 0
    assert not list(temporary.iterdir())
    found = [path.relative_to(home) for path in home.iterdir()] if home.exists() else []
    assert found == ([Path(".cache")] if place == "home" else [])
    if found:
        cache = home / ".cache" / "zerotax" / "matplotlib"
        assert cache.stat().st_mode & 0o777 == 0o700 and list(cache.iterdir())


def test_a_cache_that_is_a_link_is_not_used(tmp_path: Path) -> None:
    folder, home, other = sample.write(tmp_path / "r", sample.small()), tmp_path / "home", tmp_path / "other"
    (home / ".cache" / "zerotax").mkdir(mode=0o700, parents=True)
    home.chmod(0o700)
    other.mkdir()
    (home / ".cache" / "zerotax" / "matplotlib").symlink_to(other)
    environment = {"HOME": str(home), "XDG_CACHE_HOME": "", "TMPDIR": str(tmp_path), "MPLCONFIGDIR": ""}
    assert script("headline", folder, **environment).returncode == 0
    assert not list(other.iterdir())


def test_the_users_own_style_does_not_change_a_figure(tmp_path: Path) -> None:
    folder = sample.write(tmp_path / "r", sample.small())
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
    (lambda f: sample.write(f, sample.small(), {**sample.run(1), "allocators": ["glibc"]}), "wrong type"),
])
@pytest.mark.parametrize("name", ["all_figures", "time_vs_size"])
def test_unusable_results_give_one_line_with_a_remedy_and_status_2(
        break_it: Any, said: str, name: str, tmp_path: Path) -> None:
    folder = sample.write(tmp_path, sample.small())
    break_it(folder)
    done = script(name, folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: ") and done.stderr.count("\n") == 1
    assert said in done.stderr and ";" in done.stderr


def test_a_missing_folder_and_an_unwritable_one_give_status_2(tmp_path: Path) -> None:
    done = script("headline", tmp_path / "none")
    assert done.returncode == 2 and "no such results folder; run `zerotax study" in done.stderr
    (tmp_path / "file").touch()
    folder = sample.write(tmp_path / "r", sample.small())
    done = script("headline", folder, "--out", tmp_path / "file" / "x")
    assert done.returncode == 2 and "--out" in done.stderr and "Traceback" not in done.stderr


def test_a_figure_that_cannot_be_drawn_does_not_keep_back_the_others(tmp_path: Path) -> None:
    folder = sample.write(tmp_path, [sample.point("glibc", size) for size in (MIB, 2 * MIB)])
    done = script("all_figures", folder)
    assert (done.returncode, len(done.stdout.split())) == (0, 2 * (len(FIGURES) - 1)), done.stderr
    (folder / "thresholds.json").write_text("{")
    again = script("all_figures", folder)
    assert again.returncode == 2 and again.stderr.startswith("error: thresholds_map: "), again.stderr
    assert len(again.stdout.split()) == len(done.stdout.split())
