#include "observe/script_function.h"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

#include "base/names.h"
#include "base/one_line.h"
#include "base/printable.h"

namespace zerotax {
namespace {

constexpr std::size_t kLongestName = 512;

/// Takes ":NUMBER" off the end; 0 if it does not end so.
int take_number(std::string_view& text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return 0;
  int number = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data() + colon + 1, end, number);
  if (error != std::errc() || rest != end || number <= 0) return 0;
  text = text.substr(0, colon);
  return number;
}

/// PyCode_Type's qualified name, then the file: Python/perf_trampoline.c, perf_map_write_entry.
ScriptFunction of_cpython(std::string_view name) {
  const std::size_t colon = name.find(':');
  ScriptFunction found;
  found.function = one_line(name.substr(0, colon));
  if (colon != std::string_view::npos) found.file = one_line(name.substr(colon + 1));
  found.trampoline = true;
  return found;
}

/// The tier, the function's name if it has one, and "FILE:LINE:COLUMN": V8's src/logging/log.cc, CodeCreateEvent. V8 10
/// (Node.js 18) has no column.
ScriptFunction of_v8(std::string_view name) {
  ScriptFunction found;
  if (!name.empty() && std::string_view("~^+*'").find(name[0]) != std::string_view::npos) name = name.substr(1);
  std::string_view place = name;
  const int last = take_number(place);
  const int before = last != 0 ? take_number(place) : 0;
  const int line = before != 0 ? before : last;
  if (line == 0) {
    found.function = one_line(name);
    return found;
  }
  // A function's name may have a blank in it ("get size"), and so may a path.
  std::size_t blank = std::string_view::npos;
  for (const char* begin : {" /", " file:", " node:"}) blank = std::min(blank, place.find(begin));
  if (blank == std::string_view::npos) blank = place.rfind(' ');
  found.function = one_line(place.substr(0, blank == std::string_view::npos ? 0 : blank));
  found.file = one_line(blank == std::string_view::npos ? place : place.substr(blank + 1));
  if (found.file.starts_with("file://")) found.file = found.file.substr(7);
  found.line = line;
  if (found.function.empty()) found.function = "(anonymous)";
  return found;
}

}  // namespace

ScriptFunction script_function(std::string_view name) {
  name = name.substr(0, kLongestName);
  constexpr std::string_view kCPython = "py::";
  if (name.starts_with(kCPython)) return of_cpython(name.substr(kCPython.size()));
  for (const std::string_view kind : {"JS:", "LazyCompile:", "Function:", "Script:", "Eval:"}) {
    if (name.starts_with(kind)) return of_v8(name.substr(kind.size()));
  }
  ScriptFunction other;
  other.function = one_line(name);
  return other;
}

Frame script_frame(const ScriptFunction& function) {
  Frame frame{function.function, function.file.empty() ? "perf map" : printable(file_name(function.file))};
  frame.script = function.trampoline ? Frame::Script::kInterpreted : Frame::Script::kCompiled;
  return frame;
}

}  // namespace zerotax
