"""A small machine with another kernel: qemu, a kernel image, and a root file system in memory that is made here.

It needs no root and changes nothing outside the folder that it is given. Each program is under its own path in there,
with every library that it needs, so that what runs is what was built here, byte for byte.
"""

import io
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import tarfile
from typing import NamedTuple

EMULATOR = "qemu-system-x86_64"
KERNEL_VARIABLE = "ZEROTAX_OLD_KERNEL"
INIT = pathlib.Path(__file__).with_name("old_kernel_init.sh")
NOBODY = 65534


class Job(NamedTuple):
    """A command line of the guest's shell."""

    command: str
    user: str = "root"  # or nobody


class Done(NamedTuple):
    status: int
    output: str
    errors: str


def shell(*words, **environment):
    """One command line of these words."""
    return shlex.join([f"{key}={value}" for key, value in environment.items()] + [str(word) for word in words])


def what_is_missing():
    """Why no machine can be booted here, with the remedy; empty if one can."""
    if shutil.which(EMULATOR) is None:
        return f"{EMULATOR} is missing: install qemu-system-x86"
    if busybox() is None:
        return "a static busybox is missing: install busybox-static"
    kernel = os.environ.get(KERNEL_VARIABLE, "")
    if not kernel:
        return (f"{KERNEL_VARIABLE} names no kernel image: `apt-get download` the linux-image-6.1.*-cloud-amd64 that "
                "linux-image-cloud-amd64 depends on, unpack it with `dpkg-deb -x`, and name its boot/vmlinuz-*")
    if not os.access(kernel, os.R_OK):
        return f"{KERNEL_VARIABLE}={kernel} cannot be read"
    return ""


def busybox():
    """A busybox that needs no library."""
    found = shutil.which("busybox")
    if found is None or libraries(found):
        return None
    return found


def libraries(program):
    """The shared libraries of a program, the dynamic linker among them, by the paths it finds them at."""
    listed = subprocess.run(["ldd", str(program)], capture_output=True, text=True, check=False).stdout
    found = set()
    for line in listed.splitlines():
        path = line.split("=>")[-1].split("(")[0].strip()
        if path.startswith("/"):
            found.add(path)
    return found


def huge_pages_here():
    """always, madvise or never: the guest shall have the same, for one fault may bring a huge page."""
    setting = pathlib.Path("/sys/kernel/mm/transparent_hugepage/enabled")
    chosen = re.search(r"\[(\w+)\]", setting.read_text()) if setting.exists() else None
    return chosen.group(1) if chosen else "never"


class Archive:
    """A root file system for the kernel to unpack: cpio, format newc (Documentation/driver-api/early-userspace)."""

    def __init__(self):
        self._data = io.BytesIO()
        self._known = {"/"}
        self._count = 0

    def _entry(self, name, mode, content=b""):
        self._count += 1
        encoded = name.encode() + b"\0"
        fields = (self._count, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(encoded), 0)
        self._data.write(b"070701" + b"".join(b"%08x" % field for field in fields))
        for part in (encoded, content):
            self._data.write(part)
            self._data.write(b"\0" * (-self._data.tell() % 4))

    def folder(self, path):
        if path in self._known:
            return
        self.folder(os.path.dirname(path))
        self._known.add(path)
        self._entry(path.lstrip("/"), 0o040755)

    def file(self, path, content, mode=0o755):
        path = str(path)
        if path in self._known:
            return
        self.folder(os.path.dirname(path))
        self._known.add(path)
        self._entry(path.lstrip("/"), 0o100000 | mode, content)

    def copy(self, path):
        """A file of this machine, under the same path, with the libraries it needs."""
        self.file(path, pathlib.Path(path).read_bytes())
        for library in libraries(path):
            self.file(library, pathlib.Path(library).read_bytes())

    def finished(self):
        self._entry("TRAILER!!!", 0)
        return self._data.getvalue()


def root_file_system(programs, jobs):
    archive = Archive()
    for folder in ("/proc", "/sys", "/dev", "/out", "/tmp", "/root"):
        archive.folder(folder)
    archive.file("/bin/busybox", pathlib.Path(busybox()).read_bytes())
    archive.file("/init", INIT.read_bytes())
    archive.file("/etc/passwd", f"root:x:0:0::/root:/bin/sh\nnobody:x:{NOBODY}:{NOBODY}::/:/bin/sh\n".encode(), 0o644)
    archive.file("/etc/group", f"root:x:0:\nnogroup:x:{NOBODY}:\n".encode(), 0o644)
    for program in programs:
        archive.copy(program)
    for name, job in jobs.items():
        archive.file(f"/jobs/{name}", f"# {job.user}\n{job.command}\n".encode())
    return archive.finished()


class Machine:
    """Boots once, does the jobs one after the other in the order of their names, and is gone."""

    def __init__(self, folder, programs, jobs, memory_mib, timeout_s):
        self._folder = pathlib.Path(folder)
        initramfs = self._folder / "initramfs"
        initramfs.write_bytes(root_file_system(programs, jobs))
        answer = self._folder / "answer.tar.gz"
        command = [
            EMULATOR, "-accel", "tcg", "-cpu", "max", "-smp", "1", "-m", f"{memory_mib}M", "-nodefaults",
            "-no-user-config", "-display", "none", "-no-reboot", "-kernel", os.environ[KERNEL_VARIABLE],
            "-initrd", str(initramfs),
            "-append", f"console=ttyS0 quiet panic=-1 transparent_hugepage={huge_pages_here()}",
            "-serial", f"file:{self._folder / 'console'}", "-serial", f"file:{answer}"]
        try:
            subprocess.run(command, timeout=timeout_s, check=True, stdin=subprocess.DEVNULL)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"the machine was not done after {timeout_s} s; {self._last_words()}") from None
        self._files = {}
        try:
            with tarfile.open(answer) as files:
                for entry in files:
                    if entry.isfile():
                        self._files[entry.name.removeprefix("./")] = files.extractfile(entry).read().decode()
        except (tarfile.TarError, EOFError, OSError) as error:
            raise AssertionError(f"the machine sent nothing that can be read ({error}); {self._last_words()}") from None

    def _last_words(self):
        console = self._folder / "console"
        text = console.read_text(errors="replace") if console.exists() else ""
        return f"its console ended with\n{text[-2000:]}"

    def done(self, job):
        return Done(int(self.file(f"{job}.status")), self.file(f"{job}.out"), self.file(f"{job}.err"))

    def file(self, name):
        """What a job left in /out."""
        assert name in self._files, f"no {name} came back; {self._last_words()}"
        return self._files[name]
