"""What a document of recordings says that were replayed: workloads x allocators."""

from __future__ import annotations

from typing import Any, Callable

FILE = "workloads.json"
SCHEMA = "zerotax.workloads/1"
REMEDY = "run `zerotax study`, or `zerotax replay FOLDER --json workloads.json`"
Value = Callable[[dict[str, Any]], "float | None"]


def _sum(*values: Any) -> float | None:
    """None where any of them is n/a."""
    return None if any(isinstance(value, dict) for value in values) else sum(values)


def zeros(replay: dict[str, Any]) -> float | None:
    """Bytes of zeros that kernel and allocator wrote."""
    return _sum(replay["counts"]["kernel_zeroed_bytes"], replay["counts"]["zeroed_bytes"])


def refilled(replay: dict[str, Any]) -> float | None:
    """Of these, bytes that the kernel zeroed in the place of memory that was returned before."""
    return _sum(replay["counts"]["refilled_bytes"])


def peak(replay: dict[str, Any]) -> float | None:
    """The most bytes held."""
    return _sum(replay["counts"]["peak_bytes"])


def cpu(replay: dict[str, Any]) -> float | None:
    """CPU time in nanoseconds."""
    return _sum(replay["user_ns"], replay["system_ns"])


def name_of(workload: dict[str, Any]) -> str:
    """Its file without folder and extension."""
    return workload["recording"]["path"].rsplit("/", 1)[-1].removesuffix(".calls")


def names(document: dict[str, Any]) -> list[str]:
    """The allocators, in the order of the columns."""
    return [replay["allocator"]["name"] for replay in document["workloads"][0]["replays"]] if document["workloads"] else []


def matrix(document: dict[str, Any], value: Value) -> list[tuple[str, list[float | None]]]:
    """A row for each workload: its name, and the value of each allocator."""
    return [(name_of(workload), [value(replay) for replay in workload["replays"]]) for workload in document["workloads"]]
