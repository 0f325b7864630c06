#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/fields.h"
#include "base/measured.h"
#include "base/table.h"
#include "judge/evidence.h"
#include "record/result.h"

namespace zerotax::record::runs {

/// Metrics of a run, in the order of tables. The first changed metric of a family stands for the whole family.
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
  // Only the whole command has these two metrics.
  kProcesses,
  kForks,
  // With Target::resident only. Each moment has the same five metrics.
  kResidentAtIdle,
  kLiveAtIdle,
  kFreeAtIdle,
  kFragmentedAtIdle,
  kOfferedAtIdle,
  kResidentAtPeak,
  kLiveAtPeak,
  kFreeAtPeak,
  kFragmentedAtPeak,
  kOfferedAtPeak,
  kResidentAtEnd,
  kLiveAtEnd,
  kFreeAtEnd,
  kFragmentedAtEnd,
  kOfferedAtEnd,
};
inline constexpr std::size_t kMetrics = static_cast<std::size_t>(Metric::kOfferedAtEnd) + 1;

/// Key and description of an enumerator in ByEnum.
struct KeyRow {
  const char* key;
  const char* description;
  Limit limit;
};

/// Groups of metrics. The metrics of a group measure the same thing.
enum class Family : std::uint8_t {
  kOfKernel,
  kOfAllocator,
  kOfNewBlocks,
  kOfProgram,
  kOfPeak,
  kOfMappings,
  kOfCalls,
  kOfProcesses,
  kOfResident
};

struct MetricRow {
  Metric metric;
  const char* key;   ///< in JSON
  const char* name;  ///< the name in texts for people
  Unit unit;         ///< kCount or kBytes
  bool costs;
  Family family;
  const char* description;  ///< description in the schema
  bool is_later = false;    ///< absent from files of earlier versions
};

const std::array<MetricRow, kMetrics>& metric_rows();
const MetricRow& row_of(Metric metric);
/// Whether a metric is measured only with Target::resident.
bool is_of_resident(Metric metric);
/// Returns the metric's name in JSON, such as "minor_faults".
const char* key_of(Metric metric);
KeyRow key_row(Metric metric);
inline void to_json(Json& json, Metric metric) { json = key_of(metric); }

/// Returns the metric's name for people: "page faults", or "page faults of cc1". An empty `process` means the whole
/// command.
std::string name_of(const MetricRow& row, const std::string& process);

template <typename T>
inline constexpr bool kIsNumber = std::is_arithmetic_v<T>;
template <typename T>
inline constexpr bool kIsNumber<Measured<T>> = std::is_arithmetic_v<T>;

/// One value for each enumerator of Enum. Enum begins with 0, and key_row(Enum) returns a KeyRow for each enumerator.
template <typename Enum, typename T, std::size_t kSize>
struct ByEnum {
  static constexpr const char* kTitle =
      kSize == kMetrics ? (kIsNumber<T> ? "values" : "ranges") : (kIsNumber<T> ? "numbers" : "ranges of a place");
  static constexpr const char* kDescription =
      kSize == kMetrics ? (kIsNumber<T> ? "The value of each metric." : "The range of each metric over the runs.")
                        : "Counts of the calls from one code location.";
  static constexpr int kFieldsBegin = 0;
  template <int kAt>
  requires(kAt < kSize) static void visit_field(FieldAt<kAt>, auto& object, auto&& visit) {
    const KeyRow row = key_row(static_cast<Enum>(kAt));
    visit(row.key, object.all[kAt], row.description, row.limit);
  }
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

  RESULT("command", "A command that is run several times.");
  MEMBER(name, "Name of the command, unique in the baseline.");
  MEMBER(command, "The command and its arguments.", least_items(1), kMayBeEmpty);
  MEMBER(env, "Environment variables that --env sets for the command.", kMayBeEmpty);
};

/// Counts of a call stack.
enum class SiteNumber : std::uint8_t { kCalls, kRequested, kKernelZeroed, kRefilled, kReturned, kZeroed, kLive };
inline constexpr std::size_t kSiteNumbers = static_cast<std::size_t>(SiteNumber::kLive) + 1;
template <typename T>
using BySiteNumber = ByEnum<SiteNumber, T, kSiteNumbers>;
using SiteValues = BySiteNumber<std::uint64_t>;
/// Returns the name of a count in JSON and in --expect, such as "returned_bytes".
const char* key_of(SiteNumber number);
KeyRow key_row(SiteNumber number);

/// A call stack in a form without addresses, lines and folders, so that the form is the same in another build.
struct SiteKey {
  SiteKind kind{};
  std::vector<std::string>
      stack;  ///< the program's own functions, innermost first, as in "Decoder::reset (decoder.cc)"

  auto operator<=>(const SiteKey&) const = default;  // NOLINT(modernize-use-nullptr): its own comparison with 0
};

struct Place {
  RESULT("place", "The innermost of the program's own functions in a call stack.");
  FIELD(std::string, function,
        "Name of the function, or of its executable file or library if the function has no name.", kMayBeEmpty);
  FIELD(std::string, file, "Source file of the function, without its folder. Empty if it is unknown.", kMayBeEmpty);
  FIELD(std::optional<int>, line, "Line of the call. Absent if it is unknown.", kAnySign);
};
/// Formats a place, as in "Decoder::reset (decoder.cc:118)".
std::string words_of(const Place& place);

template <typename T>
struct SiteOf {
  Place place;
  BySiteNumber<T> numbers;
};
using Site = SiteOf<std::uint64_t>;

/// A process's name, and the process that started it.
struct Role {
  std::string name;
  std::string parent;  ///< name of the process that started it; empty for the command itself
};

/// One recorded run of a command.
struct CommandRun {
  int exit_status = 0;
  Values all;
  std::map<std::string, Values> processes;  ///< keys: file names of the executables
  std::map<SiteKey, Site> sites;
  std::map<Metric, std::string> resident_places;  ///< for free resident memory: its main call site in words
  std::string allocator;                          ///< file of the allocator with the most calls
  std::vector<std::string> notes;                 ///< parts of the run that were not seen
  std::vector<Role> roles;                        ///< in the order in which the processes started
  Evidence evidence;                              ///< facts for advice on metrics that rose
};

}  // namespace zerotax::record::runs
