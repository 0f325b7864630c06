"""Helpers for the tests of hostile processes: folders for the user nobody, devices that must stay closed, and commands
that must end.
"""

import contextlib
import ctypes
import os
import select
import stat
import subprocess
import tempfile

import pytest
from conftest import NOBODY, SOURCE, ZEROTAX, clean_environment

HERE = SOURCE / "tests" / "security"
PYTHON = "/usr/bin/python3"
MARKER = "secret_marker"
IN_OPEN = 0x20
root_only = pytest.mark.skipif(os.geteuid() != 0, reason="root only: the attacker is another user")
libc = ctypes.CDLL(None, use_errno=True)


@contextlib.contextmanager
def memory_folder():
    """Makes a folder for all users on a separate file system. This file system numbers its files from 1."""
    with tempfile.TemporaryDirectory(prefix="zerotax-security-") as folder:
        if libc.mount(b"t", folder.encode(), b"tmpfs", 0, None) != 0:
            pytest.skip(f"cannot mount: {os.strerror(ctypes.get_errno())}")
        try:
            os.chmod(folder, 0o777)
            yield folder
        finally:
            libc.umount2(folder.encode(), 2)  # MNT_DETACH


def compiled(folder, source, name, *options):
    """Compiles a program or library of tests/security."""
    path = f"{folder}/{name}"
    subprocess.run(["gcc", "-O1", "-g", "-o", path, HERE / source, *options], check=True, timeout=120)
    return path


def make_device(path):
    """Makes a device like /dev/null. Opening this device does no harm. The class Opened detects the opening."""
    try:
        os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 3))
    except OSError as failure:
        pytest.skip(f"cannot make a device: {failure}")
    os.chmod(path, 0o666)


class Opened:
    """Reports (by inotify(7)) which of some files any process has opened since this object was made. Opening only a
    path (O_PATH) does not count.
    """

    def __init__(self, *paths):
        self.fd = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        self.paths = {}
        for path in paths:
            self.paths[libc.inotify_add_watch(self.fd, os.fsencode(path), IN_OPEN)] = str(path)
        assert -1 not in self.paths

    def names(self):
        found = set()
        while select.select([self.fd], [], [], 0)[0]:
            data = os.read(self.fd, 1 << 16)
            while data:
                found.add(self.paths[int.from_bytes(data[:4], "little")])
                data = data[16 + int.from_bytes(data[12:16], "little"):]
        return found


@contextlib.contextmanager
def attacker(*words, prefix=NOBODY):
    """Starts a process that does harm after it has printed that it is ready."""
    with subprocess.Popen([*prefix, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          env=clean_environment()) as run:
        try:
            said = run.stdout.readline()
            if said != "ready\n":
                pytest.skip(f"it cannot attack here: {said}")
            yield run.pid
        finally:
            run.kill()


def ends(*words, prefix=(), status=(0,), seconds=100):
    """Returns the output of a command. The command must end by itself even if it watches a hostile process."""
    try:
        done = subprocess.run([*prefix, ZEROTAX, *map(str, words)], capture_output=True, text=True, errors="replace",
                              check=False, timeout=seconds, env=clean_environment())
    except subprocess.TimeoutExpired:
        pytest.fail(f"`zerotax {' '.join(map(str, words))}` does not end")
    assert done.returncode in status, done.stderr
    return done.stdout + done.stderr
