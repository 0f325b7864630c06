"""Data files from other users (a baseline in a pull request, a results folder from a download) never choose code that
runs.
"""

import json
import os
import shutil
import subprocess

import pytest
from conftest import zerotax
from refusing import contents, refused

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to another user")
QUICK = ("--size", "64KiB", "--audit-only")
# Names and values of variables for loaders, shells, interpreters, build tools and libraries. The last variable belongs
# to no known program.
REFUSED = [
    ("LD_PRELOAD", "{trap}"), ("LD_AUDIT", "{trap}"), ("LD_LIBRARY_PATH", "{folder}"), ("LD_BIND_NOW", "1"),
    ("GCONV_PATH", "."), ("LOCPATH", "x"), ("NLSPATH", "x"), ("PYTHONSTARTUP", "x.py"), ("PYTHONINSPECT", "1"),
    ("PERL5OPT", "-Mx"), ("PERL5LIB", "x"), ("RUBYOPT", "-rx"), ("NODE_OPTIONS", "--require=x"), ("NODE_PATH", "x"),
    ("BASH_ENV", "x"), ("ENV", "x"), ("SHELLOPTS", "xtrace"), ("PS4", "x"), ("PROMPT_COMMAND", "x"), ("IFS", "x"),
    ("PATH", "x"), ("HOME", "x"), ("TMPDIR", "x"), ("GIT_DIR", "x"), ("GIT_SSH_COMMAND", "x"), ("PAGER", "x"), ("EDITOR", "x"),
    ("MANPAGER", "x"), ("LESSOPEN", "x"), ("JAVA_TOOL_OPTIONS", "-agentlib:x"), ("CLASSPATH", "x"),
    ("DOTNET_STARTUP_HOOKS", "x"), ("LUA_INIT", "x"), ("R_PROFILE", "x"), ("GTK_MODULES", "x"), ("QT_PLUGIN_PATH", "x"),
    ("OPENSSL_CONF", "x"), ("CC", "x"), ("MAKEFLAGS", "x"), ("ASAN_OPTIONS", "log_path=x"), ("http_proxy", "x:80"),
    ("npm_config_script_shell", "x"), ("MALLOC_TRACE", "x"), ("MALLOC_CONF", "prof:true,prof_prefix:x"),
    ("GLIBC_TUNABLES", "glibc.rtld.execstack=2"), ("TCMALLOC_MEMFS_MALLOC_PATH", "x"), ("MY_PLUGINS", "x"),
    ("ANYTHING", "/tmp/x.so"), ("ANYTHING", "() { :; }; id"), ("ANYTHING", "$(id)"), ("A B", "1"), ("", "1"),
    ("X\u202e", "1"), ("ANYTHING", "one\ntwo"), ("ZEROTAX_PROBE_DIR", "x")]
ALLOWED = [("MALLOC_ARENA_MAX", "1"), ("MALLOC_CONF", "retain:false,dirty_decay_ms:0"), ("MIMALLOC_LARGE_OS_PAGES", "0"),
           ("GLIBC_TUNABLES", "glibc.malloc.hugetlb=1:glibc.cpu.x86_rep_movsb_threshold=2048"),
           ("OMP_NUM_THREADS", "4"), ("MY_MODE", "fast-0.5")]


@pytest.fixture(name="trap", scope="module")
def _trap(tmp_path_factory):
    """Makes a library that leaves a mark in its folder whenever it is loaded, and allocates like the C library."""
    folder = tmp_path_factory.mktemp("trap")
    source = folder / "trap.c"
    source.write_text(f"""#include <fcntl.h>
__attribute__((constructor)) static void spring(void) {{ open("{folder}/sprung", O_CREAT | O_WRONLY, 0666); }}
unsigned la_version(unsigned version) {{ spring(); return version; }}
void *__libc_malloc(unsigned long), *__libc_calloc(unsigned long, unsigned long), *__libc_realloc(void *, unsigned long);
void __libc_free(void *);
void *malloc(unsigned long size) {{ return __libc_malloc(size); }}
void *calloc(unsigned long count, unsigned long size) {{ return __libc_calloc(count, size); }}
void *realloc(void *block, unsigned long size) {{ return __libc_realloc(block, size); }}
void free(void *block) {{ __libc_free(block); }}
""")
    subprocess.run(["/usr/bin/gcc", "-shared", "-fPIC", "-O1", "-fno-builtin", "-o", folder / "trap.so", source], check=True)
    return folder / "trap.so"


def is_sprung(trap):
    """Whether the library has been loaded since the last call to this function."""
    mark = trap.with_name("sprung")
    found = mark.exists()
    mark.unlink(missing_ok=True)
    return found


def test_the_trap_springs(trap):
    for key in ("LD_PRELOAD", "LD_AUDIT"):
        subprocess.run(["/bin/true"], env={key: str(trap)}, check=True)
        assert is_sprung(trap), key


@pytest.fixture(name="program", scope="module")
def _program(tmp_path_factory):
    """Makes a baseline of a program."""
    file = tmp_path_factory.mktemp("program") / "program.json"
    done = zerotax("bless", "--baseline", file, "--", "/bin/true")
    assert done.returncode == 0, done.stderr
    return json.loads(file.read_text())


