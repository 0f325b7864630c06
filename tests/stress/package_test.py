"""The results of ./run package work on bare systems. The Debian package installs with apt, and its dependencies are
right. The archive and the wheel need no other package on four releases of Debian, one of which has an older glibc than
the build. Needs root, debootstrap and a mirror. Every test writes into a layer of its own over a bare system, and removes
the layer afterward.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import tarfile

import pytest
from bare_debian import bare

SOURCE = pathlib.Path(os.environ.get("ZEROTAX_SOURCE", pathlib.Path(__file__).resolve().parents[2]))
BUILD = pathlib.Path(os.environ.get("ZEROTAX_BUILD", SOURCE / "build")).resolve()

pytestmark = [
    pytest.mark.skipif(os.geteuid() != 0, reason="only root can change its root folder"),
    pytest.mark.skipif(any(shutil.which(tool) is None for tool in ("debootstrap", "cpack", "dpkg-deb", "unshare", "patchelf")),
                       reason="install debootstrap, cmake, dpkg, patchelf and util-linux"),
]

# All mounts are in a separate mount namespace, and disappear with the namespace.
ENTER = """
set -eu
mount -t tmpfs tmpfs "$LAYER"
mkdir "$LAYER/upper" "$LAYER/work" "$LAYER/root"
mount -t overlay overlay -o "lowerdir=$BASE,upperdir=$LAYER/upper,workdir=$LAYER/work" "$LAYER/root"
root=$LAYER/root
for each in proc sys dev; do mount --rbind "/$each" "$root/$each"; done
cp -L /etc/resolv.conf /etc/hosts "$root/etc/" 2>/dev/null || true
rm -f "$root/etc/apt/sources.list"
cp -rL /etc/apt/sources.list* /etc/apt/apt.conf.d "$root/etc/apt/" 2>/dev/null || true
cp -rL /etc/apt/keyrings "$root/etc/apt/" 2>/dev/null || true
cp -L /usr/share/keyrings/*.gpg "$root/usr/share/keyrings/" 2>/dev/null || true
cp "$FILE" "$root/tmp/"
chroot "$root" /usr/bin/env -i HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive \\
  PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin sh -eu -c "$SCRIPT"
"""
INSTALL = "apt-get update >/dev/null && apt-get install -y --no-install-recommends /tmp/zerotax_*.deb {} >/dev/null\n"


@pytest.fixture(scope="module")
def packages(tmp_path_factory):
    """Makes all packages of this build by ./run package. Returns the folder of the packages."""
    folder = tmp_path_factory.mktemp("package") / "made"
    made = subprocess.run(["/usr/bin/python3", SOURCE / "cmake" / "package.py", BUILD, folder], capture_output=True, text=True,
                          check=False, env={**os.environ, "SOURCE_DATE_EPOCH": "1700000000"})
    assert made.returncode == 0, made.stdout + made.stderr
    sums = subprocess.run(["sha256sum", "--check", "--strict", "SHA256SUMS"], cwd=folder, capture_output=True, text=True,
                          check=True)
    assert sums.stdout.count(": OK\n") == 5
    return folder


def on_bare_debian(release, file, tmp_path, script):
    layer = tmp_path / "layer"
    layer.mkdir()
    return subprocess.run(
        ["unshare", "--mount", "--propagation", "private", "sh", "-c", ENTER], capture_output=True, text=True, check=False,
        timeout=900, env={**os.environ, "BASE": str(bare(release)), "LAYER": str(layer), "FILE": str(file), "SCRIPT": script})


def parts_of(output):
    """Returns the text printed after each line "== NAME"."""
    names = re.findall(r"^== (\w+)$", output, re.M)
    return dict(zip(names, re.split(r"^== \w+\n", output, flags=re.M)[1:]))


@pytest.fixture(name="deb")
def deb_of(packages):
    file, = packages.glob("*.deb")
    return file


def test_others_libraries_are_listed_with_versions_and_licences(packages):
    parts = json.loads(next(packages.glob("*.cdx.json")).read_text())["components"]
    with tarfile.open(next(packages.glob("*.tar.xz"))) as tar:
        names = {pathlib.PurePath(name) for name in tar.getnames()}
    ours = {"lib", "liblargecache.so", "libzerotax-record.so", "libzerotax-marks.so", "libzerotax-dontfork.so",
            "libzerotax-functions.so", "libzerotax-older-glibc.so"}
    shipped = {name.name for name in names if name.parts[1:4] == ("lib", "zerotax", "lib")}
    assert {part["name"] for part in parts} == shipped - ours and len(parts) > 8
    for part in parts:
        package = part["description"].split()[-1]
        assert part["purl"].startswith(f"pkg:deb/debian/{package}@{part['version']}")
        assert any(name.name == f"copyright.{package}" for name in names)
    assert not any(name.name.startswith(("libc.so", "ld-linux")) for name in names)


@pytest.mark.parametrize("release", ["bullseye", "bookworm", "trixie", "sid"])
def test_the_archive_works_where_nothing_else_is(packages, release, tmp_path):
    archive = tmp_path / "zerotax.tar"  # a bare Debian has no xz
    with archive.open("wb") as file:
        subprocess.run(["xz", "-dc", next(packages.glob("*.tar.xz"))], stdout=file, check=True)
    done = on_bare_debian(release, archive, tmp_path, """
if command -v gcc || command -v python3; then exit 9; fi
mkdir /opt/here; tar -C /opt/here -xf /tmp/zerotax.tar; ln -s /opt/here/zerotax-*/bin/zerotax /usr/bin/zerotax
cd /tmp
zerotax --version
echo "== list"; zerotax list
echo "== run"; zerotax run --full --size 1MiB --size 32MiB --ops 8
echo "== record"; zerotax record --full --allocator mimalloc -- perl -e 'fork(); wait()' 2>&1
echo "== study"; zerotax study --audit-only --allocator glibc --allocator jemalloc --out /tmp/study
echo "== contract"; zerotax contract >/dev/null; echo "status $?"
""")
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    parts = parts_of(done.stdout)
    assert "not in this build" not in parts["list"]
    # The build uses glibc 2.36, but the program is measured with the system's glibc.
    glibc = re.search(r"^  glibc +(2\.\d+)", parts["list"], re.M)[1]
    assert glibc == {"bullseye": "2.31", "bookworm": "2.36", "trixie": "2.41"}.get(release, glibc) and int(glibc[2:]) > 30
    for allocator in ("glibc", "jemalloc", "largecache", "mimalloc", "scudo", "tbbmalloc", "tcmalloc"):
        assert re.search(rf"^{allocator} .* 32 MiB ", parts["run"], re.M), allocator
    assert "exited with 0" in parts["record"] and re.search(r"\b2\s+processes", parts["record"]), parts["record"]
    assert "status 0" in parts["contract"]


def test_what_no_older_glibc_has_is_refused(tmp_path):
    """Without this refusal, a program would start on an older system, and end when it calls the missing function. The
    test uses a stand-in glibc that lacks a function.
    """
    build = tmp_path / "build"
    for name in ("CMakeCache.txt", "cmake_install.cmake", "bin/zerotax"):
        (build / name).parent.mkdir(parents=True, exist_ok=True)
        (build / name).symlink_to(BUILD / name)
    (build / "lib").mkdir()
    subprocess.run(["gcc", "-shared", "-o", build / "lib/libzerotax-older-glibc.so", "-x", "c", "/dev/null"], check=True)
    made = subprocess.run(["/usr/bin/python3", SOURCE / "cmake" / "package.py", build, tmp_path / "made"], capture_output=True,
                          text=True, check=False, env={**os.environ, "SOURCE_DATE_EPOCH": "1700000000"})
    assert made.returncode == 1
    assert re.search(r"^package: \S+ needs .*dlsym of glibc 2\.34.*: cmake/older_glibc/older_glibc.c lacks that$",
                     made.stderr), made.stderr


def test_pip_installs_the_wheel(packages, tmp_path):
    done = on_bare_debian("bookworm", next(packages.glob("*.whl")), tmp_path, """
