"""Makes code in memory and runs it until it is killed, as an interpreter's compiler does. HOW chooses its perf map
(/tmp/perf-PID.map).

    makes_code.py HOW [TARGET]

HOW is pipe, folder, socket, huge, garbage, link or bind (of TARGET), or good. The process prints "ready", or why HOW is not
possible here."""

import ctypes
import mmap
import os
import platform
import socket
import sys

CODE = {"x86_64": "48ffcf75fbc3", "aarch64": "000400f1e1ffff54c0035fd6"}  # counts its argument down to 0
CLONE_NEWNS, CLONE_NEWUSER, MS_BIND = 0x20000, 0x10000000, 4096
libc = ctypes.CDLL(None, use_errno=True)


def check(result, what):
    if result != 0:
        sys.exit(f"{what}: {os.strerror(ctypes.get_errno())}")


def write(path, data):
    with open(path, "wb") as file:
        file.write(data)


def make_socket(path):
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(path)


def make_huge(path):
    write(path, b"")
    os.truncate(path, 200 << 30)


def bind(path, target):
    write(path, b"")
    user, group = os.getuid(), os.getgid()
    check(libc.unshare(CLONE_NEWUSER | CLONE_NEWNS), "unshare")
    write("/proc/self/setgroups", b"deny")
    write("/proc/self/uid_map", f"0 {user} 1".encode())
    write("/proc/self/gid_map", f"0 {group} 1".encode())
    check(libc.mount(target.encode(), path.encode(), None, MS_BIND, None), "bind")


def main():
    how, target = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else ""
    if platform.machine() not in CODE:
        sys.exit(f"no code for {platform.machine()}")
    rights = mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC
    memory = mmap.mmap(-1, mmap.PAGESIZE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, rights)
    memory.write(bytes.fromhex(CODE[platform.machine()]))
    address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    made = ctypes.CFUNCTYPE(None, ctypes.c_long)(address)
    path = f"/tmp/perf-{os.getpid()}.map"
    {"pipe": os.mkfifo, "folder": os.mkdir, "socket": make_socket, "huge": make_huge,
     "garbage": lambda at: write(at, os.urandom(1 << 20)), "link": lambda at: os.symlink(target, at),
     "bind": lambda at: bind(at, target), "good": lambda at: write(at, f"{address:x} 1000 made_here\n".encode())}[how](path)
    print("ready", flush=True)
    while True:
        made(100_000_000)


if __name__ == "__main__":
    main()
