"""Names of functions, files, threads, programs and arguments are bytes that other users chose. Every output shows the
names as visible text, is valid in its own format, and sends no commands to a terminal or to GitHub's runner.
"""

import json
import os
import re
import signal
import subprocess
import time
import xml.dom.minidom

import pytest
from conftest import NOBODY, ZEROTAX, clean_environment
from exchanging import Page, read_commands, read_junit, read_markdown
from nasty_names import FILE, NASTY, SHORT, assert_clean, folded, is_hidden, shown
from nasty_program import NAMES, build, build_slow, in_c
from pprof import Profile
from tracing import TRACED


@pytest.fixture(scope="module", name="program")
def _program(tmp_path_factory):
    folder = tmp_path_factory.mktemp("names")
    os.chmod(folder, 0o755)
    return build(folder, 8)


def zerotax(*words, status=0, **how):
    """Returns the command's standard output and error, after checking that both are clean."""
    done = subprocess.run([ZEROTAX, *words], env=clean_environment(**how), capture_output=True, check=False, timeout=300)
    assert_clean(done.stderr)
    assert status is None or done.returncode == status, done.stderr.decode()
    return done


def texts_in(value):
    """Yields every text in a JSON value."""
    if isinstance(value, str):
        yield value
    for each in value if isinstance(value, list) else value.values() if isinstance(value, dict) else []:
        yield from texts_in(each)


def check_json(path, names=()):
    """Checks that a document is clean JSON and contains all names."""
    document = json.loads(assert_clean(path.read_bytes()))
    texts = set(texts_in(document))
    missing = [name for name in map(shown, names) if not any(name in text for text in texts)]
    assert not missing, missing
    return document


def check_svg(path):
    assert_clean(path.read_bytes())
    xml.dom.minidom.parse(str(path))
    return "".join(each.firstChild.data for each in xml.dom.minidom.parse(str(path)).getElementsByTagName("title"))


def check_page(path):
    """Checks that no name becomes markup, and that names are visible. The page's own scripts are left out, because they
    contain regular expressions.
    """
    text = path.read_text(encoding="utf-8")
    assert "<script>&amp;</script>" not in text and text.count("<script") == text.count("</script>")
    assert_clean(re.sub(r"<script.*?</script>", "", text, flags=re.DOTALL).encode())
    assert not [each for each in text if each not in "\n\t" and is_hidden(each)]


def check_folded(path):
    """Checks that each line consists of functions and one number, and returns the functions."""
    stacks = []
    for line in assert_clean(path.read_bytes()).splitlines():
        stack, _, count = line.rpartition(" ")
        assert count.isdigit() and not stack.rpartition(" ")[2].replace(".", "").isdigit(), line
        stacks.append(stack.split(";"))
    functions = {function for stack in stacks for function in stack}
    assert not functions & {"a", "b 12"}, "a name with a semicolon is one function"
    return functions


def test_record(program, tmp_path):
    out = {kind: tmp_path / f"out.{kind}" for kind in ("json", "folded", "pprof", "svg", "text")}
    words = [word for kind, path in out.items() for word in (f"--{kind}", path)]
    zerotax("record", *words, "--weight", "zeroed", "--", program, NASTY["terminal"])
    document = check_json(out["json"], [*NAMES, *SHORT, FILE])
    frames = [frame for site in document["sites"] for frame in site["frames"]]
    assert {shown(name) for name in NAMES} <= {frame["function"] for frame in frames if isinstance(frame["function"], str)}
    files = {frame["file"] for frame in frames if isinstance(frame["file"], str)}
    assert {shown(name) for name in NAMES if b"/" not in name} - {file.rpartition("/")[2] for file in files} <= {
        shown(NASTY["github"])}, "a relative name stands behind its folder"
    assert {folded(name) for name in NAMES} <= check_folded(out["folded"])
    profile = Profile(out["pprof"])
    assert {shown(name) for name in NAMES} <= {frame[0] for stack, _, _ in profile.samples for frame in stack}
    titles = check_svg(out["svg"])
    assert all(shown(name) in titles for name in NAMES)
    text = assert_clean(out["text"].read_bytes())
    assert shown(FILE) in text and any(f"thread {shown(name)}" in text for name in SHORT)


def test_record_to_the_terminal(program):
    assert shown(FILE)[:40] in assert_clean(zerotax("record", "--", program).stderr)
    done = zerotax("record", "--full", "--", program)
    assert shown(NASTY["terminal"]) in done.stderr.decode() or shown(NASTY["bytes"]) in done.stderr.decode()


