#pragma once

#include <gtest/gtest.h>
#include <unistd.h>
#include <zerotax/recorder.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "trace/ctf_trace.h"

/// An event with a number, so that a missing or duplicated event is noticed.
ZEROTAX_EVENT(number, (uint64_t, who), (uint64_t, value))

namespace zerotax {

using trace::CtfEvent;
using trace::CtfTrace;

/// A folder that is removed after the test.
class TraceFolder {
 public:
  TraceFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "zerotax-recorder-test-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~TraceFolder() { std::filesystem::remove_all(path_); }
  TraceFolder(const TraceFolder&) = delete;
  TraceFolder& operator=(const TraceFolder&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

inline void start(const TraceFolder& folder, zerotax_trace_options options = {}) {
  options.directory = folder.path().c_str();
  if (options.buffer_bytes == 0) options.buffer_bytes = 1 << 20;
  ASSERT_EQ(zerotax_trace_start(&options), 0);
}

inline void record_numbers(std::uint64_t who, std::uint64_t count, std::uint64_t from = 0) {
  for (std::uint64_t i = from; i < from + count; ++i) record(number{.who = who, .value = i});
}

/// Returns the values that each `who` recorded, in the order of the trace.
inline std::map<std::uint64_t, std::vector<std::uint64_t>> read_numbers(CtfTrace& trace) {
  std::map<std::uint64_t, std::vector<std::uint64_t>> values;
  trace.for_each([&](const CtfEvent& event) {
    if (event.type->name != "number") return;
    number read{};
    std::memcpy(&read, event.bytes, sizeof read);
    values[read.who].push_back(read.value);
  });
  return values;
}

/// Returns the numbers from first to first + count - 1.
inline std::vector<std::uint64_t> sequence(std::uint64_t count, std::uint64_t first = 0) {
  std::vector<std::uint64_t> values(count);
  for (std::uint64_t i = 0; i < count; ++i) values[i] = first + i;
  return values;
}

}  // namespace zerotax