apt-get update >/dev/null && apt-get install -y --no-install-recommends python3-pip >/dev/null 2>&1
pip install --break-system-packages --no-index /tmp/zerotax-*.whl
cd /
zerotax run --allocator jemalloc --size 1MiB --ops 8
echo "status $?"; command -v zerotax
""")
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert re.search(r"^jemalloc .* 1 MiB ", done.stdout, re.M) and "status 0" in done.stdout, done.stdout


def test_it_installs_runs_and_leaves_nothing_behind(deb, tmp_path):
    done = on_bare_debian("bookworm", deb, tmp_path, INSTALL.format("man-db") + """
cd /
zerotax --version
echo "== list"; zerotax list
echo "== run"; zerotax run --full --size 1MiB --size 32MiB --ops 8
echo "== doctor"; zerotax doctor --full || true
echo "== compare"; zerotax compare jemalloc mimalloc --size 20MiB --touch 0 --rounds 12 || true
echo "== record"; zerotax record --allocator largecache -- ls >/dev/null
echo "== man"; man zerotax | cat
apt-get remove -y zerotax >/dev/null
echo "== left"; ls -d /usr/lib/zerotax /usr/share/zerotax /usr/bin/zerotax 2>&1 || true
""")
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    parts = parts_of(done.stdout)
    assert done.stdout.startswith("zerotax 0.")
    built = {path.name.removeprefix("bench-") for path in (BUILD / "bin").glob("bench-*")}
    listed = set(re.findall(r"^  (\w+) +\S", parts["list"].split("\n\n")[0], re.M))
    assert built <= listed and "not in this build" not in parts["list"]
    for allocator in built:
        assert re.search(rf"^{allocator} .* 32 MiB ", parts["run"], re.M), allocator
    assert "probe                 starts" in parts["doctor"] and "This machine cannot measure" not in parts["doctor"]
    assert "SLOWER" in parts["compare"]
    assert "ZEROTAX(1)" in parts["man"] and "--allocator" in parts["man"]
    assert parts["left"].count("No such file") == 3, parts["left"]


def test_shells_complete(deb, tmp_path):
    done = on_bare_debian("bookworm", deb, tmp_path, INSTALL.format("bash-completion zsh") + """
cat >/tmp/c.bash <<'END'
. /usr/share/bash-completion/bash_completion
_completion_loader zerotax
COMP_WORDS=(zerotax run --allocator m) COMP_CWORD=3
_zerotax && printf 'bash: %s\\n' "${COMPREPLY[@]}"
END
bash /tmp/c.bash
zsh -f -c 'autoload -Uz compinit && compinit -u && echo "zsh: ${_comps[zerotax]}"'
""")
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert "bash: mimalloc\n" in done.stdout and "zsh: _zerotax\n" in done.stdout
