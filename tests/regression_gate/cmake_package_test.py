"""The CMake package zerotax and the files for pkg-config, used in other projects as in docs/trace.md and docs/check.md.
"""

import os
import re
import shutil
import subprocess

import pytest
from conftest import BUILD, SOURCE, clean_environment

CC = """#include <zerotax/trace_reader.h>
#include <cstdio>
int main(int, char** words) {
  std::uint64_t last = 0;
  for (const auto& event : zerotax::TraceReader(words[1])) last = static_cast<std::uint64_t>(event.integer("number"));
  std::printf("%d\\n", static_cast<int>(last));
}
"""
FUNCTIONS = "int part(int n) { return n * n; }\nint main(void) { return part(0); }\n"


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    """Returns an installed tree that was moved after the installation."""
    folder = tmp_path_factory.mktemp("installed") / "at first"
    subprocess.run(["cmake", "--install", BUILD, "--prefix", folder], check=True, capture_output=True)
    return folder.rename(folder.with_name("moved"))


def page_blocks(name, kind):
    return re.findall(rf"^```{kind}\n(.*?)^```$", (SOURCE / "docs" / name).read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)


def configured(folder, prefix, text, languages="C CXX"):
    """Returns the output and the status of cmake for a project with these lines."""
    folder.mkdir(exist_ok=True)
    [first] = page_blocks("trace.md", "c")
    for name, source in (("first.c", first), ("reader.cc", CC), ("work.c", FUNCTIONS)):
        (folder / name).write_text(source)
    (folder / "CMakeLists.txt").write_text(f"cmake_minimum_required(VERSION 3.18)\nproject(mine LANGUAGES {languages})\n{text}")
    done = subprocess.run(["cmake", "-B", "out", f"-DCMAKE_PREFIX_PATH={prefix}"], cwd=folder, env=clean_environment(),
                          capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def built(folder, prefix, text, languages="C CXX"):
    status, said = configured(folder, prefix, text, languages)
    assert status == 0, said
    done = subprocess.run(["cmake", "--build", "out"], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "out"


def trace(program, folder):
    subprocess.run([program], check=True, env=clean_environment(ZEROTAX_TRACE_DIR=str(folder)))
    return folder


def test_the_words_of_the_page_build_a_program_that_records(tmp_path, prefix):
    [words] = page_blocks("trace.md", "cmake")
    out = built(tmp_path / "mine", prefix, f"add_executable(first first.c)\n{words}", "C")
    assert (trace(out / "first", tmp_path / "trace")).is_dir()
    assert "zerotax" not in os.environ.get("LD_LIBRARY_PATH", "")


def test_every_component_is_found_without_a_list(tmp_path, prefix):
    out = built(tmp_path / "mine", prefix, """find_package(zerotax REQUIRED)
add_executable(first first.c)
target_link_libraries(first PRIVATE zerotax::recorder_static)
add_executable(reader reader.cc)
target_link_libraries(reader PRIVATE zerotax::trace_reader)
add_executable(work work.c)
target_compile_options(work PRIVATE -finstrument-functions)
target_link_libraries(work PRIVATE -Wl,--no-as-needed zerotax::functions)
if(NOT COMMAND zerotax_check OR NOT zerotax_VERSION VERSION_GREATER_EQUAL 0.2)
  message(FATAL_ERROR "incomplete: ${zerotax_VERSION}")
endif()
""")
    folder = trace(out / "first", tmp_path / "trace")
    assert subprocess.run([out / "reader", folder], check=True, capture_output=True, text=True).stdout == "999\n"
    assert "function_entry" in "".join(file.read_text() for file in trace(out / "work", tmp_path / "calls").rglob("metadata"))


@pytest.mark.parametrize(("words", "target"), [
    ("find_package(zerotax-recorder REQUIRED)", "zerotax::recorder"),
    ("find_package(zerotax-recorder 0.1 REQUIRED)", "zerotax::zerotax_recorder"),  # the former name of the target
    ("find_package(zerotax COMPONENTS check)\nfind_package(zerotax 0.2.0 REQUIRED COMPONENTS recorder)", "zerotax::recorder"),
    ("find_package(Threads)\nfind_package(zerotax REQUIRED COMPONENTS functions)", "zerotax::functions")])
def test_other_words_find_it_too(tmp_path, prefix, words, target):
    status, said = configured(tmp_path / "mine", prefix, f"{words}\nadd_executable(first first.c)\n"
                                                         f"target_link_libraries(first PRIVATE {target})\n", "C")
    assert status == 0, said


@pytest.mark.parametrize(("words", "message"), [
    ("find_package(zerotax 9 REQUIRED)", "9"), ("find_package(zerotax-recorder 9 REQUIRED)", "9"),
    ("find_package(zerotax REQUIRED COMPONENTS recorder nonsense)", "no component 'nonsense' (choose: recorder functions"),
    ("find_package(zerotax COMPONENTS nonsense)\nif(NOT zerotax_FOUND)\nmessage(FATAL_ERROR told)\nendif()", "told")])
def test_what_it_has_not_is_refused(tmp_path, prefix, words, message):
    status, said = configured(tmp_path / "mine", prefix, words)
    assert status != 0 and message in " ".join(said.split()), said


def test_check_needs_no_compiler(tmp_path, prefix):
    words, *_ = page_blocks("check.md", "cmake")
    status, said = configured(tmp_path / "mine", prefix, words.splitlines()[0], "NONE")
    assert status == 0, said


@pytest.mark.skipif(shutil.which("pkg-config") is None, reason="install pkg-config")
@pytest.mark.parametrize(("name", "source", "words"), [
    ("zerotax-recorder", "first.c", ["cc", "-std=c11"]), ("zerotax-functions", "work.c", ["cc", "-finstrument-functions"]),
    ("zerotax-trace", "reader.cc", ["c++", "-std=c++20"])])
def test_pkg_config_knows_each_library(tmp_path, prefix, name, source, words):
    configured(tmp_path, prefix, "")
    environment = clean_environment(PKG_CONFIG_PATH=str(next(prefix.glob("lib*/pkgconfig"))))

    def told(*asked):
        done = subprocess.run(["pkg-config", *asked, name], env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout.split()

    [version] = told("--modversion")
    assert version in subprocess.run([BUILD / "bin" / "zerotax", "--version"], capture_output=True, text=True, check=True).stdout
    for asked in (["--cflags", "--libs"], ["--static", "--cflags", "--libs"]):
        done = subprocess.run([*words, source, *told(*asked), "-o", "program"], cwd=tmp_path, capture_output=True, text=True,
                              check=False)
        assert done.returncode == 0, done.stderr
