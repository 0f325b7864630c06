"""The Debian package on a bare Debian 12: it installs with apt, its dependencies are right, and what it installs works.

Needs root, debootstrap and a mirror. The bare system is made once, in build/tests/debian-base (or taken from the folder that
ZEROTAX_DEBIAN_BASE names), and every test writes into a layer of its own over it that is thrown away.
"""

import os
import pathlib
import re
import shutil
import subprocess

import pytest

SOURCE = pathlib.Path(os.environ.get("ZEROTAX_SOURCE", pathlib.Path(__file__).resolve().parents[2]))
BUILD = pathlib.Path(os.environ.get("ZEROTAX_BUILD", SOURCE / "build")).resolve()

pytestmark = [
    pytest.mark.skipif(os.geteuid() != 0, reason="only root can change its root folder"),
    pytest.mark.skipif(any(shutil.which(tool) is None for tool in ("debootstrap", "cpack", "dpkg-deb", "unshare")),
                       reason="install debootstrap, cmake, dpkg and util-linux"),
]

# All mounts are in a namespace of their own, and gone when it is.
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
cp "$DEB" "$root/tmp/zerotax.deb"
chroot "$root" /usr/bin/env -i HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive \\
  PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin sh -eu -c "$SCRIPT"
"""
INSTALL = "apt-get update >/dev/null && apt-get install -y --no-install-recommends /tmp/zerotax.deb {} >/dev/null\n"


@pytest.fixture(scope="module")
def base():
    given = os.environ.get("ZEROTAX_DEBIAN_BASE")
    folder = pathlib.Path(given) if given else BUILD / "tests" / "debian-base"
    if not (folder / "etc/debian_version").exists():
        shutil.rmtree(folder, ignore_errors=True)
        source = next((line.split()[1] for file in pathlib.Path("/etc/apt/sources.list.d").glob("*.sources")
                       for line in file.read_text().splitlines() if line.startswith("URIs:")), "http://deb.debian.org/debian")
        made = subprocess.run(["debootstrap", "--variant=minbase", "bookworm", folder, source], capture_output=True,
                              text=True, check=False)
        if made.returncode != 0:
            shutil.rmtree(folder, ignore_errors=True)
            pytest.skip(f"debootstrap made no bare system: {made.stdout[-300:]}")
    return folder


@pytest.fixture(scope="module")
def deb(tmp_path_factory):
    folder = tmp_path_factory.mktemp("package")
    made = subprocess.run(["cpack", "-B", folder], cwd=BUILD, capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stdout + made.stderr
    file, = folder.glob("*.deb")
    return file


def on_bare_debian(base, deb, tmp_path, script):
    layer = tmp_path / "layer"
    layer.mkdir()
    return subprocess.run(
        ["unshare", "--mount", "--propagation", "private", "sh", "-c", ENTER], capture_output=True, text=True, check=False,
        timeout=550, env={**os.environ, "BASE": str(base), "LAYER": str(layer), "DEB": str(deb), "SCRIPT": script})


def test_it_installs_runs_and_leaves_nothing_behind(base, deb, tmp_path):
    done = on_bare_debian(base, deb, tmp_path, INSTALL.format("man-db") + """
cd /
zerotax --version
echo "== list"; zerotax list
echo "== run"; zerotax run --size 1MiB --size 32MiB --ops 8
echo "== doctor"; zerotax doctor || true
echo "== compare"; zerotax compare jemalloc mimalloc --size 20MiB --touch 0 --rounds 12 || true
echo "== record"; zerotax record --allocator largecache -- ls >/dev/null
echo "== man"; man zerotax | cat
apt-get remove -y zerotax >/dev/null
echo "== left"; ls -d /usr/lib/zerotax /usr/share/zerotax /usr/bin/zerotax 2>&1 || true
""")
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    names = re.findall(r"^== (\w+)$", done.stdout, re.M)
    parts = dict(zip(names, re.split(r"^== \w+\n", done.stdout, flags=re.M)[1:]))
    assert done.stdout.startswith("zerotax 0.")
    built = {path.name.removeprefix("bench-") for path in (BUILD / "bin").glob("bench-*")}
    listed = set(re.findall(r"^  (\w+) +\S", parts["list"].split("\n\n")[0], re.M))
    assert built <= listed and "not in this build" not in parts["list"]
    for allocator in built:
        assert re.search(rf"^{allocator} .* 32 MiB ", parts["run"], re.M), allocator
    assert "probe                 starts" in parts["doctor"] and "stops" not in parts["doctor"].split("This machine")[0]
    assert "SLOWER" in parts["compare"]
    assert "ZEROTAX(1)" in parts["man"] and "--allocator" in parts["man"]
    assert parts["left"].count("No such file") == 3, parts["left"]


def test_shells_complete(base, deb, tmp_path):
    done = on_bare_debian(base, deb, tmp_path, INSTALL.format("bash-completion zsh") + """
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