def test_profile(program, tmp_path):
    out = {kind: tmp_path / f"out.{kind}" for kind in ("json", "folded", "svg", "text")}
    words = [word for kind, path in out.items() for word in (f"--{kind}", path)]
    zerotax("profile", *words, "--", build_slow(tmp_path))
    found = {function for function in check_folded(out["folded"])}
    assert len({folded(name) for name in NAMES} & found) > len(NAMES) / 2, found
    check_json(out["json"], [FILE])
    check_svg(out["svg"])
    assert shown(FILE) in assert_clean(out["text"].read_bytes())


def test_a_process_of_another_user_is_profiled_and_recorded(tmp_path):
    os.chmod(tmp_path, 0o755)
    program = build_slow(tmp_path)
    as_another = NOBODY if os.geteuid() == 0 else []
    with subprocess.Popen([*as_another, program, "for", "ever"], env=clean_environment()) as process:
        try:
            wait_for(lambda: os.path.samefile(f"/proc/{process.pid}/exe", program))
            for command in ("record", "profile"):
                done = zerotax(command, "--pid", str(process.pid), "--seconds", "1", status=None)
                assert done.returncode in (0, 3), done.stderr
                assert_clean(done.stdout)
                if done.returncode == 0:
                    assert "x\\n::stop" in (done.stdout + done.stderr).decode() or "\\x" in (
                        done.stdout + done.stderr).decode()
        finally:
            process.send_signal(signal.SIGKILL)


def wait_for(condition, seconds=60):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            if condition():
                return
        except OSError:
            pass
        time.sleep(0.02)
    raise AssertionError("the condition did not become true")


def test_cow(program, tmp_path):
    out = {kind: tmp_path / f"out.{kind}" for kind in ("json", "faults", "svg")}
    words = [word for kind, path in out.items() for word in (f"--{kind}", path)]
    done = zerotax("cow", *words, "--", program)
    assert shown(FILE) in done.stderr.decode()
    document = check_json(out["json"])
    assert {shown(SHORT[1]), shown(SHORT[2])} & {process["name"] for process in document["processes"]}
    for line in assert_clean(out["faults"].read_bytes()).splitlines():
        json.loads(line)
    assert_clean(out["svg"].read_bytes())
    xml.dom.minidom.parse(str(out["svg"]))


def test_trace(tmp_path):
    program = os.path.join(os.fsencode(tmp_path), FILE)
    functions = ["recursive", "throws", "catches", "jumps", "lands", "in_thread", "use_library"]
    names = [NASTY[each] for each in ("terminal", "next_line", "github", "github_v1", "direction", "bytes", "markup")]
    symbols = [word for function, name in zip(functions, names)
               for word in (b"--redefine-sym", function.encode() + b"=" + name)]
    subprocess.run([b"objcopy", *symbols, os.fsencode(TRACED / "instrumented_calls"), program], check=True)
    folder, out = tmp_path / "trace", {name: tmp_path / f"{name}.json" for name in ("json", "perfetto")}
    zerotax("trace", "run", "--functions", "-o", folder, "--", program, TRACED / "instrumented.so")
    done = zerotax("trace", "functions", folder, "--json", out["json"])
    zerotax("trace", "print", folder, "--perfetto", out["perfetto"])
    text = assert_clean(done.stdout)
    assert all(shown(name) in text for name in names)
    check_json(out["json"], names)
    check_json(out["perfetto"], names)
    for words in (["functions", "--tree"], ["functions", "--diff", folder], ["print"], ["summary"], ["list"]):
        assert_clean(zerotax("trace", *words, folder).stdout)


def test_top_writes_what_prometheus_accepts(tmp_path):
    """In this text format, the value of a label is UTF-8. No series occurs twice, even if two names look alike."""
    text = "import ctypes, os, sys, time; ctypes.CDLL(None).prctl(15, bytes.fromhex(sys.argv[1])); os.close(1); time.sleep(300)"
    alike = [b"d\xff", b"d\\xff"]
    names = [*SHORT, *alike]
    started = []
    try:
        for name in names:
            as_another = NOBODY if os.geteuid() == 0 else []
            started.append(subprocess.Popen([*as_another, "/usr/bin/python3", "-c", text, name.hex()], stdout=subprocess.PIPE))
        for process in started:
            assert process.stdout.read() == b"", "the process must close its output once it has its name"
        out = tmp_path / "out.prom"
        done = zerotax("top", "--samples", "2", "--interval", "0.2", "--by", "command", "--prometheus", out,
                       "--json", tmp_path / "top.json")
        assert_clean(done.stdout)
        series = [line.rpartition(" ")[0] for line in assert_clean(out.read_bytes()).splitlines() if not line.startswith("#")]
        assert len(set(series)) == len(series), "a series occurs twice"
        for name in names:
            value = shown(name[:15]).replace("\\", "\\\\").replace('"', '\\"')
            assert f'zerotax_resident_bytes{{command="{value}"}}' in series, value
        for line in assert_clean((tmp_path / "top.json").read_bytes()).splitlines():
            json.loads(line)
        done = zerotax("top", "--samples", "1", "--json", tmp_path / "one.json", "--pid", str(started[0].pid))
        assert_clean(done.stdout)
    finally:
        for process in started:
            process.kill()
            process.communicate()


