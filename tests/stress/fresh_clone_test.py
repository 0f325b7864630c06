"""A clone on a bare Debian 12: the commands of docs/install.md, the action and the Containerfile's RUN lines, word for word.

Needs what package_test.py needs, and half an hour: the project is compiled once.
"""

import os
import pathlib
import re
import subprocess

import pytest
from package_test import ENTER, SOURCE, bare, pytestmark  # noqa: F401

# With git, which brings the clone, apt's own certificates, and nothing else.
SCRIPT = r"""
cd /src
{install}
command -v zerotax && exit 1
~/.local/bin/zerotax --version
~/.local/bin/zerotax run --allocator largecache --size 1MiB --ops 8
cd /src
{package}
cd /
/usr/bin/zerotax run --allocator mimalloc --size 1MiB --ops 8
apt-get remove -y zerotax >/dev/null
echo "== Containerfile"
{first}
cp /package/zerotax.deb /tmp/
{second}
cd /
{entry} --version
apt-get remove -y zerotax >/dev/null
echo "== action"
/src/action/install.sh /package
"""


def blocks(page):
    """The shell commands of a page that change the system, a text for each block."""
    return re.findall(r"^```sh\n(.*?)^```$", (SOURCE / page).read_text(), re.S | re.M)


def run_lines(containerfile):
    """The commands of its RUN lines."""
    text = re.sub(r"^#.*\n", "", (SOURCE / containerfile).read_text(), flags=re.M).replace("\\\n", " ")
    return re.findall(r"^RUN (.*)$", text, re.M), re.search(r'^ENTRYPOINT \["(.*)"\]$', text, re.M)[1]


@pytest.mark.timeout(5400)
def test_the_documented_steps_work_from_a_clean_clone(tmp_path):
    build, install, package = blocks("docs/install.md")[:3]
    assert "./run build" in build
    assert "cmake --install" in install and package.startswith("./run package ")
    (first, second), entry = run_lines("Containerfile")
    package = package.replace("apt-get install ", "apt-get install -y ")
    package = package.replace("pip install ", "apt-get install -y python3-pip && pip install --break-system-packages ")
    script = SCRIPT.format(install=build + install, first=first, second=second, entry=entry, package=package)
    enter = ENTER.replace('cp "$FILE" "$root/tmp/"', 'git clone -q "$PROJECT" "$root/src"')
    assert enter != ENTER
    layer = tmp_path / "layer"
    layer.mkdir()
    done = subprocess.run(
        ["unshare", "--mount", "--propagation", "private", "sh", "-c", enter], capture_output=True, text=True, check=False,
        timeout=5000,
        env={**os.environ, "BASE": str(bare("bookworm")), "LAYER": str(layer), "PROJECT": str(SOURCE), "SCRIPT": script})
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert len(re.findall(r"^zerotax 0\.", done.stdout, re.M)) == 3, done.stdout
    assert pathlib.Path(SOURCE, "action", "install.sh").exists()
