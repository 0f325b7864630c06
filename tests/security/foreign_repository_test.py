"""`zerotax history` and `bisect` of another user's repository. None of the repository's settings runs or fetches
anything.
"""

import json
import os
import subprocess
import sys

import pytest
from conftest import SOURCE, clean_environment
from refusing import refused

sys.path.insert(0, str(SOURCE / "tests" / "regression" / "bisect"))
from projects import GOOD, HOW, QUICK, ZEROES, git, make_project, run, untouched  # noqa: E402  pylint: disable=C0413

HISTORY = ("--tags", "v*", "--json", "-")
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")


def make(folder, versions=(GOOD, ZEROES)):
    return make_project(folder, list(versions), [(f"v{number}", number) for number in range(1, len(versions) + 1)])


def measured(folder, cache, *words, **environment):
    """Returns the states of the versions of a history."""
    done = run("history", folder, cache, *HOW, *QUICK, *(words or HISTORY), **environment)
    assert done.returncode == 0, done.stderr
    return [row["state"] for row in json.loads(done.stdout)["versions"]]


def trap(folder):
    """Makes a program that leaves a mark when it is started, and a folder for these marks. Returns both."""
    marks = folder / "marks"
    marks.mkdir(exist_ok=True)
    program = folder / "trap"
    program.write_text(f"#!/bin/sh\necho \"$0 $*\" >> '{marks}/ran'\ncat\n")
    program.chmod(0o755)
    return program, marks


HOOKS = ("post-checkout", "post-index-change", "reference-transaction", "post-rewrite", "pre-auto-gc", "post-update",
         "fsmonitor-watchman", "sendemail-validate", "proc-receive", "push-to-checkout", "update")
SETTINGS = """
[core]
  repositoryformatversion = 0
  bare = false
  hooksPath = {hooks}
  fsmonitor = {trap}
  sshCommand = {trap}
  gitProxy = {trap}
  pager = {trap}
  editor = {trap}
  askPass = {trap}
  alternateRefsCommand = {trap}
  attributesFile = {folder}/attributes
  worktree = {folder}/elsewhere
[diff]
  external = {trap}
[diff "evil"]
  command = {trap}
  textconv = {trap}
[filter "evil"]
  clean = {trap}
  smudge = {trap}
  process = {trap}
  required = true
[merge "evil"]
  driver = {trap}
[gpg]
  program = {trap}
[gpg "ssh"]
  program = {trap}
[log]
  showSignature = true
[credential]
  helper = {trap}
[alias]
  init = !{trap}
  bisect = !{trap}
  worktree = !{trap}
[interactive]
  diffFilter = {trap}
[trailer "evil"]
  command = {trap}
[tar "evil"]
  command = {trap}
[uploadpack]
  packObjectsHook = {trap}
[protocol]
  allow = always
[remote "origin"]
  url = ext::{trap}
  uploadpack = {trap}
  promisor = true
  partialclonefilter = blob:none
  fetch = +refs/heads/*:refs/remotes/origin/*
[extensions]
  partialClone = origin
[column]
  ui = always
[color]
  ui = always
[include]
  path = {folder}/included
[includeIf "gitdir:/**"]
  path = {folder}/pipe
[trace2]
  eventTarget = {marks}/traced
"""


def arm(repository, folder):
    """Sets every trap that a repository can have, in its settings, hooks and attributes."""
    program, marks = trap(folder)
    hooks = folder / "hooks"
    for where in (hooks, repository / ".git" / "hooks"):
        where.mkdir(exist_ok=True)
        for name in HOOKS:
            (where / name).symlink_to(program)
    (folder / "attributes").write_text("* filter=evil diff=evil merge=evil\n")
    (folder / "included").write_text(f"[core]\n  fsmonitor = {program}\n")
    os.mkfifo(folder / "pipe")
    (folder / "elsewhere").mkdir()
    (repository / ".git" / "info").mkdir(exist_ok=True)
    (repository / ".git" / "info" / "attributes").write_text("* filter=evil diff=evil merge=evil ident\n")
    (repository / ".git" / "config").write_text(
        SETTINGS.format(hooks=hooks, trap=program, folder=folder, marks=marks))
    return marks


def commit_attributes(repository):
    """Commits a version. Its files name filters of the repository and of git-lfs."""
    (repository / ".gitattributes").write_text("notes filter=evil diff=evil\npolicy.h filter=lfs diff=lfs\n")
    git(repository, "add", ".gitattributes")
    git(repository, "-c", "user.name=A", "-c", "user.email=a@b", "commit", "-qm", "Attributes")
    git(repository, "tag", "v3")