def test_check_of_a_program_in_every_format(tmp_path):
    baseline = tmp_path / "base.json"
    old = build(tmp_path, 1)
    zerotax("bless", "--baseline", baseline, "--", old, NASTY["bytes"])
    done = zerotax("check", "--baseline", baseline, "--", old, NASTY["bytes"])
    assert_clean(done.stdout)
    # check recognizes the same command again. An argument that is not UTF-8 is part of the command.
    other = zerotax("check", "--baseline", baseline, "--", old, NASTY["overlong"], status=2)
    assert b"another command" in other.stderr
    new = tmp_path / "new"
    new.mkdir()
    worse = build(new, 1, repeats=4)
    out = {kind: tmp_path / f"out.{kind}" for kind in ("json", "junit", "markdown", "bmf", "html")}
    words = [word for kind, path in out.items() for word in (f"--{kind}", path)]
    done = zerotax("check", "--baseline", baseline, "--explain", "--github", *words, "--", worse, NASTY["bytes"], status=1)
    assert_clean(done.stdout, commands=True)
    lines = done.stdout.decode().splitlines()
    begun = [line for line in lines if line.strip().startswith("::")]
    assert begun and all(line.startswith(("::error ", "::warning ", "::notice ")) for line in begun)
    assert read_commands("\n".join(begun))
    check_json(out["json"], [FILE])
    check_json(out["bmf"])
    assert_clean(out["junit"].read_bytes())
    assert {suite for suite, _ in read_junit(out["junit"].read_bytes())} == {shown(FILE)}
    check_page(out["html"])
    markdown = assert_clean(out["markdown"].read_bytes())
    assert "<script>" not in markdown and isinstance(read_markdown(markdown), Page)


@pytest.mark.parametrize("words", [
    ["record", "--", "missing"], ["run", "--allocator"], ["check", "--baseline"], ["findings"], ["cow", "--comm"],
    ["record", "--cgroup"], ["top", "--by"], ["trace", "print"], ["trace", "functions"], ["replay"], ["history", "--repo"],
    ["bless", "--name"], ["compare"], ["thresholds", "--size"], ["bisect", "--expect"], ["doctor"], []], ids=" ".join)
def test_what_is_refused_is_named_on_one_line(words, tmp_path):
    for name in (FILE, *SHORT):
        done = subprocess.run([ZEROTAX, *words, name], env=clean_environment(), cwd=tmp_path, capture_output=True,
                              check=False, timeout=120)
        assert done.returncode in (2, 3) or (words and words[0] in ("doctor", "cow")), (name, done)
        assert_clean(done.stdout)
        said = assert_clean(done.stderr)
        assert "a defect in zerotax" not in said
        assert not [each for each in tmp_path.iterdir() if each.is_dir()], "nothing is left"


def test_a_library_whose_path_is_no_text_is_refused_and_nothing_is_left(tmp_path):
    (tmp_path / "mine.c").write_text("""
#include <stddef.h>
void *malloc(size_t n) { return NULL; }
void *calloc(size_t n, size_t s) { return NULL; }
void *realloc(void *p, size_t n) { return NULL; }
void free(void *p) {}
""")
    library = os.path.join(os.fsencode(tmp_path), b"l\xff.so")
    subprocess.run([b"gcc", b"-w", b"-fPIC", b"-shared", b"-fno-builtin", b"mine.c", b"-o", library], cwd=tmp_path, check=True)
    for word in (b"mine=" + library, b"mine=./l\xff.so"):
        done = subprocess.run([ZEROTAX, "run", "--allocator", word, "--size", "64KiB", "--out", "o"], cwd=tmp_path,
                              env=clean_environment(), capture_output=True, check=False, timeout=120)
        assert done.returncode == 2, done.stderr
        assert "l\\xff.so" in assert_clean(done.stderr) and b"UTF-8" in done.stderr
        assert not (tmp_path / "o").exists()


