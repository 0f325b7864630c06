"""Copies after a fork in the newest Python and Ruby that Debian has, in a bare system of Debian's release in
development. Needs root, debootstrap and a mirror.
"""

import os
import shutil
import tempfile

import pytest
from advising import advise
from bare_debian import bare
from python_lists import FEW, LIST_PAGES, children, lists, writers

pytestmark = [
    pytest.mark.skipif(os.geteuid() != 0, reason="only root can change its root folder"),
    pytest.mark.skipif(any(shutil.which(tool) is None for tool in ("debootstrap", "unshare")),
                       reason="install debootstrap and util-linux"),
    pytest.mark.timeout(900),
]
# The files that the test and advise write for the program lie in the folder of temporary files.
ENTER = 'mount --bind "$0" "$1$0" && mount -t proc proc "$1/proc" && shift && exec "$@"'
SHARED = ["--goal", "shared", "--rounds", "10"]
COLLECT = """
import gc, os
lists = [[] for _ in range(200_000)]
gc.collect()
if os.fork() == 0:
    gc.collect()
    os._exit(0)
os.wait()
"""
# Most strings have died when the program forks, so those that live lie on many pages.
STRINGS = """
kept = Array.new(400_000) { |i| "str #{i}" }
kept = kept.each_with_index.select { |_, i| i % 4 == 0 }.map(&:first)
2.times do
  Process.wait(fork { Array.new(100_000) { |i| "other #{i}" }; GC.start; exit!(0) })
end
"""


@pytest.fixture(scope="module", name="system")
def newest_system():
    """Returns the folder of the system, and the prefix of a command that runs programs of the system."""
    folder = bare("sid", ("python3", "ruby"))
    return folder, ["unshare", "--mount", "--propagation", "private", "sh", "-c", ENTER, tempfile.gettempdir(), str(folder)]


@pytest.mark.parametrize("words, writer", [(("collect",), "garbage collector"), (("iterate", "freeze"), "reference counts"),
                                           (("collect", "freeze"), "")])
def test_writers_of_the_newest_python(system, words, writer):
    folder, prefix = system
    report, private, _ = lists(*words, prefix=prefix, python=("chroot", folder, "/usr/bin/python3"))
    if writer:
        assert private >= LIST_PAGES and abs(children(report) - private) <= FEW
        assert writers(report)[writer] >= 0.9 * children(report), report["writers"]
    else:
        assert private < FEW and children(report) < 2 * FEW


def test_gc_freeze_keeps_the_newest_python_shared(system, tmp_path):
    folder, prefix = system
    script = tmp_path / "script"
    script.write_text(COLLECT)
    found = advise("chroot", folder, "/usr/bin/python3", script, options=SHARED, prefix=prefix)
    assert found.advice["remedy"] == "gc.freeze() before fork", found.out
    assert found.remedy("gc.freeze() before fork")["ratios"]["shared"]["high"] < 0.1


def test_warmup_keeps_the_newest_ruby_shared(system, tmp_path):
    folder, prefix = system
    script = tmp_path / "script"
    script.write_text(STRINGS)
    found = advise("chroot", folder, "/usr/bin/ruby", script, options=SHARED, prefix=prefix)
    assert found.advice["remedy"] == "Process.warmup before fork", found.out
    assert found.remedy("Process.warmup before fork")["ratios"]["shared"]["high"] < 0.3
