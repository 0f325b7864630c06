#include "observe/perf_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <string_view>
#include <utility>

#include "base/lines.h"
#include "base/names.h"
#include "base/printable.h"
#include "base/units.h"

namespace zerotax {
namespace {

constexpr std::size_t kLongestName = 512;

/// Removes ":NUMBER" from the end and returns the number; 0 if the text does not end in that form.
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

/// CPython writes the code object's qualified name, and then the file (Python/perf_trampoline.c, perf_map_write_entry).
ScriptFunction of_cpython(std::string_view name) {
  const std::size_t colon = name.find(':');
  ScriptFunction found;
  found.function = one_line(name.substr(0, colon));
  if (colon != std::string_view::npos) found.file = one_line(name.substr(colon + 1));
  found.trampoline = true;
  return found;
}

/// V8 writes the tier, the function's name if the function has one, and "FILE:LINE:COLUMN" (src/logging/log.cc,
/// CodeCreateEvent). V8 10 (Node.js 18) writes no column.
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
  // Both a function's name ("get size") and a path may contain a blank.
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

constexpr std::chrono::milliseconds kReadEvery{10};
/// Maximum number of entries, more than any interpreter has functions. A file of 64 MiB could have more short lines.
constexpr std::size_t kMostEntries = 1'000'000;
constexpr std::size_t kLongestLine = 8192;

/// Removes a hexadecimal number and the blank after it from the beginning.
bool take_number(std::string_view& text, std::uint64_t& number) {
  if (text.starts_with("0x")) text = text.substr(2);
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number, 16);
  if (error != std::errc() || rest == end || *rest != ' ') return false;
  text = text.substr(static_cast<std::size_t>(rest - text.data()) + 1);
  return true;
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

void PerfMapNames::clear() { *this = {}; }

void PerfMapNames::add(std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    if (rest_.size() < kLongestLine) rest_ += text.substr(0, std::min(end, kLongestLine));
    if (end == std::string_view::npos) return;
    text = text.substr(end + 1);
    ++lines_;
    if (!add_line(rest_) && damaged_++ == 0) first_damaged_ = lines_;
    rest_.clear();
  }
}

bool PerfMapNames::add_line(std::string_view line) {
  std::uint64_t begin = 0;
  std::uint64_t bytes = 0;
  if (!take_number(line, begin) || !take_number(line, bytes) || line.empty()) return false;
  const std::uint64_t end = begin + bytes;
  if (end < begin) return false;
  if (bytes == 0) return true;  // an entry of 0 bytes names nothing
  auto old = by_begin_.lower_bound(begin);
  if (old != by_begin_.begin() && std::prev(old)->second.end > begin) --old;
  while (old != by_begin_.end() && old->second.begin < end) old = by_begin_.erase(old);
  if (by_begin_.size() < kMostEntries) by_begin_.emplace_hint(old, begin, Entry{begin, end, script_function(line)});
  return true;
}

const PerfMapNames::Entry* PerfMapNames::find(std::uint64_t address) const {
  const auto next = by_begin_.upper_bound(address);
  if (next == by_begin_.begin()) return nullptr;
  const Entry& entry = std::prev(next)->second;
  return address < entry.end ? &entry : nullptr;
}

std::string PerfMapNames::damage() const {
  if (damaged_ == 0) return "";
  return damaged_ == 1 ? fmt::format("line {} is damaged", first_damaged_)
                       : fmt::format("{} are damaged, and line {} is the first", format_counted(damaged_, "line"),
                                     first_damaged_);
}

void PerfMap::read() {
  std::string text;
  const PerfMapFile::Read what = file_.read(text);
  if (what == PerfMapFile::Read::kAnew) names_.clear();
  names_.add(text);
  next_read_ = std::chrono::steady_clock::now() + kReadEvery;
}

const PerfMapNames::Entry* PerfMap::find(std::uint64_t address) {
  if (std::chrono::steady_clock::now() >= next_read_) read();
  const PerfMapNames::Entry* entry = names_.find(address);
  return entry != nullptr || parent_ == nullptr ? entry : parent_->find(address);
}

bool PerfMap::empty() const { return names_.empty() && (parent_ == nullptr || parent_->empty()); }

std::string PerfMap::problem() const {
  const std::string what = file_.problem().empty() ? names_.damage() : file_.problem();
  if (!what.empty()) return fmt::format("{}: {}", file_.path(), what);
  return parent_ != nullptr ? parent_->problem() : "";
}

}  // namespace zerotax
