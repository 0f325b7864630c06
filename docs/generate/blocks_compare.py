"""docs/compare.md: false alarms of comparisons of allocators with themselves, and a crossing, as the command shows it."""
from __future__ import annotations

from reference_text import REFERENCE, reference

PAGE = "docs/compare.md"


def self_test_block() -> str:
    """How many of the comparisons of an allocator with itself had any point FASTER or SLOWER."""
    runs = [reference(file.name) for file in sorted(REFERENCE.glob("compare-self-test-*.json"))]
    tests = [run["false_alarms"]["self_test"] for run in runs]
    kernel = runs[0]["old"]["environment"]["kernel"]
    return (f"In the reference run, {sum(test['alarms'] for test in tests)} of {sum(test['comparisons'] for test in tests)} "
            f"comparisons of {len(runs)} allocators with themselves had a false alarm\n"
            f"(Linux {kernel}; [results/reference](../results/reference), compare-self-test-*.json).")


def crossover_block() -> str:
    """The terminal's text, and the machine that it was measured on."""
    text = (REFERENCE / "crossover.txt").read_text(encoding="utf-8").strip()
    machine = reference("crossover.json")["environment"]
    return (f"```\n{text}\n```\n\n(Linux {machine['kernel']}, {machine['cpu']}, {machine['cpus']} CPUs; "
            "[crossover.json](../results/reference/crossover.json))")


BLOCKS = {"results/reference/compare-self-test": self_test_block, "results/reference/crossover.json": crossover_block}