def test_no_setting_hook_or_attribute_of_the_repository_runs(tmp_path):
    repository = tmp_path / "theirs"
    commits = make(repository)
    commit_attributes(repository)
    marks = arm(repository, tmp_path)
    assert measured(repository, tmp_path) == ["measured"] * 3
    done = run("bisect", repository, tmp_path, *HOW, "--good", "v1", "--bad", "HEAD", "--size", "64KiB", "--expect",
               "zeroed_bytes == 0", "--report", tmp_path / "report", "--json", "-")
    assert done.returncode == 0 and json.loads(done.stdout)["first_bad"]["commit"] == commits[1], done.stderr
    assert not list(marks.iterdir())


def test_the_traps_would_have_sprung(tmp_path):
    """Git itself starts these programs. Without this test, the test above could pass without a trap."""
    repository = tmp_path / "theirs"
    make(repository)
    commit_attributes(repository)
    marks = arm(repository, tmp_path)
    (tmp_path / "pipe").unlink()
    subprocess.run(["git", "-C", repository, "-c", "safe.directory=*", "status"], check=False, capture_output=True,
                   stdin=subprocess.DEVNULL, timeout=60, env=clean_environment())
    assert list(marks.iterdir())


def test_neither_the_user_nor_the_environment_lends_it_a_program(tmp_path):
    """The user's settings have git-lfs, and the version's files name its filter. .lfsconfig names a server to fetch
    from.
    """
    repository = tmp_path / "theirs"
    make(repository)
    commit_attributes(repository)
    program, marks = trap(tmp_path)
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / ".gitconfig").write_text(
        f"[filter \"lfs\"]\n  smudge = {program}\n  process = {program}\n  required = true\n[core]\n  fsmonitor = {program}\n"
        "[column]\n  ui = always\n[safe]\n  bareRepository = explicit\n[init]\n  defaultObjectFormat = sha256\n")
    (tmp_path / "index").write_text("not an index")
    assert measured(repository, tmp_path, HOME=str(tmp_path / "home"), GIT_EXTERNAL_DIFF=str(program),
                    GIT_SSH_COMMAND=str(program), GIT_INDEX_FILE=str(tmp_path / "index"), GIT_CONFIG_COUNT="1",
                    GIT_CONFIG_KEY_0="core.fsmonitor", GIT_CONFIG_VALUE_0=str(program), GIT_TRACE=str(marks / "traced"),
                    GIT_PAGER=str(program)) == ["measured"] * 3
    assert not list(marks.iterdir())


def test_a_bare_repository_and_a_sha256_one_are_read(tmp_path):
    make(tmp_path / "theirs")
    git(tmp_path, "clone", "--quiet", "--bare", tmp_path / "theirs", tmp_path / "bare.git")
    with untouched(tmp_path / "bare.git"):
        assert measured(tmp_path / "bare.git", tmp_path) == ["measured"] * 2
    long = tmp_path / "long"
    git(tmp_path, "init", "--quiet", "--object-format=sha256", long)
    exported = git(tmp_path / "theirs", "fast-export", "--all")
    subprocess.run(["git", "-C", long, "fast-import", "--quiet"], input=exported, text=True, check=True,
                   env=clean_environment())
    assert measured(long, tmp_path) == ["measured"] * 2


def test_a_linked_work_tree_a_submodule_and_a_folder_within_are_read(tmp_path):
    make(tmp_path / "theirs")
    git(tmp_path / "theirs", "worktree", "add", "--quiet", "--detach", tmp_path / "linked", "v2")
    git(tmp_path, "init", "--quiet", tmp_path / "outer")
    git(tmp_path / "outer", "-c", "protocol.file.allow=always", "submodule", "--quiet", "add",
        str(tmp_path / "theirs"), "inner")
    inner = tmp_path / "outer" / "inner"
    (inner / "deep" / "er").mkdir(parents=True)
    for folder in (tmp_path / "linked", inner, inner / "deep" / "er"):
        assert measured(folder, tmp_path) == ["measured"] * 2
    # HEAD must be that of the linked work tree.
    git(tmp_path / "linked", "checkout", "--quiet", "v1")
    assert measured(tmp_path / "linked", tmp_path, "--range", "v1..v2", "--json", "-") == ["measured"] * 2
    refused(run("history", tmp_path / "linked", tmp_path, *HOW, *QUICK, "--range", "v1..HEAD"), "empty")


