#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/measured.h"
#include "os/process_info.h"

namespace zerotax::top {

/// A thread during one interval.
struct ThreadUsage {
  pid_t tid = 0;
  std::string name;
  std::uint64_t faults = 0;  ///< minor and major
  std::int64_t cpu_ns = 0;
};

/// What /proc says of one process.
struct Details {
  pid_t pid = 0;
  std::string command_line;
  std::string user;
  std::string cgroup;
  pid_t parent = 0;
  std::uint64_t threads = 0;  ///< also those that are not listed
  double interval_s = 0;
  std::vector<ThreadUsage> usage;                 ///< most faults first
  Measured<std::vector<MappingMemory>> mappings;  ///< most anonymous memory first
};

/// Looks at one process again and again: its threads each time, its mappings once, for that walks its page tables.
class DetailsWatch {
 public:
  explicit DetailsWatch(pid_t pid);
  /// Nothing if the process has ended. The first time without threads.
  std::optional<Details> look();
  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  pid_t pid_;
  std::uint64_t start_ticks_ = 0;
  std::int64_t time_ns_ = 0;
  std::map<pid_t, ThreadTimes> before_;
  Details details_;
};

/// Lines for people, at most so many, none wider than `columns`.
std::vector<std::string> details_lines(const Details& details, std::size_t columns, std::size_t lines);

}  // namespace zerotax::top
