"""Tests zerotax profile on difficult programs. Shares are known. Names may be right or missing, but never wrong."""

import json
import math
import os
import shutil
import subprocess

import pytest
from conftest import BUILD, NOBODY, SOURCE, check_schema, mostly_long, open_to_nobody, skip_if_unreadable, zerotax

SPLIT = BUILD / "tests" / "recorded" / "split"
FLAGS = ["-std=c++20", "-g", "-O1", "-fno-builtin", "-fno-inline", "-w"]
AT_MOST = 0.12  # largest accepted deviation from the share of three quarters
# Methods of running the program. With some methods, the code has no names, because it is generated or because only root
# can read the file.
WAYS = ("plain forked execs pid-namespace chrooted main-thread-gone killed stopped many renamed as-nobody not-dumpable "
        "clone handler vfork daemon").split()
ROOT_ONLY = {("pid-namespace", "nobody"), ("chrooted", "nobody"), ("as-nobody", "nobody")}
AS = [pytest.param("root", marks=pytest.mark.skipif(os.geteuid() != 0, reason="only root")), "nobody"]


def profile(folder, *words, prefix=(), allowed=(0,)):
    open_to_nobody(folder)
    done = zerotax("profile", "--json", "-", "--", *words, prefix=prefix, cwd="/")
    if done.returncode == 3 and not done.stdout:
        pytest.skip("this kernel permits no sampling")
    assert done.returncode in allowed, done.stderr
    found = json.loads(done.stdout)
    check_schema(found, "profile")
    assert sum(row["samples"] for row in found["top_of_stack"]) <= found["samples"]
    counted = [row["samples"] for row in found["categories"] if isinstance(row["samples"], int)]
    assert sum(counted) == found["samples"]
    return found, done


def who(found):
    """Returns the samples by function on top of the stack. Code without a name begins with 0x."""
    tops = {}
    for row in found["top_of_stack"]:
        name = row["function"].partition("(")[0]
        tops[name] = tops.get(name, 0) + row["samples"]
    return tops


def at_most(samples):
    """Returns the accepted deviation of a share: AT_MOST, or four standard deviations of chance if the host leaves few
    samples.
    """
    return max(AT_MOST, 4 * math.sqrt(0.75 * 0.25 / samples))


def check_split(found):
    tops = who(found)
    three, one = tops.get("spends_three", 0), tops.get("spends_one", 0)
    assert three + one > 0.7 * found["samples"] > 0, tops
    assert abs(three / (three + one) - 0.75) < at_most(three + one), tops


def as_user(name):
    if name == "root" or os.geteuid() != 0:
        return []
    if shutil.which("setpriv") is None:
        pytest.skip("setpriv is missing: install util-linux")
    skip_if_unreadable()
    return NOBODY


@pytest.mark.parametrize(("way", "user"), mostly_long(
    [(way, user) for way in WAYS for user in ("root", "nobody") if (way, user) not in ROOT_ONLY],
    [*((way, "root") for way in WAYS), ("plain", "nobody"), ("not-dumpable", "nobody")], "the same as another user"))
def test_the_shares_of_two_functions_are_known(tmp_path, way, user):
    if user == "root" and os.geteuid() != 0:
        pytest.skip("only root")
    found, done = profile(tmp_path, SPLIT, way, prefix=as_user(user), allowed=(0, 3, 77, 137))
    if done.returncode in (3, 77):
        pytest.skip("not here: too little was seen, or it is not permitted")
    assert (done.returncode == 137) == (way == "killed")
    check_split(found)
    # No parent waits for a daemon, so the kernel's account lacks the daemon's time.
    assert ("na" in found["unseen"]) == (way == "daemon"), found["unseen"]
    assert ("at least " in done.stderr) == (way == "daemon")


def test_generated_code_has_an_address_and_no_name(tmp_path):
    found, _ = profile(tmp_path, SPLIT, "generated")
    tops = who(found)
    bare = sum(count for name, count in tops.items() if name.startswith("0x"))
    assert "spends_three" not in tops and tops["spends_one"] > 0
    assert abs(bare / (bare + tops["spends_one"]) - 0.75) < at_most(bare + tops["spends_one"]), tops


@pytest.mark.parametrize("how", mostly_long([
    ["-static"], ["-static-pie"], ["-s"], ["-s", "-rdynamic"],
    ["-fno-asynchronous-unwind-tables", "-fno-exceptions", "-fno-omit-frame-pointer"],
    ["-fno-asynchronous-unwind-tables", "-fno-exceptions", "-fomit-frame-pointer"],
    ["-Wl,-z,noseparate-code"], ["-no-pie", "-Wl,-Ttext-segment=0x10000000"], ["-gdwarf-4", "-gz"], ["clang++", "-gdwarf-5"],
], [["-static"], ["-s"], ["-fno-asynchronous-unwind-tables", "-fno-exceptions", "-fomit-frame-pointer"],
    ["-Wl,-z,noseparate-code"]], "the same, built in another way"), ids=" ".join)
