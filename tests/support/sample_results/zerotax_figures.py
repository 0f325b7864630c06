"""What the tests of figures look at: lines, words, and the scripts as a user starts them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

PLOTS = Path(__file__).resolve().parents[3] / "plots"


def drawn(axes: Any) -> dict[str, list[tuple[float, float]]]:
    """The points of each line that has a name."""
    return {line.get_label(): list(zip(*line.get_data())) for line in axes.lines
            if not line.get_label().startswith("_")}


def words(figure: Any) -> str:
    """Everything that is written around the panels."""
    return " ".join(text.get_text() for text in figure.texts)


def script(name: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Runs plots/NAME.py."""
    return subprocess.run([sys.executable, str(PLOTS / f"{name}.py"), *map(str, arguments)],
                          capture_output=True, text=True, check=False)
