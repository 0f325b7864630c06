"""For unusable input, history and bisect print one line, and change neither the repository nor the folder."""

import json
import shlex
import shutil

import pytest
from projects import BROKEN, GOOD, HOW, QUICK, git, make_project, run, untouched
from refusing import contents, refused


@pytest.fixture(scope="module", name="project")
def _project(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bad") / "p"
    make_project(folder, [GOOD, GOOD, BROKEN], [("v1", 1), ("v2", 2), ("v3", 3)])
    git(folder, "tag", "of-a-file", "HEAD:notes")
    return folder


HISTORY = [
    ("--tags 'w*'", "no such tag"),
    ("--tags of-a-file", "no such tag"),
    ("--range v1", "A..B"),
    ("--range v1...v2", "A..B"),
    ("--range ..v2", "A..B"),
    ("--range v2..v1", "empty"),
    ("--range v2..v2", "empty"),
    ("--range nothing..v2", "'nothing'"),
    ("--range v1..--all", "'--all'"),
    ("--range v1..v1:notes", "no such commit"),
    ("--tags v1 --range v1..v2", "together"),
    ("--tags v1 --all-parents", "--all-parents"),
    ("", "no versions"),
    ("--tags v1 --size 0", "zero"),
    ("--tags v1 --to 1MiB", "--to"),
    ("--tags v1 --jobs 0x2", "0x2"),
    ("--tags v1 --jobs -1", "--jobs"),
    ("--tags v1 --build-timeout 0", "--build-timeout"),
    ("--tags v1 --timeout nan", "--timeout"),
    ("--tags v1 --recipe mimalloc", "already"),
    ("--tags v1 --json absent/x.json", "absent"),
    ("--tags v1 --out absent/new", "absent"),
    ("--tags v1 --html absent/x.html", "absent"),
    ("--tags v1 --html {folder}/x --json {folder}/x", "both write"),
    ("--tags v1 --out {folder}/new --html {folder}/new/x.html", "new"),
    ("--tags v1 --out {folder}/full", "not empty"),
    ("--tags v1 --out {folder}/full/file", "not a folder"),
    ("--tags v1 --out {folder}/new --json {folder}/new/x.json", "new"),
    ("--tags v1 --json {folder}/full", "full"),
    ("--tags v1 -- x", "--"),
]
BISECT = [
    ("--good v1 --bad nothing --expect 'zeroed_bytes == 0' --size 64KiB", "--bad 'nothing'"),
    ("--good '' --bad v2 --expect 'zeroed_bytes == 0' --size 64KiB", "--good"),
    ("--good v2 --bad v1 --expect 'zeroed_bytes == 0' --size 64KiB", "--bad v1 is as expected"),
    ("--good v1 --bad v1 --expect 'zeroed_bytes == 0' --size 64KiB", "--good v1 and --bad v1 are the same commit"),
    ("--good v1 --bad v2 --expect 'zeroed_bites == 0' --size 64KiB", "did you mean zeroed_bytes?"),
    ("--good v1 --bad v2 --expect 'zeroed_bytes' --size 64KiB", "zeroed_bytes == 0"),
    ("--good v1 --bad v2 --expect 'zeroed_bytes = 0' --size 64KiB", "=="),
    ("--good v1 --bad v2 --expect 'zeroed_bytes == none' --size 64KiB", "none"),
    ("--good v1 --bad v2 --expect 'zeroed_bytes == ' --size 64KiB", "number"),
    ("--good v1 --bad v2 --expect 'zeroed_method == often' --size 64KiB", "memset"),
    ("--good v1 --bad v2 --expect 'zeroed_method < none' --size 64KiB", "=="),
    ("--good v1 --bad v2 --expect 'calloc_ns < 5' --size 64KiB", "not the same each time"),
    ("--good v1 --bad v2 --expect 'first.populated_bytes.mmap < 5' --size 64KiB", "unknown metric"),
    ("--good v1 --bad v2 --expect 'zeroed_bytes == 0'", "--size"),
    ("--good v1 --bad v2 --expect 'zeroed_bytes == 0' --size 1MiB --size 2MiB", "one size"),
    ("--good v1 --bad v2 --expect 'zeroed_bytes == 0' --size 64KiB --case bogus", "bogus"),
    ("--good v1 --bad v2 --expect 'zeroed_bytes == 0' --size 64KiB --touch 2", "0 to 1"),
    ("--good v1 --bad v2 --touch 1", "--touch"),
    ("--good v1 --bad v2 --report r --json r --size 64KiB --expect 'zeroed_bytes == 0'", "both write"),
    ("--good v1 --bad v2 --report absent/r --size 64KiB --expect 'zeroed_bytes == 0'", "absent"),
    ("--good v1 --bad v3 --expect 'zeroed_bytes == 0' --size 64KiB", "does not build"),
    ("--good v1 --bad v2 --expect 'zeroed_bytes == 0' --size 64KiB", "--bad v2 is as expected"),
    ("--good v1 --bad v2 --expect 'fork.child.copies == 0' --size 64KiB", "fork.child.copies is n/a"),
    ("--good v1 --bad v2 --expect 'zero_ns_method == memset' --size 64KiB", "not the same each time"),
    ("--good v1 --bad v2 --size 64KiB --no-thresholds", "--bad v2 is as expected"),
]


def split(words, folder):
    return shlex.split(words.format(folder=folder))


@pytest.mark.parametrize("words, says", HISTORY)
def test_history_refuses(project, tmp_path, words, says):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").write_text("mine")
    before = contents(tmp_path / "full")
    with untouched(project):
        refused(run("history", project, tmp_path / "cache", *HOW, *QUICK, *split(words, tmp_path)), says)
    assert contents(tmp_path / "full") == before and not (tmp_path / "new").exists()


@pytest.mark.parametrize("words, says", BISECT)
def test_bisect_refuses(project, tmp_path, words, says):
    with untouched(project):
        refused(run("bisect", project, tmp_path / "cache", *HOW, *split(words, tmp_path)), says)


def test_how_to_build_must_be_said_once_and_whole(project, tmp_path):
    for words, says in ((["--recipe", "nobody"], "'nobody'"), (["--recipe", "mimaloc"], "did you mean mimalloc?"),
                        (["--build", "true"], "--library"), (["--library", "x.so"], "--build"), ([], "no recipe or command"),
                        (["--build", ""], "--build"), (["--recipe", "absent.json"], "absent.json"),
                        (["--recipe", f"{project}/notes"], "zerotax.recipe/1")):
        refused(run("history", project, tmp_path, *words, "--tags", "v1"), says)


def test_what_is_no_repository_is_refused(tmp_path):
    (tmp_path / "plain").mkdir()
    for folder in (tmp_path / "plain", tmp_path / "absent", "/dev/null"):
        refused(run("history", folder, tmp_path, *HOW, "--tags", "v1", GIT_CEILING_DIRECTORIES=str(tmp_path)), str(folder))


def test_a_recipe_that_fails_everywhere_is_one_line(project, tmp_path):
    with untouched(project):
        refused(run("history", project, tmp_path, "--build", "echo no such thing; exit 3", "--library", "x.so", *QUICK,
                    "--tags", "v*"), "none of 3 versions was built", "no such thing", "exit status 3")
        refused(run("history", project, tmp_path, "--build", "true", "--library", "x.so", *QUICK, "--tags", "v1"),
                "no x.so")


def test_a_library_that_is_no_malloc_is_a_row(project, tmp_path):
    done = run("history", project, tmp_path, "--build", "echo 'int x;' | gcc -shared -fPIC -x c -o x.so -", "--library", "x.so",
               *QUICK, "--tags", "v1")
    assert done.returncode == 0 and "not a malloc replacement" in " ".join(done.stdout.split()), done.stderr


def test_without_git_the_machine_lacks_something(project, tmp_path):
    done = run("history", project, tmp_path, *HOW, *QUICK, "--tags", "v1", PATH=str(tmp_path))
    assert done.returncode == 3 and done.stderr == "zerotax: git is not installed: apt-get install git\n"


def test_a_recipes_missing_tool_is_named_with_its_package(project, tmp_path):
    (tmp_path / "git").symlink_to(shutil.which("git"))
    done = run("history", project, tmp_path, "--recipe", "jemalloc", "--tags", "v1", PATH=str(tmp_path))
    assert done.returncode == 3 and "autoconf" in done.stderr and done.stderr.count("\n") == 1


def test_a_library_outside_the_versions_folders_is_refused(project, tmp_path):
    (tmp_path / "libmine.so").write_bytes(b"not of the version")
    for library in ("../../libmine.so", "..", "a/../../libmine.so", "{build}/../x.so", "{source}/..",
                    str(tmp_path / "libmine.so")):
        refused(run("history", project, tmp_path, "--build", "true", "--library", library, *QUICK, "--tags", "v1"),
                "not below a version's files")
    recipe = {"schema": "zerotax.recipe/1", "allocator": "x", "build": ["true"], "library": ["x.so"], "beside": ["../*"]}
    (tmp_path / "recipe.json").write_text(json.dumps(recipe))
    refused(run("history", project, tmp_path, "--recipe", tmp_path / "recipe.json", *QUICK, "--tags", "v1"),
            "'../*' is not below", "recipe.json")


@pytest.mark.parametrize("build, library", [
    ("ln -s {folder}/secret x.so", "x.so"), ("ln -s {folder} out", "out/secret"), ("true", ".?/.?/*/secret"),
    ("ln -s {folder}/secret {{build}}/x.so", "{build}/x.so")])
def test_a_link_that_a_build_makes_leads_nowhere_else(project, tmp_path, build, library):
    (tmp_path / "secret").write_text("not of the version")
    refused(run("history", project, tmp_path, "--build", build.format(folder=tmp_path), "--library", library, *QUICK,
                "--tags", "v1", temporary=tmp_path), "there is no", "in the version's folders")
    assert not [path for path in (tmp_path / "zerotax").rglob("*") if path.is_file() and b"not of" in path.read_bytes()]
    done = run("history", project, tmp_path, "--build", build.format(folder=tmp_path), "--keep", "out/secret",
               "--tags", "v1", "--", "true", temporary=tmp_path)
    assert done.returncode == 2 and "there is no out/secret" in done.stderr


def test_out_replaces_only_what_a_history_wrote(project, tmp_path):
    words = (*HOW, *QUICK, "--tags", "v1", "--out", tmp_path / "out")
    for name in ("history.json", "history.txt", "history.svg"):
        shutil.rmtree(tmp_path / "out", ignore_errors=True)
        assert run("history", project, tmp_path, *words).returncode == 0
        assert run("history", project, tmp_path, *words).returncode == 0, "its own files"
        (tmp_path / "out" / name).write_text("my own notes")
        before = contents(tmp_path / "out")
        refused(run("history", project, tmp_path, *words), name, "--force")
        assert contents(tmp_path / "out") == before
    assert run("history", project, tmp_path, *words, "--force").returncode == 0
    assert "my own notes" not in (tmp_path / "out" / "history.svg").read_text()


def test_a_folder_with_a_strangers_history_json_is_not_an_earlier_run(project, tmp_path):
    (tmp_path / "out").mkdir()
    for text in ("my own notes", "{}", '{"schema": "zerotax.run/1"}', "version 3 of my notes\n"):
        (tmp_path / "out" / "history.json").write_text(text)
        refused(run("history", project, tmp_path, *HOW, *QUICK, "--tags", "v1", "--out", tmp_path / "out"), "history.json")
        assert (tmp_path / "out" / "history.json").read_text() == text
