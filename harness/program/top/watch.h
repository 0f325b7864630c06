#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "top/account.h"
#include "top/process_table.h"
#include "top/result.h"

namespace zerotax::top {

/// Huge pages of processes that are shown. /proc/PID/smaps_rollup walks their page tables, so that looks take turns and
/// use a thousandth of one CPU altogether; between them, the last value stands. A machine without any costs nothing.
class HugePages {
 public:
  /// Sets `huge_bytes` of the rows of processes. `mapped`: huge pages of the whole machine.
  void fill(Sample& sample, const std::optional<std::uint64_t>& mapped);

 private:
  struct Seen {
    Measured<std::uint64_t> bytes = NotAvailable{"not looked at yet"};
    std::int64_t at_ns = 0;
    std::int64_t shown_ns = 0;
  };

  std::map<std::pair<pid_t, std::uint64_t>, Seen> seen_;
  std::int64_t next_ns_ = 0;
};

/// The CPU time of a zero-fill fault of a small page on this machine, in nanoseconds: the median of several timings.
Measured<double> time_fault();

/// Intervals of this machine, each with all its processes, and what watching them cost.
class Watch {
 public:
  /// The first look. Throws MachineError where there is no /proc.
  explicit Watch(bool cgroups);

  /// The interval since the last one.
  Sample next();
  /// Of the rows that are shown.
  void add_huge_pages(Sample& sample) { huge_.fill(sample, huge_now_); }
  void read_cgroups(bool cgroups) { table_.read_cgroups(cgroups); }

 private:
  ProcessTable table_;
  Account account_;
  HugePages huge_;
  std::optional<std::uint64_t> huge_now_;
  std::int64_t cpu_ns_ = 0;
};

}  // namespace zerotax::top
