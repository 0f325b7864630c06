#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string_view>

namespace zerotax {

/// Returns the period of the clock ticks that /proc counts in, in nanoseconds.
std::int64_t tick_ns();

/// A line of /proc/PID/stat, or of /proc/PID/task/TID/stat (proc(5)). Times are in clock ticks.
struct ProcessStat {
  pid_t pid = 0;
  std::string_view name;  ///< part of the parsed text; may contain any characters, including parentheses and blanks
  char state = '?';       ///< state as in ps(1)
  pid_t parent = 0;
  bool kernel_thread = false;
  std::uint64_t minor_faults = 0;           ///< faults of all threads, including ended threads
  std::uint64_t children_minor_faults = 0;  ///< faults of children that were waited for, and of their children
  std::uint64_t major_faults = 0;
  std::uint64_t children_major_faults = 0;
  std::uint64_t user_ticks = 0;
  std::uint64_t system_ticks = 0;
  std::uint64_t children_user_ticks = 0;
  std::uint64_t children_system_ticks = 0;
  std::uint64_t threads = 0;
  std::uint64_t start_ticks = 0;  ///< start time since boot; with the PID, it identifies a process
  std::uint64_t resident_pages = 0;
  std::uint64_t start_stack = 0;  ///< address of the stack; 0 if hidden from us
};

/// Returns nothing if the line is malformed. Allocates nothing.
std::optional<ProcessStat> parse_process_stat(std::string_view line);

/// A line of /proc/PID/statm, in pages.
struct ProcessPages {
  std::uint64_t mapped = 0;
  std::uint64_t resident = 0;
  std::uint64_t shared = 0;  ///< resident pages of files and shared memory

  /// Returns the anonymous pages. The counters are inexact, and the kernel reads them one after the other.
  [[nodiscard]] std::uint64_t anonymous() const { return resident > shared ? resident - shared : 0; }
};

/// Returns nothing if the line is malformed. Allocates nothing.
std::optional<ProcessPages> parse_process_pages(std::string_view statm);

}  // namespace zerotax
