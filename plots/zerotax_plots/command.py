"""Asks the zerotax command for statements that results lack, because only the command judges results."""

from __future__ import annotations

import functools
import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

from zerotax_plots.files import ResultsError

BUILT = Path(__file__).resolve().parents[2] / "build" / "bin" / "zerotax"


def find(given: Path | None = None) -> Path | None:
    """Returns the given command, or the command built beside these scripts, or the command on PATH; None if none
    exists.
    """
    if given or BUILT.is_file():
        return given or BUILT
    on_path = shutil.which("zerotax")
    return Path(on_path) if on_path else None


@functools.lru_cache(maxsize=8)
def _answer(command: Path, arguments: tuple[str, ...], source: Path, _stamp: int) -> dict[str, Any]:
    words = f"zerotax {arguments[0]} {source}"
    try:
        done = subprocess.run([command, *arguments, "--json", "-"], capture_output=True, text=True, check=False)
    except OSError as error:
        raise ResultsError(f"{command} cannot be run ({error.strerror}); give another command with --zerotax") from error
    if done.returncode not in (0, 1):   # exit status 1 means that the result is a finding, not an error
        raise ResultsError(f"`{words}` failed: {done.stderr.strip()}")
    try:
        document: dict[str, Any] = json.loads(done.stdout)
    except ValueError as error:
        raise ResultsError(f"`{words}` wrote no JSON ({error}); build zerotax again") from error
    return document


def ask(source: Path, *arguments: str, given: Path | None = None) -> dict[str, Any] | None:
    """Returns the JSON that `zerotax ARGUMENTS --json -` writes for this file or folder; None without a command.

    Raises ResultsError if the command does not know the arguments, or refuses the file.
    """
    command = find(given)
    if command is None:
        return None
    stamp = max((file.stat().st_mtime_ns for file in (source, *source.glob("*.json*")) if file.exists()), default=0)
    return _answer(command, arguments, source, stamp)
