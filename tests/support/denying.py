"""Runs a program under a seccomp filter that refuses system calls, as a container's does: denying.py [--as WHOM] PROGRAM ...

Without --as it denies four that programs like ours use, with EPERM. --as docker denies all that Docker's default profile does
(docker_denies.txt). --as debian refuses perf_event_open alone, with EACCES, and only where its flags are some that there are,
as Debian's kernels do if kernel.perf_event_paranoid is above 2. --as NAME,NAME denies these calls."""

import ctypes
import errno
import os
import pathlib
import re
import struct
import sys

UNKNOWN = 0xFFFFFFFF  # flags that no kernel knows, by which zerotax asks whether a call reaches it
FEW = ("perf_event_open", "userfaultfd", "ptrace", "bpf")
PERSONALITIES = (0, 0x0008, 0x20000, 0x20008, 0xFFFFFFFF)  # that Docker permits: without ADDR_NO_RANDOMIZE
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
LOAD, JUMP_IF_EQUAL, RETURN = 0x20, 0x15, 0x06
NUMBER, FIRST, FLAGS = 0, 16, 16 + 4 * 8  # in struct seccomp_data: the call, the low halves of its first and fifth argument
ALLOW, ANSWER = 0x7FFF0000, 0x00050000
CALLS = {name: int(number) for name, number in re.findall(
    r"#define __NR_(\w+) (\d+)", pathlib.Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h").read_text())}


def denied(answers):
    """Calls by name, each with the name of its error."""
    rows = [(LOAD, 0, 0, NUMBER)]
    for name, answer in answers.items():
        # This kernel's headers may not have the newest.
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
    whom = sys.argv[2] if sys.argv[1] == "--as" else ",".join(FEW)
    named = {"docker": docker, "debian": debian}.get(whom)
    deny(named() if named else [*denied(dict.fromkeys(whom.split(","), "EPERM")), (RETURN, 0, 0, ALLOW)])
    words = sys.argv[3 if sys.argv[1] == "--as" else 1:]
    os.execvp(words[0], words)
