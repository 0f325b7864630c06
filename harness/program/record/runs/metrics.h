#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "base/measured.h"
#include "base/table.h"

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
/// In JSON: "minor_faults".
const char* key_of(Metric metric);

/// "page faults", "page faults of cc1"; `process` empty: of the command as a whole.
std::string name_of(const MetricRow& row, const std::string& process);

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

}  // namespace zerotax::record::runs
