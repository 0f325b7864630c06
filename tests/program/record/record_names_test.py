"""`zerotax record` names places in stripped programs and in Python, if a name exists anywhere."""

import contextlib
import http.server
import os
import pathlib
import shutil
import subprocess
import threading

import pytest
from conftest import MIB, is_na
from outside import functions, open_folder
from recording import record

PROGRAM = r"""
#include <stdlib.h>
#include <string.h>
static __attribute__((noinline)) void *quiet_one(size_t bytes) { return memset(malloc(bytes), 0, bytes); }
__attribute__((noinline)) void *exported(size_t bytes) { return bytes == 0 ? NULL : quiet_one(bytes); }
int main(void) { for (int i = 0; i < 20; ++i) free(exported(1 << 20)); return 0; }
"""
# Debian's Python, which has no debug files on this machine, and pyenv's versions.
PYTHONS = [pathlib.Path("/usr/bin/python3.11"),
           *sorted((pathlib.Path.home() / ".pyenv" / "versions").glob("3.*/bin/python3"))]
SCRIPT = """
class Reader:
    def refill(self, size):
        return bytearray(size)

def entladen(reader):
    for _ in range(20):
        reader.refill(3_000_000)

entladen(Reader())
"""


@contextlib.contextmanager
def stripped():
    """A stripped program that exports one function, and prog.debug with the names of all other functions."""
    with open_folder() as folder:
        (folder / "prog.c").write_text(PROGRAM)
        subprocess.run(["gcc", "-O1", "-g", "-rdynamic", "-fno-toplevel-reorder", "-fno-builtin", "-fno-optimize-sibling-calls",
                        "-Wl,--build-id=sha1", "-o", "prog", "prog.c"], cwd=folder, check=True, timeout=120)
        subprocess.run(["objcopy", "--only-keep-debug", "prog", "prog.debug"], cwd=folder, check=True, timeout=60)
        subprocess.run(["strip", "prog"], cwd=folder, check=True, timeout=60)
        yield folder


def clearing(found):
    """Returns the one site that clears memory, and its frames in the program."""
    [site] = [site for site in found.json["sites"] if site["zeroed_bytes"] >= 20 * MIB]
    return site, [frame for frame in site["frames"] if str(frame["module"]).endswith("/prog")]


# In assembly, a symbol may have no size. The end of the function is then known only from call frame information.
ASSEMBLY = r"""__asm__(".text\n.globl first_exported\n.type first_exported,%function\nfirst_exported:\n"
".cfi_startproc\nnop\nret\n.cfi_endproc\n");"""


@pytest.mark.parametrize("first", ["int first_exported(int x) { return x + 1; }", ASSEMBLY], ids=["sized", "without a size"])
def test_code_without_a_name_lies_after_an_exported_function(first):
    with stripped() as folder:
        # The linker keeps the order of a file's functions, so quiet_one comes after another exported function.
        before = PROGRAM.replace("static", f"{first}\nstatic", 1)
        (folder / "prog.c").write_text(before)
        subprocess.run(["gcc", "-O1", "-s", "-rdynamic", "-fno-toplevel-reorder", "-fno-builtin", "-fno-optimize-sibling-calls",
                        "-o", "prog", "prog.c"], cwd=folder, check=True, timeout=120)
        found = record(folder / "prog")
        _, [innermost, caller, *_] = clearing(found)
        assert is_na(innermost["function"]) and innermost["after"].startswith("first_exported+0x")
        assert 0 < int(innermost["after"].split("+")[1], 16) < 64
        assert caller["function"] == "exported" and "after" not in caller
        assert f"after {innermost['after']} (prog)" in found.text


def test_a_debug_file_that_the_link_names_is_read():
    with stripped() as folder:
        subprocess.run(["objcopy", "--add-gnu-debuglink=prog.debug", "prog"], cwd=folder, check=True, timeout=60)
        site, [innermost, *_] = clearing(record(folder / "prog"))
        assert "quiet_one" in functions(site) and innermost["line"] == 4


@pytest.mark.skipif(shutil.which("xz") is None, reason="xz is missing: install xz-utils")
def test_a_table_of_symbols_inside_the_program_is_read():
    """MiniDebugInfo: a compressed file of symbols in .gnu_debugdata (gdb's manual, "MiniDebugInfo")."""
    with stripped() as folder:
        (folder / "keep").write_text("quiet_one\n")
        for words in (["objcopy", "-S", "--keep-symbols=keep", "prog.debug", "mini"], ["xz", "mini"],
                      ["objcopy", "--add-section=.gnu_debugdata=mini.xz", "prog"], ["rm", "prog.debug"]):
            subprocess.run(words, cwd=folder, check=True, timeout=60)
        site, [innermost, *_] = clearing(record(folder / "prog"))
        assert "quiet_one" in functions(site) and is_na(innermost["line"])


