#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "record/preload/arena.h"

namespace zerotax::record {

/// What it cost on this machine, in this run, to populate memory: CPU nanoseconds per byte, base pages and huge pages.
struct FaultCost {
  std::optional<double> base_ns;
  std::optional<double> huge_ns;
  std::size_t samples = 0;     ///< in the recorded processes
  bool measured_here = false;  ///< by us, after the run: no process had occasion to
};

/// From the samples of the processes, all bytes together; where there are none, from memory that is populated here.
FaultCost fault_cost(const std::vector<const record::ProcessSlot*>& processes);

/// Anonymous memory of one process, or of several together, in bytes, by conservation: what it held in the end and had
/// returned before, the kernel zeroed; but not what it took over at a fork, nor its copies of pages of files.
struct KernelPart {
  std::uint64_t zeroed = 0;
  std::uint64_t huge = 0;      ///< of zeroed: in huge pages
  std::uint64_t refilled = 0;  ///< of zeroed: beyond the most that the process ever held
  std::uint64_t returned = 0;
  std::uint64_t peak = 0;          ///< of several: their sum
  std::uint64_t faults = 0;        ///< one a page, or huge page
  std::uint64_t minor_faults = 0;  ///< of every kind, by the kernel's count
  std::string why_not;             ///< nothing of it is known, and why

  void add(const KernelPart& more);
  /// CPU nanoseconds to populate it: an estimate.
  [[nodiscard]] double fault_ns(const FaultCost& cost) const;
  /// The object `kernel` of results/schema/record.schema.json.
  [[nodiscard]] Json json(const FaultCost& cost) const;
};

KernelPart kernel_part(const record::ProcessSlot& slot);

/// CPU time of a process, as far as it was looked at, but at least what was measured in it; in nanoseconds.
std::uint64_t process_cpu_ns(const record::ProcessSlot& slot, const record::Tally& sum);

}  // namespace zerotax::record
