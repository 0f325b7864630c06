"""The wings of the harness are ordered as in harness/README.md, and the rooms of a wing form no cycle."""
import graphlib
import os
import pathlib
import re

import pytest

SOURCE = pathlib.Path(os.environ.get("ZEROTAX_SOURCE", pathlib.Path(__file__).parents[2]))
HARNESS = SOURCE / "harness"
README = (HARNESS / "README.md").read_text()
# Order of the wings, as in "foundation < measuring < kernel, program < …". Two wings between the same < signs do not
# include one another.
ORDER = [step.split(", ") for step in re.search(r"^[a-z]+(?: < [a-z]+(?:, [a-z]+)*){3,}$", README, re.MULTILINE)[0].split(" < ")]
STEP = {wing: step for step, wings in enumerate(ORDER) for wing in wings}
WING = {path.name: path.parent.name for path in HARNESS.glob("*/*") if path.is_dir()}
# Code in these folders runs in other processes, and does not belong to the library of its room.
INSIDE = {"record/preload": {"base", "os", "meter", "record"}, "fork/process": {"fork"},
          "snapshot/process": {"os", "snapshot"}, "bench/preload": set(), "advise/preload": set(),
          "trace/reader": {"base", "os", "trace"}, "contract/suite": {"contract"},
          "replay/process": {"replay"}, "report/reproducers": set(), "prove/process": {"prove", "replay"}}


def sources(folder):
    return [path for path in sorted(folder.rglob("*")) if path.suffix in (".c", ".cc", ".h")]


def included_by(path):
    return re.findall(r'^ *# *include "(\w+)/', path.read_text(), re.MULTILINE)


def includes():
    """Yields (file, the file's room and the next part of its path, included room)."""
    for path in sources(HARNESS):
        name = path.relative_to(HARNESS)
        for included in included_by(path):
            if included in WING:
                yield name.as_posix(), "/".join(name.parts[1:3]), included


def wrong(folder, included):
    """Returns why a file may not include from a room, or "" if it may."""
    room = folder.split("/")[0]
    if folder in INSIDE:
        return "" if included in INSIDE[folder] else "runs in another process"
    # Nothing links the probe. Only meter/sample_block.h is shared with other code.
    if included == "probe" != room:
        return "nothing links the probe"
    mine, other = WING[room], WING[included]
    return "" if mine == other or STEP[other] < STEP[mine] else f"{mine} does not stand above {other}"


def test_the_wings_are_those_of_the_order():
    assert {path.name for path in HARNESS.iterdir() if path.is_dir()} == set(STEP)
    assert len(WING) == len([path for path in HARNESS.glob("*/*") if path.is_dir()]), "two rooms have the same name"
    cmake = re.search(r"^foreach\(wing IN ITEMS ([a-z ]+)\)$", (HARNESS / "CMakeLists.txt").read_text(), re.MULTILINE)[1]
    assert cmake.split() == [wing for wings in ORDER for wing in wings]


def test_a_wing_includes_what_stands_before_it():
    found = list(includes())
    assert len(found) > 500
    problems = [f"{file} includes {included}: {why}" for file, folder, included in found if (why := wrong(folder, included))]
    assert not problems, "\n".join(problems)


@pytest.mark.parametrize("folder, included, why", [
    ("cow/run.cc", "record", "kernel does not stand above program"),
    ("replay/run.cc", "baseline", "program does not stand above regression"),
    ("cli/main.cc", "probe", "nothing links the probe"),
    ("bench/preload", "os", "runs in another process"),
    ("bench/run.cc", "record", "")])
def test_an_arrow_that_points_back_is_found(folder, included, why):
    assert wrong(folder, included) == why


def test_rooms_are_in_no_circle():
    arrows = {}
    for _, folder, included in includes():
        room = folder.split("/")[0]
        if included != room:
            arrows.setdefault(room, set()).add(included)
    graphlib.TopologicalSorter(arrows).prepare()


