"""ZerotaxCheck.cmake: a separate project finds the installed module, passes against its own baseline, and fails with a
regression.
"""

import os
import shutil
import subprocess

import pytest
from conftest import BUILD, SOURCE, clean_environment

PROJECT = """
cmake_minimum_required(VERSION 3.18)
project(mine C CXX)
enable_testing()
set(CMAKE_CXX_STANDARD 20)
set(POLICY never CACHE STRING "")
add_library(mine SHARED core.cc planted_${POLICY}.cc)
find_package(ZerotaxCheck REQUIRED)
zerotax_check(TARGET mine BASELINE "a baseline.json" SIZES 1MiB)
"""


PROGRAM = """
cmake_minimum_required(VERSION 3.18)
project(mine CXX)
enable_testing()
set(REGRESSED 0 CACHE STRING "")
add_executable(decoder decoder.cc)
target_compile_definitions(decoder PRIVATE REGRESSED=${REGRESSED})
target_compile_options(decoder PRIVATE -g -O0)
find_package(ZerotaxCheck REQUIRED)
zerotax_check_program(TARGET decoder ARGS "a word" BASELINE "a baseline.json")
"""
DECODER = """
#include <cstdlib>
#include <cstring>
void reset(char* block) {
  if (REGRESSED) std::memset(block, 0, 1 << 20);
}
int main(int count, char** words) {
  char* block = static_cast<char*>(std::malloc(1 << 20));
  std::memset(block, 1, 1 << 20);
  reset(block);
  return count == 2 && std::strcmp(words[1], "a word") == 0 && block[0] < 2 ? 0 : 1;
}
"""


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    folder = tmp_path_factory.mktemp("installed")
    subprocess.run(["cmake", "--install", BUILD, "--prefix", folder], check=True, capture_output=True)
    return folder


def cmake(folder, *words, status=0, **environment):
    done = subprocess.run(["cmake", *map(str, words)], cwd=folder, env=clean_environment(**environment), capture_output=True,
                          text=True, check=False)
    assert (done.returncode == 0) == (status == 0), done.stdout + done.stderr
    return done


def ctest(folder):
    return subprocess.run(["ctest", "--test-dir", folder / "out", "--output-on-failure"], env=clean_environment(),
                          capture_output=True, text=True, check=False)


def project(folder, text=PROJECT):
    folder.mkdir()
    for name in ("core.h", "core.cc", "planted_never.cc", "planted_memset.cc"):
        shutil.copy(SOURCE / "tests" / "planted" / name, folder)
    shutil.copy(SOURCE / "tests" / "support" / "instructions.h", folder)
    (folder / "CMakeLists.txt").write_text(text)
    return folder


def test_a_project_of_its_own_passes_with_its_baseline_and_fails_with_a_regression(tmp_path, prefix):
    mine = project(tmp_path / "my-project")
    cmake(mine, "-B", "out", "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={prefix}")
    cmake(mine, "--build", "out")
    missing = ctest(mine)
    assert missing.returncode != 0 and "a baseline.json" in missing.stdout and "zerotax bless" in missing.stdout, missing.stdout
    cmake(mine, "--build", "out", "--target", "zerotax-bless-mine")
    passed = ctest(mine)
    assert passed.returncode == 0 and "zerotax-check-mine" in passed.stdout, passed.stdout
    cmake(mine, "-B", "out", "-DPOLICY=memset")
    cmake(mine, "--build", "out")
    failed = ctest(mine)
    assert failed.returncode != 0 and "mixed: the first calloc" in failed.stdout, failed.stdout


@pytest.mark.long("a project more")
def test_a_program_of_its_own_passes_with_its_baseline_and_fails_with_a_regression(tmp_path, prefix):
    mine = tmp_path / "my-project"
    mine.mkdir()
    (mine / "CMakeLists.txt").write_text(PROGRAM)
    (mine / "decoder.cc").write_text(DECODER)
    cmake(mine, "-B", "out", "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={prefix}")
    cmake(mine, "--build", "out")
    missing = ctest(mine)
    assert missing.returncode != 0 and "there is no baseline" in missing.stdout, missing.stdout
    cmake(mine, "--build", "out", "--target", "zerotax-bless-decoder")
    assert ctest(mine).returncode == 0
    cmake(mine, "-B", "out", "-DREGRESSED=1")
    cmake(mine, "--build", "out")
    failed = ctest(mine)
    assert failed.returncode != 0 and "worse: memory zeroed by" in failed.stdout and "reset (decoder.cc:" in failed.stdout


@pytest.mark.parametrize(("change", "words"), [
    (("TARGET mine ", ""), "TARGET is missing"), (("TARGET mine", "TARGET nobody"), "no target 'nobody'"),
    (("SHARED", "STATIC"), "SHARED or MODULE"), (("SIZES", "BOGUS x SIZES"), "unknown arguments: BOGUS;x")])
def test_a_mistake_is_named(tmp_path, prefix, change, words):
    mine = project(tmp_path / "mine", PROJECT.replace(*change))
    done = cmake(mine, "-B", "out", "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={prefix}", status=1)
    assert words in " ".join(done.stderr.split())


def test_a_copy_of_the_module_without_zerotax_disables_the_test_and_says_so(tmp_path):
    mine = project(tmp_path / "mine", PROJECT.replace("find_package(ZerotaxCheck REQUIRED)", "include(ZerotaxCheck)"))
    shutil.copy(SOURCE / "cmake" / "ZerotaxCheck.cmake", mine)
    bare = os.pathsep.join(each for each in os.environ["PATH"].split(os.pathsep) if not os.path.exists(f"{each}/zerotax"))
    done = cmake(mine, "-B", "out", "-G", "Ninja", f"-DCMAKE_MODULE_PATH={mine}", PATH=bare)
    assert "zerotax was not found" in done.stderr
    cmake(mine, "--build", "out")
    assert "Disabled" in ctest(mine).stdout
