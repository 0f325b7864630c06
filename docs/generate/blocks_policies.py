"""docs/largecache.md: what each policy costs beside other allocators, and whether adaptive keeps its promises."""
from __future__ import annotations

from reference_text import or_na, reference, table
from zerotax_units import count_text, number_text, plain_text, size_text, time_text

PAGE = "docs/largecache.md"
MIB = 1 << 20


def time(ns: float | dict) -> str:
    """A time, or n/a."""
    return or_na(ns, time_text)


def grid() -> list[dict]:
    """The cells of one thread that touches the first pages."""
    return reference("policies.json")["groups"][0]["cells"]


def share(cell: dict) -> str:
    return f"{plain_text(cell['touch'] * 100)} %"


def size_block() -> str:
    """A row a contender, a column a share, at 100 MiB."""
    run = reference("policies.json")
    cells = [cell for cell in grid() if cell["sizes"] == [100 * MIB]]
    rows = [[name, *(time(cell["contenders"][name]["ns"]) for cell in cells)] for name in cells[0]["contenders"]]
    rows.append(["limit", *(time(cell["limit_ns"]) for cell in cells)])
    return (f"Time of calloc + touch + free, 100 MiB, by share of pages touched:\n\n"
            f"{table(['', *map(share, cells)], rows)}\n\n"
            f"Measured on Linux {run['environment']['kernel']}, {run['environment']['cpu']}.")


def causes_block() -> str:
    """What explains the times at 100 MiB: MiB zeroed and faults, a row a contender, a column a share."""
    cells = [cell for cell in grid() if cell["sizes"] == [100 * MIB]]

    def cause(its: dict) -> str:
        return f"{or_na(its['zeroed_bytes'], size_text)} + {or_na(its['faults'], count_text)}"

    rows = [[name, *(cause(cell["contenders"][name]) for cell in cells)] for name in cells[0]["contenders"]]
    return f"Why: what the allocator zeroed + page faults, of one such operation:\n\n{table(['', *map(share, cells)], rows)}"


def promises_block() -> str:
    """How many cells keep both promises, and a row for each that does not."""
    run = reference("policies.json")
    lines, rows = [], []
    for group in run["groups"]:
        cells = group["cells"]
        near = sum(cell["verdict"]["near_kept"] for cell in cells)
        promised = [cell for cell in cells if cell["verdict"]["ten_times_promised"]]
        tenth = sum(cell["verdict"]["ten_times_kept"] for cell in promised)
        lines.append([group["heading"], f"{near} of {len(cells)}", f"{tenth} of {len(promised)}" if promised else ""])
        for cell in cells:
            verdict = cell["verdict"]
            tenth_kept = verdict["ten_times_kept"] or not verdict["ten_times_promised"]
            if not verdict["why"]:
                continue
            what = " + ".join(map(size_text, cell["sizes"])) + (f" x {cell['threads']}" if cell["threads"] > 1 else "")
            rows.append([group["heading"], what, share(cell),
                         "" if verdict["near_kept"] else f"{number_text(verdict['to_best_other'])} of {verdict['best_other']}",
                         "" if tenth_kept else f"{number_text(verdict['to_best_allocator'])} of {verdict['best_allocator']}",
                         verdict["why"]])
    head = ["cells", "at most 1.05 times the cheapest of all others",
            "at most a tenth of the best other allocator (20 MiB and more, under 10 %)"]
    text = table(head, lines)
    if rows:
        text += "\n\nThe others:\n\n" + table(["cells", "size", "touched", "times the cheapest",
                                               "times the best other allocator", "why"], rows)
    return text


def memory_block() -> str:
    """Peak and idle memory."""
    rows = [[row["contender"], size_text(row["peak_bytes"]), size_text(row["idle_bytes"])]
            for row in reference("policies.json")["memory"]]
    return "Resident memory of a program that takes and frees 100 MiB, all touched:\n\n" \
        + table(["", "peak", "two seconds after the last free"], rows)


BLOCKS = {"results/reference/policies.json 100 MiB": size_block, "results/reference/policies.json causes": causes_block,
          "results/reference/policies.json promises": promises_block,
          "results/reference/policies.json memory": memory_block}
