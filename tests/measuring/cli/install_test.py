"""The installed tree contains all that the command needs, works wherever it is moved, and reads nothing from the source
tree.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess

import pytest
from conftest import BUILD, NOBODY, SOURCE, check_schema, clean_environment


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """A tree that was installed in one place and then moved to another."""
    folder = tmp_path_factory.mktemp("install")
    folder.chmod(0o755)
    done = subprocess.run(["cmake", "--install", BUILD, "--prefix", folder / "first", "--strip"], capture_output=True, text=True,
                          check=False)
    assert done.returncode == 0, done.stderr
    (folder / "first").rename(folder / "moved")
    return folder / "moved"


def test_all_that_is_installed_is_built_by_run_build():
    """`./run build` builds the target `product`. If anything else were installed, cmake --install and cpack would fail.
    """
    ninja = ["ninja", "-C", BUILD, "-t"]
    if not (BUILD / "build.ninja").exists():
        pytest.skip("not built by ninja")
    made = subprocess.run([*ninja, "targets", "all"], capture_output=True, text=True, check=True).stdout
    commands = subprocess.run([*ninja, "commands", "product"], capture_output=True, text=True, check=True).stdout
    product = {word.removeprefix(f"{BUILD}/") for word in commands.split()}
    targets = {line.rsplit(":", 1)[0] for line in made.splitlines()}
    wanted = set()
    for script in BUILD.rglob("cmake_install.cmake"):
        wanted |= {pathlib.Path(name) for name in re.findall(f'"({re.escape(str(BUILD))}/[^"$:]+)"', script.read_text())}
    files = {str(path.relative_to(BUILD)) for path in wanted if not path.name.startswith("cmake_install")}
    built = {file for file in files if file in targets}
    assert {"bin/zerotax", "bin/bench-glibc", "lib/libzerotax-record.so", "share/man/man1/zerotax.1"} <= built
    assert built <= product, sorted(built - product)
    assert not [file for file in files - built if not (BUILD / file).exists()], "made neither by CMake nor by ninja"


def test_an_install_below_another_root_works(tmp_path):
    done = subprocess.run(["cmake", "--install", BUILD, "--prefix", "/usr"], capture_output=True, text=True, check=False,
                          env={**os.environ, "DESTDIR": str(tmp_path)})
    assert done.returncode == 0, done.stderr
    assert {path.name for path in tmp_path.iterdir()} == {"usr"}
    works(tmp_path / "usr")


def works(tree):
    done = installed(tree, "run", "--allocator", "largecache", "--size", "64KiB", "--ops", 2, "--json", "-")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["points"][0]["status"] == "ok"


# Each generator is a separate test, because ctest limits the time of a test file.
@pytest.mark.parametrize(("generator", "unpack", "tools"), [
    ("TGZ", ["tar", "--strip-components=1", "-xzf"], ["cpack", "tar"]),
    pytest.param("DEB", ["dpkg-deb", "-x"], ["cpack", "dpkg-deb", "dpkg-shlibdeps", "file"],
                 marks=pytest.mark.long("another generator of the same tree"))])
def test_a_package_holds_a_tree_that_works(tmp_path, generator, unpack, tools):
    missing = [tool for tool in tools if shutil.which(tool) is None]
    if missing:
        pytest.skip(f"install {', '.join(missing)}")
    made = subprocess.run(["cpack", "-G", generator, "-B", tmp_path / "made"], cwd=BUILD, capture_output=True, text=True,
                          check=False)
    assert made.returncode == 0, made.stdout + made.stderr
    package, = (path for path in (tmp_path / "made").iterdir() if path.is_file())
    root = tmp_path / "root"
    root.mkdir()
    subprocess.run([*unpack, package, *([root] if generator == "DEB" else ["-C", root])], check=True)
    tree = root / "usr" if (root / "usr").exists() else root
    works(tree)
    if generator == "DEB":
        told = subprocess.run(["dpkg-deb", "-f", package, "Depends"], capture_output=True, text=True, check=True).stdout
        assert "libc6 " in told and "libmimalloc" in told, told


def installed(tree, *arguments, cwd="/", prefix=(), **changes):
    return subprocess.run([*prefix, tree / "bin" / "zerotax", *map(str, arguments)], cwd=cwd, env=clean_environment(**changes),
                          capture_output=True, text=True, check=False, timeout=300)


def test_every_probe_runs_from_anywhere(tree):
    listed = installed(tree, "list")
    assert listed.returncode == 0, listed.stderr
    built = {path.name.removeprefix("bench-") for path in (BUILD / "bin").glob("bench-*")}
    done = installed(tree, "run", "--size", "1MiB", "--ops", 6, "--json", "-")
    assert done.returncode == 0, done.stderr
    run = json.loads(done.stdout)
    check_schema(run)
    assert {point["allocator"] for point in run["points"]} == built
    assert {point["status"] for point in run["points"]} == {"ok"}


def test_libraries_are_found_beside_it(tree):
    done = installed(tree, "record", "--allocator", "largecache", "--json", "/dev/null", "--", "/bin/ls", "/")
    assert done.returncode == 0, done.stderr
    for program in sorted([*(tree / "lib/zerotax/bin").iterdir(), *(tree / "lib/zerotax/libexec").iterdir()]):
        told = subprocess.run(["ldd", program], capture_output=True, text=True, check=False).stdout
        assert "not found" not in told and str(BUILD) not in told, f"{program}: {told}"
    assert (tree / "lib/zerotax/lib/libzerotax-functions.so").exists(), "a link that leads nowhere"


def search_paths(folder):
    """For each program and library: (file, folders in which the loader looks for its libraries)."""
    for path in folder.rglob("*"):
        if path.is_file() and not path.is_symlink() and path.open("rb").read(4) == b"\x7fELF":
            told = subprocess.run(["readelf", "-d", path], capture_output=True, text=True, check=True).stdout
            for found in re.findall(r"\((?:RPATH|RUNPATH)\) .*\[(.*)\]", told):
                yield path, found.split(":")


def test_libraries_are_looked_for_in_no_current_folder_and_none_of_the_build(tree):
    """An empty part of a search path means the current folder. Root would then load any library that a user put there.
    """
    named = {path.name: folders for path, folders in search_paths(tree)}
    for name, folders in named.items():
        for folder in folders:
            assert folder.startswith(("$ORIGIN", "/")) and ".." not in folder.removeprefix("$ORIGIN/.."), f"{name}: {folders}"
            assert not folder.startswith((str(BUILD), str(SOURCE))), f"{name}: {folders}"
    assert named["libzerotax-functions.so"] == ["$ORIGIN"]
    for part in ("bin", "lib", "libexec"):
        for path, folders in search_paths(BUILD / part):
            assert all(folder.startswith(("$ORIGIN", "/")) for folder in folders), f"{path}: {folders}"


def test_doctor_and_compare_work(tree):
    done = installed(tree, "doctor", "--json", "-")
    assert done.returncode in (0, 1), done.stderr
    check_schema(json.loads(done.stdout), "doctor")
    done = installed(tree, "compare", "jemalloc", "mimalloc", "--size", "4MiB", "--touch", 0, "--rounds", 12)
    assert done.returncode == 1 and "SLOWER" in done.stdout, done.stderr


def test_the_unit_starts_the_installed_command(tree):
    unit = tree / "lib/systemd/system/zerotax-top.service"
    start, = re.findall(r"^ExecStart=(.*)$", unit.read_text(), re.M)
    program, *words = start.split()
    # After a move, or after unpacking, the tree is no longer at the path for which it was installed.
    assert program.endswith("/bin/zerotax") and pathlib.Path(program).is_absolute()
    words = [word.replace("${LOGS_DIRECTORY}", "logs").replace("${STATE_DIRECTORY}", "state") for word in words]
    folder = tree.parent / "unit"
    for name in ("logs", "state"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    words[words.index("--interval") + 1] = "0.1"
    done = installed(tree, *words, "--samples", 2, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert len((folder / "logs/top.jsonl").read_text().splitlines()) == 2
    assert (folder / "state/zerotax.prom").read_text().startswith("# HELP zerotax_")
    if shutil.which("systemd-analyze") and pathlib.Path(program).exists():
        checked = subprocess.run(["systemd-analyze", "verify", unit], capture_output=True, text=True, check=False)
        assert checked.returncode == 0, checked.stderr


def test_scripts_are_those_that_were_installed(tree):
    for name in ("plots/all_figures.py", "plots/cow.py", "clients/receiving.py", "results/schema/compare.schema.json"):
        assert (tree / "share/zerotax" / name).is_file(), name
    checked = subprocess.run(["/usr/bin/python3", tree / "share/zerotax/plots/validate.py", SOURCE / "results/reference"],
                             env=clean_environment(PYTHONDONTWRITEBYTECODE="1"), capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    # Marks the scripts of the copy, so that each script identifies itself.
    copy = tree.parent / "marked"
    shutil.copytree(tree, copy, symlinks=True)
    for script in (copy / "share/zerotax/clients").glob("*.py"):
        script.write_text("raise SystemExit('of the installed tree')\n")
    done = installed(copy, "clients", "--client", "cffi_new", "--size", "1MB", "--allocator", "glibc", "--json", "-")
    assert "of the installed tree" in done.stdout + done.stderr


def test_documents_manual_and_completions_are_there(tree):
    assert (tree / "share/man/man1/zerotax.1").read_text().startswith(".\\\"")
    for page in (SOURCE / "docs").rglob("*.md"):
        assert (tree / "share/doc/zerotax" / page.relative_to(SOURCE / "docs")).is_file(), page
    assert (tree / "share/bash-completion/completions/zerotax").is_file()
    assert (tree / "share/zsh/vendor-completions/_zerotax").is_file()


@pytest.mark.skipif(os.geteuid() != 0 or shutil.which("setpriv") is None, reason="only root, with setpriv, can become nobody")
def test_nobody_can_use_it(tree):
    for folder in (tree, *tree.parents[:-1]):
        if str(folder).startswith("/tmp/pytest"):
            folder.chmod(0o755)
    done = installed(tree, "run", "--allocator", "glibc", "--size", "64KiB", "--ops", 4, prefix=NOBODY)
    assert done.returncode == 0, done.stderr


def test_a_program_is_built_with_the_installed_recorder(tree, tmp_path):
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.22)\nproject(user C)\nfind_package(Threads REQUIRED)\n"
        "find_package(zerotax-recorder REQUIRED)\nadd_executable(user user.c)\n"
        "target_link_libraries(user zerotax::zerotax_recorder)\n")
    shutil.copy(SOURCE / "tests/traced/first.c", tmp_path / "user.c")
    build = pathlib.Path(tmp_path / "build")
    for step in (["cmake", "-G", "Ninja", "-S", tmp_path, "-B", build, f"-DCMAKE_PREFIX_PATH={tree}"],
                 ["cmake", "--build", build]):
        done = subprocess.run(step, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.long("a trace more")
def test_a_trace_is_read_by_the_installed_reader(tree, tmp_path):
    environment = {**os.environ, "ZEROTAX_TRACE_DIR": str(tmp_path / "t")}
    assert subprocess.run([BUILD / "tests/traced/first"], env=environment, check=False).returncode == 0
    (tmp_path / "user.cc").write_text("""#include <zerotax/trace_reader.h>
#include <cstdio>
int main(int, char** words) {
  for (const auto& event : zerotax::TraceReader(words[1])) {
    if (event.type() == "request_done") std::printf("%ld ", static_cast<long>(event.integer("bytes")));
  }
}
""")
    library = next(tree.glob("lib/**/libzerotax-trace.so"))
    done = subprocess.run(["g++", "-std=c++20", "-Wall", "-Werror", tmp_path / "user.cc", "-I", tree / "include", library,
                           f"-Wl,-rpath,{library.parent}", "-o", tmp_path / "user"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    done = subprocess.run([tmp_path / "user", tmp_path / "t"], capture_output=True, text=True, check=True)
    assert done.stdout == "512 512 512 "
    code = ("import sys, zerotax_trace; "
            "print([e.fields['bytes'] for e in zerotax_trace.Trace(sys.argv[1]) if e.type == 'request_done'])")
    done = subprocess.run(["/usr/bin/python3", "-B", "-c", code, tmp_path / "t"], capture_output=True, text=True, check=False,
                          env={**os.environ, "PYTHONPATH": str(tree / "share/zerotax/python")})
    assert done.stdout == "[512, 512, 512]\n", done.stderr
