"""Tests copies after a fork in Python and Ruby of a bare Debian sid. The test needs root, debootstrap, unshare and a
mirror.
"""

import os
import shutil
import tempfile

import pytest
from advising import advise
from bare_debian import bare
from python_lists import FEW, FORKED_LISTS, LIST_PAGES, children, lists, writers

pytestmark = [
    pytest.mark.skipif(os.geteuid() != 0, reason="only root can chroot"),
    pytest.mark.skipif(any(shutil.which(tool) is None for tool in ("debootstrap", "unshare")),
                       reason="install debootstrap and util-linux"),
    pytest.mark.timeout(900),
]
# Mounts the temporary folder, where the test and advise write files, into the bare system.
ENTER = 'mount --bind "$0" "$1$0" && mount -t proc proc "$1/proc" && shift && exec "$@"'
SHARED = ["--goal", "shared", "--rounds", "10"]
# Most strings are dead at the fork, so the live strings lie on many pages.
STRINGS = """
kept = Array.new(400_000) { |i| "str #{i}" }
kept = kept.each_with_index.select { |_, i| i % 4 == 0 }.map(&:first)
2.times do
  Process.wait(fork { Array.new(100_000) { |i| "other #{i}" }; GC.start; exit!(0) })
end
"""


@pytest.fixture(scope="module", name="system")
def newest_system():
    """Returns the system's folder, and a command prefix that mounts /proc and temporary files in it."""
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
    script.write_text(FORKED_LISTS)
    found = advise("chroot", folder, "/usr/bin/python3", script, "collect", options=SHARED, prefix=prefix)
    assert found.advice["remedy"] == "gc.freeze() before fork", found.out
    assert found.remedy("gc.freeze() before fork")["ratios"]["shared"]["high"] < 0.1


def test_warmup_keeps_the_newest_ruby_shared(system, tmp_path):
    folder, prefix = system
    script = tmp_path / "script"
    script.write_text(STRINGS)
    found = advise("chroot", folder, "/usr/bin/ruby", script, options=SHARED, prefix=prefix)
    assert found.advice["remedy"] == "Process.warmup before fork", found.out
    assert found.remedy("Process.warmup before fork")["ratios"]["shared"]["high"] < 0.3
