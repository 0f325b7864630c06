"""README.md: an allocator, as docs/examples/tour.sh shows it, and the advice of docs/advise.md."""
from __future__ import annotations

from blocks_advise import printed_advice
from reference_text import REFERENCE

PAGE = "README.md"


def printed_run() -> str:
    """The table of zerotax run."""
    return "```\n" + (REFERENCE / "tour" / "run.txt").read_text(encoding="utf-8").rstrip() + "\n```"


def advice_block() -> str:
    """The advice without the table of what was tried."""
    return "```\n" + printed_advice().split("\nRecorded:", 1)[0] + "\n...\n```"


BLOCKS = {"results/reference/tour/run.txt": printed_run, "results/reference/advise/numpy.out": advice_block}
