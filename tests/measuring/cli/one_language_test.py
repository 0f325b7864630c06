"""All commands share one language of options: the same name has the same meaning, wording and default everywhere."""

import re

import pytest
from conftest import SOURCE, zerotax

# Options whose name means the same in several commands. The meaning of other options, such as --finding, depends on the
# command.
SHARED = ("--allocator", "--env", "--case", "--size", "--from", "--to", "--grid", "--touch", "--thread", "--rounds",
          "--timeout", "--text", "--json", "--read")
VALUES = {"--allocator": "NAME[=PATH]", "--env": "SETTING", "--case": "CASE", "--size": "SIZE", "--from": "SIZE", "--to": "SIZE",
          "--grid": "N", "--touch": "FRACTION", "--thread": "THREAD", "--ops": "N", "--rounds": "N", "--cost": "COST",
          "--timeout": "SECONDS", "--out": "PATH", "--text": "PATH", "--json": "PATH", "--read": "PATH",
          "--seconds": "SECONDS"}
# Options with the same default in all commands. Below are options with several defaults, each with the reason.
DEFAULTS = {"--thread": "main", "--timeout": "60", "--cost": "total", "--grid": "2", "--case": "calloc_loop"}
SEVERAL_DEFAULTS = {
    # --rounds is 5 to measure one program or library, 3 for a quick answer, and 16 pairs to compare two. advise stops
    # as soon as a remedy is proven, after at most 24 rounds. bless stops when ranges no longer grow, after at most 10
    # rounds.
    "--rounds": {"3", "5", "10", "16", "24", "16, more for many points"},
}


def commands():
    told = zerotax("--help").stdout
    found = re.findall(r"^  ([a-z]+) ", told[told.index("Every day"):], re.M)
    verbs = re.findall(r"^  ([a-z]+) ", zerotax("trace", "--help").stdout.split("Subcommands:")[1].split("Examples:")[0], re.M)
    return [[name] for name in found if name != "trace"] + [["trace", verb] for verb in verbs]


def options_of(command):
    """The options that --help shows, as {name: (value, words, default)}."""
    text = zerotax(*command, "--help").stdout
    text = text[text.index("\nOptions:"):].split("\nExamples:")[0].split("\nCommon options")[0]
    found = {}
    for entry in re.split(r"\n  (?=-)", text)[1:]:
        head, _, rest = " ".join(entry.split("\n")).partition("  ")
        name, _, value = re.sub(r"^-\w, ", "", head).partition(" ")
        words = " ".join(rest.split())
        default = re.search(r"default: (.*?)\)", words)
        found[name] = (value, words, default.group(1) if default else None)
    return found


EVERY = {" ".join(command): options_of(command) for command in commands()}


def uses(name):
    return {command: options[name] for command, options in EVERY.items() if name in options}


def test_there_are_commands_and_options():
    assert len(EVERY) > 25 and len(uses("--json")) > 15


@pytest.mark.parametrize("name", SHARED)
def test_one_name_has_one_wording_and_one_unit(name):
    found = uses(name)
    assert len(found) > 1, found
    assert {words.split(" (")[0] for _, words, _ in found.values()} == {next(iter(found.values()))[1].split(" (")[0]}
    assert {value for value, _, _ in found.values()} == {VALUES[name]}


# --explain names a point in compare, and shows all changes in check. --filter filters functions in trace, and processes
# in top.
@pytest.mark.parametrize("name", sorted({name for options in EVERY.values() for name in options} - {"--explain", "--filter"}))
def test_every_name_takes_the_same_kind_of_value_in_all_commands(name):
    values = {value for value, _, _ in uses(name).values()}
    assert len(values) == 1 and (name not in VALUES or values == {VALUES[name]}), uses(name)
    assert not values & {"TEXT", "INT", "UINT", "FLOAT"}, "a value that says nothing"


@pytest.mark.parametrize("name", DEFAULTS)
def test_one_name_has_one_default(name):
    defaults = {default for _, _, default in uses(name).values()}
    assert defaults == {DEFAULTS[name]}, uses(name)


@pytest.mark.parametrize("name", SEVERAL_DEFAULTS)
def test_another_default_has_a_reason(name):
    assert {default for _, _, default in uses(name).values()} == SEVERAL_DEFAULTS[name]


def test_common_options_are_named_in_each_command_and_explained_once():
    for command in EVERY:
        named = re.search(r"^Common options \(zerotax help options\): (.*)$", zerotax(*command.split(), "--help").stdout, re.M)[1]
        assert "--color" in named and not set(named.split(", ")) & set(EVERY[command])
    for name in ("--on", "--color", "--force"):
        assert f"  {name} " in zerotax("help", "options").stdout and f"\n  {name}" not in zerotax("run", "--help").stdout


@pytest.mark.parametrize("command", EVERY)
def test_help_fits_80_columns(command):
    text = zerotax(*command.split(), "--help").stdout
    assert text.isascii(), "troff would have no character for it"
    for line in text.splitlines():
        assert len(line) <= 80, line


@pytest.mark.parametrize("topic", sorted(path.stem for path in (SOURCE / "harness/measuring/cli/topics").glob("*.txt")))
def test_a_topic_is_told_and_stands_in_the_manual_page(topic):
    done = zerotax("help", topic)
    assert done.returncode == 0 and done.stdout.isascii()
    assert all(len(line) <= 80 for line in done.stdout.splitlines())
    title = "COMMON OPTIONS" if topic == "options" else topic.upper().replace("-", " ")
    assert f".SH {title}\n" in zerotax("help", "--man", "-").stdout
    assert f"  {topic} " in zerotax("help").stdout


def test_help_of_a_command_is_its_help():
    assert zerotax("help", "compare").stdout == zerotax("compare", "--help").stdout
    assert zerotax("help", "trace", "run").stdout == zerotax("trace", "run", "--help").stdout


def test_the_topic_of_options_names_what_commands_have():
    text = zerotax("help", "options").stdout
    for name in re.findall(r"^  (--[a-z]+)", text.split("Common options")[0], re.M):
        assert uses(name) or name == "--pid", name
    assert set(SHARED) <= set(re.findall(r"--[a-z]+", text))


def test_one_mistake_is_found_wherever_it_is_made():
    for words, meant in (
            (["run", "--sise", "1MiB"], "did you mean --size?"),
            (["trace", "print", "--perfeto", "x"], "did you mean --perfetto?"),
            (["compare", "glibc", "jemalloc", "--markdwon", "x"], "did you mean --markdown?"), (["hlep"], "did you mean help?"),
            (["help", "size"], "did you mean sizes?"), (["run", "--size", "100M"], "did you mean 100MiB or 100MB?"),
            (["run", "--color", "alwys"], "did you mean always?"),
            (["record", "--wieght", "ns", "--", "/bin/true"], "did you mean --weight?"),
            (["trace", "sumary"], "did you mean summary?")):
        done = zerotax(*words)
        assert done.returncode == 2 and meant in done.stderr and done.stdout == "", done.stderr
