#!/usr/bin/python3
"""Tests the promises in places other than this kernel: for other users, with other C libraries, in emulators, on other
kernels.

usage: tests/kernel/contract/environments.py FOLDER     tests in every place, and writes a JSON document for each
(places.json has the reason if a place cannot be tested here)
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
    """Registers a function as a place, such as an emulator. The function gets the seconds of a race, and returns the
    suite's output.
    """
    def add(function: Callable[[float], str]) -> Callable[[float], str]:
        PLACES[name] = (what, function)
        return function
    return add


def needed(program: str, package: str) -> str:
    """The path of a program. Raises Missing if there is no such program."""
    found = shutil.which(program)
    if found is None:
        raise Missing(f"{program} is missing: install {package}")
    return found


def need_root() -> None:
    """Raises Missing for an ordinary user."""
    if os.geteuid() != 0:
        raise Missing("only root can do this")


def words(seconds: float) -> list[str]:
    """The words of the suite's command line."""
    return ["--json", "--seconds", f"{seconds:g}"]


def run(*command: object, timeout: float = 900) -> str:
    """Returns a command's output, whatever its exit status is, because status 1 only means a broken promise."""
    return subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, text=True, timeout=timeout,
                          check=False).stdout


@contextlib.contextmanager
def built(compiler: str, package: str) -> Iterator[pathlib.Path]:
    """Builds the suite with another compiler. Raises Missing if the compiler is missing."""
    needed(compiler, package)
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder, "zerotax-contract")
        # musl-gcc does not find the kernel's headers. The suite does not need these headers, because kernel.h has the
        # newer definitions.
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
    """Writes a setting of the kernel, and returns a function that restores it. Returns None if the setting does not
    exist or cannot be written.
    """
    try:
        before = pathlib.Path(path).read_text()
        # In a file such as "always [madvise] never", the word in brackets is the setting.
        before = before.split("[")[1].split("]")[0] if "[" in before else before
        pathlib.Path(path).write_text(value)
    except OSError:
        return None
    return lambda: pathlib.Path(path).write_text(before)


@place("prepared", "this kernel, as root, with KSM, pages of 64 KiB, and swap (zram)")
def prepared(seconds: float) -> str:
    """Switches on features that are off on most machines, runs the suite, and restores all settings afterwards."""
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
        pass  # the promise about swap is then not testable
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


# Prepares swap in memory, KSM and cgroups, and runs the suite. The limit on committed memory comes last, because no
# other step works under that limit.
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
    """Runs the suite in a virtual machine with Debian's kernel and two NUMA nodes."""
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
    """The document of `zerotax contract` from the suite's results in a place. Raises Missing if the place is
    unavailable.
    """
    lines = PLACES[name][1](seconds)
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, f"{name}.jsonl")
        file.write_text(lines, encoding="utf-8")
        done = subprocess.run([BUILD / "bin" / "zerotax", "contract", "--results", file, "--json", "-"], stdout=subprocess.PIPE,
                              text=True, check=False)
    if done.returncode not in (0, 1):
        raise AssertionError(f"{name}: {lines[:2000]}")
    found = json.loads(done.stdout)
    # The document must not contain the name of the temporary folder.
    found["command"] = ["zerotax", "contract", "--results", f"{name}.jsonl", "--json", "-"]
    found["environment"] = {"na": f"the tests ran elsewhere: {name}.jsonl"}
    return found


def write_reports(broken: list[str], folder: pathlib.Path) -> None:
    """Writes a bug report for each promise that QEMU's user mode breaks, with the output of the program under QEMU and
    here.
    """
    version = subprocess.run(["qemu-x86_64-static", "--version"], capture_output=True, text=True, check=True).stdout.split()[2]
    only = [word for promise in broken for word in ("--promise", promise)]
    subprocess.run([BUILD / "bin" / "zerotax", "contract", "--under", "qemu-x86_64-static", *only, "--seconds", "5", "--report",
                    folder, "--subject", f"QEMU {version}, user mode"], stdout=subprocess.DEVNULL, check=False)


def main() -> int:
    """Tests in every place. Returns the exit status."""
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
