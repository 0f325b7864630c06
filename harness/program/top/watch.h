#pragma once

#include <cstdint>

#include "top/account.h"
#include "top/huge_pages.h"
#include "top/process_table.h"
#include "top/result.h"

namespace zerotax::top {

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
