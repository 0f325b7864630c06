"""Tests programs linked by lld, in which addresses of code differ from file offsets. Functions must still get their own
names.
"""

import json
import os
import pathlib
import shutil
import subprocess

import pytest
from conftest import SOURCE, check_schema, zerotax

LINKER = next((path for path in map(shutil.which, ("ld.lld", "ld.lld-14")) if path), None)
COMPILER = shutil.which(os.environ.get("CXX", "c++"))
CHAIN = ("main", "fills_fresh_memory")


@pytest.fixture(scope="module", name="faulty")
def fixture_faulty(tmp_path_factory):
    if LINKER is None or COMPILER is None:
        pytest.skip("lld or a compiler is missing: install lld-14 and g++")
    folder = tmp_path_factory.mktemp("lld")
    (folder / "ld.lld").symlink_to(LINKER)
    program = folder / "faulty"
    subprocess.run([COMPILER, "-g", "-O1", "-fno-builtin", "-fno-inline", "-fno-optimize-sibling-calls", "-fuse-ld=lld",
                    f"-B{folder}", "-o", program, SOURCE / "tests" / "recorded" / "faulty.cc"], check=True)
    return program


def functions(tree, before=()):
    for call in tree:
        path = (*before, call["function"])
        yield path
        yield from functions(call["children"], path)


def profile(file, *words):
    done = zerotax("profile", "--json", file, *words)
    if done.returncode == 3:
        pytest.skip("this kernel permits no sampling")
    assert done.returncode == 0, done.stderr
    found = json.loads(file.read_text())
    check_schema(found, "profile")
    return found


def named(found):
    """Returns the paths of the trees, with C++ names shortened."""
    trees = [found["tree"], found["page_faults"]["tree"], *(thread["tree"] for thread in found.get("threads", []))]
    return {tuple(name.split("::")[-1].partition("(")[0] for name in path) for tree in trees for path in functions(tree)}


def has_chain(paths, *chain):
    return any(path[i:i + len(chain)] == chain for path in paths for i in range(len(path)))


def section(program, name):
    """Returns the address, file offset and size of a section."""
    listing = subprocess.run(["readelf", "-SW", program], capture_output=True, text=True, check=True).stdout
    words = next(line.split() for line in listing.replace("[ ", "[").splitlines() if f" {name} " in line)
    return [int(word, 16) for word in words[3:6]]


def bare_addresses(found, module):
    """Returns the addresses of functions without a name."""
    return [int(call["function"], 16) for call in found["top_of_stack"]
            if call["module"] == module and call["function"].startswith("0x")]


def test_a_program_that_lld_linked_has_names_and_callers(tmp_path, faulty):
    found = profile(tmp_path / "profile.json", "--", faulty, "0.4")
    paths = named(found)
    assert has_chain(paths, "_start") and has_chain(paths, "main", "computes")
    assert has_chain(paths, *CHAIN)
    # Only the stubs for calls to other libraries (.plt) have no names.
    address, _, size = section(faulty, ".plt")
    assert all(address <= each < address + size for each in bare_addresses(found, "faulty"))


def test_a_running_one_too_and_its_load_address(tmp_path, faulty):
    with subprocess.Popen([faulty, "600"], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout.readline() == "started\n"
            begin = pathlib.Path(f"/proc/{process.pid}/maps").read_text().split("-", 1)[0]
            found = profile(tmp_path / "profile.json", "--pid", process.pid, "--seconds", "1")
        finally:
            process.kill()
    assert has_chain(named(found), "main", "computes")
    assert int(found["process"]["load_address"], 16) == int(begin, 16)
    symbols = subprocess.run(["nm", "-C", faulty], capture_output=True, text=True, check=True).stdout.splitlines()
    rows = [line.split() for line in symbols if line.split()[-1].endswith("computes()")]
    start = int(begin, 16) + int(rows[0][0], 16)
    places = [call for thread in found["threads"] for call in walk(thread["tree"]) if call["function"].endswith("computes()")]
    assert places and all(start <= int(call["address"], 16) < start + 4096 for call in places)


def walk(tree):
    for call in tree:
        yield call
        yield from walk(call["children"])


def test_without_symbols_addresses_are_those_of_the_file(tmp_path, faulty):
    stripped = tmp_path / "stripped"
    subprocess.run(["strip", "-o", stripped, faulty], check=True)
    address, offset, size = section(stripped, ".text")
    assert address != offset, "else the test proves nothing"
    found = profile(tmp_path / "profile.json", "--", stripped, "0.4")
    bare = bare_addresses(found, "stripped")
    assert bare and all(address <= each < address + size for each in bare)


def test_cow_names_who_faulted(tmp_path, faulty):
    file = tmp_path / "cow.json"
    done = zerotax("cow", "--json", file, "--", faulty, "0.1")
    if done.returncode == 3:
        pytest.skip("this kernel lets no page faults be watched")
    code = json.loads(file.read_text())["code"]
    names = {row["function"] for row in code if row["module"] == "faulty"}
    assert any("fills_fresh_memory" in name for name in names), names
    assert not any(name.startswith("0x") for name in names), names