def test_what_a_crashed_allocator_said_is_shown(tmp_path):
    said = in_c(NASTY["terminal"] + NASTY["direction"] + b"\xff ##[error]x\n::error::y\n")
    (tmp_path / "mine.c").write_text("""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>
extern void *__libc_malloc(size_t), *__libc_realloc(void *, size_t), *__libc_calloc(size_t, size_t);
extern void __libc_free(void *);
void *malloc(size_t n) { return __libc_malloc(n); }
void *realloc(void *p, size_t n) { return __libc_realloc(p, n); }
void free(void *p) { __libc_free(p); }
void *calloc(size_t n, size_t s) {
  static const char said[] = "%s";
  if (n * s >= 60000) { write(2, said, sizeof said - 1); abort(); }
  return __libc_calloc(n, s);
}
""" % said)
    subprocess.run(["gcc", "-w", "-fPIC", "-shared", "-fno-builtin", "mine.c", "-o", "mine.so"], cwd=tmp_path, check=True)
    done = zerotax("run", "--allocator", f"mine={tmp_path}/mine.so", "--size", "64KiB", "--out", tmp_path / "o", status=None)
    text = assert_clean(done.stdout) + assert_clean(done.stderr)
    assert "\\x1b]0;PWNED\\x07" in text
    for file in (tmp_path / "o").iterdir():
        if file.suffix in (".json", ".jsonl", ".csv", ".html", ".svg"):
            assert_clean(file.read_bytes())
    zerotax("findings", tmp_path / "o", "--markdown", tmp_path / "f.md", "--junit", tmp_path / "f.xml", status=None)
    assert_clean((tmp_path / "f.md").read_bytes())


def test_commits_of_others(tmp_path):
    repository = tmp_path / "r"
    repository.mkdir()
    environment = clean_environment(GIT_CONFIG_GLOBAL="/dev/null")

    def git(*words, **how):
        subprocess.run([b"git", b"-C", os.fsencode(repository), *words], env=environment, check=True, capture_output=True,
                       **how)

    git(b"init", b"--quiet", b"--initial-branch=main", b".")
    code = b"""
#include <stdlib.h>
int main(void) {
  for (int i = 0; i < ROUNDS; ++i) { volatile char *b = malloc(1 << 20); for (int n = 0; n < 1 << 20; ++n) b[n] = 1; }
}
"""
    author = (b"A " + NASTY["c1"] + NASTY["bytes"] + b"|`@you` <a\x1b@b>")
    file = b'"n\\033\\377\\342\\200\\256|`.txt"'
    subjects = [NASTY["terminal"] + b" \xff", b"::error::" + NASTY["markup"] + NASTY["direction"],
                b"s\xe2\x80\xa8e " + NASTY["bytes"]]
    for number, subject in enumerate(subjects):
        source = code.replace(b"ROUNDS", b"2" if number == 0 else b"20")
        when = b"170000%d000 +0000" % number
        stream = [b"commit refs/heads/main\nauthor %s %s\ncommitter C <c@d> %s\n" % (author, when, when),
                  b"data %d\n%s\n" % (len(subject), subject), b"from refs/heads/main^0\n" if number else b"",
                  b"M 100644 inline p.c\ndata %d\n%s\n" % (len(source), source),
                  b"M 100644 inline %s\ndata 2\n%d\n\n" % (file, number),
                  b"reset refs/tags/v%d%s\nfrom refs/heads/main\n\n" % (number, "\u202e|`<x>".encode())]
        git(b"fast-import", b"--quiet", b"--force", input=b"".join(stream))
    how = ["--repo", repository, "--build", "${CC:-gcc} -O1 -o {build}/p p.c"]
    report = tmp_path / "report.md"
    done = zerotax("bisect", "--full", *how, "--good", "main~2", "--bad", "main", "--expect", "page_faults <= 2000",
                   "--report", report, "--json", tmp_path / "b.json", "--", "{build}/p", XDG_CACHE_HOME=str(tmp_path / "cache"))
    assert shown(NASTY["direction"]) in assert_clean(done.stdout)
    check_json(tmp_path / "b.json")
    text = assert_clean(report.read_bytes())
    assert "<script>" not in text and "@you" not in text
    done = zerotax("history", *how, "--range", "main~2..main", "--html", tmp_path / "h.html", "--json", tmp_path / "h.json",
                   "--out", tmp_path / "h", "--", "{build}/p", XDG_CACHE_HOME=str(tmp_path / "cache"))
    assert_clean(done.stdout)
    check_json(tmp_path / "h.json")
    check_page(tmp_path / "h.html")
    for file in (tmp_path / "h").iterdir():
        if file.suffix in (".json", ".txt", ".svg"):
            assert_clean(file.read_bytes())
