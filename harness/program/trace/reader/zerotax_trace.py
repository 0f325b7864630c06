"""Reads traces of the zerotax recorder, including those that a crash left incomplete.

    import zerotax_trace
    for event in zerotax_trace.Trace("trace"):
        if event.type == "request_done":
            print(event.monotonic_ns, event.pid, event.fields["bytes"])

The library libzerotax-trace.so is searched for where it was installed with this file, on the search path of the linker, and at
the path in ZEROTAX_TRACE_LIBRARY.
"""

from __future__ import annotations

import ctypes
import os
import pathlib
import struct
from typing import Any, Iterator, NamedTuple

_UNSIGNED, _SIGNED, _FLOAT, _TEXT = 1, 2, 3, 4
_CODES = {(_UNSIGNED, 1): "B", (_UNSIGNED, 2): "H", (_UNSIGNED, 4): "I", (_UNSIGNED, 8): "Q",
          (_SIGNED, 1): "b", (_SIGNED, 2): "h", (_SIGNED, 4): "i", (_SIGNED, 8): "q",
          (_FLOAT, 4): "f", (_FLOAT, 8): "d"}
_NAME = "libzerotax-trace.so"


class TraceError(Exception):
    """Raised if the folder contains no trace, or a trace of which no part can be read."""


class Event(NamedTuple):
    """An event, in the order of time over all processes and threads."""

    type: str
    process: str
    pid: int
    tid: int
    monotonic_ns: int
    realtime_ns: int
    discarded_before: int
    fields: dict[str, Any]
    """Fields by name: numbers, texts, and lists of numbers."""


class _Event(ctypes.Structure):
    _fields_ = [("type", ctypes.c_char_p), ("layout", ctypes.c_void_p), ("process", ctypes.c_char_p),
                ("pid", ctypes.c_int32), ("tid", ctypes.c_int32), ("monotonic_ns", ctypes.c_int64),
                ("realtime_ns", ctypes.c_int64), ("discarded_before", ctypes.c_uint64), ("data", ctypes.c_void_p),
                ("data_bytes", ctypes.c_uint32), ("field_count", ctypes.c_uint32)]


class _Field(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("kind", ctypes.c_uint32), ("bytes", ctypes.c_uint32),
                ("count", ctypes.c_uint32), ("offset", ctypes.c_uint32), ("is_array", ctypes.c_uint32)]


def _load() -> ctypes.CDLL:
    # This file is PREFIX/share/zerotax/python/zerotax_trace.py, and the library is in PREFIX/lib/.
    prefix = pathlib.Path(__file__).resolve().parents[3]
    installed = sorted(prefix.glob(f"lib/{_NAME}")) + sorted(prefix.glob(f"lib/*-linux-gnu/{_NAME}"))
    places = [os.environ.get("ZEROTAX_TRACE_LIBRARY"), *map(str, installed), _NAME]
    failure: OSError | None = None
    for place in places:
        if not place or ("/" in place and not os.path.exists(place)):
            continue
        try:
            library = ctypes.CDLL(place)
        except OSError as error:
            failure = error
            continue
        library.zerotax_reader_open.restype = ctypes.c_void_p
        library.zerotax_reader_open.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_size_t]
        library.zerotax_reader_next.argtypes = [ctypes.c_void_p, ctypes.POINTER(_Event)]
        library.zerotax_reader_describe.argtypes = [ctypes.c_void_p, ctypes.c_uint32, ctypes.POINTER(_Field)]
        library.zerotax_reader_discarded.restype = ctypes.c_uint64
        library.zerotax_reader_discarded.argtypes = [ctypes.c_void_p]
        library.zerotax_reader_problem.restype = ctypes.c_char_p
        library.zerotax_reader_problem.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
        library.zerotax_reader_close.restype = None
        library.zerotax_reader_close.argtypes = [ctypes.c_void_p]
        return library
    raise TraceError(f"{_NAME} cannot be loaded ({failure or 'not found'}): set ZEROTAX_TRACE_LIBRARY to its path")


class _Layout:
    """Layout of the fields in the data of an event type."""

    def __init__(self, fields: list[_Field]) -> None:
        self.parts: list[tuple[str, int, struct.Struct | None, int, bool]] = []
        for field in fields:
            name = field.name.decode()
            if field.kind == _TEXT and field.is_array:
                self.parts.append((name, field.offset, None, field.count, False))
                continue
            kind = _UNSIGNED if field.kind == _TEXT else field.kind
            code = struct.Struct(f"<{field.count}{_CODES[kind, field.bytes]}")
            self.parts.append((name, field.offset, code, field.count, bool(field.is_array)))

    def read(self, data: bytes) -> dict[str, Any]:
        """Returns the values of the fields by name."""
        values: dict[str, Any] = {}
        for name, offset, code, count, is_array in self.parts:
            if code is None:
                values[name] = data[offset:offset + count].split(b"\0", 1)[0].decode(errors="replace")
            else:
                found = code.unpack_from(data, offset)
                values[name] = list(found) if is_array else found[0]
        return values


class Trace:
    """The events of a trace in the order of time, as an iterator and a context manager.
    Raises TraceError if there is no trace.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self._reader: int | None = None
        self._library = _load()
        problem = ctypes.create_string_buffer(1024)
        self._reader = self._library.zerotax_reader_open(os.fsencode(folder), problem, len(problem))
        if not self._reader:
            raise TraceError(problem.value.decode(errors="replace"))
        self._event = _Event()
        self._layouts: dict[int, _Layout] = {}

    def __iter__(self) -> Iterator[Event]:
        return self

    def __next__(self) -> Event:
        event = self._event
        if not self._reader or not self._library.zerotax_reader_next(self._reader, ctypes.byref(event)):
            raise StopIteration
        layout = self._layouts.get(event.layout) or self._learn(event)
        data = ctypes.string_at(event.data, event.data_bytes) if event.data_bytes else b""
        return Event(event.type.decode(), event.process.decode(errors="replace"), event.pid, event.tid, event.monotonic_ns,
                     event.realtime_ns, event.discarded_before, layout.read(data))

    def _learn(self, event: _Event) -> _Layout:
        fields = [_Field() for _ in range(event.field_count)]
        for number, field in enumerate(fields):
            self._library.zerotax_reader_describe(self._reader, number, ctypes.byref(field))
        self._layouts[event.layout] = _Layout(fields)
        return self._layouts[event.layout]

    @property
    def discarded(self) -> int:
        """Number of discarded records of all threads."""
        return int(self._library.zerotax_reader_discarded(self._reader)) if self._reader else 0

    @property
    def problems(self) -> list[str]:
        """One line per part of the trace that could not be read. All lines are known once the last event has been read.
        """
        found: list[str] = []
        while self._reader and (problem := self._library.zerotax_reader_problem(self._reader, len(found))):
            found.append(problem.decode(errors="replace"))
        return found

    def close(self) -> None:
        """Closes the trace, which then has no more events."""
        if self._reader:
            self._library.zerotax_reader_close(self._reader)
        self._reader = None

    def __enter__(self) -> Trace:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        self.close()
