"""zerotax-guest-init, the first process of a virtual machine, does nothing outside a virtual machine. Otherwise, if a
user started the program by hand, it would mount over /dev and switch the machine off. The test starts it only in a PID
namespace, where reboot(2) only ends the namespace.
"""

import os
import pathlib
import shutil
import stat
import subprocess

import pytest
from conftest import BUILD

INIT = BUILD / "libexec" / "zerotax-guest-init"
# In a PID namespace, reboot(RB_POWER_OFF) sends SIGINT to the first process.
NAMESPACE = ["unshare", "--mount", "--pid", "--fork", "--mount-proc", "--propagation", "private"]
TOKEN = "0123456789abcdef0123456789abcdef"

pytestmark = pytest.mark.skipif(not INIT.exists(), reason="this build has no zerotax-guest-init")


@pytest.fixture(name="namespace", scope="module")
def namespace_or_skip():
    if os.geteuid() != 0 or subprocess.run([*NAMESPACE, "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("needs root, and a PID namespace")


def did_nothing(done):
    assert done.returncode == 2, done
    assert done.stderr.startswith("zerotax-guest-init: ") and len(done.stderr.splitlines()) == 1, done.stderr


def run(*words):
    return subprocess.run(words, capture_output=True, text=True, check=False, timeout=60, stdin=subprocess.DEVNULL)


@pytest.mark.usefixtures("namespace")
def test_run_by_hand_it_neither_mounts_nor_switches_off():
    done = run(*NAMESPACE, "sh", "-c", '"$1"; status=$?; grep -c devtmpfs /proc/mounts; exit $status', "sh", INIT)
    did_nothing(done)
    before = run(*NAMESPACE, "grep", "-c", "devtmpfs", "/proc/mounts").stdout
    assert done.stdout == before


@pytest.mark.usefixtures("namespace")
def test_as_the_first_process_of_a_container_it_does_nothing():
    did_nothing(run(*NAMESPACE, INIT))


@pytest.mark.usefixtures("namespace")
@pytest.mark.parametrize("proc", [True, False], ids=["with /proc", "without /proc"])
@pytest.mark.parametrize("command_line", [None, f"quiet zerotax.token={TOKEN}\n"], ids=["real", "forged"])
def test_a_root_that_looks_like_its_archive_is_not_enough(tmp_path, proc, command_line):
    """The program is the first process of a namespace, and its root has the files of the archive. An attacker who made
    that root may also forge /proc/cmdline.
    """
    for name in ("proc", "dev", "modules"):
        (tmp_path / name).mkdir()
    shutil.copy(INIT, tmp_path / "init")
    (tmp_path / "token").write_text(TOKEN)
    (tmp_path / "job").write_bytes(b"0\0000\000/\000\0000\000/init\000")
    (tmp_path / "cmdline").write_text(command_line or "")
    script = "mount --bind $1 $1 && " + ("mount -t proc proc $1/proc && " if proc else "")
    if command_line and proc:
        script += "mount --bind $1/cmdline $1/proc/cmdline && "
    did_nothing(run(*NAMESPACE, "sh", "-c", script + "exec chroot $1 /init", "sh", tmp_path))


def test_no_path_and_no_completion_offers_it():
    """README puts build/bin on PATH, so helper programs must not be in this folder."""
    kinds = ("zerotax", "fork-", "run-", "replay-", "recv-")
    offered = [path.name for path in (BUILD / "bin").iterdir() if path.name.startswith(kinds)]
    assert sorted(offered) in (["zerotax"], ["zerotax", "zerotax-contract"])


def test_what_is_installed_offers_it_neither(tmp_path):
    done = run("cmake", "--install", BUILD, "--prefix", tmp_path)
    assert done.returncode == 0, done.stderr
    found = [path.relative_to(tmp_path) for path in tmp_path.rglob("zerotax-guest-init")]
    assert found == [pathlib.Path("lib/zerotax/libexec/zerotax-guest-init")]
    for program in (tmp_path / "lib/zerotax/libexec").iterdir():
        assert stat.S_IMODE(program.stat().st_mode) & 0o6000 == 0, f"{program} is a setuid or setgid program"
        assert not (tmp_path / "lib/zerotax/bin" / program.name).exists()
