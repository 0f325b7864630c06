#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/size.h"
#include "record/result.h"

namespace zerotax::record {

/// Why the faults of a process are unknown.
inline constexpr const char* kRightsChanged =
    "the kernel stops counting where a program gets other rights at its exec (setuid, file capabilities)";

/// Why shared memory leaves open how much the kernel zeroed.
inline constexpr const char* kSharedUnknown =
    "it has shared memory, and which of its page faults zeroed some of that memory is unknown";

inline double as_double(std::uint64_t value) { return static_cast<double>(value); }
/// A figure as a count. A damaged recording may make a figure larger than any count: then the result is the largest
/// one.
inline std::uint64_t as_count(double value) {
  constexpr double kMost = 0x1p63;
  return value > 0 ? static_cast<std::uint64_t>(std::min(value, kMost)) : 0;
}

/// From the samples of the processes, all bytes together; where there are none, from memory that is populated here.
/// `huge_pages`: whether they had any.
FaultCost fault_cost(const std::vector<const ProcessSlot*>& processes, bool huge_pages);

/// Anonymous memory of one process, or of several together, in bytes, by conservation: what it held in the end and had
/// returned before, the kernel zeroed; but not what it took over at a fork, nor its copies of pages of files.
struct KernelPart {
  std::uint64_t zeroed = 0;
  std::uint64_t huge = 0;      ///< of zeroed: in huge pages
  std::uint64_t refilled = 0;  ///< of zeroed: beyond the most that the process ever held
  std::uint64_t returned = 0;
  SmallReturns small_returns{};    ///< of which not all were looked at
  std::uint64_t peak = 0;          ///< of several: their sum
  std::uint64_t faults = 0;        ///< one a page, or huge page
  std::uint64_t minor_faults = 0;  ///< of every kind, by the kernel's count
  std::string why_not;             ///< why not all of it was seen: then `zeroed` is the least that it may be
  std::uint64_t unseen = 0;        ///< so much more it may be at most
  bool unlimited = false;          ///< or more, and nobody knows how much
  /// The most that `zeroed` may lack, if each page fault that populated no known memory had the kernel zero a page;
  /// nothing if that is unknown.
  std::optional<std::uint64_t> slack = 0;
  bool faults_known = true;   ///< false: there were more than `minor_faults`
  std::string why_no_faults;  ///< where why_not is empty

  void add(const KernelPart& more);
  /// Whether `unseen` is too little to matter: a fiftieth of all.
  [[nodiscard]] bool known() const;
  /// CPU nanoseconds to populate it, `unseen` left out: an estimate.
  [[nodiscard]] double fault_ns(const FaultCost& cost) const;
  [[nodiscard]] KernelMetrics metrics(const FaultCost& cost) const;
};

/// From what the process itself saw; `why_not` if it did not see its end, or not all that went back to the kernel.
/// `sharers_faults`: faults of processes that shared its memory.
KernelPart kernel_part(const ProcessSlot& slot, std::uint64_t sharers_faults = 0);

/// The page faults that populate `bytes`, of which `huge` are in huge pages. Huge pages that MADV_COLLAPSE made took no
/// faults.
std::uint64_t faults_of(std::uint64_t bytes, std::uint64_t huge, const Holdings& holdings);

/// CPU time, in nanoseconds, of a process and of those that shared its memory. The value is that of the last look, but
/// at least the time that the processes measured themselves.
std::uint64_t process_cpu_ns(const ProcessSlot& slot, const Tally& sum, std::uint64_t sharers_ns = 0);

/// The most that processes can have held at one time: each counts with its peak from its start to its end. Memory that
/// a child of fork shares with its parent counts once. Parent and child have at most as many copied pages as faults
/// that zeroed nothing.
Count peak_of(const std::vector<const RecordedProcess*>& processes);

}  // namespace zerotax::record
