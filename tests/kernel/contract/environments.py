#!/usr/bin/python3
"""Where the promises are tested beside this kernel: other users, other C libraries, emulators, other kernels.

usage: tests/kernel/contract/environments.py FOLDER     tests everywhere, and writes a JSON document for each place
(places.json says why one cannot be tested here)
"""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator

SOURCE = pathlib.Path(__file__).resolve().parents[3]
BUILD = pathlib.Path(os.environ.get("ZEROTAX_BUILD", SOURCE / "build"))
os.environ.setdefault("ZEROTAX_BUILD", str(BUILD))
sys.path.insert(0, str(SOURCE / "tests" / "support"))

import virtual_machine  # noqa: E402
from virtual_machine import Missing  # noqa: E402

SUITE = BUILD / "bin" / "zerotax-contract"
FOLDER = SOURCE / "harness" / "kernel" / "contract" / "suite"
PLACES: dict[str, tuple[str, Callable[[float], str]]] = {}


def place(name: str, what: str) -> Callable:
    """Makes a place of a function, which returns what the suite printed; it is given the seconds of a race."""
    def add(function: Callable[[float], str]) -> Callable[[float], str]:
        PLACES[name] = (what, function)
        return function
    return add


def needed(program: str, package: str) -> str:
    """The path of a program. Raises Missing."""
    found = shutil.which(program)
    if found is None:
        raise Missing(f"{program} is missing: install {package}")
    return found


def need_root() -> None:
    """Raises Missing for an ordinary user."""
    if os.geteuid() != 0:
        raise Missing("only root can do this")


def words(seconds: float) -> list[str]:
    """Of the suite's command line."""
    return ["--json", "--seconds", f"{seconds:g}"]


def run(*command: object, timeout: float = 900) -> str:
    """The output of a command, whatever its status: a broken promise is 1."""
    return subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, text=True, timeout=timeout,
                          check=False).stdout


@contextlib.contextmanager
def built(compiler: str, package: str) -> Iterator[pathlib.Path]:
    """The suite by another compiler. Raises Missing."""
    needed(compiler, package)
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder, "zerotax-contract")
        # The headers of the kernel that musl-gcc does not look for are not needed: abi.h has what is newer.
        subprocess.run([compiler, "-std=gnu11", "-O2", "-static", "-pthread", f"-I{SOURCE / 'harness/kernel'}",
                        f'-DCONTRACT_PROGRAMS="{FOLDER / "programs"}"', "-o", program, *sorted(FOLDER.glob("*.c"))], check=True)
        yield program


@place("native", "this kernel, as root")
def native(seconds: float) -> str:
    need_root()
    return run(SUITE, *words(seconds))


@place("nobody", "this kernel, as an ordinary user")
def nobody(seconds: float) -> str:
    need_root()
    needed("setpriv", "util-linux")
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        program = shutil.copy(SUITE, folder)
        return run("setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", program, *words(seconds))


def _set(path: str, value: str) -> Callable[[], None] | None:
    """Writes a setting of the kernel's; what puts it back. None if it has none such, or does not let itself be set."""
    try:
        before = pathlib.Path(path).read_text()
        # Of "always [madvise] never", what is in brackets holds.
        before = before.split("[")[1].split("]")[0] if "[" in before else before
        pathlib.Path(path).write_text(value)
    except OSError:
        return None
    return lambda: pathlib.Path(path).write_text(before)


@place("prepared", "this kernel, as root, with KSM, pages of 64 KiB, and swap (zram)")
def prepared(seconds: float) -> str:
    """Switches on features that most machines have switched off; puts all back afterwards."""
    need_root()
    undo = [_set("/sys/kernel/mm/ksm/sleep_millisecs", "10"), _set("/sys/kernel/mm/ksm/pages_to_scan", "2000"),
            _set("/sys/kernel/mm/ksm/run", "1"),
            _set("/sys/kernel/mm/transparent_hugepage/hugepages-64kB/enabled", "madvise")]
    disk = None
    try:
        number = pathlib.Path("/sys/class/zram-control/hot_add").read_text().strip()
        disk = f"/dev/zram{number}"
        pathlib.Path(f"/sys/block/zram{number}/disksize").write_text("256M")
        subprocess.run(["mkswap", disk], check=True, capture_output=True)
        subprocess.run(["swapon", disk], check=True, capture_output=True)
        undo.append(lambda: subprocess.run(["swapoff", disk], check=False, capture_output=True) and None)
        undo.append(lambda: pathlib.Path(f"/sys/block/zram{number}/reset").write_text("1") and None)
        undo.append(lambda: pathlib.Path("/sys/class/zram-control/hot_remove").write_text(number) and None)
    except (OSError, subprocess.SubprocessError):
        pass  # the promise about swap says n/a
    try:
        return run(SUITE, *words(seconds))
    finally:
        for put_back in undo:
            if put_back is not None:
                with contextlib.suppress(OSError):
                    put_back()


@place("no-proc", "this kernel, in a folder with nothing else: no /proc, no /sys (chroot)")
def without_proc(seconds: float) -> str:
    need_root()
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(SUITE, folder)
        return run("chroot", folder, "/zerotax-contract", *words(seconds))


