"""`zerotax history` and `bisect` of a command name the planted commit of a program, and the function responsible."""

import json
import subprocess

import pytest
from conftest import MIB, SOURCE, check_schema, clean_environment, mostly_long, zerotax
from projects import builds_in, git, run, untouched
from recording import PROGRAMS
from refusing import refused

COMMITS, PLANTED, FIXED, DO_NOT_BUILD = 40, 23, 36, (8, 20, 31)
BUILD = "${CC:-gcc} -g -O1 -o {build}/decoder decoder.c"
HOW = ("--build", BUILD)
COMMAND = ("--", "{build}/decoder", "input")
# 16 rounds of 1 MiB. If free returns the block, the kernel zeroes it again in each round.
SOURCE_TEXT = """
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
static volatile char *buffer;
static const size_t size = 1 << 20;
__attribute__((noinline)) static void begin(void) { buffer = malloc(size); }
__attribute__((noinline)) static void reset(void) { free((void *)buffer); buffer = 0; }
int main(int argc, char **argv) {
  FILE *input = fopen(argc > 1 ? argv[1] : "input", "r");
  int rounds = 0;
  if (!input || fscanf(input, "%d", &rounds) != 1) { fputs("no input\\n", stderr); return 3; }
  mallopt(M_MMAP_THRESHOLD, @DROP@ ? 256 << 10 : 32 << 20);
  mallopt(M_TRIM_THRESHOLD, 256 << 20);
  while (rounds--) { begin(); for (size_t at = 0; at < size; at += 4096) buffer[at] = 1; reset(); }
  return 0;
}
"""


def text_of(number):
    if number in DO_NOT_BUILD:
        return "this does not compile;\n"
    return SOURCE_TEXT.replace("@DROP@", str(int(PLANTED <= number < FIXED))) + f"// step {number}\n"


def make_program(folder, texts, tags=()):
    """Makes a repository with one line of programs, and returns their commits. The repository also contains the input
    file.
    """
    folder.mkdir(parents=True)
    git(folder, "init", "--quiet", "--initial-branch=main", ".")
    stream = []
    for number, text in enumerate(texts, 1):
        when = f"{1_700_000_000 + 3600 * number} +0100"
        subject = f"Step {number}"
        stream.append(f"commit refs/heads/main\nmark :{number}\nauthor Ada <ada@example.org> {when}\n"
                      f"committer Ada <ada@example.org> {when}\ndata {len(subject)}\n{subject}\n")
        stream.extend(f"M 100644 inline {name}\ndata {len(content.encode())}\n{content}\n"
                      for name, content in (("decoder.c", text), ("input", "16\n")))
    stream.extend(f"reset refs/tags/{name}\nfrom :{number}\n\n" for name, number in tags)
    subprocess.run(["git", "-C", str(folder), "fast-import", "--quiet"], input="".join(stream), text=True, check=True,
                   env=clean_environment())
    git(folder, "reset", "--quiet", "--hard", "main")
    return git(folder, "log", "--reverse", "--format=%H", "main").split()


@pytest.fixture(scope="module", name="project")
def _project(tmp_path_factory):
    folder = tmp_path_factory.mktemp("of forty") / "my decoder"
    return folder, make_program(folder, map(text_of, range(1, COMMITS + 1)), [("v1.0", 1), ("v1.1", FIXED - 1)])


@pytest.fixture(scope="module", name="cache")
def _cache(tmp_path_factory):
    return tmp_path_factory.mktemp("builds")


@pytest.fixture(scope="module", name="found")
def _found(project, cache):
    """Returns (the checked document, the text, the report) of a bisection, in a tree with changes."""
    folder, _ = project
    (folder / "decoder.c").write_text("not even C")
    with untouched(folder):
        done = run("bisect", folder, cache, *HOW, "--good", "v1.0", "--bad", "v1.1", "--expect", "page_faults <= 3000",
                   "--json", cache / "bisect.json", "--report", cache / "report.md", *COMMAND)
    assert done.returncode == 0, done.stdout + done.stderr
    document = json.loads((cache / "bisect.json").read_text())
    check_schema(document, "bisect")
    return document, done.stdout, (cache / "report.md").read_text()


def test_the_planted_commit_is_named(project, found):
    document, text, report = found
    assert document["first_bad"]["commit"] == project[1][PLANTED - 1]
    assert document["first_bad"]["before"]["commit"] == project[1][PLANTED - 2]
    assert f"Step {PLANTED}" in text
    assert "returned by free in reset (decoder.c:8), 0 → 16 calls, 0 B → 16 MiB" in " ".join(text.split())
    assert "zerotax record -- '{build}/decoder' input" in report and f"Step {PLANTED}" in report
    assert document["program"] == "decoder" and "allocator" not in document


