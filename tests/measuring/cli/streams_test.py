"""Standard streams that are closed, full or without a reader: the command completes its work, or reports that it did
not.
"""

import json
import os
import subprocess

import pytest
from conftest import KIB, ZEROTAX, clean_environment, planted, without_progress

RUN = ["run", "--allocator", "glibc", "--size", str(256 * KIB), "--ops", "8"]
PRINTING = {
    "run": RUN, "list": ["list"], "help": ["--help"], "version": ["--version"], "help of a command": ["run", "--help"],
    "manual": ["help", "--man", "-"], "completion": ["help", "--complete", "--", "r"],
    "json": [*RUN, "--json", "-"],
    "thresholds": ["thresholds", "--allocator", "glibc", "--from", "64KiB", "--to", "128KiB", "--touch", "0", "--thread",
                   "main"],
    "doctor": ["doctor"],
}


def shell(words, redirections):
    """Runs the command in a shell with these redirections. Captures the streams that are not redirected."""
    line = " ".join(f"'{word}'" for word in [str(ZEROTAX), *map(str, words)])
    return subprocess.run(["sh", "-c", f"{line} {redirections}"], env=clean_environment(), capture_output=True, text=True,
                          timeout=120, check=False)


@pytest.mark.parametrize("words", PRINTING.values(), ids=PRINTING)
@pytest.mark.parametrize("to", [">/dev/full", ">&-"], ids=["full", "closed"])
def test_output_that_cannot_be_written_is_an_error_with_one_line(words, to):
    done = shell(words, to)
    assert done.returncode == 2
    said = without_progress(done.stderr)
    assert said.count("\n") == 1 and said.startswith("zerotax: cannot write standard output: ")


@pytest.mark.parametrize("closed", ["0<&-", "2>&-", "0<&- 2>&-"])
def test_a_run_does_not_need_standard_input_or_standard_error(closed):
    done = shell([*RUN, "--json", "-"], closed)
    assert done.returncode == 0, done.stderr
    assert [point["status"] for point in json.loads(done.stdout)["points"]] == ["ok"]


@pytest.mark.parametrize("closed", ["0<&- >&-", "0<&- >&- 2>&-"])
def test_with_nothing_open_results_still_reach_their_file(closed, tmp_path):
    file = tmp_path / "run.json"
    done = shell([*RUN, "--json", file], closed)
    # The command reports that its table was lost.
    assert done.returncode == 2
    assert [point["status"] for point in json.loads(file.read_text())["points"]] == ["ok"]


@pytest.mark.parametrize("words", [
    ["cow", "--json", "-", "--", "/bin/true"], ["fork", "--size", "1MiB", "--json", "-"],
    ["record", "--json", "-", "--", "/bin/true"],
    ["profile", "--json", "-", "--", "/bin/true"]], ids=lambda words: words[0])
@pytest.mark.parametrize("closed", ["2>&-", "0<&-", "0<&- 2>&-"])
def test_commands_that_run_programs_do_not_need_them_either(words, closed):
    done = shell(words, closed)
    open_streams = shell(words, "")
    assert done.returncode == open_streams.returncode, done.stderr
    if done.returncode == 0:
        assert json.loads(done.stdout)


@pytest.mark.parametrize("words", [
    ["cow", "--json", "-"], ["cow", "--faults", "-"], ["record", "--json", "-"], ["record", "--json", "/dev/stdout"],
    ["profile", "--json", "-"]], ids=" ".join)
def test_what_a_program_prints_is_not_in_a_document_on_standard_output(words):
    done = shell([*words, "--", "/bin/echo", "of the program"], "")
    if done.returncode == 3:
        pytest.skip(done.stderr)
    assert done.returncode == 0 and "of the program\n" in done.stderr
    documents = done.stdout.splitlines() if "--faults" in words else [done.stdout]
    assert documents and all(json.loads(each) for each in documents)
    done = shell(["cow", "--json", "/dev/null", "--", "/bin/echo", "of the program"], "")
    assert done.stdout == "of the program\n" or done.returncode == 3, "where nothing else is written there it stays"


def test_messages_that_cannot_be_written_change_no_status():
    assert shell(["run", "--allocator", "no-such", "--size", "1MiB"], "2>/dev/full").returncode == 2
    assert shell([*RUN, "--json", "/dev/null"], "2>/dev/full").returncode == 0


@pytest.mark.parametrize("words", [["list"], ["--help"], RUN], ids=["list", "help", "run"])
def test_a_reader_that_has_had_enough_ends_the_command_quietly(words):
    reader, writer = os.pipe()
    os.close(reader)  # this stream is closed before the command writes anything
    done = subprocess.run([ZEROTAX, *words], env=clean_environment(), stdout=writer, stderr=subprocess.PIPE, text=True,
                          timeout=60, check=False)
    os.close(writer)
    assert (done.returncode, without_progress(done.stderr)) == (141, "")


def test_head_gets_its_line():
    done = shell(["list"], "| head -1")
    assert done.returncode == 0
    assert done.stdout.startswith("allocators") and done.stdout.count("\n") == 1 and done.stderr == ""


def test_an_allocator_that_prints_does_not_confuse_what_is_known_of_it():
    # The loader's statistics and zerotax's messages use different descriptors.
    done = shell(["run", *planted("planted_never"), "--size", "256KiB", "--ops", "8", "--env",
                  "planted_never:LD_DEBUG=statistics"], "")
    assert done.returncode == 0, done.stderr
