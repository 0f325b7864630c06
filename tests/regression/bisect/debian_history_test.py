"""`zerotax history --debian`: the packages of an allocator in the releases of Debian, each measured with its own
library.
"""

import json

import pytest
from conftest import BUILD, MIB, check_schema, zerotax

CACHE = BUILD / "tests" / "cache"
WORDS = ("history", "--debian", "jemalloc", "--size", MIB, "--no-thresholds")


@pytest.fixture(name="history", scope="module")
def measured(tmp_path_factory):
    """Returns the document, and its folder."""
    folder = tmp_path_factory.mktemp("releases") / "jemalloc"
    done = zerotax(*WORDS, "--out", folder, XDG_CACHE_HOME=CACHE, timeout=1200)
    if done.returncode == 3 and "cannot fetch" in done.stderr:
        pytest.skip(done.stderr)
    assert done.returncode == 0, done.stderr
    document = json.loads((folder / "history.json").read_text())
    check_schema(document, "history")
    return document, folder


def test_each_release_is_a_version_with_the_metrics_of_its_package(history):
    rows = {row["name"].split()[0]: row for row in history[0]["versions"]}
    assert list(rows) == ["bullseye", "bookworm", "trixie", "sid"]
    assert rows["bullseye"]["name"] == "bullseye 5.2.1" and rows["bullseye"]["date"].startswith("2021-")
    assert rows["bookworm"]["name"] == "bookworm 5.3.0" and rows["bookworm"]["package"] == "deb:bookworm/libjemalloc2"
    assert not rows["trixie"]["changed"]   # the same version of jemalloc, built by a different compiler
    # jemalloc's history contains a fix that a later release lost. Versions 5.2.1 and 5.3.0 return freed memory to the
    # kernel, so jemalloc itself zeroes nothing.
    assert [rows[name]["pieces"][0]["word"] for name in ("bullseye", "bookworm", "trixie")] == ["no_zeros_kept"] * 3
    for row in rows.values():
        assert row["state"] == "measured" and row["commit"]["na"] == row["build"]["na"] == "a package of Debian"


def test_a_second_run_fetches_and_measures_nothing(history):
    done = zerotax(*WORDS, "--json", "-", XDG_CACHE_HOME=CACHE, ZEROTAX_DEBIAN_MIRROR="http://127.0.0.1:9/none")
    assert done.returncode == 0, done.stderr
    again = json.loads(done.stdout)
    assert all(row["measured_earlier"] for row in again["versions"])
    assert [row["pieces"] for row in again["versions"]] == [row["pieces"] for row in history[0]["versions"]]


def test_a_c_library_older_than_this_systems_is_a_row_that_says_why(tmp_path):
    done = zerotax("history", "--debian", "libc6", "--size", MIB, "--no-thresholds", "--json", tmp_path / "x",
                   XDG_CACHE_HOME=CACHE, timeout=1200)
    if done.returncode == 3 and "cannot fetch" in done.stderr:
        pytest.skip(done.stderr)
    assert done.returncode == 0, done.stderr
    first = json.loads((tmp_path / "x").read_text())["versions"][0]
    assert first["name"] == "bullseye 2.31" and first["state"] == "unusable" and "older than this system's" in first["sentence"]


def test_a_package_that_no_release_has_names_those_that_are_known(tmp_path):
    done = zerotax("history", "--debian", "mimaloc", XDG_CACHE_HOME=tmp_path, timeout=600)
    if done.returncode == 3 and "cannot fetch" in done.stderr:
        pytest.skip(done.stderr)
    assert done.returncode == 2 and "did you mean mimalloc?" in done.stderr.splitlines()[-1]
