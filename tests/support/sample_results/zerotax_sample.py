"""A results folder for tests, in the format that docs describe and without any randomness. The numbers are a model that
follows measurements on Linux 6.18 (glibc 2.36 and Debian 12's allocators). Tests and examples may use the model, but
claims must not.
"""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
PAGE = 4096
SIZES = sorted([1 << power for power in range(16, 31)] + [20 * MIB, 100 * MIB, 1000 * MIB])
VERSIONS = {"glibc": "2.36", "jemalloc": "5.3.0", "mimalloc": "2.0.9", "tcmalloc": "2.10",
            "tbbmalloc": "2021.8", "scudo": "14.0.6", "largecache": "0.1.0"}


def na(why: str) -> dict[str, str]:
    """Returns a metric that could not be measured."""
    return {"na": why}


def behaviour(name: str, size: int, touched: bool) -> tuple[int, bool, float, float]:
    """Returns (bytes zeroed, whether fresh from the kernel, base ns of calloc, base ns of free) in the model."""
    if name == "glibc":
        small = size < 32 * MIB
        return (size if small else 0, not small, 90 if small else 8_000, 60 if small else 9_000)
    if name == "jemalloc":
        kept = touched and size < 8 * MIB
        return (0, True, 1_400 + size / 250_000, 1_900 if kept else 700 + size / PAGE * .2)
    if name == "mimalloc":
        return size, size >= 16 * MIB, 400, 500
    if name == "tcmalloc":
        return size, False, 200, 250
    if name == "tbbmalloc":
        return size, size > 64 * MIB, 350, 300
    if name == "scudo":
        fresh = size > 512 * KIB
        return (0 if fresh else size, fresh, 5_500 if fresh else 250, 6_000 if fresh else 200)
    return size if touched and size < 125 * MIB else 0, not touched, 150, 130   # largecache


def spread(median: float) -> dict[str, float]:
    """Returns a spread of times with this median: the median, and the 5th and 95th percentile."""
    return {"median": round(median, 1), "p05": round(median * .92, 1),
            "p95": round(median * 1.35 + 20, 1)}


def point(name: str, size: int, touch: float = 0.0, **changes: Any) -> dict[str, Any]:
    """Returns a point that the schema accepts. `changes` replace its keys."""
    zeroed, fresh, calloc_ns, free_ns = behaviour(name, size, touch > 0)
    pages = size // PAGE
    calloc_faults = (pages + 7 if zeroed else 1) if fresh else 0
    touch_faults = pages if touch and fresh and not zeroed else 0
    zero_ns = zeroed * (.5 if fresh else .045)
    calls = {"mmap": 1} if fresh else {}
    free_calls = {"munmap": 1} if fresh else {}
    calloc_total = calloc_ns + zero_ns
    touch_ns = touch * (touch_faults * 1_500 + size * .03)
    figures = {"zero_ns": round(zero_ns, 1), "zeroed_bytes": zeroed,
               "redundant_zeroed_bytes": zeroed if fresh or not touch else 0,
               "populated_bytes": zeroed if fresh else 0, "calloc_faults": calloc_faults,
               "touch_faults": touch_faults, "free_faults": 0,
               "calloc_syscalls": calls, "free_syscalls": free_calls, "home": "mapping"}
    first = [{"op": op, "calloc_ns": round(calloc_total * (1 + 1 / op), 1),
              "touch_ns": round(touch_ns, 1), "free_ns": free_ns, **figures}
             for op in range(1, 9)]
    return {"allocator": name, "version": VERSIONS.get(name, na("no version string")),
            "preload": None, "env": {}, "case": "calloc_loop", "size_bytes": size,
            "touch": touch, "thread": "main", "ops": 50, "status": "ok", "reason": None,
            "calloc_ns": spread(calloc_total), "touch_ns": spread(touch_ns),
            "free_ns": spread(free_ns + (pages * 90 if fresh and (zeroed or touch) else 0)),
            "zero_ns_method": "clock around memset" if zeroed else "nothing to time",
            "zeroed_method": "memset" if zeroed else "none", "inline_stores": "watched",
            "syscalls": {**calls, **free_calls},
            **figures, "first_ops": first, "violations": [], **changes}


