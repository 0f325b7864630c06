"""Packages work with glibc 2.31 (cmake/package.py), because cmake/older_glibc/older_glibc.c has each function of a later
glibc that zerotax's programs and libraries need. stress.package_test uses the packages, but is a long test.
"""
import os
import pathlib
import re
import subprocess

SOURCE = pathlib.Path(os.environ.get("ZEROTAX_SOURCE", pathlib.Path(__file__).parents[2]))
BUILD = pathlib.Path(os.environ["ZEROTAX_BUILD"])
OLDEST = 31
OURS = re.compile(r'^(?:OURS|PASS_ON)\((\w+), "2\.(\d+)"', re.MULTILINE)


def of_later_glibc(path):
    lines = subprocess.run(["nm", "--dynamic", "--with-symbol-versions", "--undefined-only", path], capture_output=True,
                           text=True, check=True).stdout
    needed = {(name, int(minor)) for name, minor in re.findall(r" (\w+)@@?GLIBC_2\.(\d+)", lines)}
    return {each for each in needed if each[1] > OLDEST}


def test_packages_have_each_function_that_glibc_2_31_lacks():
    ours = {(name, int(minor)) for name, minor in OURS.findall((SOURCE / "cmake/older_glibc/older_glibc.c").read_text())}
    files = [BUILD / "bin/zerotax", BUILD / "bin/bench-glibc", *BUILD.glob("libexec/*"), *BUILD.glob("lib/*.so")]
    needed = {path.name: of_later_glibc(path) for path in files if path.read_bytes()[:4] == b"\x7fELF"}
    assert needed["zerotax"], "nm lists no function of a later glibc"
    assert {name: sorted(functions - ours) for name, functions in needed.items() if functions - ours} == {}
