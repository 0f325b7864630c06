"""The schemas accept everything that zerotax writes, and reject every kind of mistake."""

from __future__ import annotations

import copy
import json
import subprocess
import sys
from pathlib import Path
from typing import Any, Callable

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "plots"), str(ROOT / "tests" / "support" / "sample_results")]

import validate  # noqa: E402
import zerotax_sample as sample  # noqa: E402

pytest.importorskip("jsonschema", reason="install python3-jsonschema, use /usr/bin/python3")
NA = {"na": "no PAGEMAP_SCAN"}
Change = Callable[[dict[str, Any]], Any]


def put(path: str, value: Any) -> Change:
    """Returns a change that sets the value at a dotted path."""
    def change(document: Any) -> None:
        *parents, last = [int(part) if part.isdigit() else part for part in path.split(".")]
        for part in parents:
            document = document[part]
        document[last] = value
    return change


def drop(path: str) -> Change:
    """Returns a change that removes the key at a dotted path."""
    def change(document: Any) -> None:
        *parents, last = [int(part) if part.isdigit() else part for part in path.split(".")]
        for part in parents:
            document = document[part]
        del document[last]
    return change


def changed(document: dict[str, Any], *changes: Change) -> dict[str, Any]:
    document = copy.deepcopy(document)
    for change in changes:
        change(document)
    return document


def a_point() -> dict[str, Any]:
    return sample.point("mimalloc", 100 << 20)


def a_run() -> dict[str, Any]:
    return sample.run(1)


@pytest.mark.parametrize("name", sorted(
    path.name.removesuffix(".schema.json") for path in (ROOT / "results" / "schema").glob("*.schema.json")))
def test_each_schema_is_valid_itself_and_describes_every_property(name: str) -> None:
    checker = validate.validator(name)
    checker.check_schema(checker.schema)

    def walk(schema: Any) -> None:
        if isinstance(schema, dict):
            for key, value in schema.items():
                if key == "properties" and schema.get("type") == "object":
                    for own, described in value.items():
                        assert described.get("description") or "$ref" in described, own
                    assert schema["additionalProperties"] is False
                walk(value)
        elif isinstance(schema, list):
            for value in schema:
                walk(value)
    walk(checker.schema)
    assert checker.schema["title"] and checker.schema["description"]


@pytest.mark.parametrize("point", [
    a_point(),
    sample.failed("scudo", 1 << 30, 0.0, "crashed", "signal 11"),
    changed(a_point(), *[put(key, NA) for key in
                         ("version", "calloc_ns", "touch_ns", "free_ns", "zero_ns", "syscalls",
                          "zeroed_bytes", "redundant_zeroed_bytes", "populated_bytes",
                          "zeroed_method", "zero_ns_method", "inline_stores",
                          "calloc_faults", "touch_faults", "free_faults",
                          "calloc_syscalls", "free_syscalls", "first_ops.0.calloc_ns",
                          "first_ops.0.free_syscalls", "first_ops.7.populated_bytes")]),
    changed(a_point(), put("preload", "/usr/lib/libx.so"), put("env", {"MALLOC_CONF": "a:b"}),
            put("thread", "worker"), put("touch", 0.5), put("first_ops", [])),
    changed(a_point(), put("status", "not_zero"), put("reason", "byte 17 was 0x2a"),
            put("violations", ["not_zero"])),
    changed(a_point(), put("zeroed_method", "memset+inline"), put("calloc_ns.median", 0)),
    sample.receiving("largecache", 100_000_000),
    sample.receiving("glibc", 1 << 20, ops=0, **{key: NA for key in (
        "received_bytes", "mb_per_s", "cpu_s_per_gb", "zeroed_per_received_byte",
        "redundant_per_received_byte", "faults_per_mb")}),
])
def test_a_good_point_passes(point: dict[str, Any]) -> None:
    assert validate.check(point, "point") == []


@pytest.mark.parametrize("key", sorted(a_point()))
def test_a_point_without_one_of_its_keys_fails(key: str) -> None:
    assert any(key in line for line in validate.check(changed(a_point(), drop(key)), "point"))


BAD_POINTS = {
    "unknown key": put("calloc_nanoseconds", 3),
    "unknown key in a spread": put("calloc_ns.mean", 3),
    "unknown key in first_ops": put("first_ops.0.size", 3),
    "unknown key beside na": put("zero_ns", {"na": "why", "value": 3}),
    "empty na": put("zero_ns", {"na": ""}),
    "blank na": put("zeroed_bytes", {"na": "  "}),
    "na that is no string": put("syscalls", {"na": 3}),
    "null instead of na": put("zeroed_bytes", None),
    "negative time": put("calloc_ns.median", -1),
    "negative bytes": put("redundant_zeroed_bytes", -4096),
    "negative faults": put("calloc_faults", -1),
    "negative system calls": put("syscalls", {"mmap": -1}),
    "fraction of a byte": put("zeroed_bytes", 0.5),
    "string for a number": put("populated_bytes", "4096"),
    "bool for a number": put("free_faults", True),
    "spread without its p95": drop("free_ns.p95"),
    "bare number for a spread": put("calloc_ns", 43e6),
    "unknown status": lambda p: p.update(status="fine", reason="why"),
    "crashed without a reason": put("status", "crashed"),
    "skipped with an empty reason": lambda p: p.update(status="skipped", reason=""),
    "unknown thread": put("thread", "other"),
    "touch above 1": put("touch", 1.5),
    "touch below 0": put("touch", -0.5),
    "size 0": put("size_bytes", 0),
    "unknown method": put("zeroed_method", "rep stosb"),
    "unknown way of timing": put("zero_ns_method", "guess"),
    "inline stores neither watched nor na": put("inline_stores", False),
    "env value that is no string": put("env", {"X": 1}),
    "ninth early operation": lambda p: p["first_ops"].append(p["first_ops"][0]),
    "operation 0": put("first_ops.0.op", 0),
    "early operation without faults": drop("first_ops.3.calloc_faults"),
    "violation that is no string": put("violations", [1]),
    "empty allocator": put("allocator", ""),
    "schema key": put("schema", "zerotax.point/1"),
    "transfer without a rate": put("transfer", {
        key: value for key, value in sample.receiving("glibc", 1 << 20)["transfer"].items()
        if key != "mb_per_s"}),
    "transfer with a negative rate": put(
        "transfer", sample.receiving("glibc", 1 << 20, mb_per_s=-1)["transfer"]),
    "transfer with an unknown key": put(
        "transfer", sample.receiving("glibc", 1 << 20, gb_per_s=1)["transfer"]),
    "transfer of a fraction of a byte": put(
        "transfer", sample.receiving("glibc", 1 << 20, received_bytes=0.5)["transfer"]),
}


