"""Makes what can be used without a compiler, from a build: package.py BUILD FOLDER.

FOLDER gets a tree that can be unpacked anywhere (.tar.xz), a wheel for pip with the same tree in it, the Debian package, a list
of others' libraries that are in them (CycloneDX 1.5), and SHA256SUMS. The tree has the libraries of Debian that the programs
need, but not glibc: the system must have the version that they were built with, or a later one. The archive and the wheel are
the same for the same build and SOURCE_DATE_EPOCH.
"""

import base64
import hashlib
import json
import os
import pathlib
import re
import shutil
import stat
import subprocess
import sys
import tarfile
import zipfile

# The libraries of glibc: the system has them.
OF_GLIBC = re.compile(r"(ld-linux.*|lib(c|m|dl|rt|pthread|resolv|util))\.so\.\d+$")
LAUNCHER = '''"""zerotax, the command, as pip installs it."""
import os
import pathlib
import sys


def main():
    command = pathlib.Path(__file__).parent / "lib" / "zerotax" / "bin" / "zerotax"
    os.execv(command, [str(command), *sys.argv[1:]])
'''


def said_by(*words):
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def is_elf(path):
    return path.is_file() and not path.is_symlink() and path.open("rb").read(4) == b"\x7fELF"


def needed_by(program):
    """The libraries that the loader finds for a program, but glibc's: {soname: path}."""
    done = subprocess.run(["ldd", program], capture_output=True, text=True, check=False)  # 1: it is static
    found = re.findall(r"^\s+(\S+) => (\S+) \(", done.stdout, re.MULTILINE)
    missing = re.findall(r"^\s+(\S+) => not found", done.stdout, re.MULTILINE)
    if missing:
        sys.exit(f"package: {program} lacks {' '.join(missing)}: build it again")
    return {name: pathlib.Path(path) for name, path in found if not OF_GLIBC.match(name)}


def bundle(tree):
    """Puts the libraries of others beside ours, and lets everything find them from where it is. Returns {soname: path here}."""
    ours = tree / "lib" / "zerotax"
    programs = [path for path in sorted(ours.rglob("*")) if is_elf(path)]
    own = {path.name for path in programs}
    needed = {program: needed_by(program) for program in programs}
    bundled = {name: path for libraries in needed.values() for name, path in libraries.items() if name not in own}
    for name, path in sorted(bundled.items()):
        shutil.copyfile(path, ours / "lib" / name)
        (ours / "lib" / name).chmod(0o755)
        subprocess.run(["patchelf", "--set-rpath", "$ORIGIN", ours / "lib" / name], check=True)
    for program, libraries in needed.items():
        if libraries:
            subprocess.run(["patchelf", "--set-rpath", "$ORIGIN/../lib", program], check=True)
    return bundled


def parts_list(version, bundled, tree):
    """What the tree has of others, as a document, and their licences beside it."""
    parts = []
    architecture = said_by("dpkg", "--print-architecture").strip()
    for name, path in sorted(bundled.items()):
        # Where /lib is a link to /usr/lib, dpkg may know the file by either name.
        for each in dict.fromkeys([path, path.resolve(), pathlib.Path("/usr") / path.relative_to("/")]):
            owner = subprocess.run(["dpkg-query", "-S", each], capture_output=True, text=True, check=False).stdout.split(":")[0]
            if owner:
                break
        if not owner:
            sys.exit(f"package: {path} is of no Debian package: its version and licence are not known")
        number, source = said_by("dpkg-query", "-W", "-f", "${Version} ${source:Package}\n", owner).splitlines()[0].split()
        shutil.copyfile(f"/usr/share/doc/{owner}/copyright", tree / "share" / "doc" / "zerotax" / f"copyright.{owner}")
        parts.append({"type": "library", "name": name, "version": number, "description": f"of Debian's package {owner}",
                      "purl": f"pkg:deb/debian/{owner}@{number}?arch={architecture}",
                      "properties": [{"name": "source", "value": source}],
                      "hashes": [{"alg": "SHA-256", "content": digest(path)}]})
    return {"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
            "metadata": {"component": {"type": "application", "name": "zerotax", "version": version}}, "components": parts}


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def needed_glibc(tree):
    """The latest version of glibc that a file of the tree asks for: "2.36"."""
    versions = set()
    for path in (tree / "lib").rglob("*"):
        if is_elf(path):
            versions.update(re.findall(r"GLIBC_2\.(\d+)", said_by("readelf", "-V", path)))
    return f"2.{max(map(int, versions))}"


