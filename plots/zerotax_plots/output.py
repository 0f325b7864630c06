"""Writes files as zerotax itself does (harness/measuring/files/new_file.h).

A new file is written beside its final path, and moved there once it is complete. A file that another program wrote is
never replaced.
"""

from __future__ import annotations

import argparse
import errno
import json
import os
import secrets
import stat
import time
from pathlib import Path
from typing import Any, Callable, Iterable

from zerotax_plots.files import ResultsError, read_bytes

IsOurs = Callable[[bytes], bool]
PIPE_PATIENCE_S = 2.0
OWN_DESCRIPTORS = {"/dev/stdout": 1, "/dev/stderr": 2}


def named_path(word: str) -> Path:
    """Converts a path of a command line, for argparse. An empty path, such as from an unset variable, does not mean the
    current folder.
    """
    if not word:
        raise argparse.ArgumentTypeError("it is empty")
    return Path(word)


def _own_descriptor(path: str) -> int | None:
    """Returns the number of the process's own descriptor that a path names, or None if the path names no descriptor."""
    folder, name = os.path.split(path)
    return int(name) if folder in ("/dev/fd", "/proc/self/fd") and name.isdecimal() else OWN_DESCRIPTORS.get(path)


def _write_all(descriptor: int, data: bytes) -> None:
    """Writes all bytes, and closes the descriptor."""
    try:
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(descriptor, rest):]
    finally:
        os.close(descriptor)


def _open_pipe(path: str) -> int:
    """Opens a named pipe, after waiting for a reader."""
    end = time.monotonic() + PIPE_PATIENCE_S
    while True:
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
            os.set_blocking(descriptor, True)
            return descriptor
        except OSError as error:
            if error.errno != errno.ENXIO:
                raise
            if time.monotonic() > end:
                raise OSError(errno.ENXIO, "no process reads this pipe") from error
        time.sleep(0.02)


def _place_of(path: str) -> os.stat_result | None:
    """Returns the status of the file at a path; None if there is no file, or a dangling link."""
    try:
        return os.stat(path)
    except FileNotFoundError:
        return None


def check_replaceable(path: Path, is_ours: IsOurs, force: bool = False) -> None:
    """Raises ResultsError if the file at a path must not be replaced, by the rules of
    harness/measuring/files/output_kind.h.
    """
    remedy = "give another path"
    status = _place_of(os.fspath(path))
    if status is None or not stat.S_ISREG(status.st_mode):
        return
    if status.st_mode & 0o111:
        raise ResultsError(f"{path}: is executable, and was not replaced; {remedy}")
    if status.st_size == 0:
        return
    try:
        data = read_bytes(path)
    except OSError as error:
        raise ResultsError(f"{path}: cannot be examined ({error.strerror or error}); {remedy}") from error
    if data.startswith(b"\x7fELF"):
        raise ResultsError(f"{path}: is a program or a library, and was not replaced; {remedy}")
    if not force and not is_ours(data):
        raise ResultsError(f"{path}: zerotax did not write this file; {remedy}, or add --force")


def _replace(path: str, data: bytes) -> None:
    """Writes a new file beside the old file, and then replaces the old file."""
    # A random part is added, because processes of two hosts may have the same PID.
    temporary = f"{path}.{os.getpid()}-{secrets.token_hex(4)}.new"
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
    try:
        _write_all(descriptor, data)
        os.rename(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def write(path: Path, data: bytes, is_ours: IsOurs, *, force: bool = False, inputs: Iterable[Path] = ()) -> None:
    """Writes a whole file. Afterwards the file is complete or, after any failure, unchanged.

    A link stays, and its target is replaced. A pipe and a device are written in place. `is_ours` decides from the old
    contents whether the file may be replaced. Raises ResultsError.
    """
    place = os.fspath(path)
    try:
        status = _place_of(place)
        for each in inputs:
            if status is not None and each.exists() and os.path.samestat(status, each.stat()):
                raise ResultsError(f"{path}: would overwrite the input {each}; give another path")
        own = _own_descriptor(place)
        if status is None:
            _replace(place, data)
        elif own is not None:
            _write_all(os.dup(own), data)
        elif stat.S_ISREG(status.st_mode):
            check_replaceable(path, is_ours, force)
            _replace(os.path.realpath(place), data)
        elif stat.S_ISBLK(status.st_mode):
            raise ResultsError(f"{path}: is a disk; give the path of a file")
        else:
            is_pipe = stat.S_ISFIFO(status.st_mode)
            _write_all(_open_pipe(place) if is_pipe else os.open(place, os.O_WRONLY | os.O_NOCTTY | os.O_CLOEXEC), data)
    except OSError as error:
        raise ResultsError(f"{path}: cannot be written ({error.strerror or error}); give another path") from error


def is_document(*schemas: str) -> IsOurs:
    """Returns a test for files: whether a file is a JSON document of one of these schemas."""
    def check(data: bytes) -> bool:
        try:
            found = json.loads(data)
        except (ValueError, RecursionError):
            return False
        return isinstance(found, dict) and found.get("schema") in schemas
    return check


def write_document(path: Path, document: dict[str, Any], *, force: bool = False) -> None:
    """Writes a JSON document, replacing only a document of the same schema. Raises ResultsError."""
    text = json.dumps(document, indent=1) + "\n"
    write(path, text.encode(), is_document(document["schema"]), force=force)


def is_page(data: bytes) -> bool:
    """Returns whether a file is an HTML page of zerotax."""
    return b"<!DOCTYPE html>" in data[:64] and b"<b>zerotax</b>" in data


def is_figure(data: bytes) -> bool:
    """Returns whether a file is a figure of plots/. A PNG file of plots/ begins with its title."""
    if data.startswith(b"\x89PNG"):
        return data[37:47] in (b"tEXtTitle\0", b"iTXtTitle\0")
    return b"<svg" in data and (b"<!-- zerotax -->" in data or b">zerotax</dc:title>" in data)
