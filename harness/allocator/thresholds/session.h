#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/size.h"
#include "point/plan.h"
#include "run/fleet/fleet.h"
#include "thresholds/map.h"

namespace zerotax::thresholds {

/// What is searched for each allocator: sizes in bytes from the smallest to the largest, `per_octave` to each doubling
/// at first; touched fractions; "main", "worker".
struct ThresholdAxes {
  std::uint64_t from;
  std::uint64_t to;
  unsigned per_octave;
  std::vector<double> touches;
  std::vector<std::string> threads;
  std::string case_name = kPlainCase;
};

/// Where the quick study and reports search: where memory need not be populated by the GiB.
inline constexpr std::uint64_t kQuickFrom = 64 * kKiB;
inline constexpr std::uint64_t kQuickTo = 160 * kMiB;
inline constexpr unsigned kQuickPerOctave = 2;

/// The same of refill_loop, which has eight buffers of the size: from where glibc keeps what is freed.
inline constexpr std::uint64_t kRefillFrom = 8 * kKiB;
inline constexpr std::uint64_t kRefillTo = 4 * kMiB;
inline constexpr unsigned kRefillPerOctave = 1;

/// Where the job of a search on Slurm has its files: in a results folder, under this name.
struct SearchFolder {
  std::string results = "";  // NOLINT(readability-redundant-string-init)
  std::string name = "";     // NOLINT(readability-redundant-string-init)
};

/// One search for thresholds: a lane for each allocator of the plan, touch and thread.
class ThresholdSession {
 public:
  ThresholdSession(Plan plan, ThresholdAxes axes);

  /// Takes over the lanes that an earlier session had finished; `earlier` is what json() gave then. Lanes of other
  /// axes or versions are ignored. Throws UsageError if it is not such an object; `file` is for the message.
  void resume(const Json& earlier, const std::string& file);

  /// Searches the lanes that are missing, allocators side by side, with progress; here, or as a Slurm job, which needs
  /// a folder. `on_lane` is called after each. Returns the number of the signal that ended it early, or 0. Throws as
  /// fleet::run.
  int run(const std::function<void()>& on_lane = {}, const fleet::Place& place = {}, const SearchFolder& folder = {});

  [[nodiscard]] const std::vector<ThresholdLane>& lanes() const { return lanes_; }
  [[nodiscard]] Thresholds result() const;
  /// "zerotax.thresholds/1" of the lanes that are finished.
  [[nodiscard]] Json json() const;

 private:
  friend class LaneWork;
  void add_hosts(const SearchFolder& folder);
  void search(ThresholdLane& lane, const Say& say);
  /// The thresholds of an allocator's lanes that were searched: most are the same with another touch or thread.
  [[nodiscard]] std::set<std::uint64_t> found_for(const std::string& allocator) const;
  [[nodiscard]] Json json_of(const ThresholdLane& lane) const;

  Plan plan_;
  ThresholdAxes axes_;
  DocumentHead head_;
  Json environments_;  ///< of a fleet, by host; else null
  std::vector<ThresholdLane> lanes_;
};

}  // namespace zerotax::thresholds
