"""The figure of a snapshot shows each alternative at its measured position, and each fault at its time."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

import fork_snapshot
import validate
import zerotax_sample as sample
from zerotax_figures import script, words

NA = {"na": "seen as root only"}
MIB = 1 << 20
SLOWDOWNS = {"none": 1.0, "fork": 6.5, "fork_munmap": 5.5, "shared_stop": 1.3, "uffd_wp": 2.7}
SHARES = {"none": 0.0, "fork": 1.0, "fork_munmap": 0.5, "shared_stop": 0.0, "uffd_wp": 0.125}


def counts(copies: int = 0, reuses: int = 0, other: int = 0) -> dict[str, int]:
    return {"copies": copies, "reuses": reuses, "zero_fills": 0, "file_faults": 0, "other": other}


def faults(end_s: float, *bins: dict[str, int]) -> dict[str, Any]:
    return {"method": "tracepoints", "lost": 0, "before_end": counts(), "after_end": counts(), "elsewhere": counts(),
            "child": counts(), "traced": 0, "counted": 0, "pages": 16384, "exclusive_pages": NA, "end_s": end_s,
            "timeline": {"bin_ns": 10_000_000, "bins": list(bins)}}


def result(name: str, allocator: str = "glibc") -> dict[str, Any]:
    spread = {"median": 1e6 * SLOWDOWNS[name], "p05": 1e6, "p95": 1e7}
    has_child = name.startswith("fork")
    return {"allocator": allocator, "version": "2.36", "preload": None, "env": {}, "alternative": name, "status": "ok",
            "reason": None, "runs": 3, "has_child": has_child, "writers_wall_ns": spread, "slowdown": SLOWDOWNS[name],
            "writers_user_ns": spread, "writers_system_ns": spread, "stopped_ns": spread,
            "snapshot_ns": NA if name == "none" else spread, "checked_elements": NA if name == "none" else 8 * MIB,
            "memory": {"before_bytes": 128 * MIB, "peak_bytes": int((128 + 64 * SHARES[name]) * MIB), "samples": 9},
            "faults": faults(0.025, counts(30), counts(20, 5), counts(0, 7)) if has_child else NA,
            "faults_held": faults(0.005, counts(0, 60)) if has_child else NA, "cpu": NA, "cpu_held": NA}


def document(*results: dict[str, Any]) -> dict[str, Any]:
    run = sample.run(1)
    return {"schema": "zerotax.snapshot/1", "zerotax_version": "0.1.0", "state": "complete", "started": run["started"],
            "command": run["command"], "environment": run["environment"],
            "parameters": {"array_bytes": 64 * MIB, "batch_bytes": 2 * MIB, "writers": 2, "checkpointers": 1,
                           "passes": 2, "repeat": 3, "hold": None},
            "alternatives": [{"name": name, "summary": name} for name in SLOWDOWNS],
            "results": list(results) or [result(name) for name in SLOWDOWNS]}


def write(folder: Path, content: dict[str, Any]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "snapshot.json").write_text(json.dumps(content))
    return folder / "snapshot.json"


def figure_of(folder: Path, content: dict[str, Any]) -> Any:
    return fork_snapshot.draw(fork_snapshot.load_snapshot(write(folder, content)))


def drawn(axes: Any) -> dict[str, tuple[float, float]]:
    return {line.get_label(): (line.get_xdata()[0], line.get_ydata()[0]) for line in axes.lines
            if not line.get_label().startswith("_")}


def test_the_sample_is_what_the_schema_promises() -> None:
    assert validate.validator("snapshot").is_valid(document())


def test_each_alternative_is_a_mark_at_its_slowdown_memory_and_standing_still(tmp_path: Path) -> None:
    memory, stopped, _, _ = figure_of(tmp_path, document()).axes
    names = [name for name in SLOWDOWNS if name != "none"]
    assert drawn(memory) == {name: (SLOWDOWNS[name], SHARES[name]) for name in names}
    assert drawn(stopped) == {name: (SLOWDOWNS[name], 1e6 * SLOWDOWNS[name]) for name in names}


def test_faults_are_stacked_over_time_with_the_childs_end_marked(tmp_path: Path) -> None:
    _, _, before, after = figure_of(tmp_path, document()).axes
    copied, reused = before.containers
    assert [bar.get_height() for bar in copied] == [30, 20, 0]
    assert [(bar.get_y(), bar.get_height()) for bar in reused] == [(30, 0), (20, 5), (0, 7)]
    assert [bar.get_x() for bar in copied] == [0, 10, 20] and before.lines[-1].get_xdata()[0] == 25
    assert [bar.get_height() for bar in after.containers[1]] == [60]


def test_the_title_names_the_least_and_the_most(tmp_path: Path) -> None:
    assert "1.3 times as long with shared_stop, 6.5 times with fork" in words(figure_of(tmp_path, document()))


def test_what_failed_and_other_allocators_are_told_of_in_the_footnotes(tmp_path: Path) -> None:
    content = document()
    content["results"][4].update(status="skipped", reason="userfaultfd is not permitted")
    content["results"].append(result("fork", "jemalloc"))
    figure = figure_of(tmp_path, content)
    assert "uffd_wp: skipped: userfaultfd is not permitted." in words(figure)
    assert "measured also: jemalloc" in words(figure) and "uffd_wp" not in drawn(figure.axes[0])


def test_what_was_not_measured_is_said_and_not_drawn(tmp_path: Path) -> None:
    content = document()
    for each in content["results"]:
        each.update(memory=NA, faults=NA)
    memory, stopped, before, _ = figure_of(tmp_path, content).axes
    assert not drawn(memory) and drawn(stopped)
    assert "n/a: seen as root only" in " ".join(text.get_text() for text in before.texts)


@pytest.mark.parametrize("spoil", [
    lambda d: d.update(schema="zerotax.snapshot/99"), lambda d: d["results"].__delitem__(slice(1, None))])
def test_a_file_that_cannot_be_drawn_is_refused_in_one_line(tmp_path: Path, spoil: Any) -> None:
    content = copy.deepcopy(document())
    spoil(content)
    done = script("fork_snapshot", write(tmp_path, content))
    assert done.returncode == 2 and len(done.stderr.splitlines()) == 1
