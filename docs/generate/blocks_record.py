"""docs/record.md: what zerotax record prints (docs/examples/tour.sh)."""
from __future__ import annotations

from reference_text import REFERENCE

PAGE = "docs/record.md"
END = "_PyEval_EvalFrameDefault"  # in the first call stack


def printed_record() -> str:
    """All that it printed, up to the first call stack."""
    lines = (REFERENCE / "tour" / "record.txt").read_text(encoding="utf-8").splitlines()
    end = next(i for i, line in enumerate(lines) if END in line)
    return "\n".join(["```", *lines[:end + 1], "...", "```"])


BLOCKS = {"results/reference/tour/record.txt": printed_record}