@pytest.mark.parametrize("mistake", BAD_POINTS)
def test_a_bad_point_fails_with_one_short_line(mistake: str) -> None:
    problems = validate.check(changed(a_point(), BAD_POINTS[mistake]), "point")
    assert len(problems) == 1
    assert "\n" not in problems[0] and len(problems[0]) < 300


def test_the_message_names_the_place_and_the_fault() -> None:
    bad = changed(a_point(), put("first_ops.2.zero_ns", -5))
    assert validate.check(bad, "point") == ["first_ops.2.zero_ns: -5 is less than the minimum of 0"]
    bad = changed(a_point(), put("free_ns", {"na": ""}))
    assert validate.check(bad, "point") == ["free_ns.na: '' does not match '\\\\S'"]


@pytest.mark.parametrize("run", [
    a_run(),
    changed(a_run(), drop("points_file"), put("points", [a_point()])),
    changed(a_run(), put("state", "running"), put("finished", None), put("plan.study", None)),
    changed(a_run(), *[put(f"environment.{key}", NA) for key in a_run()["environment"]]),
    changed(a_run(), put("allocators.0.version", NA), put("allocators.0.preload", "/x.so")),
    changed(a_run(), put("environment.cgroup_memory_limit_bytes", 1 << 32)),
])
def test_a_good_run_passes(run: dict[str, Any]) -> None:
    assert validate.check(run, "run") == []


@pytest.mark.parametrize("key", sorted(a_run()))
def test_a_run_without_one_of_its_keys_fails(key: str) -> None:
    assert validate.check(changed(a_run(), drop(key)), "run")


BAD_RUNS = {
    "another schema": put("schema", "zerotax.run/2"),
    "unknown key": put("host", "x"),
    "both kinds of points": put("points", []),
    "points_file in another folder": put("points_file", "../points.jsonl"),
    "unknown state": put("state", "done"),
    "complete without an end": put("finished", None),
    "time without a zone": put("started", "2026-11-20T05:10:00"),
    "command as one string": put("command", "zerotax study"),
    "unknown key in the environment": put("environment.hostname", "x"),
    "environment without its kernel": drop("environment.kernel"),
    "null in the environment": put("environment.swap_bytes", None),
    "negative memory": put("environment.memory_bytes", -1),
    "two load averages": put("environment.load_average", [0.1, 0.2]),
    "string for pagemap_scan": put("environment.pagemap_scan", "yes"),
    "list among the capabilities": put("environment.capabilities.perf", ["x"]),
    "allocator without a version": drop("allocators.0.version"),
    "unknown study": put("plan.study", "long"),
    "negative plan": put("plan.points_planned", -1),
}


@pytest.mark.parametrize("mistake", BAD_RUNS)
def test_a_bad_run_fails(mistake: str) -> None:
    assert len(validate.check(changed(a_run(), BAD_RUNS[mistake]), "run")) == 1


def test_a_bad_point_inside_a_run_is_found_through_the_reference() -> None:
    run = changed(a_run(), drop("points_file"), put("points", [a_point(), a_point()]),
                  put("points.1.touch", 2))
    assert validate.check(run, "run") == ["points.1.touch: 2 is greater than the maximum of 1"]


def run_validate(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, str(ROOT / "plots" / "validate.py"),
                           *map(str, arguments)], capture_output=True, text=True, check=False)


def test_a_good_folder_passes_silently(tmp_path: Path) -> None:
    done = run_validate(sample.write(tmp_path / "r", [a_point()]))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_every_problem_of_a_folder_is_one_line_with_its_place(tmp_path: Path) -> None:
    folder = sample.write(tmp_path, [a_point(), changed(a_point(), put("ops", -1)), a_point()],
                          changed(a_run(), put("state", "done")),
                          "not json\n" + json.dumps(a_point())[:-40])
    done = run_validate(folder)
    places = [line.split(": ")[0] for line in done.stdout.splitlines()]
    assert done.returncode == 2 and done.stderr == ""
    assert places == [f"{folder}/run.json"] + [f"{folder}/points.jsonl:{n}" for n in (2, 4, 5)]


def test_nan_is_not_taken_for_a_number(tmp_path: Path) -> None:
    folder = sample.write(tmp_path, [changed(a_point(), put("zero_ns", float("nan")))])
    assert "NaN is not JSON" in run_validate(folder).stdout


@pytest.mark.parametrize("arguments", [[], ["/nonexistent"], ["a", "b"]])
def test_unusable_arguments_give_status_2_and_a_word_on_stderr(arguments: list[str]) -> None:
    done = run_validate(*arguments)
    assert done.returncode == 2 and done.stderr and "Traceback" not in done.stderr
