"""Runs a program under a seccomp filter that answers EPERM to some system calls, as a container's does: denying.py PROGRAM ...

Docker's default profile denies these to a process without capabilities. With --as-debian, perf_event_open alone is refused,
with EACCES, and only where its flags are some that there are: as Debian's kernels do if kernel.perf_event_paranoid is above 2."""

import ctypes
import errno
import os
import struct
import sys

UNKNOWN = 0xFFFFFFFF  # flags that no kernel knows, by which zerotax asks whether a call reaches it
CALLS = {"perf_event_open": 298, "userfaultfd": 323, "ptrace": 101, "bpf": 321}  # x86-64
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
LOAD, JUMP_IF_EQUAL, RETURN = 0x20, 0x15, 0x06
NUMBER, FLAGS = 0, 16 + 4 * 8  # in struct seccomp_data: the call, and the low half of its fifth argument
ALLOW, ANSWER = 0x7FFF0000, 0x00050000


def docker():
    numbers = CALLS.values()
    return [(LOAD, 0, 0, NUMBER), *((JUMP_IF_EQUAL, len(numbers) - i, 0, number) for i, number in enumerate(numbers)),
            (RETURN, 0, 0, ALLOW), (RETURN, 0, 0, ANSWER | errno.EPERM)]


def debian():
    return [(LOAD, 0, 0, NUMBER), (JUMP_IF_EQUAL, 0, 2, CALLS["perf_event_open"]), (LOAD, 0, 0, FLAGS),
            (JUMP_IF_EQUAL, 0, 1, UNKNOWN), (RETURN, 0, 0, ALLOW), (RETURN, 0, 0, ANSWER | errno.EACCES)]


def deny(rows):
    """For this process and all that it becomes."""
    program = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *row) for row in rows))
    filters = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(rows), ctypes.addressof(program)))
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl.argtypes = [ctypes.c_int] + 4 * [ctypes.c_ulong]
    for call in ((PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0),
                 (PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.addressof(filters), 0, 0)):
        if libc.prctl(*call) != 0:
            sys.exit(f"denying.py: {os.strerror(ctypes.get_errno())}")


if __name__ == "__main__":
    as_debian = sys.argv[1] == "--as-debian"
    deny(debian() if as_debian else docker())
    words = sys.argv[2 if as_debian else 1:]
    os.execvp(words[0], words)
