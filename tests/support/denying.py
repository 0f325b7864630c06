"""Runs a program under a seccomp filter that answers EPERM to some system calls, as a container's does: denying.py PROGRAM ...

Docker's default profile denies these to a process without capabilities."""

import ctypes
import errno
import os
import struct
import sys

CALLS = {"perf_event_open": 298, "userfaultfd": 323, "ptrace": 101, "bpf": 321}  # x86-64
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
LOAD_NUMBER, JUMP_IF_EQUAL, RETURN = 0x20, 0x15, 0x06
ALLOW, ANSWER = 0x7FFF0000, 0x00050000


def deny(numbers):
    """For this process and all that it becomes."""
    rows = [(LOAD_NUMBER, 0, 0, 0)]
    rows += [(JUMP_IF_EQUAL, len(numbers) - i, 0, number) for i, number in enumerate(numbers)]
    rows += [(RETURN, 0, 0, ALLOW), (RETURN, 0, 0, ANSWER | errno.EPERM)]
    program = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *row) for row in rows))
    filters = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(rows), ctypes.addressof(program)))
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl.argtypes = [ctypes.c_int] + 4 * [ctypes.c_ulong]
    for call in ((PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0),
                 (PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.addressof(filters), 0, 0)):
        if libc.prctl(*call) != 0:
            sys.exit(f"denying.py: {os.strerror(ctypes.get_errno())}")


if __name__ == "__main__":
    deny(list(CALLS.values()))
    os.execvp(sys.argv[1], sys.argv[1:])
