"""The layers of the harness include only what harness/README.md allows."""
import os
import pathlib
import re

SOURCE = pathlib.Path(os.environ.get("ZEROTAX_SOURCE", pathlib.Path(__file__).parents[2]))
LAYERS = ["base", "os", "meter", "record", "fork", "probe", "trace", "drive", "analyze", "doctor", "cli"]
# The driver never links the probe: only the record crosses (it is of the meter layer).
FORBIDDEN = {("drive", "probe"), ("analyze", "probe"), ("cli", "probe")}


def includes():
    for path in sorted((SOURCE / "harness").rglob("*.[hc]*")):
        layer = path.relative_to(SOURCE / "harness").parts[0]
        for included in re.findall(r'^#include "(\w+)/', path.read_text(), re.MULTILINE):
            yield path, layer, included


def test_no_layer_includes_a_higher_one():
    wrong = [f"{path}: {layer} includes {included}" for path, layer, included in includes()
             if included in LAYERS and LAYERS.index(included) > LAYERS.index(layer)
             or (layer, included) in FORBIDDEN]
    assert not wrong, "\n".join(wrong)


def test_there_are_includes_to_look_at():
    assert len(list(includes())) > 50


def test_every_folder_of_the_harness_is_a_layer():
    folders = {p.name for p in (SOURCE / "harness").iterdir() if p.is_dir()}
    assert folders <= set(LAYERS), folders - set(LAYERS)


def test_cases_reach_into_the_meter_only():
    for path in (SOURCE / "cases").rglob("*.[hc]*"):
        # What is no layer is a folder of the case's own.
        found = set(re.findall(r'^#include "(\w+)/', path.read_text(), re.MULTILINE)) & set(LAYERS)
        assert found <= {"meter", "os", "base"}, f"{path}: {found}"


def test_the_recorder_stands_by_itself():
    sources = list((SOURCE / "recorder").rglob("*.[hc]*"))
    assert len(sources) > 20
    for path in sources:
        found = set(re.findall(r'^#include "(\w+)/', path.read_text(), re.MULTILINE))
        assert found <= {"zerotax", "format", "functions"}, f"{path}: {found}"
    # The other way, what is in the files is known; and one file records, as any program would.
    users = [path.name for path in (SOURCE / "harness").rglob("*.[hc]*")
             if re.findall(r'^#include [<"]zerotax/', path.read_text(), re.MULTILINE)]
    assert users == ["kernel_log.cc"]


def test_headers_say_pragma_once():
    for path in (SOURCE / "harness").rglob("*.h"):
        assert "#pragma once" in path.read_text(), path