def test_a_partial_clone_is_named_and_fetches_nothing(tmp_path):
    make(tmp_path / "theirs")
    git(tmp_path / "theirs", "config", "uploadpack.allowFilter", "true")
    partial = tmp_path / "partial"
    git(tmp_path, "clone", "--quiet", "--filter=blob:none", "--no-checkout", f"file://{tmp_path / 'theirs'}", partial)
    program, marks = trap(tmp_path)
    git(partial, "config", "remote.origin.uploadpack", program)
    refused(run("history", partial, tmp_path, *HOW, *QUICK, *HISTORY), "partial clone", "without --filter")
    assert not list(marks.iterdir())


def test_borrowed_objects_are_read_and_nothing_else_of_the_lender(tmp_path):
    make(tmp_path / "lender")
    git(tmp_path, "clone", "--quiet", "--shared", "--bare", tmp_path / "lender", tmp_path / "borrower")
    git(tmp_path, "clone", "--quiet", "--shared", "--bare", tmp_path / "borrower", tmp_path / "second")
    marks = arm(tmp_path / "lender", tmp_path)
    assert measured(tmp_path / "second", tmp_path) == ["measured"] * 2
    assert not list(marks.iterdir())


@pytest.mark.parametrize("place", [".git/HEAD", ".git/packed-refs", ".git/refs/heads/evil", ".git/objects/pack/pack-1.idx",
                                   ".git/objects/info/alternates", ".git/shallow", ".git/commondir"])
def test_a_pipe_in_place_of_a_file_is_refused_at_once(tmp_path, place):
    make(tmp_path / "theirs")
    path = tmp_path / "theirs" / place
    path.unlink(missing_ok=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(path)
    refused(run("history", tmp_path / "theirs", tmp_path, *HOW, *QUICK, *HISTORY), path.name)


@pytest.mark.parametrize("place", [".git/config", ".git/index", ".git/info/grafts", ".git/config.worktree"])
def test_a_pipe_that_is_not_needed_is_not_opened(tmp_path, place):
    make(tmp_path / "theirs")
    path = tmp_path / "theirs" / place
    path.unlink(missing_ok=True)
    path.parent.mkdir(exist_ok=True)
    os.mkfifo(path)
    assert measured(tmp_path / "theirs", tmp_path) == ["measured"] * 2


def test_a_lender_with_a_pipe_is_refused(tmp_path):
    make(tmp_path / "theirs")
    (tmp_path / "lender" / "ab").mkdir(parents=True)
    os.mkfifo(tmp_path / "lender" / "ab" / ("0" * 38))
    info = tmp_path / "theirs" / ".git" / "objects" / "info"
    info.mkdir(exist_ok=True)
    (info / "alternates").write_text(f"{tmp_path / 'lender'}\n")
    refused(run("history", tmp_path / "theirs", tmp_path, *HOW, *QUICK, *HISTORY), "neither a file nor a folder")


def test_a_damaged_head_and_a_reftable_are_named(tmp_path):
    make(tmp_path / "theirs")
    (tmp_path / "theirs" / ".git" / "HEAD").write_text("ref: /etc/passwd\n")
    refused(run("history", tmp_path / "theirs", tmp_path, *HOW, *QUICK, *HISTORY), "HEAD")
    make(tmp_path / "other")
    (tmp_path / "other" / ".git" / "reftable").mkdir()
    refused(run("history", tmp_path / "other", tmp_path, *HOW, *QUICK, *HISTORY), "reftable", "--ref-format=files")


def test_separators_in_a_commit_do_not_confuse(tmp_path):
    make(tmp_path / "theirs")
    git(tmp_path / "theirs", "-c", "user.name=A\x1fB", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m",
        "Subject \x1f with \x1f separators")
    git(tmp_path / "theirs", "tag", "v3")
    assert measured(tmp_path / "theirs", tmp_path) == ["measured"] * 3


@needs_root
def test_a_strangers_repository_above_the_folder_is_not_taken(tmp_path):
    """If other users' repositories were used, /tmp/.git would decide what root builds in /tmp/mine."""
    tmp_path.chmod(0o755)
    make(tmp_path / "theirs")
    subprocess.run(["chown", "-R", "65534:65534", tmp_path / "theirs"], check=True)
    (tmp_path / "theirs" / "mine").mkdir()
    refused(run("history", tmp_path / "theirs" / "mine", tmp_path, *HOW, *QUICK, *HISTORY), "another user",
            f"--repo {tmp_path / 'theirs'}")
    assert measured(tmp_path / "theirs", tmp_path) == ["measured"] * 2
