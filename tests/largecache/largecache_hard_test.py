"""liblargecache.so is preloaded into programs that mistreat their blocks, their process or the allocator. The programs
run as root and as the user nobody. Cases that need no whole process are in tests/largecache/largecache_hard_*_test.cc.
"""

import os
import pathlib
import shutil
import subprocess
import tempfile

import pytest

from conftest import NOBODY
from preloading import LIBRARY, REPOSITORY, is_built, needs, run

pytestmark = [is_built, needs("gcc")]

HERE = pathlib.Path(__file__).parent
POLICIES = ["memset", "dirty", "purge", "adaptive"]
ALL_POLICIES = ["libmalloc-116", "libmalloc-283", "xzone-792", "unmap", *POLICIES]
CASES = ["ordinary", "forbidden_ioctl", "closed_descriptors", "no_descriptors", "locked_memory", "offered", "read_only",
         "shared_in_part", "unmapped_in_part", "forks_among_threads", "clones", "first_thread_ends", "address_space"]


@pytest.fixture(scope="module")
def programs():
    folder = pathlib.Path(tempfile.mkdtemp(prefix="largecache_hard_", dir="/tmp"))
    folder.chmod(0o755)  # so that the user nobody can enter the folder
    for name in ("hard", "misuse"):
        subprocess.run(["gcc", "-O1", "-w", "-fno-builtin", f"-I{REPOSITORY / 'allocators' / 'largecache'}", "-o", folder / name,
                        HERE / f"largecache_{name}_program.c", "-pthread", "-ldl"], check=True)
    yield folder
    shutil.rmtree(folder)


def users():
    return [pytest.param((), id="oneself"),
            pytest.param(tuple(NOBODY), id="nobody",
                         marks=[pytest.mark.skipif(os.getuid() != 0, reason="only root can become the user nobody"),
                                pytest.mark.long("as another user")])]


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("prefix", users())
def test_a_dirty_block_comes_back_zero_whatever_was_done(programs, prefix, policy):
    if prefix and subprocess.run([*prefix, "test", "-r", LIBRARY], check=False).returncode != 0:
        pytest.skip(f"{LIBRARY} is not readable for everybody")
    for case in CASES:
        done = run([programs / "hard", case], prefix=prefix, LARGECACHE_POLICY=policy)
        # The user nobody may lock only as much memory as a limit allows.
        allowed = (0, 77) if case == "locked_memory" else (0,)
        assert done.returncode in allowed, (case, done.returncode, done.stderr.decode())
        assert done.stderr == b"", case


LARGECACHES = {
    "double-free": "double free: block 0x", "interior-page": "free: 0x", "interior-page-dirty": "free: 0x", "mmap": "free: 0x",
    "mmap-middle": "free: 0x", "realloc-freed": "realloc", "realloc-interior": "realloc: 0x",
    "usable-freed": "malloc_usable_size"}
GLIBCS = {
    "stack": "free(): invalid pointer", "interior": "free(): invalid pointer",
    "interior-dirty": "munmap_chunk(): invalid pointer",
    "header": "corruption", "header-zero": "free(): invalid pointer", "double-small": "free(): double free"}


@pytest.mark.parametrize("policy", ALL_POLICIES)
def test_misuse_aborts_with_a_message(programs, policy):
    for what, said in {**LARGECACHES, **GLIBCS}.items():
        done = run([programs / "misuse", what], LARGECACHE_POLICY=policy, LARGECACHE_THRESHOLD="128KiB")
        errors = done.stderr.decode()
        assert done.returncode == -6, (what, done.returncode, errors)
        assert errors.count("\n") == 1, (what, errors)
        if what in GLIBCS:
            assert said in errors, (what, errors)
        else:
            # A block that has left the cache is reported as no block.
            assert errors.startswith("largecache: ") and (said in errors or "is not a live block" in errors), (what, errors)
