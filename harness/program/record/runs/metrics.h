#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "base/measured.h"
#include "base/table.h"
#include "judge/comparison.h"

namespace zerotax::record::runs {

/// What is counted of a run. The order is that of tables; of a family, the first that changed stands for the others.
enum class Metric : std::uint8_t {
  kMinorFaults,
  kZeroFillFaults,
  kKernelZeroed,
  kFresh,
  kRefilled,
  kReturned,
  kReturnedInFree,
  kReturnedInRealloc,
  kReturnedByMunmap,
  kReturnedByMadvise,
  kReturnedByBrk,
  kZeroed,
  kRedundant,
  kNeeded,
  kZeroedInFree,
  kByHand,
  kByProgram,
  kPeakLive,
  kPeak,
  kMappingCalls,
  kAllocations,
  kRequested,
  kCallocCalls,
  kCallocBytes,
  kMallocCalls,
  kMallocBytes,
  kReallocCalls,
  kReallocBytes,
  kFreeCalls,
};
inline constexpr std::size_t kMetrics = static_cast<std::size_t>(Metric::kFreeCalls) + 1;

/// Metrics that tell of one thing.
enum class Family : std::uint8_t { kOfKernel, kOfAllocator, kOfNewBlocks, kOfProgram, kOfPeak, kOfMappings, kOfCalls };

struct MetricRow {
  Metric metric;
  const char* key;   ///< in JSON
  const char* name;  ///< for people
  Unit unit;         ///< kCount or kBytes
  bool costs;
  Family family;
};

const std::array<MetricRow, kMetrics>& metric_rows();
const MetricRow& row_of(Metric metric);

/// "page faults", "page faults of cc1"; `process` empty: of the command as a whole.
std::string name_of(const MetricRow& row, const std::string& process);

/// "71,697", "64 MiB".
std::string format_value(Unit unit, std::uint64_t value);

/// "71,697 to 71,702", or one value.
std::string format_range(Unit unit, const Range& range);

/// One value for each of an enumeration that begins with 0.
template <typename Enum, typename T, std::size_t kSize>
struct ByEnum {
  std::array<T, kSize> all{};
  T& operator[](Enum each) { return all[static_cast<std::size_t>(each)]; }
  const T& operator[](Enum each) const { return all[static_cast<std::size_t>(each)]; }
};
template <typename T>
using ByMetric = ByEnum<Metric, T, kMetrics>;
using Values = ByMetric<Measured<std::uint64_t>>;

using Ranges = ByMetric<Measured<Range>>;

/// How far outside a range a value may lie and be no change: 2 % of the highest, and 16 of what is counted or 64 KiB.
std::uint64_t least_slack(Unit unit, const Range& range);
/// The same, and at least as far as the range is wide.
std::uint64_t slack_of(Unit unit, const Range& range);

}  // namespace zerotax::record::runs
