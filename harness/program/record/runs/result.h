#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/measured.h"
#include "base/table.h"
#include "judge/evidence.h"
#include "record/result.h"

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

/// A command that is run several times.
struct Command {
  std::string name;
  std::vector<std::string> command;
  std::map<std::string, std::string> env;
};

/// The counts of a call stack.
enum class SiteNumber : std::uint8_t { kCalls, kRequested, kKernelZeroed, kRefilled, kReturned, kZeroed, kLive };
inline constexpr std::size_t kSiteNumbers = static_cast<std::size_t>(SiteNumber::kLive) + 1;
template <typename T>
using BySiteNumber = ByEnum<SiteNumber, T, kSiteNumbers>;
using SiteValues = BySiteNumber<std::uint64_t>;
/// In JSON, and in --expect: "returned_bytes".
const char* key_of(SiteNumber number);

/// A call stack in a form that is the same in another build: without addresses, lines and folders.
struct SiteKey {
  SiteKind kind{};
  std::vector<std::string>
      stack;  ///< of the program's own functions, the innermost first: "Decoder::reset (decoder.cc)"

  auto operator<=>(const SiteKey&) const = default;  // NOLINT(modernize-use-nullptr): its own comparison with 0
};

/// The innermost of the program's own functions in a call stack.
struct Place {
  std::string function;
  std::string file;  ///< without its folder; empty: unknown
  std::optional<int> line;
};
/// "Decoder::reset (decoder.cc:118)".
std::string words_of(const Place& place);

template <typename T>
struct SiteOf {
  Place place;
  BySiteNumber<T> numbers;
};
using Site = SiteOf<std::uint64_t>;

/// The place of a process in a command.
struct Role {
  std::string name;
  std::string parent;  ///< name of the process that started it; empty: the command itself
};

/// One recorded run of a command.
struct CommandRun {
  int exit_status = 0;
  Values all;
  std::map<std::string, Values> processes;  ///< by the name of their file
  std::map<SiteKey, Site> sites;
  std::string allocator;           ///< the file of the allocator with the most calls
  std::vector<std::string> notes;  ///< parts of the run that were not seen
  std::vector<Role> roles;         ///< in the order in which the processes started
  Evidence evidence;               ///< for advice on metrics that rose
};

}  // namespace zerotax::record::runs
