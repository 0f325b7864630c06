"""A program works under `record` as it works alone, however little stack or memory it has, and even if its call frame
information is wrong.
"""

import os
import pathlib
import platform
import subprocess

import pytest
from conftest import clean_environment
from recording import record

SOURCES = pathlib.Path(__file__).parent / "unharmed"


@pytest.fixture(name="build", scope="module")
def _build(tmp_path_factory):
    folder = tmp_path_factory.mktemp("unharmed")
    os.chmod(folder, 0o755)

    def build(source, *flags, output=None):
        program = folder / (output or pathlib.Path(source).stem)
        compiler = "c++" if source.endswith(".cc") else "cc"
        subprocess.run([compiler, "-O1", "-g", "-fno-builtin", *flags, SOURCES / source, "-o", program, "-ldl"], check=True)
        return program

    return build


def said_alone(program, *words, **environment):
    done = subprocess.run([program, *words], env=clean_environment(**environment), capture_output=True, text=True, timeout=60,
                          check=False)
    assert done.returncode == 0, done
    return done.stdout


def is_unharmed(program, *words, **environment):
    """Returns the recording of a program, after checking that its output and status are the same as alone."""
    found = record(program, *words, **environment)
    assert (found.status, found.out) == (0, said_alone(program, *words, **environment)), found.err
    assert found.totals["malloc_calls"] > 0
    return found


def functions_of(found):
    return {str(frame["function"]) for site in found.json["sites"] for frame in site["frames"]}


def test_a_free_of_the_programs_own_may_ask_dlsym_for_the_next(build):
    is_unharmed(build("own_free.c"))


def test_a_free_of_a_library_may_ask_dlsym_for_the_next(build):
    library = build("own_free.c", "-shared", "-fPIC", "-DLIBRARY", output="libown_free.so")
    program = build("small_stacks.c", "-Wl,--no-as-needed", library, f"-Wl,-rpath,{library.parent}", output="with_own_free")
    is_unharmed(program, "coroutine")
    is_unharmed(build("small_stacks.c"), "coroutine", LD_PRELOAD=library)


def test_an_error_of_dlopen_waits_for_the_program_to_ask(build):
    plugin = build("plugin.cc", "-shared", "-fPIC", output="plugin.so")
    assert "libmissing.so.7" in is_unharmed(build("pending_error.c"), plugin).out


@pytest.mark.parametrize("where", ["handler", "coroutine"])
@pytest.mark.parametrize("pages", [None, "read"])
def test_a_stack_of_a_few_kib_is_enough(build, where, pages):
    found = is_unharmed(build("small_stacks.c"), where, **({"ZEROTAX_PAGEMAP": pages} if pages else {}))
    functions = functions_of(found)
    assert "work" in functions
    if where == "handler":
        # The call stack includes the signal handler and the interrupted function.
        assert {"handle", "main"} <= functions


@pytest.mark.parametrize("pages", ["scan", "read"])
def test_the_recorder_takes_at_most_1_kib_of_a_programs_stack(build, pages):
    # All functions are bound at the start. Otherwise, the stack that the dynamic linker needs to bind a function at its
    # first call would count for the recorder.
    program = build("small_stacks.c", "-Wl,-z,now", output="bound")
    alone = int(said_alone(program, "depth"))
    found = record(program, "depth", ZEROTAX_PAGEMAP=pages)
    assert found.status == 0, found.err
    assert int(found.out) <= alone + 1024


def test_the_calls_of_a_program_with_small_stacks_are_noted(build, tmp_path):
    os.chmod(tmp_path, 0o777)
    found = record(build("small_stacks.c"), "handler", options=["--calls", tmp_path / "calls"])
    assert (found.status, found.out) == (0, "done\n"), found.err


@pytest.mark.skipif(platform.machine() != "x86_64", reason="written in the assembler's language of x86-64")
def test_callers_with_wrong_call_frame_information_lead_nowhere(build):
    found = is_unharmed(build("wrong_rules.c"))
    assert {"allocate", "by_register"} <= functions_of(found)


def test_a_program_with_few_addresses_keeps_most_of_them(build):
    program = build("few_addresses.c")
    alone = int(said_alone(program, "128"))
    found = record(program, 128)
    assert found.status == 0, found.err
    # The recorder needs 14 MiB for its counts, and a little for each large block.
    assert alone - 20 <= int(found.out) <= alone
