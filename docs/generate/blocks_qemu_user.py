"""docs/upstream/qemu-user/README.md: the promises that a version of QEMU's user mode does not keep."""
from __future__ import annotations

import re

from blocks_contract import SHORT
from reference_text import REFERENCE, reference, rows_table

FOLDER = "upstream/qemu-user"
PAGE = f"docs/{FOLDER}/README.md"


def qemu_block() -> str:
    """How many each keeps, and a row for each promise that another than the oldest breaks."""
    versions = sorted((path.stem for path in (REFERENCE / FOLDER).glob("*.json")),
                      key=lambda version: [int(number) for number in re.findall(r"\d+", version)])
    found = {version: reference(f"{FOLDER}/{version}.json") for version in versions}
    verdicts = {version: {row["id"]: row["verdict"] for row in document["promises"]} for version, document in found.items()}
    broken = [promise for promise in verdicts[versions[0]] if any(verdicts[of][promise] == "broken" for of in versions[1:])]
    rows = [[f"`{promise}`", *(SHORT[verdicts[version][promise]] for version in versions)] for promise in broken]
    counts = [[f"promises {words}", *(str(found[version]["counts"][key]) for version in versions)]
              for words, key in (("kept", "kept"), ("broken", "broken"), ("refused as unsupported", "unsupported"))]
    first = found[versions[0]]
    return (f"{rows_table(['', *(f'QEMU {version}' for version in versions)], counts + rows)}\n\n"
            f"\"no\": the call fails, as that of a kernel without it. Measured {first['started'][:10]}; the documents are in\n"
            "[results/reference](../../../results/reference/upstream/qemu-user).")


BLOCKS = {f"results/reference/{FOLDER}": qemu_block}
