"""Words for titles: what the results show, said plainly."""

from __future__ import annotations

from zerotax_results import Results
from zerotax_units import size_text


def untouched_extreme(results: Results) -> tuple[float, int] | None:
    """The lowest touch and the largest size at which two lines or more are ok there, if any."""
    touch = results.touches()[0]
    sizes = [p.size for p in results.points if p.touch == touch and p.status == "ok"]
    shared = [size for size in sizes if sizes.count(size) > 1]
    return (touch, max(shared)) if shared else None


def calloc_of(touch: float, size: int) -> str:
    """"an untouched calloc of 1 GiB", for titles."""
    return f"{'an untouched' if touch == 0 else 'a'} calloc of {size_text(size)}"


def named(names: list[str], every: int) -> str:
    """The names, while a title has room for them; else how many of how many."""
    if len(names) > 3 or sum(map(len, names)) > 40:
        return f"{len(names)} of {every}" if len(names) < every else f"all {every}"
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def sentence(text: str) -> str:
    """The text with a capital at its beginning, and the rest as it is."""
    return text[:1].upper() + text[1:]


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