def write_tar(tree, file, epoch):
    def plain(info):
        info.uid = info.gid = 0
        info.uname = info.gname = "root"
        info.mtime = epoch
        return info
    with tarfile.open(file, "w:xz") as tar:
        for path in [tree, *sorted(tree.rglob("*"))]:
            tar.add(path, arcname=path.relative_to(tree.parent), recursive=False, filter=plain)


def write_wheel(tree, folder, version, platform, epoch):
    """The tree as a module of Python. A wheel cannot have links: what they lead to is there."""
    info = f"zerotax-{version}.dist-info"
    tag = f"py3-none-{platform}"
    files = {}
    for path in sorted(tree.rglob("*")):
        if path.is_file() and path != tree / "bin" / "zerotax":
            files[f"zerotax/{path.relative_to(tree)}"] = (path.read_bytes(), path.stat().st_mode)
    texts = {"zerotax/__init__.py": LAUNCHER,
             f"{info}/METADATA": f"Metadata-Version: 2.1\nName: zerotax\nVersion: {version}\n"
                                 "Summary: Finds memory that is zeroed in vain\nRequires-Python: >=3.7\n",
             f"{info}/WHEEL": f"Wheel-Version: 1.0\nGenerator: zerotax\nRoot-Is-Purelib: false\nTag: {tag}\n",
             f"{info}/entry_points.txt": "[console_scripts]\nzerotax = zerotax:main\n"}
    files.update({name: (text.encode(), 0o644) for name, text in texts.items()})
    rows = []
    for name, (contents, _) in files.items():
        code = base64.urlsafe_b64encode(hashlib.sha256(contents).digest()).rstrip(b"=").decode()
        rows.append(f"{name},sha256={code},{len(contents)}\n")
    files[f"{info}/RECORD"] = ("".join([*rows, f"{info}/RECORD,,\n"]).encode(), 0o644)
    when = tuple(int(each) for each in said_by("date", "-u", "-d", f"@{epoch}", "+%Y %m %d %H %M %S").split())
    with zipfile.ZipFile(folder / f"zerotax-{version}-{tag}.whl", "w", zipfile.ZIP_DEFLATED) as wheel:
        for name, (contents, mode) in files.items():
            entry = zipfile.ZipInfo(name, when)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (stat.S_IFREG | stat.S_IMODE(mode)) << 16
            wheel.writestr(entry, contents)


def main():
    build, folder = (pathlib.Path(each).resolve() for each in sys.argv[1:])
    version = re.search(r"^CMAKE_PROJECT_VERSION:STATIC=(.*)$", (build / "CMakeCache.txt").read_text(), re.MULTILINE)[1]
    machine = os.uname().machine
    epoch = int(os.environ["SOURCE_DATE_EPOCH"])
    name = f"zerotax-{version}-linux-{machine}"
    tree = folder / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    said_by("cmake", "--install", build, "--prefix", tree, "--strip")
    bundled = bundle(tree)
    parts = json.dumps(parts_list(version, bundled, tree), indent=2) + "\n"
    (folder / f"{name}.cdx.json").write_text(parts)
    glibc = needed_glibc(tree)
    write_tar(tree, folder / f"{name}.tar.xz", epoch)
    write_wheel(tree, folder, version, f"manylinux_{glibc.replace('.', '_')}_{machine}", epoch)
    said_by("cpack", "--config", build / "CPackConfig.cmake", "-B", folder)
    shutil.rmtree(folder / "_CPack_Packages", ignore_errors=True)
    # For other projects' tests of an emulator or a sandbox (examples/contract): it is static.
    suite = tree / "lib" / "zerotax" / "bin" / "zerotax-contract"
    if suite.exists():
        shutil.copy(suite, folder / f"zerotax-contract-{version}-linux-{machine}")
    shutil.rmtree(tree)
    made = sorted(path for path in folder.iterdir() if path.is_file())
    (folder / "SHA256SUMS").write_text("".join(f"{digest(path)}  {path.name}\n" for path in made))
    print(f"needs glibc {glibc} or later; in {folder}:")
    for path in made:
        print(f"  {path.stat().st_size / 2**20:6.1f} MiB  {path.name}")


main()
