"""The installed shell completion, as bash and zsh run it, and the manual page are complete."""

import os
import pty
import re
import select
import shutil
import subprocess
import time

import pytest
from conftest import BUILD, SOURCE, ZEROTAX, clean_environment, zerotax

FILES = SOURCE / "harness" / "measuring" / "cli" / "completion"
MANUAL = BUILD / "share" / "man" / "man1" / "zerotax.1"


def commands():
    told = zerotax("--help").stdout
    return re.findall(r"^  ([a-z]+) ", told[told.index("Every day"):], re.M)


def common_options_in(told):
    """The common options, named on the last line of a help text."""
    line = re.search(r"^Common options \(zerotax help options\):((?: --[a-z]+,?)+)$", told, re.M)
    return set(re.findall(r"--[a-z]+", line[1] if line else ""))


def options_in(told):
    return set(re.findall(r"^  (?:-\w, )?(--[a-z-]+)", told, re.M)) | common_options_in(told)


def options_of(command):
    return options_in(zerotax(command, "--help").stdout) | {"--help"}


def verbs_of(command):
    told = zerotax(command, "--help").stdout
    return re.findall(r"^  ([a-z]+) ", told[told.index("Subcommands:"):], re.M) if "Subcommands:" in told else []


def all_options_of(command):
    """The options of a command and of its subcommands, as of `zerotax trace` and `zerotax trace run`."""
    options = options_of(command)
    for verb in verbs_of(command):
        options |= options_in(zerotax(command, verb, "--help").stdout)
    return options


