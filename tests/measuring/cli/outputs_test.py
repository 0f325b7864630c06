"""An output may replace a file that the same option wrote before. With --force, an output may replace another program's
file, but never a program.
"""

import json
import os
import subprocess

import pytest
from conftest import ZEROTAX, clean_environment, zerotax
from refusing import check_refusal, try_line

QUICK = ["--allocator", "glibc", "--size", "64KiB", "--ops", 2]
PROGRAM = ["--", "/bin/ls", "/"]
MINE = "my own\n"


@pytest.fixture(scope="module")
def workspace(tmp_path_factory):
    folder = tmp_path_factory.mktemp("outputs")
    assert zerotax("run", *QUICK, "--json", "measured.json", cwd=folder).returncode == 0
    return folder


# Each command, the options with which it writes files, and the program that it runs.
COMMANDS = {
    "run": (["run", *QUICK], ["--json"], []),
    "record": (["record"], ["--json", "--text", "--folded", "--svg", "--pprof"], PROGRAM),
    "profile": (["profile"], ["--json", "--text"], PROGRAM),
    "cow": (["cow"], ["--json", "--faults"], PROGRAM),
    "top": (["top", "--once", "--interval", "0.1"], ["--json", "--log", "--prometheus"], []),
    "compare": (["compare", "measured.json", "measured.json"],
                ["--json", "--csv", "--junit", "--markdown", "--bmf"], []),
    "findings": (["findings", "measured.json"], ["--json", "--junit", "--markdown", "--bmf"], []),
    "summary": (["findings", "measured.json", "--summary"], ["--json"], []),
    "help": (["help"], ["--man"], []),
    "doctor": (["doctor"], ["--json"], []),
    "trace": (["trace", "events"], ["--json"], []),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_an_output_replaces_what_it_wrote_and_nothing_else(workspace, name):
    words, options, program = COMMANDS[name]
    files = {option: workspace / f"{name}{option}" for option in options}
    given = [word for option in options for word in (option, files[option].name)]
    for _ in range(2):
        done = zerotax(*words, *given, *program, cwd=workspace)
        assert done.returncode in (0, 1, 3) and "replace" not in done.stderr, done.stderr
        assert all(file.stat().st_size > 0 for file in files.values()) or name == "record", files
    for option, file in files.items():
        file.write_text(MINE)
        line = check_refusal(try_line([ZEROTAX, *map(str, [*words, option, file.name, *program])], workspace))
        assert f"{option} {file.name} would replace a file that" in line and "--force" in line
        assert file.read_text() == MINE
        done = zerotax(*words, option, file.name, "--force", *program, cwd=workspace)
        assert done.returncode in (0, 1, 3) and file.read_bytes() != MINE.encode(), done.stderr


def test_a_document_does_not_replace_one_of_another_command(workspace):
    before = (workspace / "measured.json").read_bytes()
    assert "did not write" in check_refusal(try_line([ZEROTAX, "doctor", "--json", "measured.json"], workspace))
    assert (workspace / "measured.json").read_bytes() == before


def test_a_pipe_with_a_reader_gets_all_and_its_end(workspace, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with subprocess.Popen(["cat", tmp_path / "pipe"], stdout=subprocess.PIPE, text=True) as reader:
        done = zerotax("run", *QUICK, "--json", tmp_path / "pipe")
        text, _ = reader.communicate(timeout=60)
    assert done.returncode == 0, done.stderr
    assert json.loads(text)["schema"] == "zerotax.run/1"


def test_what_a_shell_gives_as_a_path_is_written(workspace):
    line = f"'{ZEROTAX}' doctor --json >(cat >&2) >/dev/null; wait $!"
    done = subprocess.run(["bash", "-c", line], env=clean_environment(), capture_output=True, text=True, check=False, timeout=60)
    assert '"schema": "zerotax.doctor/1"' in done.stderr
    done = subprocess.run(["sh", "-c", f"'{ZEROTAX}' doctor --json /dev/fd/3 3>{workspace}/three >/dev/null"],
                          env=clean_environment(), capture_output=True, text=True, check=False, timeout=60)
    assert json.loads((workspace / "three").read_text())["schema"] == "zerotax.doctor/1", done.stderr


def test_what_the_recorded_program_wrote_to_the_path_meanwhile_stays(tmp_path):
    done = zerotax("record", "--json", "late", "--", "sh", "-c", f"echo '{MINE.strip()}' >late", cwd=tmp_path)
    assert done.returncode == 2 and "the result is in" in done.stderr, done.stderr
    assert (tmp_path / "late").read_text() == MINE
    kept, = (path for path in tmp_path.iterdir() if path.name != "late")
    assert json.loads(kept.read_text())["schema"] == "zerotax.record/1"
