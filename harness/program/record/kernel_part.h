#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/size.h"
#include "record/result.h"

namespace zerotax::record {

/// Reason why the faults of a process are unknown.
inline constexpr const char* kRightsChanged =
    "the kernel stops counting when a program gets other rights at its exec (setuid, file capabilities)";

/// Reason why the kernel-zeroed bytes of a process with shared memory are unknown.
inline constexpr const char* kSharedUnknown =
    "it has shared memory, and which of its page faults zeroed some of that memory is unknown";

inline double as_double(std::uint64_t value) { return static_cast<double>(value); }
/// Converts a number to a count. A number that is too large, as in a damaged recording, becomes the largest count.
inline std::uint64_t as_count(double value) {
  constexpr double kMost = 0x1p63;
  return value > 0 ? static_cast<std::uint64_t>(std::min(value, kMost)) : 0;
}

/// Computes the cost of page faults from the samples of the processes, weighted by bytes. Without samples, memory is
/// populated here to measure the cost. `huge_pages`: whether the processes had huge pages.
FaultCost fault_cost(const std::vector<const ProcessSlot*>& processes, bool huge_pages);

/// Anonymous memory of one process, or of several together, in bytes. The kernel zeroed the memory that the process
/// held at its end and the memory that it had returned before. Memory taken over at a fork and copies of file pages are
/// excluded.
struct KernelPart {
  std::uint64_t zeroed = 0;
  std::uint64_t huge = 0;      ///< the part of `zeroed` in huge pages
  std::uint64_t refilled = 0;  ///< the part of `zeroed` beyond `peak`
  std::uint64_t returned = 0;
  SmallReturns small_returns{};    ///< the part of `returned` that is estimated from samples
  std::uint64_t peak = 0;          ///< maximum bytes held; for several processes, the sum of their maxima
  std::uint64_t faults = 0;        ///< zero-fill faults, one for each page or huge page
  std::uint64_t minor_faults = 0;  ///< minor faults of every kind, as the kernel counts them
  std::string why_not;             ///< the reason why some kernel-zeroed bytes were not seen and `zeroed` is only a
                                   ///< lower bound
  std::uint64_t unseen = 0;        ///< maximum number of zeroed bytes that were not seen
  bool unlimited = false;          ///< whether more than `unseen` may have been zeroed, without a known bound
  /// Upper bound of the error of `zeroed`. The bound assumes that every fault outside known memory zeroed a page.
  /// Nothing if the error is unknown.
  std::optional<std::uint64_t> slack = 0;
  bool faults_known = true;   ///< false if `minor_faults` is only a lower bound
  std::string why_no_faults;  ///< reason for unknown faults, if why_not is empty

  void add(const KernelPart& more);
  /// Whether `unseen` is negligible: at most a fiftieth of all zeroed bytes.
  [[nodiscard]] bool known() const;
  /// Estimated CPU nanoseconds to populate `zeroed`, without `unseen`.
  [[nodiscard]] double fault_ns(const FaultCost& cost) const;
  [[nodiscard]] KernelMetrics metrics(const FaultCost& cost) const;
};

/// Returns the counts that the process itself recorded. `why_not` is set if the end of the process or some returned
/// memory was not recorded. `sharers_faults` are faults of processes that shared the memory of this process.
KernelPart kernel_part(const ProcessSlot& slot, std::uint64_t sharers_faults = 0);

/// Returns the number of page faults that populate `bytes`, of which `huge` are in huge pages. Huge pages made by
/// MADV_COLLAPSE count no faults.
std::uint64_t faults_of(std::uint64_t bytes, std::uint64_t huge, const Holdings& holdings);

/// Returns the CPU time, in nanoseconds, of a process and of the processes that shared its memory. The result is the
/// larger of two values: the time at the last sample, and the time that the processes measured themselves.
std::uint64_t process_cpu_ns(const ProcessSlot& slot, const Tally& sum, std::uint64_t sharers_ns = 0);

/// Returns the maximum memory that the processes can have held at one time. Each process counts with its peak from its
/// start to its end. Memory that a child of fork shares with its parent counts once. Each fault that zeroed nothing
/// adds at most one copied page of the parent or the child.
Count peak_of(const std::vector<const RecordedProcess*>& processes);

}  // namespace zerotax::record
