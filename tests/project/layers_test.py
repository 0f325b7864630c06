"""The layers and rooms of the harness include only what the tables of harness/README.md allow."""
import os
import pathlib
import re

SOURCE = pathlib.Path(os.environ.get("ZEROTAX_SOURCE", pathlib.Path(__file__).parents[2]))
README = (SOURCE / "harness" / "README.md").read_text()
# Code that runs in other processes does not belong to its room's library.
INSIDE = {"record/preload": {"base", "os", "meter", "record"}, "fork/process": {"fork"},
          "snapshot/process": {"os", "snapshot"}, "bench/preload": set(),
          "trace/reader": {"base", "os", "trace"}, "contract/suite": {"contract"},
          "replay/process": {"replay"}}


def rows(heading):
    """The cells of the rows of a table of the README."""
    table = README.split(f"\n| {heading} |", 1)[1].split("\n\n", 1)[0]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table.split("\n")[2:]]


LAYERS = [row[0].strip("`") for row in rows("layer")]
ROOMS = {row[0].strip("`"): set(re.findall(r"`(\w+)`", row[2])) for row in rows("room")}


def allowed(folder):
    """The folders that files of a layer or room may include from."""
    if folder in ROOMS:
        return {folder} | ROOMS[folder] | set(LAYERS) - {"probe"}
    # Nothing links the probe: only meter/sample_block.h crosses.
    return set(LAYERS[:LAYERS.index(folder) + 1]) - ({"probe"} if folder != "probe" else set())


def includes():
    for path in sorted((SOURCE / "harness").rglob("*.[hc]*")):
        name = path.relative_to(SOURCE / "harness")
        for included in re.findall(r'^#include "(\w+)/', path.read_text(), re.MULTILINE):
            yield name, included


def test_each_folder_includes_what_it_may():
    folders = set(LAYERS) | set(ROOMS)
    wrong = []
    for name, included in includes():
        may = INSIDE.get("/".join(name.parts[:2])) or allowed(name.parts[0])
        if included in folders and included not in may:
            wrong.append(f"{name} includes {included}")
    assert not wrong, "\n".join(wrong)


def test_there_are_includes_to_look_at():
    assert len(list(includes())) > 500


def test_every_folder_of_the_harness_is_a_layer_or_a_room():
    folders = {path.name for path in (SOURCE / "harness").iterdir() if path.is_dir()}
    assert folders == set(LAYERS) | set(ROOMS)


def test_the_build_allows_what_the_readme_allows():
    cmake = (SOURCE / "harness" / "CMakeLists.txt").read_text()
    built = re.findall(r"^zerotax_room\((\w+)(?: USES ([a-z_ ]+))?", cmake, re.MULTILINE)
    assert {room: set(uses.split()) for room, uses in built} == ROOMS


def test_the_code_of_a_room_is_in_its_namespace():
    for room in ROOMS:
        for path in (SOURCE / "harness" / room).rglob("*.[hc]*"):
            if "/".join(path.relative_to(SOURCE / "harness").parts[:2]) not in INSIDE:
                # But for a type of core that is declared only.
                names = set(re.findall(
                    r"^namespace (zerotax[\w:]*) \{\n(?!(?:struct|class) \w+;\n\})", path.read_text(), re.MULTILINE))
                assert names == {f"zerotax::{room}"}, path


def test_one_file_includes_the_argument_parser():
    users = [path.name for folder in ("harness", "tests") for path in (SOURCE / folder).rglob("*.[hc]*")
             if "#include <CLI/" in path.read_text(errors="replace")]
    assert users == ["parser.h"]


def test_cases_reach_into_the_meter_only():
    for path in (SOURCE / "cases").rglob("*.[hc]*"):
        # An include that names no layer names a folder of the case's own.
        found = set(re.findall(r'^#include "(\w+)/', path.read_text(), re.MULTILINE)) & (set(LAYERS) | set(ROOMS))
        assert found <= {"meter", "os", "base"}, f"{path}: {found}"


def test_the_recorder_stands_by_itself():
    sources = list((SOURCE / "recorder").rglob("*.[hc]*"))
    assert len(sources) > 20
    for path in sources:
        found = set(re.findall(r'^#include "(\w+)/', path.read_text(), re.MULTILINE))
        assert found <= {"zerotax", "format", "functions"}, f"{path}: {found}"
    # The other way, what is in the files is known; and two files record, as any program would.
    users = {path.name for path in (SOURCE / "harness").rglob("*.[hc]*")
             if re.findall(r'^#include [<"]zerotax/recorder', path.read_text(), re.MULTILINE)}
    assert users == {"kernel_log.cc", "kernel_event_type.h"}


def test_headers_say_pragma_once():
    for path in (SOURCE / "harness").rglob("*.h"):
        # But for what programs of others include.
        assert "include/zerotax" in str(path) or "#pragma once" in path.read_text(), path
