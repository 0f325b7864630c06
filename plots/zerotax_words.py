"""The words around a figure: where and when it was measured, and whether to the end."""

from __future__ import annotations

from zerotax_results import Results


def subtitle(results: Results) -> list[str]:
    """Machine, kernel and date, then versions, from the run; what is not known is left out."""
    run = results.run
    cpus, thp = results.environment("cpus"), results.environment("thp")
    kernel = results.environment("kernel")
    parts = [f"Linux {kernel}" if kernel else None, results.environment("cpu"),
             f"{cpus} CPU{'' if cpus == 1 else 's'}" if cpus else None,
             f"THP {thp}" if thp else None, str(run.get("started", ""))[:10] or None,
             f"zerotax {run['zerotax_version']}" if run.get("zerotax_version") else None]
    versions: dict[str, None] = {}
    for allocator in run.get("allocators", []):
        version = allocator.get("version")
        name = str(allocator.get("name", ""))
        versions[f"{name} {version}" if isinstance(version, str) else name] = None
    return [" · ".join(str(part) for part in parts if part), " · ".join(versions)]


def unfinished(results: Results) -> list[str]:
    """A footnote when the run is not complete."""
    plan, state = results.run.get("plan", {}), results.run.get("state")
    if state in (None, "complete"):
        return []
    return [f"The run is {'still going' if state == 'running' else 'interrupted'}: "
            f"{plan.get('points_finished', '?')} of {plan.get('points_planned', '?')} points "
            "are measured."]
