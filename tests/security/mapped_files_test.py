"""In its own mount namespace, a process puts something else at the path of a file that it has mapped. Root's command
neither hangs nor opens the replacement, and still names the functions of the mapped file.
"""

import os

import pytest
from attacking import HERE, MARKER, PYTHON, Opened, attacker, compiled, ends, make_device, memory_folder, root_only

pytestmark = root_only
ATTEMPTS = 5
COMMANDS = {
    "record": ["record", "--seconds", 0.5, "--json", "-", "--pid"],
    "profile": ["profile", "--seconds", 0.5, "--json", "-", "--pid"],
    "cow": ["cow", "--seconds", 0.5, "--stacks", "--json", "-", "--pid"],
    "record --all": ["record", "--seconds", 0.5, "--json", "-", "--all"],
    "top": ["top", "--once", "--json", "-", "--rows", 5],
}


@pytest.fixture(scope="module", name="attack")
def attacking_process():
    with memory_folder() as shared, memory_folder() as folder:
        library = compiled(shared, "spin.c", "spin.so", "-shared", "-fPIC")
        secret = compiled(shared, "spin.c", "secret.so", "-shared", "-fPIC", "-DSECRET")
        # Uses up the inode numbers that the attacker's next files would get.
        for i in range(50):
            os.mkdir(f"{shared}/{i}")
        for name in ("device", "device_link"):
            make_device(f"{shared}/{name}")
        for name in ("secret", "secret_link"):
            with open(secret, "rb") as file, open(f"{shared}/{name}", "wb") as copy:
                copy.write(file.read())
            os.chmod(f"{shared}/{name}", 0o600)
        os.unlink(secret)
        with attacker(PYTHON, HERE / "lays_files.py", folder, library, shared) as pid:
            yield pid, [f"{shared}/{name}" for name in ("device", "device_link")]


@pytest.mark.parametrize("command", COMMANDS)
def test_what_lies_at_the_name_of_a_mapped_file_is_left_alone(attack, command):
    pid, devices = attack
    words = COMMANDS[command]
    opened = Opened(*devices)
    for _ in range(ATTEMPTS):
        text = ends(*words, *([pid] if words[-1] == "--pid" else []))
        assert opened.names() == set()
        assert MARKER not in text
        # On a busy machine, the program may not run within half a second.
        if command == "top" or "hostile_spin" in text:
            return
    pytest.fail(f"{command} does not name what is mapped: {text}")


def test_the_attack_is_one(attack):
    """The files at these paths have the inode numbers of the mapped files."""
    pid, devices = attack
    with open(f"/proc/{pid}/maps", encoding="utf-8") as maps:
        mapped = {line.split()[5].rsplit("/", 1)[1]: int(line.split()[4]) for line in maps
                  if line.rstrip().endswith(".so") and "zerotax-security" in line}
    assert {"pipe.so", "device.so", "secret_link.so"} <= mapped.keys()
    assert mapped["device.so"] == os.stat(devices[0]).st_ino
    with open(f"/proc/{pid}/maps", encoding="utf-8") as maps:
        folder = next(line.split()[5] for line in maps if line.rstrip().endswith("/pipe.so")).rsplit("/", 1)[0]
    assert os.lstat(f"/proc/{pid}/root{folder}/pipe.so").st_ino == mapped["pipe.so"]