def receiving(name: str, size: int, case: str = "recv_buffer", **changes: Any) -> dict[str, Any]:
    """Returns a point of a case that receives. `changes` replace keys of its transfer."""
    raw = point(name, size, case=case)
    zeroed = raw["zeroed_bytes"]
    us = 25 + raw["calloc_ns"]["median"] / 1000
    raw["transfer"] = {
        "ops": 1000, "received_bytes": 16384, "mb_per_s": round(16384 / us, 6),
        "cpu_s_per_gb": round(us / 16.384, 6), "zeroed_per_received_byte": zeroed / 16384,
        "redundant_per_received_byte": raw["redundant_zeroed_bytes"] / 16384,
        "faults_per_mb": (raw["calloc_faults"] + 4) / 0.016384, **changes}
    return raw


def forking(name: str, size: int, touch: float = 0.0, **changes: Any) -> dict[str, Any]:
    """Returns a point of a case that forks. `changes` replace keys of its fork."""
    raw = point(name, size, touch, case="fork_after_calloc")
    pages = size // PAGE
    shared = pages if touch == 1 or raw["zeroed_bytes"] == size else 0
    child = {"write_ns": spread(pages // 4 * 1_500.0), "faults": pages // 4,
             "copies": shared // 4, "reuses": 0, "zero_fills": (pages - shared) // 4, "other": 0}
    parent = {"write_ns": spread(pages // 2 * 1_100.0), "faults": pages // 2,
              "copies": shared // 4, "reuses": shared // 4, "zero_fills": (pages - shared) // 2,
              "other": 0}
    raw["fork"] = {
        "fork_ns": spread(60_000.0 + shared * 58), "exit_ns": spread(90_000.0),
        "populated_bytes": shared * PAGE, "page_table_bytes": 40_960 + shared * 8,
        "child": child, "parent": parent, "method": "page frames", **changes}
    return raw


def failed(name: str, size: int, touch: float, status: str, reason: str) -> dict[str, Any]:
    """Returns a point whose process did not finish. All its metrics are unknown."""
    raw = point(name, size, touch, status=status, reason=reason, first_ops=[], ops=0)
    for key in raw:
        if key.endswith(("_ns", "_bytes", "_faults", "syscalls", "_method", "_stores", "home")) \
                and key != "size_bytes":
            raw[key] = na(status)
    return raw


def points() -> list[dict[str, Any]]:
    """Returns points of seven allocators at every size, with touch 0 and 1."""
    return [point(name, size, touch) for name in VERSIONS for touch in (0.0, 1.0)
            for size in SIZES]


def small(*extra: dict[str, Any]) -> list[dict[str, Any]]:
    """Returns points of glibc and mimalloc at three sizes, with touch 0 and 1, and the points in `extra`."""
    return [point(name, size, touch) for name in ("glibc", "mimalloc")
            for size in (MIB, 100 * MIB, 1000 * MIB) for touch in (0.0, 1.0)] + list(extra)


def run(count: int) -> dict[str, Any]:
    """Returns the object of run.json for a folder of `count` points."""
    return copy.deepcopy({
        "schema": "zerotax.run/1", "zerotax_version": "0.1.0", "state": "complete",
        "started": "2026-11-20T05:10:00Z", "finished": "2026-11-20T05:14:09Z",
        "command": ["zerotax", "study"],
        "environment": {
            "kernel": "6.18.44", "machine": "x86_64", "cpu": "AMD EPYC 7B13", "cpus": 2,
            "memory_bytes": 8 * GIB, "memory_available_bytes": 7 * GIB, "page_bytes": PAGE,
            "thp": "madvise", "swap_bytes": 0, "cgroup_memory_limit_bytes": na("no limit"),
            "load_average": [0.1, 0.2, 0.3], "libc": "glibc 2.36", "pagemap_scan": True,
            "capabilities": {"perf_software_events": True, "hardware_counters": "none (VM)"}},
        "allocators": [{"name": name, "version": version, "preload": None, "env": {}}
                       for name, version in VERSIONS.items()],
        "plan": {"points_planned": count, "points_finished": count, "study": "quick"},
        "points_file": "points.jsonl"})


def write(folder: Path, measured: list[dict[str, Any]], head: dict[str, Any] | None = None,
          tail: str = "") -> Path:
    """Writes run.json and points.jsonl into the folder, with `tail` after the last line."""
    folder.mkdir(parents=True, exist_ok=True)
    head = run(len(measured)) if head is None else head
    (folder / "run.json").write_text(json.dumps(head, indent=1) + "\n", encoding="utf-8")
    lines = "".join(json.dumps(raw) + "\n" for raw in measured)
    (folder / "points.jsonl").write_text(lines + tail, encoding="utf-8")
    return folder
