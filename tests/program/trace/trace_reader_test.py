"""The reader library finds the same events as `zerotax trace print`, from Python and from C++."""

import json
import os
import re
import signal
import subprocess
import sys

import pytest
from conftest import BUILD, SOURCE, clean_environment
from tracing import TRACED, summary, trace, traced

os.environ["ZEROTAX_TRACE_LIBRARY"] = str(BUILD / "lib/libzerotax-trace.so")
sys.path.insert(0, str(SOURCE / "harness/program/trace/reader"))
import zerotax_trace  # noqa: E402

pytestmark = pytest.mark.skipif(not (BUILD / "lib/libzerotax-trace.so").is_file(), reason="not built with sanitizers")


def lines(folder):
    """Returns the output of `zerotax trace print` as pairs: type, and fields by name (JSON)."""
    found = []
    for line in trace("print", folder).stdout.splitlines():
        kind, *words = line.strip().split(" ", 3)[2:]
        values = re.findall(r"(\w+)=(\"(?:[^\"\\]|\\.)*\"|\[[^]]*\]|\S+)", " ".join(words))
        fields = {name: json.loads(value) for name, value in values}
        found.append((kind, fields))
    return found


def test_every_kind_of_field_has_its_value(tmp_path):
    assert traced("first", folder=tmp_path / "t").returncode == 0
    with zerotax_trace.Trace(tmp_path / "t") as events:
        found = [(event.type, event.fields) for event in events]
        assert (events.discarded, events.problems) == (0, [])
    assert found == lines(tmp_path / "t")
    assert ("every_kind", {"i8": -8, "u16": 65535, "i32": -32, "ratio": 0.5, "i64": -64, "letter": 120, "triple": [1, 2, 3],
                           "text": "words", "yes": 1}) in found
    assert found[-1] == ("tick", {})


def test_events_of_many_threads_and_processes_are_in_the_order_of_time(tmp_path):
    assert traced("forks", 500, "returns", folder=tmp_path / "t").returncode == 0
    report = summary(tmp_path / "t")
    events = list(zerotax_trace.Trace(tmp_path / "t"))
    assert len(events) == report["events"]
    assert [event.monotonic_ns for event in events] == sorted(event.monotonic_ns for event in events)
    assert (events[0].monotonic_ns, events[-1].monotonic_ns) == (report["first_ns"], report["last_ns"])
    assert {event.pid for event in events} == {process["pid"] for process in report["processes"]}
    assert {event.process for event in events} == {process["name"] for process in report["processes"]}
    first = report["processes"][0]
    of_first = next(event for event in events if event.pid == first["pid"])
    assert of_first.realtime_ns - of_first.monotonic_ns == first["realtime_minus_monotonic_ns"]


def test_what_a_killed_program_left_is_read_without_repair(tmp_path):
    progress = tmp_path / "progress"
    progress.write_bytes(bytes(8))
    process = subprocess.Popen([TRACED / "unending", progress], env=clean_environment(
        ZEROTAX_TRACE_DIR=str(tmp_path / "t"), ZEROTAX_TRACE_DRAIN="self", ZEROTAX_TRACE_BUFFER="256KiB"))
    while int.from_bytes(progress.read_bytes(), "little") < 20000:
        assert process.poll() is None
    process.send_signal(signal.SIGKILL)
    process.wait()
    values = [event.fields["value"] for event in zerotax_trace.Trace(tmp_path / "t") if event.type == "number"]
    assert len(values) >= 20000 and values == list(range(len(values)))


def test_a_damaged_file_is_a_problem_and_the_rest_is_read(tmp_path):
    assert traced("forks", 500, "returns", folder=tmp_path / "t").returncode == 0
    stream = max((tmp_path / "t").rglob("stream-*"), key=lambda path: path.stat().st_size)
    content = bytearray(stream.read_bytes())
    content[:4] = b"\0\0\0\0"
    stream.write_bytes(content)
    events = zerotax_trace.Trace(tmp_path / "t")
    assert sum(1 for _ in events) > 0 and events.problems
    assert next(events, None) is None, "it stays at the end"


@pytest.mark.parametrize("what", ["absent", "file", "empty"])
def test_what_is_no_trace_is_refused_with_the_reason(tmp_path, what):
    (tmp_path / "file").write_text("no trace")
    (tmp_path / "empty").mkdir()
    with pytest.raises(zerotax_trace.TraceError, match=what):
        zerotax_trace.Trace(tmp_path / what)


def test_a_library_that_is_missing_is_named(tmp_path):
    code = "import zerotax_trace; zerotax_trace.Trace('x')"
    done = subprocess.run(["/usr/bin/python3", "-B", "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False,
                          env={"PATH": os.environ["PATH"], "PYTHONPATH": str(SOURCE / "harness/program/trace/reader")})
    assert "ZEROTAX_TRACE_LIBRARY" in done.stderr


def test_c_plus_plus_reads_the_same(tmp_path):
    assert traced("first", folder=tmp_path / "t").returncode == 0
    (tmp_path / "user.cc").write_text(r"""#include <zerotax/trace_reader.h>
#include <cstdio>
int main(int, char** words) {
  try {
    zerotax::TraceReader trace(words[1]);
    for (const auto& event : trace) {
      if (event.type() != "every_kind") continue;
      std::printf("%ld %ld %g %ld %ld %.*s %zu %d %d\n", long(event.integer("i8")), long(event.integer("u16")),
                  event.real("ratio"), long(event.integer("i64")), long(event.integer("triple", 2)),
                  int(event.text("text").size()), event.text("text").data(), event.fields().size(), event.has("yes"),
                  event.has("no"));
      for (const char* name : {"no", "text"}) {
        try {
          (void)event.integer(name);
        } catch (const std::out_of_range& error) {
          std::printf("%s\n", error.what());
        }
      }
    }
  } catch (const std::runtime_error& error) {
    std::printf("%s\n", error.what());
  }
}
""")
    done = subprocess.run(["g++", "-std=c++20", "-Wall", "-Wextra", "-Werror", tmp_path / "user.cc", "-I",
                           SOURCE / "harness/program/trace/reader/include", BUILD / "lib/libzerotax-trace.so",
                           f"-Wl,-rpath,{BUILD / 'lib'}", "-o", tmp_path / "user"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr

    def said(folder):
        return subprocess.run([tmp_path / "user", folder], capture_output=True, text=True, check=True).stdout.splitlines()

    assert said(tmp_path / "t") == ["-8 65535 0.5 -64 3 words 9 1 0", "no is no such number", "text is no such number"]
    assert "absent" in said(tmp_path / "absent")[0]