@contextlib.contextmanager
def server(files):
    """Serves debug files by build ID, as debuginfod(8) does. Yields the server's address and the requested paths."""
    asked = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):  # pylint: disable=invalid-name
            asked.append(self.path)
            data = files.get(self.path)
            self.send_response(404 if data is None else 200)
            self.send_header("Content-Length", str(len(data or b"")))
            self.end_headers()
            self.wfile.write(data or b"")

        def log_message(self, *_words):  # pylint: disable=arguments-differ
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as serving:
        threading.Thread(target=serving.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{serving.server_address[1]}", asked
        serving.shutdown()


@pytest.mark.skipif(not list(pathlib.Path("/usr/lib").glob("*/libdebuginfod.so.1")), reason="libdebuginfod1 is missing")
def test_a_server_of_debug_files_is_asked_only_where_one_is_set():
    with stripped() as folder:
        notes = subprocess.run(["readelf", "-n", folder / "prog"], capture_output=True, text=True, check=True).stdout
        path = f"/buildid/{notes.split('Build ID:', 1)[1].split()[0]}/debuginfo"
        data = (folder / "prog.debug").read_bytes()
        os.remove(folder / "prog.debug")
        cache = {"DEBUGINFOD_CACHE_PATH": str(folder / "cache")}
        with server({path: data}) as (address, asked):
            site, _ = clearing(record(folder / "prog", **cache))
            assert "quiet_one" not in functions(site) and not asked
            site, _ = clearing(record(folder / "prog", DEBUGINFOD_URLS=address, **cache))
            assert "quiet_one" in functions(site) and path in asked
        # A debug file without the requested build ID is not used.
        with server({path: pathlib.Path("/bin/true").read_bytes()}) as (address, asked):
            site, _ = clearing(record(folder / "prog", DEBUGINFOD_URLS=address, DEBUGINFOD_CACHE_PATH=str(folder / "other")))
            assert "quiet_one" not in functions(site) and path in asked


@pytest.mark.parametrize("python", PYTHONS, ids=lambda path: path.parts[-3] if "pyenv" in str(path) else path.name)
def test_pythons_functions_are_on_the_stack(python, tmp_path):
    if not python.exists():
        pytest.skip(f"{python} is missing")
    asked = subprocess.run([python, "-c", "import sys; print(*sys.version_info[:2])"], capture_output=True, text=True, check=True)
    version = tuple(map(int, asked.stdout.split()))
    file = tmp_path / "refills.py"
    file.write_text(SCRIPT)
    found = record(python, file)
    [site] = [site for site in found.json["sites"] if site["calls"] == 20 and site["kind"] == "by_hand"]
    script = [frame for frame in site["frames"] if is_na(frame["module"]) and not is_na(frame["function"])]
    names = [names["names"] for names in found.json["script_names"] if names["interpreter"].startswith("CPython 3")]
    if not (3, 8) <= version <= (3, 11):
        assert not script and (not names or is_na(names[0]))
        return
    method = "Reader.refill" if version >= (3, 11) else "refill"
    lines = [(frame["function"], frame["line"]) for frame in script]
    assert lines == [(method, 3), ("entladen", 6)]
    assert all(frame["file"] == str(file) for frame in script)
    assert names == ["frames"] and "no names of script functions" not in found.text
    assert f"{method} (refills.py:3)" in found.text
    # The interpreter loop that runs a script's function is the caller of that function, not its callee.
    at = [i for i, frame in enumerate(site["frames"]) if str(frame["function"]).startswith("_PyEval_EvalFrameDefault")]
    assert site["frames"].index(script[-1]) < min(at)


def test_a_thread_of_python_without_the_lock_has_its_own_functions(tmp_path):
    file = tmp_path / "threads.py"
    file.write_text("import ctypes, threading\nlibrary = ctypes.CDLL(None)\nlibrary.calloc.restype = ctypes.c_void_p\n"
                    "def spin():\n    while worker.is_alive(): sum(range(1000))\n"
                    "def allocate():\n    for _ in range(300): library.free(ctypes.c_void_p(library.calloc(1 << 20, 1)))\n"
                    "worker = threading.Thread(target=allocate)\nworker.start()\nspin()\n")
    found = record("/usr/bin/python3.11", file)   # ctypes releases Python's lock during a call
    stacks = [functions(site) for site in found.json["sites"] if site["kind"] == "calloc" and site["requested_bytes"] >= MIB]
    assert stacks and all("allocate" in stack and "spin" not in stack for stack in stacks), stacks


@pytest.mark.skipif(not os.path.exists("/var/lib/dpkg/info/python3-numpy.list"), reason="python3-numpy is missing")
def test_the_package_with_the_names_is_named_once():
    found = record("/usr/bin/python3", "-c", "import numpy\nfor _ in range(20): numpy.ones(1 << 20) + 1")
    words = " ".join(found.text.split())
    assert words.count("python3-numpy-dbgsym") == 1 and "DEBUGINFOD_URLS=" in words
    again = record("/usr/bin/python3", "-c", "import numpy\nfor _ in range(20): numpy.ones(1 << 20) + 1", DEBUGINFOD_URLS=" ")
    assert "python3-numpy-dbgsym" in again.text and "DEBUGINFOD_URLS=" not in again.text
