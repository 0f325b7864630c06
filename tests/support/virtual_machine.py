"""Runs one shell script in a virtual machine and stops the machine. The machine is Debian's kernel under QEMU, with
only our files.
"""

from __future__ import annotations

import io
import os
import pathlib
import re
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Callable

import pytest

# For each kind of machine: Debian's name of the architecture, its kernel, and QEMU's program and options.
KINDS = {
    "x86_64": ("amd64", "linux-image-cloud-amd64", "qemu-system-x86_64", ["-machine", "pc", "-cpu", "max"], "ttyS0"),
    "aarch64": ("arm64", "linux-image-cloud-arm64", "qemu-system-aarch64", ["-machine", "virt", "-cpu", "max"], "ttyAMA0"),
}
KERNELS = pathlib.Path(os.environ.get("ZEROTAX_TEST_KERNELS") or
                       pathlib.Path(os.environ.get("ZEROTAX_BUILD", "build")) / "tests" / "kernels")
BEGIN, END = "zerotax-test-output-begins", "zerotax-test-output-ends"
INIT = f"""#!/bin/busybox sh
/bin/busybox mkdir -p /proc /sys /dev /tmp /run /dev/shm
/bin/busybox mount -t proc proc /proc
/bin/busybox mount -t sysfs sysfs /sys
/bin/busybox mount -t devtmpfs devtmpfs /dev
/bin/busybox mkdir -p /dev/shm
for folder in /tmp /run /dev/shm; do /bin/busybox mount -t tmpfs tmpfs $folder; done
/bin/busybox --install -s /bin
export PATH=/bin HOME=/tmp
stty -onlcr 2>/dev/null
echo {BEGIN}
sh /script 2>&1
echo "status $?"
echo {END}
poweroff -f
"""


class Missing(Exception):
    """A machine of this kind cannot be started here. The text contains the reason."""


def _apt(folder: pathlib.Path, architecture: str) -> list[str]:
    """Returns apt-get's options for packages of another architecture. The package lists are separate, so no privileges
    are needed.
    """
    native = subprocess.run(["dpkg", "--print-architecture"], capture_output=True, text=True, check=True).stdout.strip()
    if architecture == native:
        return ["apt-get", "-q"]
    options = ["apt-get", "-q", "-o", f"APT::Architecture={architecture}", "-o", f"APT::Architectures={architecture}",
               "-o", f"Dir::State::Lists={folder}/lists", "-o", f"Dir::Cache={folder}/cache",
               "-o", "Dir::State::status=/dev/null"]
    (folder / "lists" / "partial").mkdir(parents=True, exist_ok=True)
    (folder / "cache").mkdir(exist_ok=True)
    subprocess.run([*options, "update"], capture_output=True, check=True, timeout=300)
    return options


def _unpacked(architecture: str, package: str, what: str, keep: Callable[[pathlib.Path], None]) -> None:
    """Fetches a Debian package, and calls `keep` with the folder of the package's files. The folder is removed
    afterwards. If the package only depends on the newest kernel's package, fetches the latter. Raises Missing.
    """
    if shutil.which("apt-get") is None or shutil.which("dpkg-deb") is None:
        raise Missing(f"{what} is fetched with Debian's apt-get")
    KERNELS.mkdir(parents=True, exist_ok=True)
    try:
        with tempfile.TemporaryDirectory(dir=KERNELS) as made:
            made = pathlib.Path(made)
            made.chmod(0o777)  # apt-get writes as its own user
            apt = _apt(made, architecture)
            if package.startswith("linux-image-"):
                cache = [word.replace("apt-get", "apt-cache") for word in apt if word != "-q"]
                depends = subprocess.run([*cache, "depends", package], capture_output=True, text=True, check=True).stdout
                package = re.search(r"Depends: (linux-image-\S+)", depends).group(1)
            subprocess.run([*apt, "download", package], cwd=made, capture_output=True, check=True, timeout=600)
            [archive] = made.glob(f"{package}_*.deb")
            subprocess.run(["dpkg-deb", "-x", archive, made / "x"], check=True, timeout=300)
            keep(made / "x")
    except (subprocess.SubprocessError, AttributeError, ValueError, OSError) as failure:
        raise Missing(f"{what} cannot be fetched: {failure}") from failure


def kernel(machine: str) -> pathlib.Path:
    """Returns the folder with Debian's kernel and the kernel's modules, which is fetched once. Raises Missing."""
    architecture, package, *_ = KINDS[machine]
    folder = KERNELS / architecture
    if not list(folder.glob("boot/vmlinuz-*")):
        _unpacked(architecture, package, "Debian's kernel", lambda files: files.rename(folder) and None)
    return folder


def busybox(machine: str) -> pathlib.Path:
    """Returns a shell for the machine. A shell for another architecture is stored beside that architecture's kernel and
    is fetched once. Raises Missing.
    """
    if machine == os.uname().machine:
        path = pathlib.Path("/bin/busybox")
        if not path.exists():
            raise Missing("busybox is missing: install busybox-static")
        return path
    path = kernel(machine) / "busybox"
    if not path.exists():
        _unpacked(KINDS[machine][0], "busybox-static", "Debian's busybox",
                  lambda files: shutil.copy(files / "bin" / "busybox", path) and None)
    return path


