"""Signal handlers that allocate and free blocks while liblargecache.so works for the same thread. POSIX does not allow
this, but programs do it, and the library must not hang.
"""

import pathlib
import subprocess
import time

import pytest

from conftest import mostly_long
from preloading import is_built, needs, run

pytestmark = [is_built, needs("gcc")]

HERE = pathlib.Path(__file__).parent
POLICIES = ["libmalloc-116", "libmalloc-283", "xzone-792", "unmap", "purge", "memset", "dirty", "adaptive"]


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    path = tmp_path_factory.mktemp("signals") / "signals"
    subprocess.run(["gcc", "-O1", "-w", "-fno-builtin", "-o", path, HERE / "largecache_signals_program.c", "-pthread", "-lrt"],
                   check=True)
    return path


@pytest.mark.parametrize(("policy", "threads"), mostly_long(
    [(policy, threads) for policy in POLICIES for threads in (1, 3)],
    [("libmalloc-116", 1), ("libmalloc-116", 3), ("xzone-792", 1), ("adaptive", 3)], "the same under another policy"))
def test_a_handler_amid_the_allocators_own_work_is_served(program, policy, threads):
    interruptions = 20
    begin = time.monotonic()
    done = run([program, str(threads), str(interruptions)], LARGECACHE_POLICY=policy, LARGECACHE_THRESHOLD="128KiB")
    assert done.returncode == 0, done.stderr.decode()
    amid, handled = map(int, done.stdout.split())
    # Without a request during the allocator's own work, the test would prove nothing. The C library serves such
    # requests. Unless time runs out, there are as many interruptions as requested.
    assert done.stderr == b"" and 1 <= amid <= handled * 4
    assert amid >= interruptions or time.monotonic() - begin >= 9
