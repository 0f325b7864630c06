"""Git repositories of a small allocator, made by a test. Each commit is a version."""

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
# The versions by name. A version is a size from which calloc zeroes needlessly, or a different behavior.
GOOD, BROKEN, CRASHES = NEVER, "broken", "crashes"
ZEROES = "0"


def git(folder, *words, **environment):
    """Returns the output of a git command, which must succeed."""
    done = subprocess.run(
        ["git", "-C", str(folder), *map(str, words)], capture_output=True, text=True, check=False,
        env=clean_environment(GIT_CONFIG_GLOBAL="/dev/null", GIT_CONFIG_SYSTEM="/dev/null", **environment))
    assert done.returncode == 0, (words, done.stderr)
    return done.stdout.strip()


def policy(version):
    """Returns policy.h of a version."""
    zeroes = version if version not in (BROKEN, CRASHES) else NEVER
    return (f"#define PLANTED_ZEROES_FROM {zeroes}\n#define PLANTED_CRASH {int(version == CRASHES)}\n"
            + ("this does not compile;\n" if version == BROKEN else ""))


def make_graph(folder, commits, branch="main", tags=()):
    """Makes a repository of these commits, and checks out `branch`, which ends with the last commit. Returns the full
    names of the commits by short name. Each commit is (name, version, names of its parents).
    """
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
    """Makes a repository with one line of these versions, oldest first, and returns its commits. `tags` are (name,
    index of the version).
    """
    line = [(number, version, [number - 1] if number > 1 else []) for number, version in enumerate(versions, 1)]
    return list(make_graph(folder, line, tags=tags).values())


def state_of(folder):
    """Returns everything that must not change: files, index, references, worktrees, settings, and the content of the
    git folder.
    """
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
    """Fails if these repositories change within the with block."""
    before = [state_of(folder) for folder in folders]
    yield
    for folder, was in zip(folders, before):
        now = state_of(folder)
        assert now == was, {key: (was.get(key), now.get(key)) for key in was.keys() | now.keys() if was.get(key) != now.get(key)}


def builds_in(cache):
    """Returns the folders of built versions in a cache, and their creation times."""
    return {path.parent.name: path.stat().st_mtime_ns
            for path in pathlib.Path(cache).glob("zerotax/history/*/build.log")}


def run(command, repository, cache, *words, temporary=None, **environment):
    """Runs `zerotax history` or `bisect` on a repository, with a separate cache for the test."""
    if temporary is not None:
        environment["TMPDIR"] = os.fspath(temporary)
    return zerotax(command, "--full", "--repo", repository, *words, XDG_CACHE_HOME=str(cache), **environment)
