"""Bare systems of Debian, by debootstrap. The folder build/tests keeps one for each release and set of packages. The
folder ZEROTAX_DEBIAN_BASE can replace Debian 12 without packages.
"""

import os
import pathlib
import shutil
import subprocess

import pytest
from conftest import BUILD


def bare(release, packages=()):
    """Returns the folder of a bare system with these packages. Skips the test if debootstrap fails."""
    given = os.environ.get("ZEROTAX_DEBIAN_BASE") if release == "bookworm" and not packages else None
    name = "-".join(["debian" if release == "bookworm" else release, *packages])
    folder = pathlib.Path(given) if given else BUILD / "tests" / f"{name}-base"
    if not (folder / "etc/debian_version").exists():
        shutil.rmtree(folder, ignore_errors=True)
        source = next((line.split()[1] for file in pathlib.Path("/etc/apt/sources.list.d").glob("*.sources")
                       for line in file.read_text().splitlines() if line.startswith("URIs:")), "http://deb.debian.org/debian")
        include = [f"--include={','.join(packages)}"] if packages else []
        made = subprocess.run(["debootstrap", "--variant=minbase", *include, release, folder, source], capture_output=True,
                              text=True, check=False)
        if made.returncode != 0:
            shutil.rmtree(folder, ignore_errors=True)
            pytest.skip(f"debootstrap failed: {made.stdout[-300:]}")
    return folder