def test_versions_that_do_not_build_are_skipped(project, found):
    skipped = {step["commit"] for step in found[0]["steps"] if step["answer"] == "skipped"}
    assert skipped <= {project[1][number - 1] for number in DO_NOT_BUILD}
    assert 4 <= len(found[0]["steps"]) <= 9


@pytest.mark.long("a second bisection")
def test_nothing_is_built_or_run_again(project, cache, found):
    before = builds_in(cache)
    done = run("bisect", project[0], cache, *HOW, "--good", "v1.0", "--bad", "v1.1", "--expect", "refilled_bytes < 1MiB",
               "--json", "-", *COMMAND, CC="/bin/false")
    assert json.loads(done.stdout)["first_bad"]["commit"] == found[0]["first_bad"]["commit"], done.stderr
    assert builds_in(cache) == before


@pytest.mark.parametrize("expect", mostly_long(
    [None, "minor_faults of decoder <= 3000", "returned_bytes in reset == 0"], [None],
    "program_expectation_test.cc parses each kind"))
def test_other_questions_find_the_same_commit(project, cache, expect):
    done = run("bisect", project[0], cache, *HOW, "--good", f"main~{COMMITS - PLANTED + 1}", "--bad", f"main~{COMMITS - PLANTED}",
               *(["--expect", expect] if expect else []), "--json", "-", *COMMAND)
    document = json.loads(done.stdout)
    check_schema(document, "bisect")
    assert document["first_bad"]["commit"] == project[1][PLANTED - 1], done.stderr


@pytest.mark.long("a bisection more")
def test_a_fix_is_found(project, cache):
    done = run("bisect", project[0], cache, *HOW, "--bad", f"main~{COMMITS - FIXED + 2}", "--good", f"main~{COMMITS - FIXED}",
               "--json", "-", *COMMAND)
    assert json.loads(done.stdout)["first_good"]["commit"] == project[1][FIXED - 1], done.stderr


@pytest.mark.long("seven versions built")
def test_a_history_names_what_each_version_changed(project, cache, tmp_path):
    out = tmp_path / "history"
    with untouched(project[0]):
        done = run("history", project[0], cache, *HOW, "--range", f"main~{COMMITS - PLANTED + 2}..main~{COMMITS - PLANTED - 2}",
                   "--out", out, "--html", tmp_path / "page.html", *COMMAND)
    assert done.returncode == 0, done.stderr
    document = json.loads((out / "history.json").read_text())
    check_schema(document, "history")
    changed = [version for version in document["versions"] if version["changed"]]
    assert [version["commit"] for version in changed] == [project[1][PLANTED - 1]]
    assert changed[0]["difference"]["verdict"] == "worse" and "reset (decoder.c:8)" in changed[0]["sentence"]
    assert "decoder: 1 of 5 versions changed what is counted of it" in done.stdout
    assert max(len(line) for line in done.stdout.splitlines()) <= 80
    assert "memory zeroed by the kernel" in (out / "history.svg").read_text()
    assert "reset (decoder.c:8)" in (tmp_path / "page.html").read_text()


@pytest.mark.parametrize(("words", "complaint"), [
    (["--library", "x.so"], "--library is for an allocator"),
    (["--size", "1MiB"], "--size is for an allocator"),
    (["--keep", "../x"], "'../x' is not below a version's files"),
    (["--expect", "page_fault <= 1"], "unknown metric 'page_fault'"),
    (["--expect", "minor_faults in reset <= 1"], "'minor_faults' is not counted for a function"),
    (["--expect", "calloc_calls <= 1MiB"], "'1MiB' is not a number"),
    (["--rounds", "0"], "invalid --rounds 0"),
    (["--expect", "page_faults <= 5"], "--good v1.0 is not as expected"),
])
def test_bad_input_is_refused_in_one_line(project, cache, words, complaint):
    with untouched(project[0]):
        done = run("bisect", project[0], cache, *HOW, "--good", "v1.0", "--bad", "v1.1", *words, *COMMAND)
    refused(done, complaint)


@pytest.mark.parametrize(("options", "command", "complaint"), [
    ([], ["{build}/other"], "builds no program: the build succeeded, but there is no {build}/other"),
    ([], ["{build}/decoder", "missing"], "'decoder' ended with exit status 3 (no input)"),
    ([], ["/usr/bin/decoder"], "'/usr/bin/decoder' is not below a version's files"),
    ([], ["no-such-program"], "no-such-program"),
    (["--timeout", "0.3"], ["sleep", "9"], "does not work: 'sleep' did not end within 0.3 s"),
])
def test_a_command_that_does_not_work_anywhere_is_refused(project, tmp_path, options, command, complaint):
    refused(run("history", project[0], tmp_path, *HOW, "--range", "main~1..main", *options, "--", *command), complaint)


