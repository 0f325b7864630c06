"""A mapped file names a file of debug information (.gnu_debuglink, .gnu_debugaltlink), but something else has that
file's path. No command hangs, opens a device, or shows data that the process's user may not read. The same holds if a
command starts the program itself.
"""

import os
import socket
import subprocess
import zlib

import pytest
from attacking import MARKER, NOBODY, Opened, attacker, compiled, ends, make_device, memory_folder, root_only
from conftest import skip_if_unreadable

pytestmark = root_only
ATTEMPTS = 5


def with_section(library, name, text):
    blob = f"{library}.section"
    with open(blob, "wb") as file:
        file.write(text)
    subprocess.run(["objcopy", f"--add-section={name}={blob}", library], check=True, timeout=60)


def link_section(name, checksum):
    text = name.encode() + b"\0"
    return text + b"\0" * (-len(text) % 4) + checksum.to_bytes(4, "little")


def stripped(folder, name, link, checksum=1):
    """Makes a library without names, whose link points to a debug file of the given name."""
    library = compiled(folder, "spin.c", f"{name}.so", "-shared", "-fPIC", "-Wl,--build-id=none", "-DHIDDEN", "-DSECRET")
    subprocess.run(["objcopy", "--only-keep-debug", library, f"{library}.debug"], check=True, timeout=60)
    subprocess.run(["strip", library], check=True, timeout=60)
    with open(f"{library}.debug", "rb") as file:
        names = file.read()
    os.unlink(f"{library}.debug")
    with_section(library, ".gnu_debuglink", link_section(link, checksum or zlib.crc32(names)))
    return library, names


def lay(folder, shared):
    """Makes the files and libraries, and returns the libraries."""
    os.mkdir(f"{folder}/.debug")
    os.mkdir(f"{folder}/sub")
    os.mkfifo(f"{folder}/pipe.debug")
    os.mkfifo(f"{folder}/.debug/below.debug")
    os.mkfifo(f"{folder}/sub/path.debug")
    os.mkfifo(f"{folder}/shared.debug")
    os.mkdir(f"{folder}/folder.debug")
    make_device(f"{shared}/device")
    os.symlink(f"{shared}/device", f"{folder}/device.debug")
    with open(f"{folder}/huge.debug", "wb") as file:
        file.write(b"\x7fELF")
        file.truncate(200 << 30)
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(f"{folder}/socket.debug")
    libraries = [stripped(folder, name, f"{name}.debug")[0]
                 for name in ("pipe", "below", "device", "huge", "folder", "socket")]
    libraries.append(stripped(folder, "path", "sub/path.debug")[0])
    # The secret names are in a file that belongs to root. The link's checksum matches this file.
    secret, names = stripped(folder, "secret", "secret.debug", checksum=0)
    with open(f"{shared}/secret.debug", "wb") as file:
        file.write(names)
    os.chmod(f"{shared}/secret.debug", 0o600)
    os.symlink(f"{shared}/secret.debug", f"{folder}/secret.debug")
    whole = compiled(folder, "spin.c", "whole.so", "-shared", "-fPIC", "-Wl,--build-id=none")
    with_section(whole, ".gnu_debugaltlink", b"shared.debug\0" + bytes(range(20)))
    libraries += [secret, whole]
    for parent, folders, files in os.walk(folder):
        for name in ["", *folders, *files]:
            os.chown(os.path.join(parent, name), 65534, 65534, follow_symlinks=False)
    return libraries


@pytest.fixture(scope="module", name="attack")
def laid_files():
    with memory_folder() as shared, memory_folder() as folder:
        libraries = lay(folder, shared)
        program = compiled(shared, "links_debug_files.c", "links", "-ldl")
        yield [program, libraries], f"{shared}/device"


def check(device, *words, **how):
    opened = Opened(device)
    for _ in range(ATTEMPTS):
        text = ends(*words, **how)
        assert opened.names() == set()
        assert MARKER not in text
        # Only the last library contains its own function names. On a busy machine, the program may not run within half
        # a second.
        if "hostile_spin" in text:
            return
    pytest.fail(f"a library with names is not named: {text}")


@pytest.mark.parametrize("words", [
    ("record", "--seconds", 0.5, "--json", "-", "--pid"), ("profile", "--seconds", 0.5, "--json", "-", "--pid"),
    ("cow", "--seconds", 0.5, "--stacks", "--json", "-", "--pid"), ("record", "--seconds", 0.5, "--json", "-", "--all")],
    ids=["record", "profile", "cow", "record --all"])
def test_what_a_mapped_file_names_is_left_alone(attack, words):
    [program, libraries], device = attack
    with attacker(program, 0, *libraries) as pid:
        check(device, *words, *([pid] if words[-1] == "--pid" else []))


@pytest.mark.parametrize("command", ["record", "profile"])
def test_an_untrusted_program_holds_up_nobody_who_starts_it(attack, command):
    skip_if_unreadable()
    [program, libraries], device = attack
    check(device, command, "--json", "-", "--", program, 40, *libraries, prefix=NOBODY)
