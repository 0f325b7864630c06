"""Makes packages from a build, for use without a compiler. usage: package.py BUILD FOLDER

The build may be for arm64 (./run arm64). Its libraries then come from the folder that cmake/sysroot.sh made.

FOLDER gets an archive that can be unpacked anywhere (.tar.xz), a wheel for pip with the same tree, and the Debian
package. FOLDER also gets a list of the bundled libraries (CycloneDX 1.5), and SHA256SUMS. The tree has the libraries of
Debian that the programs need, except glibc. The tree works with glibc 2.31 (Debian 11) or later, with the help of
cmake/older_glibc. The Debian package needs the glibc version that it was built with. The archive and the wheel are
reproducible from the same build and SOURCE_DATE_EPOCH.
"""

import base64
import hashlib
import json
import os
import pathlib
import re
import shutil
import stat
import struct
import subprocess
import sys
import tarfile
import zipfile

# Libraries of glibc, which are not bundled because every system has them.
OF_GLIBC = re.compile(r"(ld-linux.*|lib(c|m|dl|rt|pthread|resolv|util))\.so\.\d+$")
# Minor version of the oldest supported glibc, and the library that provides functions of later versions.
OLDEST_GLIBC = 31
OLDER_GLIBC = "libzerotax-older-glibc.so"
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


def told_by_patchelf(option, program):
    # status 1 if the program is static
    done = subprocess.run(["patchelf", option, program], capture_output=True, text=True, check=False)
    return done.stdout.strip()


def libraries_of(program):
    """Returns the names of the libraries that a file needs, except glibc's."""
    return [name for name in told_by_patchelf("--print-needed", program).split() if not OF_GLIBC.match(name)]


class System:
    """Debian's files for a machine: the files of this system, or the files unpacked in a folder."""

    def __init__(self, machine):
        own = machine == os.uname().machine
        self.architecture = {"x86_64": "amd64", "aarch64": "arm64"}[machine]
        self.root = pathlib.Path("/" if own else said_by(pathlib.Path(__file__).parent / "sysroot.sh", "--where").strip())
        self.folders = [self.root / lib / f"{machine}-linux-gnu" for lib in ("lib", "usr/lib")]
        self.dpkg_query = ["dpkg-query", *([] if own else [f"--admindir={self.root}/var/lib/dpkg"])]

    def needed_by(self, programs, own):
        """Returns the libraries that the loader finds for programs, except glibc's and our own: {soname: path}."""
        found, asked = {}, list(programs)
        while asked:
            program = asked.pop()
            folders = told_by_patchelf("--print-rpath", program).split(":")
            named = [self.root / folder.lstrip("/") for folder in folders if folder]
            for name in libraries_of(program):
                if name in found or name in own:
                    continue
                where = [folder / name for folder in [*named, *self.folders] if (folder / name).exists()]
                if not where:
                    sys.exit(f"package: {program} lacks {name}: build it again")
                found[name] = where[0]
                asked.append(where[0])
        return found

    def owner(self, path):
        """Returns the name, version and source of the package that owns a file."""
        inside = pathlib.Path("/") / path.relative_to(self.root)
        target = pathlib.Path("/") / path.resolve().relative_to(self.root)
        # If /lib is a link to /usr/lib, dpkg may list the file under either path.
        for each in dict.fromkeys([inside, target, pathlib.Path("/usr") / inside.relative_to("/")]):
            found = subprocess.run([*self.dpkg_query, "-S", each], capture_output=True, text=True, check=False)
            name = found.stdout.split(":")[0]
            if name:
                words = said_by(*self.dpkg_query, "-W", "-f", "${Version} ${source:Package}\n", name).splitlines()[0].split()
                return name, *words
        return sys.exit(f"package: {path} is in no Debian package, so its version and license are unknown")


def glibc_symbols(option, path):
    """Returns {(name, minor version)} of the glibc functions that a file needs (--undefined-only) or defines
    (--defined-only).
    """
    lines = said_by("nm", "--dynamic", "--with-symbol-versions", option, path)
    return {(name, int(minor)) for name, minor in re.findall(r" (\w+)@@?GLIBC_2\.(\d+)", lines)}


