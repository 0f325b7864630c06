#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string_view>

namespace zerotax {

/// Of the kernel's clock in /proc, in nanoseconds.
std::int64_t tick_ns();

/// A line of /proc/PID/stat, or of /proc/PID/task/TID/stat: proc(5). Times in clock ticks.
struct ProcessStat {
  pid_t pid = 0;
  std::string_view name;  ///< of the parsed text: any characters, parentheses and blanks too
  char state = '?';       ///< as ps(1) shows it
  pid_t parent = 0;
  bool kernel_thread = false;
  std::uint64_t minor_faults = 0;           ///< of all threads, those that ended too
  std::uint64_t children_minor_faults = 0;  ///< of children that were waited for, and of theirs
  std::uint64_t major_faults = 0;
  std::uint64_t children_major_faults = 0;
  std::uint64_t user_ticks = 0;
  std::uint64_t system_ticks = 0;
  std::uint64_t children_user_ticks = 0;
  std::uint64_t children_system_ticks = 0;
  std::uint64_t threads = 0;
  std::uint64_t start_ticks = 0;  ///< since boot: with the PID, it names one process
  std::uint64_t resident_pages = 0;
  std::uint64_t start_stack = 0;  ///< address; 0: not shown to us
};

/// Nothing if the text is not such a line. Allocates nothing.
std::optional<ProcessStat> parse_process_stat(std::string_view line);

/// A line of /proc/PID/statm, in pages.
struct ProcessPages {
  std::uint64_t mapped = 0;
  std::uint64_t resident = 0;
  std::uint64_t shared = 0;  ///< of the resident ones: of files and shared memory

  /// The counters are inexact, and read one after the other.
  [[nodiscard]] std::uint64_t anonymous() const { return resident > shared ? resident - shared : 0; }
};

/// Nothing if the text is not such a line. Allocates nothing.
std::optional<ProcessPages> parse_process_pages(std::string_view statm);

}  // namespace zerotax
