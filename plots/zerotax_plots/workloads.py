"""The content of a document of replayed recordings: workloads and allocators."""

from __future__ import annotations

from typing import Any, Callable

FILE = "workloads.json"
SCHEMA = "zerotax.workloads/1"
REMEDY = "run `zerotax study`, or `zerotax replay FOLDER --json workloads.json`"
Value = Callable[[dict[str, Any]], "float | None"]


def _sum(*values: Any) -> float | None:
    """Returns the sum, or None if any term is n/a."""
    return None if any(isinstance(value, dict) for value in values) else sum(values)


def zeros(replay: dict[str, Any]) -> float | None:
    """Returns the bytes of zeros that kernel and allocator wrote."""
    return _sum(replay["counts"]["kernel_zeroed_bytes"], replay["counts"]["zeroed_bytes"])


def refilled(replay: dict[str, Any]) -> float | None:
    """Returns the refilled bytes: kernel-zeroed bytes that replaced memory returned earlier."""
    return _sum(replay["counts"]["refilled_bytes"])


def peak(replay: dict[str, Any]) -> float | None:
    """Returns the peak memory in bytes."""
    return _sum(replay["counts"]["peak_bytes"])


def cpu(replay: dict[str, Any]) -> float | None:
    """Returns the CPU time in nanoseconds."""
    return _sum(replay["user_ns"], replay["system_ns"])


def name_of(workload: dict[str, Any]) -> str:
    """Returns the name of a workload: its file without folder and extension."""
    return workload["recording"]["path"].rsplit("/", 1)[-1].removesuffix(".calls")


def names(document: dict[str, Any]) -> list[str]:
    """Returns the allocators, in the order of the columns."""
    return [replay["allocator"]["name"] for replay in document["workloads"][0]["replays"]] if document["workloads"] else []


def matrix(document: dict[str, Any], value: Value) -> list[tuple[str, list[float | None]]]:
    """Returns a row for each workload: its name, and the value of each allocator."""
    return [(name_of(workload), [value(replay) for replay in workload["replays"]]) for workload in document["workloads"]]
