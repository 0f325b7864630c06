"""A JSON file that violates its schema is refused in one line with status 2, or drawn without the damaged part."""

from __future__ import annotations

import json
import runpy
import sys
from pathlib import Path
from typing import Any, Callable

import pytest


ROOT = Path(__file__).resolve().parents[2]
REFERENCE = ROOT / "results" / "reference"
# Each figure script, and a document that the script draws.
DOCUMENTS = {
    "cow": REFERENCE / "cow" / "prefork.json", "history": REFERENCE / "history" / "history.json",
    "policies": REFERENCE / "policies.json", "programs": REFERENCE / "programs.json",
    "bill": REFERENCE / "bill.json", "workloads": REFERENCE / "workloads.json",
    "thresholds_map": REFERENCE / "thresholds.json", "fork": REFERENCE / "fork.json",
    "fork_snapshot": REFERENCE / "snapshot.json", "recv_buffer": REFERENCE / "recv_buffer.json",
    "fork_after_calloc": REFERENCE / "fork_after_calloc.json"}
Damage = Callable[[dict[str, Any]], dict[str, Any]]


def spoiled(value: Any, depth: int) -> Any:
    """Returns the value with everything at this depth replaced. The replacement is a value of another type."""
    if depth == 0:
        return "x" if isinstance(value, (dict, list, int, float)) else 7
    if isinstance(value, dict):
        return {key: each if key == "schema" else spoiled(each, depth - 1) for key, each in value.items()}
    return [spoiled(each, depth - 1) for each in value] if isinstance(value, list) else value


def emptied(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: emptied(each) for key, each in value.items() if not isinstance(each, list)}
    return value


DAMAGES: dict[str, Damage] = {
    "the schema alone": lambda document: {"schema": document["schema"]},
    "no lists": emptied,
    **{f"other types at depth {depth}": lambda document, depth=depth: spoiled(document, depth) for depth in (1, 2, 3, 4)},
}


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_document_of_other_types_is_refused_in_one_line(
        name: str, damage: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / DOCUMENTS[name].name
    file.write_text(json.dumps(DAMAGES[damage](json.loads(DOCUMENTS[name].read_text()))))
    monkeypatch.setattr(sys, "argv", [f"{name}.py", str(file), "--format", "svg", "--out", str(tmp_path / "out")])
    # hides the zerotax command, which would judge files of earlier versions and refuse the damage first
    monkeypatch.setenv("PATH", "")
    with pytest.raises(SystemExit) as end:
        runpy.run_path(str(ROOT / "plots" / f"{name}.py"), run_name="__main__")
    said = capsys.readouterr()
    if end.value.code == 0:
        assert (tmp_path / "out" / f"{name}.svg").is_file()
        return
    assert end.value.code == 2
    assert said.err.startswith("error: ") and said.err.count("\n") == 1 and len(said.err) < 600, said.err
    assert (file.name in said.err or "point" in said.err) and said.out == ""
