"""If an ordinary user damages program files, root's zerotax loses the names in those files, and nothing else."""

import json
import os
import pathlib
import random
import shutil
import signal
import struct
import subprocess
import tempfile
import time
import zlib

import pytest
from conftest import NOBODY, ZEROTAX, clean_environment

HERE = pathlib.Path(__file__).parent
SECTION = struct.Struct("<IIQQQQIIQQ")
COMPRESSED = 0x800
LIMIT_S = 60  # seconds that a command with two seconds of sampling may take on a busy machine


def permitted():
    done = subprocess.run([ZEROTAX, "profile", "--json", "-", "--", "/bin/true"], capture_output=True, check=False)
    return done.returncode != 3


@pytest.fixture(scope="module", autouse=True)
def needs_root():
    if os.geteuid() != 0:
        pytest.skip("only root can watch another user's programs")
    if not shutil.which("cc") or not shutil.which("setpriv"):
        pytest.skip("no cc or setpriv")
    if not permitted():
        pytest.skip("this kernel permits no sampling")


@pytest.fixture(scope="module")
def folder():
    """Makes a folder that the user nobody may read."""
    with tempfile.TemporaryDirectory(prefix="zerotax-hostile-") as name:
        os.chmod(name, 0o755)
        subprocess.run(["cc", "-O1", "-o", f"{name}/run_files", HERE / "run_files.c"], check=True)
        subprocess.run(["cc", "-O1", "-g", "-gz=zlib", "-shared", "-fPIC", "-Wl,--compress-debug-sections=zlib",
                        "-Wl,--build-id", "-o", f"{name}/good.so", HERE / "spin_in_file.c"], check=True)
        yield pathlib.Path(name)


def sections(data):
    """Yields the name of each section, and the position and content of its header."""
    start, = struct.unpack_from("<Q", data, 40)
    count, names = struct.unpack_from("<HH", data, 60)
    headers = [SECTION.unpack_from(data, start + i * SECTION.size) for i in range(count)]
    table = headers[names][4]
    for i, header in enumerate(headers):
        name = data[table + header[0]:data.index(b"\0", table + header[0])].decode()
        yield name, start + i * SECTION.size, header


def function_offset(data):
    """Returns the offset of the function spin_in_file in the file. In this library, the offset is also the function's
    address.
    """
    found = {name: header for name, _, header in sections(data)}
    table, strings = found[".symtab"], found[".strtab"]
    for at in range(table[4], table[4] + table[5], 24):
        name, _, _, _, value, _ = struct.unpack_from("<IBBHQQ", data, at)
        begin = strings[4] + name
        if data[begin:data.index(b"\0", begin)] == b"spin_in_file":
            return value
    raise AssertionError("no spin_in_file")


