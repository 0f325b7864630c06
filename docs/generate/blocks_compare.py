"""docs/compare.md: false alarms of comparisons of allocators with themselves."""
from __future__ import annotations

from reference_text import REFERENCE, reference, table

PAGE = "docs/compare.md"


def self_test_block() -> str:
    """How many of the comparisons of an allocator with itself had any point FASTER or SLOWER."""
    rows = []
    total = alarms = 0
    for file in sorted(REFERENCE.glob("compare-self-test-*.json")):
        run = reference(file.name)
        found = run["false_alarms"]["self_test"]
        total += found["comparisons"]
        alarms += found["alarms"]
        name, version = run["old"]["what"]["name"], run["old"]["what"]["version"]
        rows.append([f"{name} {version}", str(len(run["points"])), str(run["pairs_per_point"]), str(found["comparisons"]),
                     str(found["alarms"])])
    rows.append(["all", "", "", str(total), str(alarms)])
    head = ["allocator against itself", "points", "pairs", "comparisons", "with a false alarm"]
    kernel = run["old"]["environment"]["kernel"]
    return f"{table(head, rows)}\n\n(Linux {kernel}; [results/reference](../results/reference), compare-self-test-*.json)"


BLOCKS = {"results/reference/compare-self-test": self_test_block}