def let_it_lack_versions(path):
    """Patches a program or library so that it loads under a glibc without the symbol versions that it needs. The loader
    finds the functions of these versions in the stand-in.

    The loader searches needed libraries in their order, so the stand-in must be the last one, but patchelf can only add
    it as the first. The loader must also ask the stand-in instead of glibc whether a version exists, because the
    stand-in has all versions.
    """
    subprocess.run(["patchelf", "--add-needed", OLDER_GLIBC, path], check=True)
    data = bytearray(path.read_bytes())
    headers, count = struct.unpack_from("<Q", data, 0x28)[0], struct.unpack_from("<H", data, 0x3C)[0]
    sections = list(struct.iter_unpack("<IIQQQQII16x", data[headers:headers + count * 64]))
    _, _, _, _, begin, size, link, _ = next(each for each in sections if each[1] == 6)  # SHT_DYNAMIC
    strings = sections[link][4]
    needed = [at + 8 for at in range(begin, begin + size, 16) if struct.unpack_from("<Q", data, at)[0] == 1]  # DT_NEEDED
    names = [struct.unpack_from("<Q", data, at)[0] for at in needed]
    for at, name in zip(needed, [*names[1:], names[0]]):
        struct.pack_into("<Q", data, at, name)
    _, _, _, _, at, _, _, libraries = next(each for each in sections if each[1] == 0x6FFFFFFE)  # SHT_GNU_verneed
    for _ in range(libraries):
        name, following = struct.unpack_from("<4xI4xI", data, at)
        if OF_GLIBC.match(data[strings + name:data.index(0, strings + name)].decode()):
            struct.pack_into("<I", data, at + 4, names[0])
        at += following
    path.write_bytes(data)


def support_older_glibc(programs, stand_in):
    """Makes programs and libraries work with an older glibc than the one that they were built with."""
    known = glibc_symbols("--defined-only", stand_in)
    for path in programs:
        newer = {each for each in glibc_symbols("--undefined-only", path) if each[1] > OLDEST_GLIBC}
        lacking = sorted(f"{name} of glibc 2.{minor}" for name, minor in newer - known)
        if lacking:
            sys.exit(f"package: {path.name} needs {', '.join(lacking)}: cmake/older_glibc/older_glibc.c lacks that")
        if newer:
            let_it_lack_versions(path)


def machine_of(program):
    """Returns the processor in a program's ELF header, such as "aarch64"."""
    return {62: "x86_64", 183: "aarch64"}[int.from_bytes(program.read_bytes()[18:20], "little")]


def bundle(build, tree, system):
    """Copies the libraries of other projects beside ours, and makes all files find them by relative paths. Returns
    {soname: path here}.
    """
    ours = tree / "lib" / "zerotax"
    programs = [path for path in sorted((tree / "lib").rglob("*")) if is_elf(path)]
    bundled = system.needed_by(programs, {path.name for path in programs})
    for name, path in [*sorted(bundled.items()), (OLDER_GLIBC, build / "lib" / OLDER_GLIBC)]:
        shutil.copyfile(path, ours / "lib" / name)
        (ours / "lib" / name).chmod(0o755)
    programs += [ours / "lib" / name for name in sorted(bundled)]
    support_older_glibc(programs, ours / "lib" / OLDER_GLIBC)
    for program in programs:
        if libraries_of(program):
            places = [os.path.relpath(ours / "lib", program.parent)]
            # The loader's $ORIGIN is `ours / "lib"` if a link there leads to this program.
            if program.parent == tree / "lib":
                places += [".", "../.."]
            subprocess.run(["patchelf", "--set-rpath", ":".join(f"$ORIGIN/{each}" for each in places), program], check=True)
    return bundled


def parts_list(version, bundled, tree, system):
    """Returns the list of bundled libraries as a document, and copies their licenses into the tree."""
    parts = []
    for name, path in sorted(bundled.items()):
        owner, number, source = system.owner(path)
        shutil.copyfile(system.root / "usr" / "share" / "doc" / owner / "copyright",
                        tree / "share" / "doc" / "zerotax" / f"copyright.{owner}")
        parts.append({"type": "library", "name": name, "version": number, "description": f"of Debian's package {owner}",
                      "purl": f"pkg:deb/debian/{owner}@{number}?arch={system.architecture}",
                      "properties": [{"name": "source", "value": source}],
                      "hashes": [{"alg": "SHA-256", "content": digest(path)}]})
    return {"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
            "metadata": {"component": {"type": "application", "name": "zerotax", "version": version}}, "components": parts}