@place("musl", "this kernel, built with musl")
def musl(seconds: float) -> str:
    with built("musl-gcc", "musl-tools") as program:
        return run(program, *words(seconds))


@place("qemu-x86_64", "QEMU's user mode, x86-64 on x86-64")
def qemu_user(seconds: float) -> str:
    return run(needed("qemu-x86_64-static", "qemu-user-static"), SUITE, *words(seconds))


@place("qemu-aarch64", "QEMU's user mode, aarch64 on x86-64")
def qemu_user_aarch64(seconds: float) -> str:
    emulator = needed("qemu-aarch64-static", "qemu-user-static")
    with built("aarch64-linux-gnu-gcc", "gcc-aarch64-linux-gnu") as program:
        return run(emulator, program, *words(seconds))


@place("valgrind", "Valgrind (memcheck)")
def valgrind(seconds: float) -> str:
    return run(needed("valgrind", "valgrind"), "-q", "--log-file=/dev/null", SUITE, *words(seconds))


# Swap in memory, KSM, and room for cgroups; the limit on what may be committed at the end, as nothing else works beside it.
SCRIPT = """mkdir -p /sys/fs/cgroup
mount -t cgroup2 cgroup2 /sys/fs/cgroup && echo +memory > /sys/fs/cgroup/cgroup.subtree_control
echo 10 > /sys/kernel/mm/ksm/sleep_millisecs; echo 2000 > /sys/kernel/mm/ksm/pages_to_scan
echo 1 > /sys/kernel/mm/ksm/run
[ -e /sys/block/zram0/disksize ] && echo 128M > /sys/block/zram0/disksize && mkswap /dev/zram0 && swapon /dev/zram0
echo zerotax-suite-begins
/zerotax-contract {words}
echo zerotax-suite-ends
echo 2 > /proc/sys/vm/overcommit_memory
/zerotax-contract --only enomem-commit
"""


def in_machine(machine: str, program: pathlib.Path, seconds: float) -> str:
    """The suite in a virtual machine with Debian's kernel and two NUMA nodes."""
    text = virtual_machine.run(machine, SCRIPT.format(words=" ".join(words(seconds))), {"/zerotax-contract": program},
                               nodes=2, load=("lzo-rle", "zram"), timeout=1500)
    text, _, after = text.split("zerotax-suite-begins\n")[1].partition("zerotax-suite-ends\n")
    if "enomem-commit" not in after or "broken" in after.split("enomem-commit")[1].splitlines()[0]:
        raise AssertionError(f"with vm.overcommit_memory 2: {after}")
    return text


@place("debian-6.1", "Debian's kernel 6.1 in QEMU, x86-64, two NUMA nodes, swap, KSM, cgroup 2")
def debian(seconds: float) -> str:
    return in_machine("x86_64", SUITE, seconds)


@place("debian-6.1-aarch64", "Debian's kernel 6.1 in QEMU, aarch64, two NUMA nodes, swap, KSM, cgroup 2")
def debian_aarch64(seconds: float) -> str:
    with built("aarch64-linux-gnu-gcc", "gcc-aarch64-linux-gnu") as program:
        return in_machine("aarch64", program, seconds)


def document(name: str, seconds: float) -> dict:
    """What `zerotax contract` says of the suite's results there. Raises Missing."""
    lines = PLACES[name][1](seconds)
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, f"{name}.jsonl")
        file.write_text(lines, encoding="utf-8")
        done = subprocess.run([BUILD / "bin" / "zerotax", "contract", "--results", file, "--json", "-"], stdout=subprocess.PIPE,
                              text=True, check=False)
    if done.returncode not in (0, 1):
        raise AssertionError(f"{name}: {lines[:2000]}")
    found = json.loads(done.stdout)
    # The folder was made for this, and its name is no one's business.
    found["command"] = ["zerotax", "contract", "--results", f"{name}.jsonl", "--json", "-"]
    found["environment"] = {"na": f"the tests ran elsewhere: {name}.jsonl"}
    return found


def write_reports(broken: list[str], folder: pathlib.Path) -> None:
    """A bug report of each promise that QEMU's user mode breaks, with what its program did there and here."""
    version = subprocess.run(["qemu-x86_64-static", "--version"], capture_output=True, text=True, check=True).stdout.split()[2]
    only = [word for promise in broken for word in ("--promise", promise)]
    subprocess.run([BUILD / "bin" / "zerotax", "contract", "--under", "qemu-x86_64-static", *only, "--seconds", "5", "--report",
                    folder, "--subject", f"QEMU {version}, user mode"], stdout=subprocess.DEVNULL, check=False)


def main() -> int:
    """Tests everywhere; returns the exit status."""
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    index = {}
    for name, (what, _) in PLACES.items():
        print(f"contract: {name}", file=sys.stderr)
        index[name] = {"what": what, "na": None}
        try:
            found = document(name, 20)
            (folder / f"{name}.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
        except Missing as missing:
            index[name]["na"] = str(missing)
            continue
        broken = [row["id"] for row in found["promises"] if row["verdict"] == "broken"]
        if name == "qemu-x86_64" and broken:
            write_reports(broken, folder / "reports")
    (folder / "places.json").write_text(json.dumps(index, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