def asked(*words):
    done = zerotax("help", "--complete", "--", *words)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def bash(*words):
    """The words that bash suggests after these words, the last of which is incomplete."""
    script = f"""
    . {FILES / 'zerotax.bash'}
    complete -p zerotax >/dev/null || exit 9
    COMP_WORDS=({' '.join(f"'{word}'" for word in (ZEROTAX, *words))})
    COMP_CWORD={len(words)}
    _zerotax || exit 8
    printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    done = subprocess.run(["bash", "--norc", "-c", script], env=clean_environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_every_command_is_completed():
    assert asked("") == sorted(commands()) and len(commands()) > 15
    assert asked("compa") == ["compare"]
    assert asked("hel") == ["help"] and asked("bisect-") == [], "what is hidden is not offered"


@pytest.mark.parametrize("command", commands())
def test_every_option_is_completed(command):
    assert set(asked(command, "--")) == options_of(command)


@pytest.mark.parametrize(("words", "some"), [
    (("run", "--allocator", ""), {"glibc", "jemalloc", "largecache"}),
    (("run", "--case", "calloc_l"), {"calloc_loop"}),
    (("compare", "je"), {"jemalloc"}),
    (("compare", "--cost", "total", "glibc", "je"), {"jemalloc"}),
    (("compare", "glibc", "jemalloc", "--cost", ""), {"calloc", "total"}),
    (("compare", "glibc", "jemalloc", "--cost=t"), {"--cost=total"}),
    (("compare", "glibc", "jemalloc", "--cost", "=", "t"), {"total"}),
    (("snapshot", "--alternative", "uffd"), {"uffd_wp"}),
    (("clients", "--client", "requests_"), {"requests_2016"}),
    (("trace", "pr"), {"print"}), (("trace", "run", "--k"), {"--kernel"}), (("trace", "print", "t", "--pe"), {"--perfetto"}),
    (("run", "--env", "jem"), {"jemalloc:"}),
    (("compare", "a", "b", "--thread", "w"), {"worker"}),
    (("compare", "a", "b", "--along", "t"), {"touch"}),
    (("cow", "--fi"), {"--first-child"}),
    (("report", "--severity", ""), {"low", "medium", "high"}), (("run", "--color", ""), {"auto", "always", "never"}),
    (("help", "si"), {"sizes"}), (("help", "comp"), {"compare"}),
])
def test_values_are_completed_in_bash(words, some):
    offered = bash(*words)
    assert some <= set(offered) and all(word.startswith(words[-1]) for word in offered)
    assert offered == asked(*words)


@pytest.mark.parametrize("words", [
    ("run", "--json", ""), ("run", "--allocator", "mine", "=", "./"), ("record", "--", "ls", "-"), ("nonsense", "")])
def test_where_files_or_a_program_are_expected_the_shell_is_left_alone(words):
    assert asked(*words) == []


@pytest.mark.skipif(shutil.which("zsh") is None, reason="install zsh")
@pytest.mark.parametrize(("typed", "expected"), [
    ("doct\t", "doctor "), ("run --allocator jem\t", "--allocator jemalloc "), ("compare glibc je\t", "glibc jemalloc "),
    ("compare a b --ben\t", "--benchmark-json ")])
def test_zsh_completes(tmp_path, typed, expected):
    shutil.copy(FILES / "_zerotax", tmp_path)
    (tmp_path / ".zshrc").write_text(
        f"fpath=({tmp_path} $fpath)\npath=({ZEROTAX.parent} $path)\nautoload -Uz compinit && compinit -u -D\n"
        "PS1='ready> '\nunsetopt beep\n")
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(tmp_path)
        os.execvpe("zsh", ["zsh", "-d", "-i"], clean_environment(ZDOTDIR=str(tmp_path), TERM="dumb"))
    seen = ""

    def read_until(text, seconds):
        nonlocal seen
        end = time.monotonic() + seconds
        while text not in seen and time.monotonic() < end:
            if select.select([terminal], [], [], 0.1)[0]:
                try:
                    seen += os.read(terminal, 4096).decode(errors="replace")
                except OSError:
                    break
        return text in seen

    try:
        assert read_until("ready> ", 30), seen
        seen = ""
        os.write(terminal, f"zerotax {typed}".encode())
        assert read_until(expected, 30), seen
    finally:
        os.kill(child, 9)
        os.close(terminal)
        os.waitpid(child, 0)


def test_the_manual_page_is_as_the_command_writes_it():
    assert MANUAL.read_text() == zerotax("help", "--man", "-").stdout


def test_every_option_is_in_the_manual_page():
    if shutil.which("man") is None:
        pytest.skip("install man-db")
    page = subprocess.run(["man", "--warnings", "-l", MANUAL], env=clean_environment(MANWIDTH="200", MAN_KEEP_FORMATTING="0"),
                          capture_output=True, text=True, check=False)
    assert page.returncode == 0 and page.stderr == "", page.stderr
    text = re.sub(r".\x08", "", page.stdout)
    common = set(re.findall(r"^ +(--[a-z]+)", text[text.index("\nCOMMON OPTIONS\n"):], re.M))
    assert common >= {"--color", "--force", "--on"}
    sections = dict(re.findall(r"^   ([a-z]+)\n(.*?)(?=^   [a-z]+\n|^[A-Z])", text, re.M | re.S))
    assert sorted(sections) == sorted(commands())
    for command, section in sections.items():
        named = set(re.findall(r"^ +(?:-\w, )?(--[a-z-]+)", section, re.M))
        assert named <= all_options_of(command) <= named | common, command
        assert "zerotax " + command in section, "an example"


def test_help_is_a_command_too():
    assert zerotax("help").stdout.startswith(zerotax("--help").stdout)


RUNS_A_PROGRAM = {"advise", "bench", "bisect", "bless", "check", "compare", "cow", "history", "profile", "record"}


@pytest.mark.parametrize("command", commands())
def test_usage_says_whether_a_program_is_run(command):
    usage = zerotax(command, "--help").stdout.split("\n\n")[0]
    assert ("[-- COMMAND ...]" in usage) == (command in RUNS_A_PROGRAM), usage


def test_the_usage_of_a_verb_says_so_too():
    assert "[-- COMMAND ...]" in zerotax("trace", "run", "--help").stdout
    assert "[-- COMMAND ...]" not in zerotax("trace", "print", "--help").stdout


def test_every_variable_of_the_documentation_is_in_the_help():
    told = zerotax("help", "environment").stdout
    pages = "".join(page.read_text() for page in (SOURCE / "docs").glob("*.md"))
    named = set(re.findall(r"`(ZEROTAX_[A-Z_]+)(?:=[^`]*)?`", pages)) - MACROS
    assert len(named) > 8 and all(name in told for name in named), {name for name in named if name not in told}
    assert "vm:RELEASE" in zerotax("help", "options").stdout


# Macros of the recorder. The documentation names macros in the same form as variables.
MACROS = {"ZEROTAX_EVENT", "ZEROTAX_MARK", "ZEROTAX_MARK_EVENT", "ZEROTAX_RECORD", "ZEROTAX_RECORD_AT", "ZEROTAX_WRITE"}