@pytest.fixture(name="allocator", scope="module")
def _allocator(tmp_path_factory):
    """Makes a baseline of an allocator."""
    file = tmp_path_factory.mktemp("allocator") / "allocator.json"
    done = zerotax("bless", "--allocator", "glibc", "--baseline", file, "--size", "64KiB")
    assert done.returncode == 0, done.stderr
    return json.loads(file.read_text())


@pytest.fixture(name="results", scope="module")
def _results(tmp_path_factory):
    """Makes a results folder."""
    folder = tmp_path_factory.mktemp("results") / "run"
    done = zerotax("run", "--allocator", "glibc", *QUICK, "--out", folder)
    assert done.returncode == 0, done.stderr
    return folder


def kinds(tmp_path, program, allocator, results, env):
    """Writes these variables into each kind of file. Yields a command that reads the file, and the file."""
    file = tmp_path / "program.json"
    program = json.loads(json.dumps(program))
    program["programs"][0]["env"] = env
    file.write_text(json.dumps(program))
    yield ("check", "--baseline", file, "--", "/bin/true"), file
    file = tmp_path / "allocator.json"
    file.write_text(json.dumps({**allocator, "env": env}))
    yield ("check", "--baseline", file, "--only", "zeroed_bytes"), file
    shutil.rmtree(tmp_path / "run", ignore_errors=True)
    shutil.copytree(results, tmp_path / "run")
    file = tmp_path / "run" / "plan.json"
    plan = json.loads(file.read_text())
    plan["allocators"][0]["env"] = env
    file.write_text(json.dumps(plan))
    yield ("run", "--resume", tmp_path / "run"), file


@pytest.mark.parametrize("key, value", REFUSED)
def test_a_variable_that_leads_to_code_is_refused(tmp_path, trap, program, allocator, results, key, value):
    value = value.format(trap=trap, folder=trap.parent) if "{trap}" in value or "{folder}" in value else value
    for command, file in kinds(tmp_path, program, allocator, results, {"A_FIRST": "1", key: value}):
        before = contents(tmp_path)
        refused(zerotax(*command), str(file), "a file may not set a variable")
        assert contents(tmp_path) == before
    assert not is_sprung(trap)


@pytest.mark.parametrize("key, value", ALLOWED)
def test_a_setting_is_taken_and_printed(tmp_path, program, allocator, results, key, value):
    for command, file in kinds(tmp_path, program, allocator, results, {key: value}):
        done = zerotax(*command)
        assert done.returncode in (0, 1), done.stderr
        assert f"environment from {file} for " in done.stderr and f": {key}={value}\n" in done.stderr


def test_who_gives_a_variable_means_it(tmp_path, trap, program, allocator, results):
    commands = list(kinds(tmp_path, program, allocator, results, {"LD_AUDIT": str(trap)}))
    for (command, _), name in zip(commands[:2], ("true", "glibc")):
        end = command.index("--") if "--" in command else len(command)
        done = zerotax(*command[:end], "--env", f"{name}:LD_AUDIT={trap}", *command[end:])
        assert done.returncode in (0, 1) and is_sprung(trap), done.stderr


def test_a_recording_chooses_no_code_either(tmp_path):
    calls = tmp_path / "x.calls"
    done = zerotax("record", "--text", "/dev/null", "--calls", calls, "--allocator", "glibc", "--env",
                   "glibc:LD_LIBRARY_PATH=/nonexistent", "--", "/bin/true")
    assert done.returncode == 0, done.stderr
    refused(zerotax("advise", "--", calls), "LD_LIBRARY_PATH", "a file may not set a variable")


def with_library(tmp_path, results, library):
    folder = tmp_path / "run"
    shutil.copytree(results, folder)
    plan = json.loads((folder / "plan.json").read_text())
    plan["allocators"][0].update(name="mine", preload=str(library))
    for point in plan["points"]:
        point["allocator"] = "mine"
    (folder / "plan.json").write_text(json.dumps(plan))
    return folder


def test_the_library_of_a_plan_is_printed(tmp_path, trap, results):
    done = zerotax("run", "--resume", with_library(tmp_path, results, trap))
    assert f"library from {tmp_path}/run/plan.json for mine: {trap}\n" in done.stderr
    is_sprung(trap)


def test_a_library_beside_the_plan_is_refused(tmp_path, trap, results):
    folder = with_library(tmp_path, results, "./trap.so")
    shutil.copy(trap, folder)
    refused(zerotax("run", "--resume", folder, cwd=folder), "not an absolute path")
    assert not is_sprung(trap)


@needs_root
@pytest.mark.parametrize("foreign", ["plan.json", "trap.so"])
def test_root_loads_nothing_for_a_plan_that_nobody_wrote(tmp_path, trap, results, foreign):
    library = tmp_path / "trap.so"
    shutil.copy(trap, library)
    folder = with_library(tmp_path, results, library)
    os.chown(library if foreign == "trap.so" else folder / foreign, 65534, 65534)
    refused(zerotax("run", "--resume", folder), "another user can write", "--allocator mine=")
    assert not is_sprung(trap)


@needs_root
def test_root_loads_no_library_that_all_may_write(tmp_path, trap, results):
    library = tmp_path / "trap.so"
    shutil.copy(trap, library)
    library.chmod(0o666)
    refused(zerotax("run", "--resume", with_library(tmp_path, results, library)), "another user can write")
    assert not is_sprung(trap)
