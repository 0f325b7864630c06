"""Git repositories of a small allocator, made by a test: each commit is a version of it."""

import contextlib
import hashlib
import os
import pathlib
import subprocess

from conftest import clean_environment, zerotax

ALLOCATOR = pathlib.Path(__file__).with_name("allocator.c").read_text()
NEVER = str((1 << 64) - 1) + "ul"
BUILD = "${CC:-gcc} -shared -fPIC -O1 -fno-builtin -o {build}/liballocator.so allocator.c"
LIBRARY = "{build}/liballocator.so"
HOW = ("--build", BUILD, "--library", LIBRARY)
QUICK = ("--size", "64KiB", "--no-thresholds")
# What a version is: a size from which calloc zeroes needlessly, or what it does otherwise.
GOOD, BROKEN, CRASHES = NEVER, "broken", "crashes"
ZEROES = "0"


def git(folder, *words, **environment):
    """What a git command printed; it must succeed."""
    done = subprocess.run(
        ["git", "-C", str(folder), *map(str, words)], capture_output=True, text=True, check=False,
        env=clean_environment(GIT_CONFIG_GLOBAL="/dev/null", GIT_CONFIG_SYSTEM="/dev/null", **environment))
    assert done.returncode == 0, (words, done.stderr)
    return done.stdout.strip()


def policy(version):
    """policy.h of a version."""
    zeroes = version if version not in (BROKEN, CRASHES) else NEVER
    return (f"#define PLANTED_ZEROES_FROM {zeroes}\n#define PLANTED_CRASH {int(version == CRASHES)}\n"
            + ("this does not compile;\n" if version == BROKEN else ""))


def make_graph(folder, commits, branch="main", tags=()):
    """A repository of these commits, with `branch`, the last one, checked out: full names by name. Each commit is (name,
    version, names of its parents)."""
    folder.mkdir(parents=True)
    git(folder, "init", "--quiet", f"--initial-branch={branch}", ".")
    stream = []

    def data(text):
        stream.append(f"data {len(text.encode())}\n{text}\n")

    marks = {name: number for number, (name, _, _) in enumerate(commits, 1)}
    for name, version, parents in commits:
        number = marks[name]
        when = f"{1_700_000_000 + 3600 * number} +0100"
        stream.append(f"reset refs/heads/{branch}\n" if not parents else "")
        stream.append(f"commit refs/heads/{branch}\nmark :{number}\nauthor Ada <ada@example.org> {when}\n"
                      f"committer Ada <ada@example.org> {when}\n")
        data(f"Step {name}: {hashlib.sha256(str(name).encode()).hexdigest()[:8]}")
        for word, parent in zip(["from"] + ["merge"] * len(parents), parents):
            stream.append(f"{word} :{marks[parent]}\n")
        for file, text in (("policy.h", policy(version)), ("notes", f"{name}\n"), ("allocator.c", ALLOCATOR)):
            stream.append(f"M 100644 inline {file}\n")
            data(text)
    for name, which in tags:
        stream.append(f"reset refs/tags/{name}\nfrom :{marks[which]}\n\n")
    for name, number in marks.items():
        stream.append(f"reset refs/named/{name}\nfrom :{number}\n\n")
    subprocess.run(["git", "-C", str(folder), "fast-import", "--quiet", "--force"], input="".join(stream), text=True,
                   check=True, env=clean_environment())
    git(folder, "reset", "--quiet", "--hard", branch)
    return {name: git(folder, "rev-parse", f"refs/named/{name}") for name in marks}


def make_project(folder, versions, tags=()):
    """A repository of one line of these versions, oldest first: the commits. tags: (name, which version)."""
    line = [(number, version, [number - 1] if number > 1 else []) for number, version in enumerate(versions, 1)]
    return list(make_graph(folder, line, tags=tags).values())


def state_of(folder):
    """All that must not change: files, index, references, worktrees, settings, and what is in the git folder."""
    found = {
        "status": git(folder, "--no-optional-locks", "status", "--porcelain=v2", "--branch", "--ignored")
        if git(folder, "rev-parse", "--is-bare-repository") == "false" else "bare",
        "references": git(folder, "for-each-ref"), "head": git(folder, "rev-parse", "HEAD"),
        "worktrees": git(folder, "worktree", "list", "--porcelain"),
        "settings": git(folder, "config", "--local", "--list")}
    for path in sorted(pathlib.Path(folder).rglob("*")):
        status = path.lstat()
        found[str(path)] = (status.st_mode, status.st_size, status.st_mtime_ns if path.is_file() else None)
    return found


@contextlib.contextmanager
def untouched(*folders):
    """Fails if anything of these repositories changes meanwhile."""
    before = [state_of(folder) for folder in folders]
    yield
    for folder, was in zip(folders, before):
        now = state_of(folder)
        assert now == was, {key: (was.get(key), now.get(key)) for key in was.keys() | now.keys() if was.get(key) != now.get(key)}


def builds_in(cache):
    """The folders of built versions in a cache, and when each was made."""
    return {path.parent.name: path.stat().st_mtime_ns
            for path in pathlib.Path(cache).glob("zerotax/history/*/build.log")}


def run(command, repository, cache, *words, temporary=None, **environment):
    """`zerotax history` or `bisect` of a repository, with a cache of the test's own."""
    if temporary is not None:
        environment["TMPDIR"] = os.fspath(temporary)
    return zerotax(command, "--repo", repository, *words, XDG_CACHE_HOME=str(cache), **environment)
