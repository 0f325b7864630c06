#pragma once

#include <fmt/format.h>
#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <unordered_map>

#include "files/new_file.h"
#include "observe/address_space.h"
#include "observe/fault.h"

namespace zerotax {

/// How writing a file of faults went.
struct FaultLogResult {
  std::string path;
  std::uint64_t written = 0;      ///< faults, each a line
  std::uint64_t not_written = 0;  ///< faults that found no room there
  std::string problem;            ///< why, as the kernel says it; empty: all were written
};

/// Writes each fault as a line of JSON (results/schema/fault.schema.json) while the program runs. Never waits for a
/// reader while faults are coming: 16 MiB are kept for one that is slow, what comes on top of that is counted and left
/// out. A file that cannot be written on ends with its last whole line.
class FaultLog {
 public:
  /// "-" is standard output. `durations`: whether each fault's begin, and who took it, is known, as it is for root.
  /// Throws UsageError if the file cannot be opened.
  FaultLog(std::string path, bool durations);

  /// `where` and `code` are where the address and the instruction lie; null: not known.
  void add(const Fault& fault, FaultClass kind, std::uint64_t start_ns, const Region* where, const Region* code);
  /// Passes on what is there, as far as it is taken by then.
  void flush(std::chrono::steady_clock::time_point until);
  /// Writes the rest; gives up on a reader that takes nothing for a second. The file takes its place, unless it lacks
  /// faults and would replace another file; then the result names the new file. Call it once.
  FaultLogResult finish();

 private:
  const std::string& quoted(const std::string& name);
  bool drain(int wait_ms);
  void fail(int reason);

  NewFile file_;
  bool regular_;
  bool durations_;
  bool failed_ = false;
  fmt::memory_buffer waiting_;
  std::uint64_t lines_waiting_ = 0;
  std::uint64_t bytes_written_ = 0;
  std::uint64_t whole_bytes_ = 0;  ///< of them, those up to the end of the last whole line
  FaultLogResult result_;
  std::unordered_map<std::string, std::string> quoted_;
};

}  // namespace zerotax