def foreign_depends(build, bundled, system):
    """Returns cpack's options for the dependencies of a package for another processor. dpkg-shlibdeps knows only
    packages for this processor.
    """
    if system.root == pathlib.Path("/"):
        return []
    known = re.search(r'CPACK_DEBIAN_PACKAGE_DEPENDS "(.*)"', (build / "CPackConfig.cmake").read_text())
    owners = {system.owner(path)[:2] for path in [*bundled.values(), system.folders[0] / "libc.so.6"]}
    depends = [*(f"{name} (>= {version})" for name, version in sorted(owners)), *([known[1]] if known and known[1] else [])]
    return ["-D", "CPACK_DEBIAN_PACKAGE_SHLIBDEPS=OFF", "-D", f"CPACK_DEBIAN_PACKAGE_ARCHITECTURE={system.architecture}",
            "-D", f"CPACK_DEBIAN_PACKAGE_DEPENDS={', '.join(depends)}"]


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


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
    """Writes the tree as a Python module. A wheel cannot contain links, so it contains copies of the files to which
    they lead.
    """
    info = f"zerotax-{version}.dist-info"
    tag = f"py3-none-{platform}"
    files = {}
    for path in sorted(tree.rglob("*")):
        if path.is_file() and path != tree / "bin" / "zerotax":
            files[f"zerotax/{path.relative_to(tree)}"] = (path.read_bytes(), path.stat().st_mode)
    texts = {"zerotax/__init__.py": LAUNCHER,
             f"{info}/METADATA": f"Metadata-Version: 2.1\nName: zerotax\nVersion: {version}\n"
                                 "Summary: Finds memory that is zeroed needlessly\nRequires-Python: >=3.7\n",
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


def check_folder(folder):
    """Exits if the folder contains anything but an earlier package, because the folder will be emptied."""
    foreign = [path.name for path in folder.glob("*")
               if not path.name.startswith(("zerotax-", "zerotax_", "_CPack_Packages")) and path.name != "SHA256SUMS"]
    if foreign or folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        print(f"package: {folder} has {foreign[0] if foreign else 'another file'}, which is not part of a package: give another "
              "folder", file=sys.stderr)
        sys.exit(2)


def main():
    if len(sys.argv) != 3 or not all(sys.argv[1:]):
        print("usage: package.py BUILD FOLDER", file=sys.stderr)
        sys.exit(2)
    build, folder = (pathlib.Path(each).resolve() for each in sys.argv[1:])
    check_folder(folder)
    version = re.search(r"^CMAKE_PROJECT_VERSION:STATIC=(.*)$", (build / "CMakeCache.txt").read_text(), re.MULTILINE)[1]
    machine = machine_of(build / "bin" / "zerotax")
    system = System(machine)
    epoch = int(os.environ["SOURCE_DATE_EPOCH"])
    name = f"zerotax-{version}-linux-{machine}"
    tree = folder / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    said_by("cmake", "--install", build, "--prefix", tree, "--strip")
    bundled = bundle(build, tree, system)
    parts = json.dumps(parts_list(version, bundled, tree, system), indent=2) + "\n"
    (folder / f"{name}.cdx.json").write_text(parts)
    write_tar(tree, folder / f"{name}.tar.xz", epoch)
    write_wheel(tree, folder, version, f"manylinux_2_{OLDEST_GLIBC}_{machine}", epoch)
    said_by("cpack", "--config", build / "CPackConfig.cmake", "-B", folder, *foreign_depends(build, bundled, system))
    shutil.rmtree(folder / "_CPack_Packages", ignore_errors=True)
    # The static suite is for other projects that test an emulator or a sandbox (docs/examples/programs/contract).
    suite = tree / "lib" / "zerotax" / "bin" / "zerotax-contract"
    if suite.exists():
        shutil.copy(suite, folder / f"zerotax-contract-{version}-linux-{machine}")
    shutil.rmtree(tree)
    made = sorted(path for path in folder.iterdir() if path.is_file())
    (folder / "SHA256SUMS").write_text("".join(f"{digest(path)}  {path.name}\n" for path in made))
    print(f"needs glibc 2.{OLDEST_GLIBC} or later; in {folder}:")
    for path in made:
        print(f"  {path.stat().st_size / 2**20:6.1f} MiB  {path.name}")


main()
