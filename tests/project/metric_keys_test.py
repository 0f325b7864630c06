"""A point is read by metric (point/typed_point.h): outside point nobody reads a metric's key of JSON by string."""
import os
import pathlib
import re

SOURCE = pathlib.Path(os.environ.get("ZEROTAX_SOURCE", pathlib.Path(__file__).parents[2]))
TABLE = (SOURCE / "harness" / "measuring" / "point" / "metrics.inc").read_text()
# Keys of a point itself. Those within its groups ("ops", "faults") are common words.
KEYS = set(re.findall(r'^  \.key = "(\w+)"', TABLE, re.MULTILINE))
# Files and rooms that read documents without points, though some of their keys are alike.
OTHERS = {
    "measuring/judge/document.cc": "behaviours in zerotax.thresholds/1",
}
KEY = '"(' + "|".join(sorted(KEYS)) + ')"'
# json["key"] = ... and json["key"].push_back(...) write.
READ = re.compile(rf'\.(?:at|contains|find|value)\({KEY}|text_field\([^;]*?, {KEY}|\[{KEY}\](?! = |\.push_back\()')


def reads(text):
    """The metrics' keys that C++ code reads by string."""
    return [next(filter(None, found)) for found in READ.findall(text)]


def readers():
    """Files outside point and files, and what they read."""
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
    wrong = [f"harness/{name}: {', '.join(keys)}" for name, keys in readers() if not name.startswith(tuple(OTHERS))]
    assert not wrong, "read a Point by Metric, or declare another document in OTHERS:\n" + "\n".join(wrong)


def test_each_declared_reader_is_one():
    names = [name for name, _ in readers()]
    assert all(any(name.startswith(other) for name in names) for other in OTHERS)
