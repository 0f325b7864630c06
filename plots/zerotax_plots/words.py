"""The words around a figure: where and when it was measured, and whether to the end."""

from __future__ import annotations

from zerotax_plots.results import SCHEMA, Results
from zerotax_plots.summary import known
from zerotax_plots.units import counted_text


def subtitle(results: Results) -> list[str]:
    """Machine, kernel and date, then versions, from the run; what is not known is left out."""
    run = results.run
    cpus, thp = results.environment("cpus"), results.environment("thp")
    kernel = results.environment("kernel")
    parts = [f"Linux {kernel}" if kernel else None, results.environment("cpu"),
             counted_text(cpus, "CPU") if isinstance(cpus, int) and cpus else None,
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
    if results.run.get("schema") != SCHEMA:
        return []   # a document, and no run
    text = known(results.source).get("run", {}).get("unfinished")
    return [text] if isinstance(text, str) else []