def test_a_room_is_built_with_those_that_it_includes():
    cmake = (HARNESS / "CMakeLists.txt").read_text()
    built = {room: set(uses.split())
             for room, uses in re.findall(r"^zerotax_room\((\w+)(?: USES ([a-z_ ]+))?", cmake, re.MULTILINE)}
    above = [room for room, wing in WING.items() if STEP[wing] > STEP["measuring"]]
    used = {room: set() for room in above}
    for _, folder, included in includes():
        room = folder.split("/")[0]
        if included in above and included != room and folder not in INSIDE:
            used[room].add(included)
    assert built == used


def test_the_picture_has_each_room():
    picture = README.split("```")[1]
    assert set(WING) <= set(re.findall(r"\w+", picture))


def test_the_flows_name_files_that_exist():
    flows = README.split("\n## Three flows", 1)[1].split("\n## ", 1)[0]
    files = [f"/{path.relative_to(SOURCE).as_posix()}" for folder in (HARNESS, SOURCE / "cases") for path in sources(folder)]
    named = re.findall(r"`([\w/]+\.(?:cc|h))`", flows.replace("cases/NAME/", "cases/calloc_loop/"))
    assert len(named) > 40
    assert [name for name in named if not any(file.endswith(f"/{name}") for file in files)] == []


def test_the_readme_has_the_folder_of_each_command():
    table = README.split("\n| command |", 1)[1].split("\n\n", 1)[0]
    told = {command: folder for commands, folder in re.findall(r"^\| (`[^|]*`) \| `([\w/]+)`", table, re.MULTILINE)
            for command in re.findall(r"`(\w+)", commands)}
    # A command without a summary is hidden.
    found = {name: path.parent.relative_to(HARNESS).as_posix() for path in HARNESS.rglob("*.cc") for name in re.findall(
        r'^const Subcommand \w+\(\s*"(\w+)", Wing::\w+,\s*"(?!")', path.read_text(), re.MULTILINE)}
    assert told == found


def test_the_help_has_a_command_under_its_wing():
    for path in HARNESS.rglob("*.cc"):
        for wing in re.findall(r"\bWing::k(\w+),", path.read_text()):
            assert path.relative_to(HARNESS).parts[0] == wing.lower(), path


def test_the_code_of_a_room_is_in_its_namespace():
    for room, wing in WING.items():
        if STEP[wing] <= STEP["measuring"]:
            continue
        for path in sources(HARNESS / wing / room):
            folder = "/".join(path.relative_to(HARNESS).parts[1:3])
            if folder not in INSIDE:
                # Ignores types that a file only declares in other namespaces.
                names = set(re.findall(
                    r"^namespace (zerotax[\w:]*) \{\n(?!(?:struct|class) \w+;\n\})", path.read_text(), re.MULTILINE))
                assert names == {"zerotax::record::runs" if folder == "record/runs" else f"zerotax::{room}"}, path


def test_one_file_includes_the_argument_parser():
    users = [path.name for folder in ("harness", "tests") for path in sources(SOURCE / folder)
             if "#include <CLI/" in path.read_text(errors="replace")]
    assert users == ["parser.h"]


def test_cases_reach_into_the_meter_only():
    for path in sources(SOURCE / "cases"):
        # An include without a room refers to the case's own folder.
        found = set(included_by(path)) & set(WING)
        assert found <= {"meter", "os", "base"}, f"{path}: {found}"


def test_the_recorder_stands_by_itself():
    own = sources(SOURCE / "recorder")
    assert len(own) > 20
    for path in own:
        found = set(included_by(path))
        assert found <= {"zerotax", "format", "functions"}, f"{path}: {found}"
    # Only two files of the harness use the recorder, as other programs would.
    users = {path.name for path in sources(HARNESS)
             if re.findall(r'^#include [<"]zerotax/recorder', path.read_text(), re.MULTILINE)}
    assert users == {"kernel_event_log.cc", "kernel_event_log.h"}


def test_headers_say_pragma_once():
    for path in HARNESS.rglob("*.h"):
        assert "include/zerotax" in str(path) or "#pragma once" in path.read_text(), path
