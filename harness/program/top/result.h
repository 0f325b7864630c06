#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/fields.h"
#include "base/measured.h"

namespace zerotax::top {

enum class By { kProcess, kUser, kCgroup, kCommand };
enum class Sort { kFaults, kZeroed, kRefilled, kCpu, kRss, kPid };

/// A process, or a group of processes, during one interval. "at most" are upper bounds, "estimated" estimates; the rest
/// is exact, but for the kernel's counters of resident memory, which are inexact by some pages for each CPU.
struct Usage {
  std::optional<pid_t> pid;  ///< of a process
  std::optional<std::uint64_t> start_ticks;
  std::optional<pid_t> parent;
  std::string name;                 ///< the command, or that of the group
  uid_t uid = 0;                    ///< effective; of a process
  std::optional<std::string> user;  ///< its name
  std::optional<std::string> cgroup;
  std::uint64_t processes = 1;
  std::uint64_t minor_faults = 0;
  std::uint64_t major_faults = 0;  ///< those of such children included
  /// Minor faults of children that ended and were waited for, as far as nobody saw them before.
  std::uint64_t children_faults = 0;
  /// If each minor fault, children's included, was a zero-fill.
  std::uint64_t zeroed_at_most_bytes = 0;
  /// Those of the process itself, less what its anonymous resident memory grew beyond its peak.
  Measured<std::uint64_t> refilled_at_most_bytes;
  std::int64_t cpu_ns = 0;  ///< children included, as far as nobody saw them before
  /// Minor faults times the cost of a zero-fill; never above cpu_ns.
  Measured<std::int64_t> fault_cpu_estimated_ns;
  Measured<double> fault_cpu_share;
  std::uint64_t resident_bytes = 0;
  std::uint64_t anonymous_bytes = 0;
  Measured<std::uint64_t> huge_bytes;

  [[nodiscard]] std::uint64_t all_faults() const { return minor_faults + children_faults; }
};

/// The whole machine during one interval: of /proc/vmstat, and how much of it the processes account for.
struct Machine {
  Measured<std::uint64_t> faults;  ///< minor and major
  Measured<std::uint64_t> major_faults;
  Measured<std::uint64_t> allocated_bytes;
  Measured<std::uint64_t> freed_bytes;
  Measured<std::uint64_t> huge_zeroed_bytes;  ///< populated in pieces larger than a page
  std::uint64_t seen_faults = 0;              ///< of processes
  std::uint64_t children_faults = 0;          ///< of children that nobody saw
  Measured<std::uint64_t> unseen_faults;
  Measured<double> unseen_share;
};

/// What the watching itself used.
struct Own {
  std::int64_t cpu_ns = 0;
  double cpu_share = 0;  ///< of one CPU
};

/// One interval: the document of a line of --json and --log.
struct Sample {
  std::string schema;
  std::string zerotax_version;
  std::string time;  ///< when the interval ended, as utc_now() gives it
  double interval_s = 0;
  By by = By::kProcess;
  Sort sort = Sort::kFaults;
  Measured<double> fault_cost_ns;
  Machine machine;
  std::uint64_t processes = 0;
  std::uint64_t begun = 0;
  std::uint64_t ended = 0;
  std::uint64_t hidden = 0;         ///< listed, but not readable
  std::vector<std::string> limits;  ///< what cannot be seen here, a sentence each
  std::uint64_t rows_left_out = 0;
  std::vector<Usage> rows;
  Own own;
};

}  // namespace zerotax::top
