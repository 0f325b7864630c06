"""Runs a program under a seccomp filter that denies system calls, as a container does.

usage: denying.py [--as WHOM] PROGRAM ...

Without --as, four calls that programs like zerotax use fail with EPERM. With --as docker, all calls that Docker's default
profile denies fail (docker_denies.txt). With --as debian, only perf_event_open with known flags fails, with EACCES, as on
Debian's kernels if kernel.perf_event_paranoid is above 2. With --as NAME,NAME, the named calls fail.
"""

import ctypes
import errno
import os
import pathlib
import re
import struct
import sys

UNKNOWN = 0xFFFFFFFF  # flags that no kernel knows; with them, zerotax tests whether a call reaches the kernel
FEW = ("perf_event_open", "userfaultfd", "ptrace", "bpf")
# Personalities that Docker permits, without ADDR_NO_RANDOMIZE.
PERSONALITIES = (0, 0x0008, 0x20000, 0x20008, 0xFFFFFFFF)
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
LOAD, JUMP_IF_EQUAL, RETURN = 0x20, 0x15, 0x06
# Offsets in struct seccomp_data of the call number, and of the low halves of its first and fifth argument.
NUMBER, FIRST, FLAGS = 0, 16, 16 + 4 * 8
ALLOW, ANSWER = 0x7FFF0000, 0x00050000
CALLS = {name: int(number) for name, number in re.findall(
    r"#define __NR_(\w+) (\d+)", pathlib.Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h").read_text())}


def denied(answers):
    """Returns the rows of a filter that makes these calls fail. Each call fails with the error of this name."""
    rows = [(LOAD, 0, 0, NUMBER)]
    for name, answer in answers.items():
        # The headers of this kernel may lack the newest calls.
        if name in CALLS:
            rows += [(JUMP_IF_EQUAL, 0, 1, CALLS[name]), (RETURN, 0, 0, ANSWER | getattr(errno, answer))]
    return rows


def docker():
    lines = pathlib.Path(__file__).with_name("docker_denies.txt").read_text().splitlines()
    words = [line.split() for line in lines if line and not line.startswith("#")]
    return [*denied({name: "".join(answer) or "EPERM" for name, *answer in words}),
            (JUMP_IF_EQUAL, 0, len(PERSONALITIES) + 2, CALLS["personality"]), (LOAD, 0, 0, FIRST),
            *((JUMP_IF_EQUAL, len(PERSONALITIES) - i, 0, value) for i, value in enumerate(PERSONALITIES)),
            (RETURN, 0, 0, ANSWER | errno.EPERM), (RETURN, 0, 0, ALLOW)]


def debian():
    return [(LOAD, 0, 0, NUMBER), (JUMP_IF_EQUAL, 0, 2, CALLS["perf_event_open"]), (LOAD, 0, 0, FLAGS),
            (JUMP_IF_EQUAL, 0, 1, UNKNOWN), (RETURN, 0, 0, ALLOW), (RETURN, 0, 0, ANSWER | errno.EACCES)]


def deny(rows):
    """Installs a filter for this process and its children."""
    program = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *row) for row in rows))
    filters = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(rows), ctypes.addressof(program)))
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl.argtypes = [ctypes.c_int] + 4 * [ctypes.c_ulong]
    for call in ((PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0),
                 (PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.addressof(filters), 0, 0)):
        if libc.prctl(*call) != 0:
            sys.exit(f"denying.py: {os.strerror(ctypes.get_errno())}")


if __name__ == "__main__":
    whom = sys.argv[2] if sys.argv[1] == "--as" else ",".join(FEW)
    named = {"docker": docker, "debian": debian}.get(whom)
    deny(named() if named else [*denied(dict.fromkeys(whom.split(","), "EPERM")), (RETURN, 0, 0, ALLOW)])
    words = sys.argv[3 if sys.argv[1] == "--as" else 1:]
    os.execvp(words[0], words)
