"""In a clone on a bare Debian 12, the commands of docs/install.md and of the action work literally, and the container
image can be built. The test has the requirements of package_test.py, and needs buildah for the image. It takes half an
hour, because it compiles the project twice.
"""

import os
import pathlib
import re
import shutil
import subprocess

import pytest
from bare_debian import bare
from package_test import ENTER, SOURCE, parts_of, pytestmark  # noqa: F401

# The bare system has only git, to make the clone, and apt's own certificates.
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
echo "== action"
/src/.github/action/build.sh /src /package
/src/.github/action/install.sh /package
"""


def blocks(page):
    """Returns the shell commands of a page that change the system, as one text for each block."""
    return re.findall(r"^```sh\n(.*?)^```$", (SOURCE / page).read_text(), re.S | re.M)


@pytest.mark.timeout(5400)
def test_the_documented_steps_work_from_a_clean_clone(tmp_path):
    build, install, package = blocks("docs/install.md")[:3]
    assert "./run build" in build
    assert "cmake --install" in install and package.startswith("./run package ")
    package = package.replace("apt-get install ", "apt-get install -y ")
    package = package.replace("pip install ", "apt-get install -y python3-pip && pip install --break-system-packages ")
    script = SCRIPT.format(install=build + install, package=package)
    enter = ENTER.replace('cp "$FILE" "$root/tmp/"', 'git clone -q "$PROJECT" "$root/src"')
    assert enter != ENTER
    layer = tmp_path / "layer"
    layer.mkdir()
    done = subprocess.run(
        ["unshare", "--mount", "--propagation", "private", "sh", "-c", enter], capture_output=True, text=True, check=False,
        timeout=5000,
        env={**os.environ, "BASE": str(bare("bookworm")), "LAYER": str(layer), "PROJECT": str(SOURCE), "SCRIPT": script})
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert len(re.findall(r"^zerotax 0\.", done.stdout, re.M)) == 2, done.stdout
    assert pathlib.Path(SOURCE, ".github", "action", "install.sh").exists()


@pytest.mark.skipif(shutil.which("buildah") is None, reason="install buildah")
@pytest.mark.timeout(5400)
def test_the_containerfile_makes_an_image_that_measures(tmp_path):
    store = ["buildah", "--root", tmp_path / "store", "--runroot", tmp_path / "run", "--storage-driver", "overlay"]

    def buildah(*words):
        done = subprocess.run([*store, *words], capture_output=True, text=True, check=False, timeout=4000)
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
        return done.stdout.strip()

    try:
        # Makes the image of Debian without a registry.
        base = buildah("from", "scratch")
        buildah("copy", "--quiet", base, bare("bookworm"), "/")
        buildah("commit", "--quiet", "--rm", base, "localhost/debian:bookworm")
        subprocess.run(["git", "clone", "-q", SOURCE, tmp_path / "clone"], check=True)
        buildah("bud", "--isolation", "chroot", "--build-arg", "BASE=localhost/debian:bookworm", "--tag", "zerotax",
                tmp_path / "clone")
        made = buildah("from", "--pull-never", "localhost/zerotax")
        entry = buildah("inspect", "--format", "{{index .OCIv1.Config.Entrypoint 0}}", made)
        assert entry == "zerotax"
        script = "; ".join(f"echo '== {name}'; {entry} {words}" for name, words in {
            "list": "list", "run": "run --size 1MiB --ops 8", "page": "study --audit-only --allocator glibc --out /tmp/study",
            "record": "record --full --allocator mimalloc -- perl -e 1 2>&1"}.items())
        parts = parts_of(buildah("run", "--isolation", "chroot", made, "--", "sh", "-c", script))
        assert "not in this build" not in parts["list"]
        for allocator in ("glibc", "jemalloc", "largecache", "mimalloc", "scudo", "tbbmalloc", "tcmalloc"):
            assert re.search(rf"^{allocator} .* 1 MiB ", parts["run"], re.M), allocator
        assert "report.html" in parts["page"] and "exited with 0" in parts["record"], parts
    finally:
        subprocess.run([*store, "rm", "--all"], capture_output=True, check=False)
        subprocess.run([*store, "rmi", "--all", "--force"], capture_output=True, check=False)