def test_however_it_is_built(tmp_path, how):
    compiler = shutil.which("clang++" if how[0] == "clang++" else os.environ.get("CXX", "c++"))
    if compiler is None:
        pytest.skip("the compiler is missing")
    program = tmp_path / "built"
    made = subprocess.run([compiler, *FLAGS, *(word for word in how if word != "clang++"), "-o", program,
                           SOURCE / "tests" / "recorded" / "split.cc", "-lpthread"], check=False, capture_output=True)
    if made.returncode != 0:
        pytest.skip("it cannot be built so here")
    found, _ = profile(tmp_path, program, "plain")
    if how != ["-s"]:
        return check_split(found)
    bare = sum(count for name, count in who(found).items() if name.startswith("0x"))
    assert bare > 0.7 * found["samples"] and not any(name.startswith("spends") for name in who(found))
    return None


SPINS = """#include <stdio.h>
#include <time.h>
__attribute__((noinline)) void NAME(double s) {
  volatile unsigned long sum = 0;
  clock_t end = clock() + (clock_t)(s * CLOCKS_PER_SEC);
  while (clock() < end) for (unsigned i = 0; i < 100000; ++i) sum = sum + i;
}
int main(int count, char** words) {
  if (count > 2 && rename(words[2], words[1]) != 0) return 4;
  NAME(0.3);
  return 0;
}
"""


@pytest.fixture(name="two")
def fixture_two(tmp_path):
    """Builds programs that differ only in the name of the function that spends the time."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("a compiler is missing")

    def build(name, path, *flags):
        source = tmp_path / "spins.c"
        source.write_text(SPINS)
        path.parent.mkdir(exist_ok=True)
        subprocess.run([compiler, "-O1", "-g", f"-DNAME={name}", *flags, "-o", path, source], check=True)
        return path
    return build


def check_never(found, wrong, right, certain):
    """Checks that the wrong name never occurs, and that the right name occurs. If `uncertain`, the right name may be
    missing.
    """
    tops = who(found)
    assert wrong not in tops, tops
    if certain:
        assert tops.get(right, 0) > 0.7 * found["samples"], tops
    else:
        rest = sum(count for name, count in tops.items() if name.startswith("0x"))
        assert tops.get(right, 0) + rest > 0.7 * found["samples"], tops


@pytest.mark.parametrize("user", AS)
def test_a_program_that_another_replaced_does_not_get_its_names(tmp_path, two, user):
    program, other = two("is_mine", tmp_path / "program"), two("is_others", tmp_path / "other")
    tmp_path.chmod(0o777)
    found, _ = profile(tmp_path, program, program, other, prefix=as_user(user))
    check_never(found, "is_others", "is_mine", user == "root")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root changes its root folder")
def test_a_program_in_another_root_does_not_get_the_names_of_one_here(tmp_path, two):
    inside = two("is_inside", tmp_path / "root" / "program", "-static")
    outside = two("is_outside", tmp_path / "outside", "-static")
    # The same path names the inner program inside the root folder, and the outer program outside it.
    (tmp_path / "root" / str(outside)[1:]).parent.mkdir(parents=True)
    inside.rename(tmp_path / "root" / str(outside)[1:])
    found, _ = profile(tmp_path, "chroot", tmp_path / "root", outside)
    check_never(found, "is_outside", "is_inside", True)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root mounts")
def test_a_program_in_another_mount_namespace_has_its_own_names(tmp_path, two):
    one, other = two("is_here", tmp_path / "one"), two("is_there", tmp_path / "other")
    if subprocess.run(["unshare", "-m", "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("no namespaces here")
    found, _ = profile(tmp_path, "unshare", "-m", "sh", "-c", f"mount --bind '{other}' '{one}' && exec '{one}'")
    check_never(found, "is_here", "is_there", True)


def test_assembly_does_not_give_its_name_to_what_follows(tmp_path):
    compiler = shutil.which(os.environ.get("CXX", "c++"))
    if compiler is None:
        pytest.skip("a compiler is missing")
    source = tmp_path / "assembly.cc"
    source.write_text('asm(".text\\n.globl handwritten\\nhandwritten:\\n nop\\n ret\\n");\n'
                      'extern "C" void handwritten();\n#include <ctime>\n'
                      "static __attribute__((noinline)) void hidden() {\n  volatile unsigned long sum = 0;\n"
                      "  while (std::clock() < CLOCKS_PER_SEC * 3 / 10) for (unsigned i = 0; i < 100000; ++i) sum = sum + i;\n}\n"
                      "int main() { handwritten(); hidden(); }\n")
    program = tmp_path / "assembly"
    subprocess.run([compiler, "-O1", "-fno-toplevel-reorder", "-rdynamic", "-s", "-o", program, source], check=True)
    found, _ = profile(tmp_path, program)
    tops = who(found)
    assert "handwritten" not in tops, tops
    assert sum(count for name, count in tops.items() if name.startswith("0x")) > 0.7 * found["samples"], tops