def damage(data, chance):
    """Returns a copy whose headers and tables are damaged, but whose code is intact."""
    parts = [(0, 64), (64, 56 * struct.unpack_from("<H", data, 56)[0])]
    parts += [(header[4], header[5]) for name, _, header in sections(data) if header[1] != 8 and name != ".text"]
    parts += [(at, SECTION.size) for _, at, _ in sections(data)]
    copy = bytearray(data)
    for _ in range(chance.randint(1, 12)):
        begin, size = chance.choice(parts)
        if size == 0:
            continue
        width = chance.choice([1, 2, 4, 8])
        at = min(begin + chance.randrange(size) // width * width, len(copy) - width)
        if not any(name == ".text" and header[4] <= at + width and at < header[4] + header[5]
                   for name, _, header in sections(data)):
            value = chance.choice([0, 1, 0xff, 0x7fffffff, 0xffffffff, 2**63, 2**64 - 1, len(data), chance.getrandbits(64)])
            copy[at:at + width] = (value % 256**width).to_bytes(width, "little")
    return bytes(copy)


def bomb(data, claimed, real):
    """Returns a copy whose compressed debug information claims `claimed` bytes, and unpacks to `real` bytes."""
    copy = bytearray(data)
    for name, at, header in sections(data):
        if not name.startswith(".debug_") or not header[2] & COMPRESSED:
            continue
        squeeze = zlib.compressobj(1)
        block = squeeze.compress(bytes(1 << 20)) + squeeze.flush(zlib.Z_FULL_FLUSH)
        again = squeeze.compress(bytes(1 << 20)) + squeeze.flush(zlib.Z_FULL_FLUSH)
        packed = struct.pack("<IIQQ", 1, 0, claimed, 1) + block + again * ((real >> 20) - 1)
        fields = list(header)
        fields[4:6] = [len(copy), len(packed)]
        copy[at:at + SECTION.size] = SECTION.pack(*fields)
        copy += packed
    return bytes(copy)


def odd_build_id(data, size):
    """Returns a copy whose build-id note claims `size` bytes."""
    copy = bytearray(data)
    for name, _, header in sections(data):
        if name == ".note.gnu.build-id":
            struct.pack_into("<I", copy, header[4] + 4, size)
    return bytes(copy)


class Attacker:
    """A process that belongs to the user nobody and executes files."""

    def __init__(self, folder, names):
        offset = function_offset((folder / "good.so").read_bytes())
        self.process = subprocess.Popen(  # pylint: disable=consider-using-with
            [*NOBODY, folder / "run_files", hex(offset), *names], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self.process.stdout.readline() == b"ready\n"

    def __enter__(self):
        return self.process

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


def watch(folder, command, pid, during=None):
    """Returns the findings of `zerotax COMMAND --pid` after two seconds, and its output. The command must need little
    time and little memory.
    """
    out = folder / "found.json"
    out.unlink(missing_ok=True)
    with open(folder / "printed", "w+", encoding="utf-8") as printed:
        begin = time.monotonic()
        words = [ZEROTAX, command, "--pid", str(pid), "--seconds", "2" if during is None else "5", "--json", out]
        with subprocess.Popen(words, stdout=printed, stderr=printed, env=clean_environment()) as run:
            if during:
                during(run.pid)
            _, status, used = os.wait4(run.pid, 0)
            run.returncode = os.waitstatus_to_exitcode(status)
        text = (folder / "printed").read_text(encoding="utf-8")
        assert run.returncode == 0, text
        assert time.monotonic() - begin < LIMIT_S
        assert used.ru_maxrss < 1 << 20, "of KiB"
    return json.loads(out.read_text()), text


def names_in(found):
    return {(entry["function"], entry["module"]) for entry in found["top_of_stack"]}


@pytest.mark.parametrize("command", ["profile", "record"])
def test_damaged_files_cost_their_own_names_only(folder, command):
    data = (folder / "good.so").read_bytes()
    chance = random.Random(58)
    files = {f"damaged-{i}.so": damage(data, chance) for i in range(150)}
    files["bomb.so"] = bomb(data, 900 << 20, 900 << 20)
    files["claim.so"] = bomb(data, 1 << 40, 1 << 20)
    files.update({f"id-{size:x}.so": odd_build_id(data, size) for size in (0, 1, 3, 21, 2**31, 2**32 - 1)})
    for name, contents in files.items():
        (folder / name).write_bytes(contents)
    # The intact file runs as often as all damaged files together, so that it is sampled.
    names = [name for each in files for name in (each, "good.so")]
    with Attacker(folder, names) as attacker:
        found, text = watch(folder, command, attacker.pid)
    # record samples page faults and stores of zeros, and this program has few of both.
    if command == "profile":
        assert ("spin_in_file", "good.so") in names_in(found), text


def reader_of(zerotax):
    """Returns the PID of the process that reads program files for a zerotax."""
    until = time.monotonic() + 30
    while time.monotonic() < until:
        for task in pathlib.Path(f"/proc/{zerotax}/task").glob("*/children"):
            try:
                children = task.read_text(encoding="ascii").split()
            except OSError:
                continue
            for child in children:
                try:
                    name = pathlib.Path(f"/proc/{child}/comm").read_text(encoding="ascii")
                    state = pathlib.Path(f"/proc/{child}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()[0]
                except OSError:
                    continue
                if name == "read-files\n" and state != "Z":
                    return int(child)
        time.sleep(0.02)
    raise AssertionError("no read-files")


def test_the_reader_has_no_rights(folder):
    seen = {}
    filtered = "2" if pathlib.Path("/proc/sys/kernel/seccomp").exists() else "0"

    def look(zerotax):
        until = time.monotonic() + 30
        # The reader process first drops its privileges, one after the other.
        while time.monotonic() < until and (seen.get("NoNewPrivs"), seen.get("Seccomp")) != ("1", filtered):
            seen.clear()
            status = pathlib.Path(f"/proc/{reader_of(zerotax)}/status").read_text(encoding="ascii")
            seen.update(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
            time.sleep(0.05)

    with Attacker(folder, ["good.so"]) as attacker:
        watch(folder, "profile", attacker.pid, look)
    users = set(seen["Uid"].split()) | set(seen["Gid"].split())
    assert len(users) == 1 and not users & {"0", "65534"}
    assert seen["NoNewPrivs"] == "1"
    assert int(seen["CapEff"], 16) == int(seen["CapPrm"], 16) == 0
    assert seen["Seccomp"] == filtered


def test_a_reader_that_is_killed_or_stopped_is_replaced(folder):
    def disturb(zerotax):
        for each in (signal.SIGSEGV, signal.SIGSTOP, signal.SIGKILL):
            reader = reader_of(zerotax)
            os.kill(reader, each)
            until = time.monotonic() + 30
            # zerotax notices the reader's death only at the next request. If no request follows, zerotax may end
            # without noticing.
            while time.monotonic() < until and pathlib.Path(f"/proc/{zerotax}/stat").exists():
                if not running(reader):
                    break
                time.sleep(0.02)

    with Attacker(folder, ["good.so"]) as attacker:
        found, text = watch(folder, "profile", attacker.pid, disturb)
    assert ("spin_in_file", "good.so") in names_in(found), text


def running(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False