@pytest.mark.long("a project more")
def test_what_the_build_makes_is_kept_at_its_place(tmp_path):
    make_program(tmp_path / "p", [text_of(1), text_of(2)])
    build = ("mkdir -p data && echo 2 > data/rounds && ln -s rounds data/link && gcc -g -O1 -o decoder decoder.c && "
             "printf '#!/bin/sh\\n./decoder data/link\\n' > go && chmod +x go")
    words = ["--build", build, "--range", "main~1..main", "--json", "-", "--", "./go"]
    refused(run("history", tmp_path / "p", tmp_path, *words), "none of 2 versions was measured")
    kept = run("history", tmp_path / "p", tmp_path, "--keep", "decoder", "--keep", "data", *words)
    assert kept.returncode == 0, kept.stderr
    document = json.loads(kept.stdout)
    assert set(document["versions"][0]["program"]["processes"]) == {"dash", "decoder"}
    again = run("history", tmp_path / "p", tmp_path, "--keep", "decoder", "--keep", "data", *words)
    assert all(version["measured_earlier"] for version in json.loads(again.stdout)["versions"])


def test_the_bisections_of_zstd_that_the_page_shows_are_the_committed_ones():
    folder = SOURCE / "results" / "reference" / "history" / "zstd"
    page = (SOURCE / "docs" / "history.md").read_text()
    assert (folder / "history.txt").read_text().split("v1.5.0")[1].split("v1.5.1")[0] in page
    check_schema(json.loads((folder / "history.json").read_text()), "history")
    for name, is_fix in (("bisect-worse", False), ("bisect-better", True)):
        document = json.loads((folder / f"{name}.json").read_text())
        check_schema(document, "bisect")
        text = (folder / f"{name}.txt").read_text()
        assert document["state"] == "complete" and f"history/zstd/{name}.txt" in page
        assert f"commit {document['origin']['commit']}" in text and "ZSTD_reset_matchState" in text
        assert document["first_good" if is_fix else "first_bad"]["diffstat"] in text


ALLOCATOR = """
#include <malloc.h>
#include <string.h>
void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
void __libc_free(void *);
__attribute__((constructor)) static void set(void) { mallopt(M_MMAP_THRESHOLD, 65536); }
void *malloc(size_t bytes) { return __libc_malloc(bytes); }
void *realloc(void *block, size_t bytes) { return __libc_realloc(block, bytes); }
void free(void *block) { __libc_free(block); }
void *calloc(size_t count, size_t bytes) {
  void *block = __libc_calloc(count, bytes);
  return @ZEROES@ && block && count * bytes >= 1 << 20 ? memset(block, 0, count * bytes) : block;
}
"""


@pytest.mark.long("a project more")
def test_an_allocators_commit_is_found_by_a_recorded_program(tmp_path):
    """From the fourth version on, the allocator zeroes memory that is already zero."""
    calls = tmp_path / "loop.calls"
    done = zerotax("record", "--text", "/dev/null", "--calls", calls, "--allocator", "glibc", "--env",
                   "glibc:MALLOC_MMAP_THRESHOLD_=65536", "--", PROGRAMS / "loop", 3 * MIB // 2, 10)
    assert done.returncode == 0, done.stderr
    repository = tmp_path / "repository"
    commits = make_program(repository, [ALLOCATOR.replace("@ZEROES@", str(int(number >= 4))) + f"// step {number}\n"
                                        for number in range(1, 7)])
    how = ["--repo", repository, "--build", "${CC:-gcc} -shared -fPIC -O1 -fno-builtin -o {build}/libmine.so decoder.c",
           "--library", "{build}/libmine.so", "--good", commits[0], "--bad", commits[-1]]
    file = tmp_path / "bisect.json"
    done = zerotax("bisect", *how, "--json", file, "--", calls)
    assert done.returncode == 0, done.stdout + done.stderr
    check_schema(json.loads(file.read_text()), "bisect")
    assert commits[3][:10] in done.stdout and "Step 4" in done.stdout and "zeroed by the allocator" in done.stdout, done.stdout
    refused(zerotax("bisect", *how[:4], *how[6:], "--", calls), "is a recording, but no allocator is given for its replay")
    refused(zerotax("bisect", *how, "--", "{build}/decoder"), "--library is for an allocator, but a command is given")
