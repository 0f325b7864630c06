#include "observe/perf_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <utility>

#include "base/units.h"

namespace zerotax {
namespace {

constexpr std::chrono::milliseconds kReadEvery{10};
/// More than an interpreter has functions; a line of a file of 64 MiB may be short.
constexpr std::size_t kMostEntries = 1'000'000;
constexpr std::size_t kLongestLine = 8192;

/// Takes a hexadecimal number off the beginning, and the blank behind it.
bool take_number(std::string_view& text, std::uint64_t& number) {
  if (text.starts_with("0x")) text = text.substr(2);
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number, 16);
  if (error != std::errc() || rest == end || *rest != ' ') return false;
  text = text.substr(static_cast<std::size_t>(rest - text.data()) + 1);
  return true;
}

}  // namespace

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
  if (bytes == 0) return true;  // names nothing
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
                       : fmt::format("{} are damaged, line {} first", format_counted(damaged_, "line"), first_damaged_);
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
