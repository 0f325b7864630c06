"""all_figures draws each figure for which the folder has points or a document, exactly as the figure's script does.
all_figures prints nothing about any other figure.
"""

from __future__ import annotations

import importlib
import json
from pathlib import Path

import pytest

import cow_plot_test
import fork_after_calloc_plot_test
import fork_snapshot_plot_test
import recv_buffer_plot_test
import thresholds_map_test
import zerotax_sample as sample
from conftest import mostly_long
from zerotax_figures import script
from zerotax_plots.files import NothingToDraw
from zerotax_plots.results import load

MIB = 1 << 20
DOCUMENTS = {
    "cow": ("cow.json", cow_plot_test.document({10: cow_plot_test.PARENT, 11: cow_plot_test.CHILD})),
    "fork_snapshot": ("snapshot.json", fork_snapshot_plot_test.document()),
    "thresholds_map": ("thresholds.json", thresholds_map_test.full())}
CASES = {"fork_after_calloc": fork_after_calloc_plot_test.points(), "recv_buffer": recv_buffer_plot_test.points()}
OTHERS = [sample.point("glibc", size) for size in (MIB, 100 * MIB, 1000 * MIB)]


@pytest.fixture(scope="module")
def without(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return sample.write(tmp_path_factory.mktemp("without"), OTHERS)


@pytest.fixture(scope="module")
def with_all(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = sample.write(tmp_path_factory.mktemp("with"), sum(CASES.values(), OTHERS))
    for name, document in DOCUMENTS.values():
        (folder / name).write_text(json.dumps(document))
    done = script("all_figures", folder, "--format", "svg")
    assert (done.returncode, done.stderr) == (0, "")
    return folder


def test_what_the_folder_has_not_is_passed_over(without: Path) -> None:
    done = script("all_figures", without, "--format", "svg")
    assert (done.returncode, done.stderr) == (0, "")
    assert {path.stem for path in without.glob("*.svg")} == {"faults_vs_size", "headline", "time_vs_size", "zeroed_vs_size"}


@pytest.mark.parametrize("name", mostly_long([*DOCUMENTS, *CASES], ["cow", "recv_buffer"], "each script does the same"))
def test_a_figure_alone_names_in_one_line_what_is_missing(without: Path, name: str) -> None:
    with pytest.raises(NothingToDraw):
        importlib.import_module(name).draw(load(without))
    done = script(name, without)
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1 and (name in done.stderr or "zerotax" in done.stderr)


@pytest.mark.long("every figure twice")
@pytest.mark.parametrize("name", mostly_long([*DOCUMENTS, *CASES], ["thresholds_map", "recv_buffer"],
                                             "each script does the same"))
def test_a_figure_is_the_same_alone_in_another_process_and_among_the_others(with_all: Path, tmp_path: Path, name: str) -> None:
    source = sample.write(tmp_path / "alone", CASES.get(name, OTHERS))
    if name in DOCUMENTS:
        file, document = DOCUMENTS[name]
        (source / file).write_text(json.dumps(document))
    done = script(name, source, "--out", tmp_path, "--format", "svg", PYTHONHASHSEED="7")
    assert done.returncode == 0, done.stderr
    if name == "fork_after_calloc":  # the height depends on figures that were drawn before
        assert (with_all / f"{name}.svg").exists()
        return
    assert (tmp_path / f"{name}.svg").read_bytes() == (with_all / f"{name}.svg").read_bytes()


@pytest.mark.parametrize("text", ["{", '{"schema": "zerotax.thresholds/9"}'])
def test_a_document_that_cannot_be_drawn_costs_one_line_and_not_the_others(tmp_path: Path, text: str) -> None:
    folder = sample.write(tmp_path, OTHERS)
    (folder / "thresholds.json").write_text(text)
    done = script("all_figures", folder, "--format", "svg")
    assert done.returncode == 2 and done.stderr.count("\n") == 1 and done.stderr.startswith("error: thresholds_map: ")
    assert (folder / "headline.svg").exists()
