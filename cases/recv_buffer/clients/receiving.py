"""Shared parts of the clients: their arguments, the measured loop, and the line of JSON that they print.

This file is not a client itself. Every client receives from a server on 127.0.0.1 whose certificate is given, and verifies it.
"""

import argparse
import json
import os
import resource
import socket
import sys
import time

WARM_UP = 5   # operations before the clocks are read; no known allocator changes its behavior after the fifth call


def arguments(description):
    """Parses --port, --certificate (a PEM file to trust), --size (bytes per request) and --seconds (of the loop)."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--certificate", required=True)
    parser.add_argument("--size", type=int, required=True)
    parser.add_argument("--seconds", type=float, default=0.3)
    given = parser.parse_args()
    check_preloaded()
    return given


def check_preloaded():
    """Fails if a library was not preloaded, because the loader continues without it, and nothing would be measured."""
    wanted = os.environ.get("LD_PRELOAD")
    with open("/proc/self/maps", encoding="utf-8") as maps:
        if wanted and os.path.realpath(wanted) not in maps.read():
            raise SystemExit(f"{wanted} was not preloaded")


def connect(port):
    """Returns a TCP connection to the server."""
    return socket.create_connection(("127.0.0.1", port))


class Loop:
    """Measures from the end of the warm-up until `seconds` have passed and at least one operation has ended."""

    def __init__(self, seconds, versions, warm_up=WARM_UP):
        self.seconds, self.versions, self.left = seconds, versions, warm_up
        self.operations = self.received = 0
        if warm_up == 0:
            self.begin()

    def begin(self):
        self.usage = resource.getrusage(resource.RUSAGE_SELF)
        self.start = time.monotonic()

    def got(self, received):
        """Counts an operation and the bytes that the operation received. When the time is over, prints the result and
        exits.
        """
        if not received:
            raise SystemExit("the server sent no more data")
        if self.left > 0:
            self.left -= 1
            if self.left == 0:
                self.begin()
            return
        self.operations += 1
        self.received += received
        wall = time.monotonic() - self.start
        if wall < self.seconds:
            return
        before, after = self.usage, resource.getrusage(resource.RUSAGE_SELF)
        print(json.dumps({
            "versions": self.versions,
            "ops": self.operations,
            "received_bytes": self.received,
            "wall_s": wall,
            "cpu_s": after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime,
            "faults": after.ru_minflt - before.ru_minflt,
            "max_resident_bytes": after.ru_maxrss * 1024,
        }))
        sys.stdout.flush()
        os._exit(0)   # skips the rest of the download
