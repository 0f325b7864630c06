"""Code reads a point by metric (point/typed_point.h). Outside the room point, no file reads a metric by the string of
its JSON key.
"""
import os
import pathlib
import re

SOURCE = pathlib.Path(os.environ.get("ZEROTAX_SOURCE", pathlib.Path(__file__).parents[2]))
TABLE = (SOURCE / "harness" / "measuring" / "point" / "metrics.inc").read_text()
# Keys of the point itself. Keys within a point's groups are left out, because words such as "ops" and "faults" also
# occur elsewhere.
KEYS = set(re.findall(r'^  \.key = "(\w+)"', TABLE, re.MULTILINE))
KEY = '"(' + "|".join(sorted(KEYS)) + ')"'
# Skips code that writes a key by json["key"] = ... or json["key"].push_back(...).
READ = re.compile(rf'\.(?:at|contains|find|value)\({KEY}|text_field\([^;]*?, {KEY}|\[{KEY}\](?! = |\.push_back\()')


def reads(text):
    """Returns the keys of metrics that C++ code reads by string."""
    return [next(filter(None, found)) for found in READ.findall(text)]


def readers():
    """Yields each file outside the rooms `point` and `files`, with the keys that it reads."""
    for path in sorted((SOURCE / "harness").rglob("*")):
        if path.suffix not in (".c", ".cc", ".h"):
            continue
        name = path.relative_to(SOURCE / "harness").as_posix()
        if not name.startswith(("measuring/point/", "measuring/files/")) and (keys := reads(path.read_text())):
            yield name, keys


def test_the_keys_are_those_of_the_table():
    assert {"calloc_ns", "zeroed_bytes", "free_syscalls", "home"} <= KEYS and "ops" not in KEYS


def test_reading_is_told_from_writing():
    assert reads('point.at("zeroed_bytes") json["home"].get<int>() text_field(point, "home", "")') == [
        "zeroed_bytes", "home", "home"]
    assert reads('point["calloc_ns"] == 5') == ["calloc_ns"]
    assert not reads('json["home"] = word; side.work["syscalls"].push_back(1); {"zeroed_bytes", 5} at("status")')


def test_nobody_outside_core_reads_a_metric_by_its_key():
    wrong = [f"harness/{name}: {', '.join(keys)}" for name, keys in readers()]
    assert not wrong, "read a Point by Metric:\n" + "\n".join(wrong)
