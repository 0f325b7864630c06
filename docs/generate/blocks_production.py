"""docs/production.md: what docs/examples/production.sh printed."""
from __future__ import annotations

import re

from reference_text import REFERENCE

PAGE = "docs/production.md"


def printed(name: str, last: str = "") -> str:
    """The file as a block, up to the paragraph that begins with `last`; without folders of the machine."""
    text = (REFERENCE / "production" / name).read_text(encoding="utf-8")
    if last:
        text = text[:re.search(rf"^{last}", text, re.MULTILINE).start()]
    return f"```\n{re.sub(r'/tmp/[^/]*/', './', text).rstrip()}\n```"


BLOCKS = {
    "results/reference/production/top_before.txt": lambda: printed("top_before.txt"),
    "results/reference/production/record.txt": lambda: printed("record.txt", "Try next"),
    "results/reference/production/advise.txt": lambda: printed("advise.txt", "tried:"),
    "results/reference/production/top_after.txt": lambda: printed("top_after.txt"),
}
