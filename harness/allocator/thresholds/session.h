#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "base/fields.h"
#include "base/json.h"
#include "base/size.h"
#include "point/plan.h"
#include "run/fleet/fleet.h"
#include "thresholds/map.h"

namespace zerotax::thresholds {

struct ThresholdAxes {
  RESULT("axes", "Lanes searched for each allocator.");
  FIELD(std::uint64_t, from, "Smallest size of the search, in bytes.");
  FIELD(std::uint64_t, to, "Largest size of the search, in bytes.");
  FIELD(unsigned, per_octave, "Sizes of the first grid per factor of two.");
  FIELD(std::vector<double>, touches, "Fractions of a block's pages that the program writes, from 0 to 1.");
  FIELD(std::vector<std::string>, threads, "Calling threads: main or worker.");
  MEMBER(case_name, "Name of the case that all probes run.");
  std::string case_name = kPlainCase;
};

/// Range of sizes in the quick study and in reports. Larger sizes would need several GiB of memory.
inline constexpr std::uint64_t kQuickFrom = 64 * kKiB;
inline constexpr std::uint64_t kQuickTo = 160 * kMiB;
inline constexpr unsigned kQuickPerOctave = 2;

/// Range of sizes for refill_loop, which has eight buffers of the size. The range includes the size from which glibc
/// keeps freed memory.
inline constexpr std::uint64_t kRefillFrom = 8 * kKiB;
inline constexpr std::uint64_t kRefillTo = 4 * kMiB;
inline constexpr unsigned kRefillPerOctave = 1;

/// Location of a Slurm job's files: a results folder, and the name of the job's folder in it.
struct SearchFolder {
  std::string results = "";  // NOLINT(readability-redundant-string-init)
  std::string name = "";     // NOLINT(readability-redundant-string-init)
};

/// A search for thresholds, with a lane for each allocator of the plan, touch and thread.
class ThresholdSession {
 public:
  ThresholdSession(Plan plan, ThresholdAxes axes);

  /// Copies the lanes that an earlier session finished; `earlier` is that session's json(). Lanes with different axes
  /// or versions are ignored. Throws UsageError if the object is invalid; `file` is the object's name in the message.
  void resume(const Json& earlier, const std::string& file);

  /// Searches the missing lanes with progress, allocators side by side, on this host or as a Slurm job. A job requires
  /// a folder. Calls `on_lane` after each lane. Returns the number of the signal that ended the search early, or 0.
  /// Throws the same errors as fleet::run().
  int run(const std::function<void()>& on_lane = {}, const fleet::Place& place = {}, const SearchFolder& folder = {});

  [[nodiscard]] const std::vector<ThresholdLane>& lanes() const { return lanes_; }
  [[nodiscard]] Thresholds result() const;
  /// Returns the object of "zerotax.thresholds/1" for the finished lanes.
  [[nodiscard]] Json json() const;

 private:
  friend class LaneWork;
  void add_hosts(const SearchFolder& folder);
  void search(ThresholdLane& lane, const Say& say);
  /// Returns the thresholds found so far for an allocator. Most of these thresholds also apply to another touch or
  /// thread.
  [[nodiscard]] std::set<std::uint64_t> found_for(const std::string& allocator) const;
  [[nodiscard]] Json json_of(const ThresholdLane& lane) const;

  Plan plan_;
  ThresholdAxes axes_;
  DocumentHead head_;
  Json environments_;  ///< environments of a fleet by host; null on one host
  std::vector<ThresholdLane> lanes_;
};

}  // namespace zerotax::thresholds