def modules(machine: str, *names: str) -> list[pathlib.Path]:
    """Returns the files of these kernel modules and of the modules that they need, in the order of loading. A built-in
    module has no file.
    """
    [tree] = (kernel(machine) / "lib" / "modules").iterdir()
    files = {path.name.split(".ko")[0].replace("-", "_"): path for path in tree.rglob("*.ko*")}
    found: list[pathlib.Path] = []

    def add(name: str) -> None:
        path = files.get(name.replace("-", "_"))
        if path is None or path in found:
            return
        told = re.search(rb"\0depends=([^\0]*)\0", b"\0" + path.read_bytes())
        for needed in told.group(1).decode().split(",") if told else []:
            add(needed)
        found.append(path)

    for name in names:
        add(name)
    return found


def libraries(program: pathlib.Path) -> set[pathlib.Path]:
    """Returns the shared libraries that a program needs, including the dynamic linker."""
    told = subprocess.run(["ldd", program], capture_output=True, text=True, check=False).stdout
    return {pathlib.Path(path) for path in re.findall(r"(/\S+)", told)}


def _archive(files: dict[str, tuple[bytes, int]]) -> bytes:
    """Returns an archive in the kernel's format (cpio, newc) of these files, given as name to content and mode."""
    folders = {str(parent) for name in files for parent in pathlib.PurePosixPath(name).parents} - {"."}
    entries = [(name, b"", stat.S_IFDIR | 0o755) for name in sorted(folders)]
    entries += [(name, content, stat.S_IFREG | mode) for name, (content, mode) in files.items()]
    out = io.BytesIO()

    def pad() -> None:
        out.write(b"\0" * (-out.tell() % 4))

    for number, (name, content, mode) in enumerate([*entries, ("TRAILER!!!", b"", 0)], 1):
        fields = [number, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(name) + 1, 0]
        out.write(b"070701" + "".join(f"{field:08X}" for field in fields).encode() + name.encode() + b"\0")
        pad()
        out.write(content)
        pad()
    return out.getvalue()


def run(machine: str, script: str, programs: dict[str, pathlib.Path], *, memory_mib: int = 1024, nodes: int = 1,
        load: tuple[str, ...] = (), timeout: float = 600) -> str:
    """Runs a shell script alone in the machine, as root, on two CPUs and `nodes` NUMA nodes. The machine has these
    kernel modules and these programs, by their path in the machine. The libraries of the programs are added. Returns
    what the script printed. Raises Missing, and AssertionError if the machine did not reach its end.
    """
    _, _, emulator, how, console = KINDS[machine]
    if shutil.which(emulator) is None:
        raise Missing(f"{emulator} is missing")
    files = {"init": (INIT.encode(), 0o755), "bin/busybox": (busybox(machine).read_bytes(), 0o755)}
    loads = ""
    for path in modules(machine, *load):
        files[f"modules/{path.name}"] = (path.read_bytes(), 0o644)
        loads += f"insmod /modules/{path.name}\n"
    files["script"] = ((loads + script).encode(), 0o755)
    for name, path in programs.items():
        files[name.lstrip("/")] = (path.read_bytes(), path.stat().st_mode & 0o777)
        for library in libraries(path):
            files[str(library).lstrip("/")] = (library.read_bytes(), 0o755)
    parts = []
    for node in range(nodes if nodes > 1 else 0):
        parts += ["-object", f"memory-backend-ram,size={memory_mib // nodes}M,id=m{node}",
                  "-numa", f"node,nodeid={node},memdev=m{node},cpus={node}"]
    [image] = (kernel(machine) / "boot").glob("vmlinuz-*")
    with tempfile.TemporaryDirectory() as folder:
        archive = pathlib.Path(folder, "files.cpio")
        archive.write_bytes(_archive(files))
        try:
            done = subprocess.run(
                # KVM is not used, because inside a virtual machine KVM may exist but not work.
                [emulator, *how, "-accel", "tcg", "-m", f"{memory_mib}M", "-smp", "2", *parts, "-nographic", "-no-reboot",
                 "-nic", "none", "-kernel", image, "-initrd", archive, "-append",
                 f"console={console} panic=-1 quiet"], stdin=subprocess.DEVNULL, capture_output=True, timeout=timeout,
                check=False)
        except subprocess.TimeoutExpired as expired:
            tail = (expired.stdout or b"")[-2000:].decode(errors="replace")
            raise AssertionError(f"the virtual machine did not end within {timeout:g} s: {tail}") from expired
    text = done.stdout.decode(errors="replace").replace("\r\n", "\n")
    begin, end = text.find(BEGIN + "\n"), text.find(END)
    assert begin >= 0 and end > begin, text[-4000:] + done.stderr.decode(errors="replace")[-2000:]
    return text[begin + len(BEGIN) + 1:end]


def run_or_skip(*arguments, **how) -> str:
    """Calls run(), or skips the test with the reason if the machine cannot be started."""
    try:
        return run(*arguments, **how)
    except Missing as missing:
        pytest.skip(str(missing))
