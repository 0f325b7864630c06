"""docs/crossover.md: a crossing, as the command shows it."""
from reference_text import REFERENCE, reference

PAGE = "docs/crossover.md"


def crossover_block() -> str:
    """What the terminal says, and of which machine."""
    text = (REFERENCE / "crossover.txt").read_text(encoding="utf-8").strip()
    machine = reference("crossover.json")["environment"]
    return (f"```\n{text}\n```\n\n(Linux {machine['kernel']}, {machine['cpu']}, {machine['cpus']} CPUs; "
            "[crossover.json](../results/reference/crossover.json))")


BLOCKS = {"results/reference/crossover.json": crossover_block}
