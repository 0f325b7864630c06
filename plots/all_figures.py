#!/usr/bin/python3
"""Draws every figure: the scripts plots/*.py that define FIGURE and draw(results)."""

from __future__ import annotations

import ast
import importlib
import sys
from pathlib import Path

from zerotax_plots import main

FOLDER = Path(__file__).resolve().parent


def is_figure(path: Path) -> bool:
    """Returns whether a file defines FIGURE and draw. The file is not run, because other scripts in this folder may
    need further modules.
    """
    names = set()
    for node in ast.parse(path.read_text(encoding="utf-8"), str(path)).body:
        if isinstance(node, ast.FunctionDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign):
            names.update(target.id for target in node.targets if isinstance(target, ast.Name))
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names.add(node.target.id)
    return {"FIGURE", "draw"} <= names


def figures(folder: Path = FOLDER) -> list[tuple[str, main.Draw]]:
    """Returns the name and draw function of every figure script in the folder, by file name."""
    sys.path.insert(0, str(folder))
    modules = [importlib.import_module(path.stem)
               for path in sorted(folder.glob("*.py")) if is_figure(path)]
    return [(module.FIGURE, module.draw) for module in modules]


if __name__ == "__main__":
    sys.exit(main.draw_all(figures(), __doc__))
