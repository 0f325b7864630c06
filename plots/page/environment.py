"""The table of a run's environment."""

from __future__ import annotations

from typing import Any

from zerotax_plots.units import number_text, size_text


def environment(run: dict[str, Any]) -> list[tuple[str, str]]:
    """Rows of the table: name, and the value or why it is not known."""
    rows = [("started", str(run.get("started", "not known"))), ("command", " ".join(map(str, run.get("command", []))))]

    def add(name: str, value: Any) -> None:
        if isinstance(value, dict) and set(value) == {"na"}:
            rows.append((name, f"n/a: {value['na']}"))
        elif isinstance(value, dict):
            for key, each in value.items():
                add(f"{name}: {key}", each)
        elif isinstance(value, list):
            rows.append((name, ", ".join(number_text(v) if isinstance(v, float) else str(v) for v in value)))
        elif isinstance(value, bool):
            rows.append((name, "yes" if value else "no"))
        else:
            rows.append((name, size_text(value) if name.endswith("bytes") and value else str(value)))

    for name, value in run.get("environment", {}).items():
        add(name, value)
    for allocator in run.get("allocators", []):
        settings = " ".join(f"{k}={v}" for k, v in (allocator.get("env") or {}).items())
        version = allocator.get("version")
        words = [
            version if isinstance(version, str) else "version not known",
            allocator.get("preload") or "built in",
            settings,
        ]
        rows.append((f"allocator: {allocator.get('name', '')}", ", ".join(word for word in words if word)))
    return rows
