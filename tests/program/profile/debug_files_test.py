"""Names of functions that are only in a file of debug information. The names must be found if the file is in a
permitted folder.
"""

import contextlib
import os
import shutil
import subprocess

import pytest
from attacking import root_only
from conftest import ZEROTAX, clean_environment
from outside import open_folder
from waiting import wait_for

PROGRAM = r"""
static __attribute__((noinline)) void named_elsewhere(long times) { for (volatile long i = 0; i < times; ++i) {} }
int main(int count, char** words) { (void)words; for (;;) named_elsewhere(count * 100000L); }
"""
BUILD_ID = "--build-id=sha1"


@contextlib.contextmanager
def program(build_id, add_link=True):
    """Builds a stripped program that links to the debug file prog.debug, which is next to the program."""
    with open_folder() as folder:
        (folder / "prog.c").write_text(PROGRAM)
        subprocess.run(["gcc", "-O1", "-g", f"-Wl,{build_id}", "-o", "prog", "prog.c"], cwd=folder, check=True, timeout=120)
        subprocess.run(["objcopy", "--only-keep-debug", "prog", "prog.debug"], cwd=folder, check=True, timeout=60)
        subprocess.run(["strip", "prog"], cwd=folder, check=True, timeout=60)
        if add_link:
            subprocess.run(["objcopy", "--add-gnu-debuglink=prog.debug", "prog"], cwd=folder, check=True, timeout=60)
        yield folder


def is_named(path, prefix=()):
    """Returns whether `profile --pid` of the program finds the function's name."""
    with subprocess.Popen([*prefix, path], env=clean_environment()) as run:
        try:
            assert wait_for(lambda: os.readlink(f"/proc/{run.pid}/exe").endswith("/prog"))
            done = subprocess.run([ZEROTAX, "profile", "--seconds", "0.3", "--json", "-", "--pid", str(run.pid)],
                                  capture_output=True, text=True, check=False, timeout=100, env=clean_environment())
        finally:
            run.kill()
    if done.returncode == 3:
        pytest.skip("this kernel permits no sampling")
    assert done.returncode == 0, done.stderr
    return "named_elsewhere" in done.stdout


@pytest.mark.parametrize("build_id", [BUILD_ID, "--build-id=none"])
@pytest.mark.parametrize("place", ["prog.debug", ".debug/prog.debug"])
def test_the_file_lies_beside_the_program(build_id, place):
    with program(build_id) as folder:
        os.makedirs(folder / ".debug")
        (folder / "prog.debug").rename(folder / place)
        assert is_named(folder / "prog")
        # Changes the debug file, so that its checksum or build-id no longer matches.
        with open(folder / place, "r+b") as file:
            data = bytearray(file.read().replace(b"named_elsewhere", b"named_elsewhat_"))
            if build_id == BUILD_ID:
                at = data.index(b"GNU\0") + 4
                data[at:at + 20] = bytes(20)
            file.seek(0)
            file.write(data)
        assert not is_named(folder / "prog")


def test_a_link_beside_the_program_is_followed():
    with program(BUILD_ID) as folder:
        (folder / "prog.debug").rename(folder / "elsewhere")
        (folder / "prog.debug").symlink_to("elsewhere")
        assert is_named(folder / "prog")


@root_only
def test_the_file_of_a_program_in_a_container_lies_beside_it():
    container = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "unshare", "-rm"]
    if subprocess.run([*container, "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("a user namespace is not permitted, as in a chroot")
    with program("--build-id=none") as folder:
        inside = folder / "root" / "own"
        os.makedirs(inside)
        for name in ("prog", "prog.debug"):
            (folder / name).rename(inside / name)
        with open("/proc/self/maps", encoding="utf-8") as maps:
            loader = next(line.split()[5] for line in maps if "/ld-" in line)
        needed = {loader, os.path.realpath(loader)}
        for line in subprocess.run(["ldd", inside / "prog"], capture_output=True, text=True, check=True).stdout.splitlines():
            needed |= {word for word in line.split() if word.startswith("/")}
        for path in needed:
            os.makedirs(f"{folder}/root{os.path.dirname(path)}", exist_ok=True)
            shutil.copy(path, f"{folder}/root{path}")
        assert is_named("/own/prog", [*container, "chroot", folder / "root"])


@root_only
@pytest.mark.parametrize("owner", [0, 65534])
def test_the_system_s_file_is_found_by_the_build_id(owner):
    with program(BUILD_ID, add_link=False) as folder:
        notes = subprocess.run(["readelf", "-n", folder / "prog"], capture_output=True, text=True, check=True).stdout
        build_id = notes.split("Build ID:", 1)[1].split()[0]
        os.chown(folder / "prog.debug", owner, owner)
        place = f"/usr/lib/debug/.build-id/{build_id[:2]}"
        script = (f"mount -t tmpfs t /usr/lib/debug && mkdir -p {place} && cp -p {folder}/prog.debug "
                  f"{place}/{build_id[2:]}.debug && rm {folder}/prog.debug && exec \"$@\"")
        os.makedirs("/usr/lib/debug", exist_ok=True)
        with subprocess.Popen([folder / "prog"]) as run:
            try:
                assert wait_for(lambda: os.readlink(f"/proc/{run.pid}/exe").endswith("/prog"))
                done = subprocess.run(["unshare", "-m", "sh", "-c", script, "sh", ZEROTAX, "profile", "--seconds", "0.3",
                                       "--json", "-", "--pid", str(run.pid)], capture_output=True, text=True, check=False,
                                      timeout=100, env=clean_environment())
            finally:
                run.kill()
        assert done.returncode == 0, done.stderr
        assert ("named_elsewhere" in done.stdout) == (owner == 0), "only what belongs to root is the system's"


def test_a_program_that_was_deleted_is_named():
    with program(BUILD_ID) as folder:
        subprocess.run(["gcc", "-O1", "-g", "-o", "whole", "prog.c"], cwd=folder, check=True, timeout=120)
        with subprocess.Popen([folder / "whole"]) as run:
            try:
                (folder / "whole").unlink()
                done = subprocess.run([ZEROTAX, "profile", "--seconds", "0.3", "--json", "-", "--pid", str(run.pid)],
                                      capture_output=True, text=True, check=False, timeout=100, env=clean_environment())
            finally:
                run.kill()
        if done.returncode == 3:
            pytest.skip("this kernel permits no sampling")
        # The program's file was deleted, and only root may read it through the mapping.
        assert ("named_elsewhere" in done.stdout) == (os.geteuid() == 0)
