"""A recording of many blocks and forks takes memory for each block only once. If a recording needs more memory than the
limit, it is refused.
"""

import json
import os
import struct
import subprocess
import zlib

import pytest
from conftest import KIB, MIB, PAGE, ZEROTAX, clean_environment
from recording import PROGRAMS

MALLOC, TOUCHED, MAP, RETURN = 0, 5, 10, 12
PART = 12 * MIB


def part(kind, process, raw):
    stored = zlib.compress(raw, 9)
    return struct.pack("<5I", kind, process, len(stored), len(raw), zlib.crc32(stored)) + stored


def recording(events):
    """Writes a file of recorded calls; `events` are (process, bytes of a part, number of these parts)."""
    metrics = ("minor_faults", "zero_fill_faults", "kernel_zeroed_bytes", "refilled_bytes", "returned_bytes", "zeroed_bytes",
               "redundant_zeroed_bytes", "mapping_calls", "peak_bytes")
    counts = ("threads", "mallocs", "callocs", "aligned", "reallocs", "frees", "maps", "unknown_frees", "lost_threads",
              "image_zeroed_bytes", "image_copied_bytes")
    about = {"schema": "zerotax.calls/1", "zerotax_version": "1", "allocator": "libc.so.6", "env": [], "page_bytes": PAGE,
             "limited": False, "recorded": dict.fromkeys(metrics, 0),
             "processes": [{"name": "x", **dict.fromkeys(counts, 0)}]}
    text = b"ZTXCALLS" + struct.pack("<II", 1, 0)
    for process, raw, times in events:
        text += part(1, process, raw) * times
    return text + part(2, 0, json.dumps(about).encode())


def run(*arguments, **changes):
    """Returns the command's status, its messages, and the peak memory of the largest process of the command."""
    with subprocess.Popen([ZEROTAX, *map(str, arguments)], env=clean_environment(**changes), stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True) as process:
        said = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, said, usage.ru_maxrss * KIB


BOMBS = {
    "live blocks": [(0, bytes([MALLOC]) * PART, 2)],
    "pages of blocks": [(0, bytes([MAP | 15 << 4, 0]) + bytes([TOUCHED, 1, 0, 1]) * (PART // 4), 10)],
    "returns of blocks": [(0, bytes([MAP | 15 << 4, 0, RETURN, 0, 1]) * (PART // 5), 10)],
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_small_file_that_takes_gigabytes_is_refused(name, tmp_path):
    path = tmp_path / "x.calls"
    path.write_bytes(recording(BOMBS[name]))
    assert path.stat().st_size < 2 * MIB
    status, said, peak = run("replay", path, "--allocator", "glibc")
    assert status == 2, said
    # The lines before the last show the progress.
    error = said.splitlines()[-1]
    assert "x.calls takes more than 768 MiB of memory (process" in error and "--calls-limit" in error, said
    assert peak < 1024 * MIB, f"{peak >> 20} MiB"


def test_forks_of_many_blocks_share_them(tmp_path):
    """Without sharing, the copies of the blocks for each fork would take 2 GB."""
    path = tmp_path / "x.calls"
    status, said, peak = run("record", "--text", "/dev/null", "--calls", path, "--", PROGRAMS / "many_forks", 600_000, 40)
    assert status == 0, said
    assert peak < 350 * MIB, f"recording took {peak >> 20} MiB"
    status, said, peak = run("replay", path, "--allocator", "glibc", "--timeout", 200)
    assert status == 0, said
    assert peak < 350 * MIB, f"the replay took {peak >> 20} MiB"
