"""The allocators of this build with their versions, and marks that skip the tests of missing allocators."""

import os
import subprocess

import pytest
from conftest import BUILD, clean_environment, zerotax

LISTED = zerotax("list").stdout


def version_of(name):
    for line in LISTED.splitlines():
        words = line.split()
        if words[:1] == [name] and "not in this build" not in line:
            return words[1]
    return None


def available(name):
    return pytest.mark.skipif(version_of(name) is None, reason=f"this build has no {name}: see `zerotax list`")


def only_version(name, version):
    return pytest.mark.skipif(
        version_of(name) != version,
        reason=f"the numbers hold for {name} {version}, but this build has {version_of(name)}")


def library_of(name):
    """Returns the shared library whose malloc the linked probe runs."""
    answer = subprocess.run(
        [BUILD / "bin" / f"bench-{name}", "--zerotax-identify"], env=clean_environment(), capture_output=True,
        text=True, check=True)
    # The loader names the library relative to the folder of the probe.
    return os.path.normpath(dict(line.split("=", 1) for line in answer.stdout.splitlines())["malloc"])
