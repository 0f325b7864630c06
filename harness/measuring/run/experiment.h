#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/statistics.h"
#include "os/memory.h"
#include "run/progress.h"

namespace zerotax {

/// Returns the reason why a block of this size does not fit in memory, or "". A calloc that zeroes populates the whole
/// block even if nothing is touched. Every point therefore needs its size, and an eighth more for memory that the
/// allocator keeps.
std::string why_too_large(std::uint64_t size_bytes, const MemoryState& memory = read_memory_state());

/// Writes once to `bytes` of memory, but at most to half of the usable memory. In a virtual machine, a first write is
/// up to ten times slower if the host has not backed the memory yet, and would distort the first measurement. Returns
/// early if a signal requests termination.
void warm_up(std::uint64_t bytes);

/// Returns how many audits of this size may run at the same time: one per CPU if they fit in memory, but at least 1.
std::size_t audits_side_by_side(std::uint64_t size_bytes, const MemoryState& memory = read_memory_state());

/// Returns the resident set in bytes above which a probe is killed, because an allocator that keeps all its memory must
/// not exhaust the machine's memory. The limit is twice the block plus 1 GiB, but leaves the machine 256 MiB.
std::uint64_t resident_limit(std::uint64_t size_bytes, const MemoryState& memory = read_memory_state());

/// Reports the current step of an item for the progress display.
using Say = std::function<void(const std::string& now)>;

/// A unit of measurement: a point, a pair of processes, or a build. An item's functions store their own results. A
/// function may throw Stop, which ends the experiment. Any other exception also ends the experiment, and is passed to
/// the caller.
struct Item {
  std::string key = {};    ///< unique within the Work (fleet.h); needed only if several hosts share the work
  std::string group = {};  ///< items of one group are compared with each other, and run on the same host
  std::string batch = {};  ///< consecutive items of one batch are audited side by side
  std::string label = {};  ///< name shown in progress
  double seconds = 1;      ///< expected duration, of which only ratios matter; 0 leaves the item out of the estimate,
                           ///< because the number of such items is unknown at first
  std::uint64_t memory_bytes = 0;  ///< size of the item's largest block, which limits the number of simultaneous audits
  /// Measures counts, in one of several threads, beside other audits of the batch.
  std::function<void(const Say&)> audit = {};
  /// Measures times, while no other work runs. Runs after the audits of the item's batch.
  std::function<void(const Say&)> measure = {};
  /// Returns the item's result, for a work whose items any host may measure (fleet.h). Called once, after both
  /// functions.
  std::function<Json()> result = {};
};

/// All measurements run in this loop. Items run in their order, with one progress display and one estimate, until a
/// signal requests termination.
class Experiment {
 public:
  struct Options {
    std::size_t side_by_side = 0;  ///< maximum number of simultaneous audits; 0 for the number of CPUs
    /// Before the first measurement, write to 1.25 times the memory of the largest item that fits.
    bool warm_up = false;
    /// Called with each finished item, from one thread at a time, to store its result.
    std::function<void(const Item&)> on_finished = {};
  };

  /// `what` names the activity in progress, as in "measuring". An empty `what` shows no progress; an experiment within
  /// an item needs this.
  explicit Experiment(std::string what, Options options);
  explicit Experiment(std::string what) : Experiment(std::move(what), Options{}) {}
  Experiment(const Experiment&) = delete;
  Experiment& operator=(const Experiment&) = delete;

  /// Adds the items of later calls to run() to the estimate.
  void expect(std::size_t items, double seconds);

  /// Measures the items. A further call may measure items that depend on items of an earlier call. Returns false if a
  /// signal requested termination; the current item is then not finished.
  [[nodiscard]] bool run(const std::vector<Item>& items);

 private:
  using At = std::vector<Item>::const_iterator;
  void run_batch(At begin, At end);
  void audit(At begin, At end);
  void finish(const Item& item);
  void warm_up_for(const std::vector<Item>& items);

  Options options_;
  std::optional<Progress> progress_;
  Say say_;
  std::size_t expected_items_ = 0;  ///< items that progress includes and that have not started
  double expected_seconds_ = 0;
  bool warm_ = false;
};

/// The order in which each round visits the places of a comparison (its combinations of size and touch).
enum class Rounds {
  kForward,
  kAlternating,  ///< every other round in reverse, so that drift over time favors no place
};

/// Returns an item for each place in each round, so that a machine that slows down slows all places equally.
std::vector<Item> in_rounds(unsigned rounds, std::size_t places, Rounds order,
                            const std::function<Item(unsigned round, std::size_t place)>& item);

/// Decides which of two compared sides goes first. The order alternates, or is decided by coin flips with a seed.
class PairOrder {
 public:
  explicit PairOrder(std::optional<std::uint64_t> seed = {}) : flips_(seed.has_value()), coin_(seed.value_or(0)) {}
  /// Returns whether the first side goes first, for the pair at position `place` of the alternation. Each call flips
  /// the coin.
  bool first_goes_first(std::size_t place = 0) { return flips_ ? coin_.below(2) == 0 : place % 2 == 0; }

 private:
  bool flips_;
  Random coin_;
};

}  // namespace zerotax
