"""docs/doctor.md: what is the same under other kernels."""
from __future__ import annotations

from reference_text import reference, table

PAGE = "docs/doctor.md"
GROUPS = {
    "zeroed, redundant, populated": ["zeroed_bytes", "redundant_zeroed_bytes", "first operations: zeroed_bytes",
                                     "first operations: redundant_zeroed_bytes", "populated_bytes"],
    "zeroed in free": ["zeroed_in_free_bytes"],
    "kernel-zeroed, returned, refilled": ["kernel_zeroed_bytes", "returned_bytes", "refilled_bytes"],
    "faults, steady": ["calloc_faults", "touch_faults", "free_faults"],
    "faults of first callocs": ["first operations: calloc_faults"],
    "system calls": ["calloc_syscalls", "free_syscalls"],
    "`record`": ["record: zeroed_bytes", "record: refilled_bytes", "record: returned_bytes", "record: minor_faults"],
    "`cow`": ["cow"],
    "`check` of a baseline": ["check"]}


def cell(machine: dict, metrics: list[str]) -> str:
    """How many figures are the same."""
    same, na, differs = (sum(machine["figures"][metric][kind] for metric in metrics) for kind in ("same", "na", "differs"))
    if not na and not differs:
        return "same"
    parts = [f"{count} {words}" for count, words in ((same, "same"), (na, "n/a"), (differs, "differ")) if count]
    return ", ".join(parts)


def machines_block() -> str:
    """A column for each kernel; users that agree share a cell."""
    machines = reference("machines.json")["machines"]
    releases = list(dict.fromkeys(machine["release"] for machine in machines))
    of = {release: [machine for machine in machines if machine["release"] == release] for release in releases}

    def joined(cells: list[str], release: str) -> str:
        if len(set(cells)) == 1:
            return cells[0]
        return "; ".join(f"{machine['user']}: {words}" for machine, words in zip(of[release], cells))

    rows = [[name, *(joined([cell(machine, metrics) for machine in of[release]], release) for release in releases)]
            for name, metrics in GROUPS.items()]
    rows.append(["promises kept", *(str(min(machine["promises"]["kept"] for machine in of[release])) for release in releases)])
    head = ["", *(f"{release} ({of[release][0]['kernel'].split('-')[0].split('+')[0]})" for release in releases)]
    return table(head, rows)


BLOCKS = {"results/reference/machines.json": machines_block}
