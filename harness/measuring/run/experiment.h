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

/// Why a block of this size cannot be measured in the memory that there is, or "". A calloc that zeroes populates the
/// whole block even if nothing is touched, so every point needs its size, and an eighth more for what the allocator
/// keeps.
std::string why_too_large(std::uint64_t size_bytes, const MemoryState& memory = read_memory_state());

/// Touches `bytes` once, or half of what is usable: in a virtual machine a first touch of memory that the host has not
/// backed yet is up to ten times slower, and would be charged to whatever runs first. Ends early if a signal asks for
/// an end.
void warm_up(std::uint64_t bytes);

/// How many audits of this size may run at the same time: one per CPU, as long as they fit in memory together. At
/// least 1.
std::size_t audits_side_by_side(std::uint64_t size_bytes, const MemoryState& memory = read_memory_state());

/// The resident set in bytes beyond which a probe is killed: an allocator that keeps everything it ever had must not
/// take the machine with it. Twice the block and 1 GiB, but never the last 256 MiB of the machine.
std::uint64_t resident_limit(std::uint64_t size_bytes, const MemoryState& memory = read_memory_state());

/// Says what an item is doing now, for whoever watches the progress.
using Say = std::function<void(const std::string& now)>;

/// One thing to measure: a point, a pair of processes, a build. Its functions keep what they found where their room
/// wants it. They may throw Stop, which ends the experiment; any other exception ends it too, and passes on to the
/// caller.
struct Item {
  std::string key = {};    ///< unique within its work; needed only where hosts share the work
  std::string group = {};  ///< items of one group are compared with each other, and stay on one host
  std::string batch = {};  ///< items of one batch that follow each other are audited side by side
  std::string label = {};  ///< for progress
  double seconds = 1;  ///< expected; only ratios matter. 0: not counted, for how many there are is not known at first
  std::uint64_t memory_bytes =
      0;  ///< of the largest block that it allocates; decides how many are audited side by side
  /// What decides by counts alone: runs beside the audits of its batch, from several threads.
  std::function<void(const Say&)> audit = {};
  /// What takes times: runs after the audits of its batch, and nothing runs beside it.
  std::function<void(const Say&)> measure = {};
  /// Its result for a work whose items any host may do (work.h); asked for once, after both.
  std::function<Json()> result = {};
};

/// The only loop that measures: it does items in their order, with one progress and one estimate, until a signal asks
/// for an end.
class Experiment {
 public:
  struct Options {
    std::size_t side_by_side = 0;  ///< audits at a time, at most; 0: as many as there are CPUs
    /// Before the first item that is measured, touch once what the largest that fits in memory needs, and a quarter
    /// more.
    bool warm_up = false;
    /// Called with each item as soon as it is finished, from one thread at a time: the place to store its result.
    std::function<void(const Item&)> on_finished = {};
  };

  /// `what`: for progress, "measuring". Empty: shows nothing, for it runs within an item of another.
  explicit Experiment(std::string what, Options options);
  explicit Experiment(std::string what) : Experiment(std::move(what), Options{}) {}
  Experiment(const Experiment&) = delete;
  Experiment& operator=(const Experiment&) = delete;

  /// Says that more items will follow in later calls of run, so that the estimate knows of them.
  void expect(std::size_t items, double seconds);

  /// Does them. May be called again with further items, while what they are depends on earlier ones. Returns false once
  /// a signal asked for an end: an item that was under way is not finished then.
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
  std::size_t expected_items_ = 0;  ///< that progress knows of, and that are not begun
  double expected_seconds_ = 0;
  bool warm_ = false;
};

/// In which order places are visited, round by round.
enum class Rounds {
  kForward,
  kAlternating,  ///< every other round backwards, so that drift over time favours no place
};

/// An item for each place in each round, `rounds` after each other: a machine that slows down slows all places alike.
std::vector<Item> in_rounds(unsigned rounds, std::size_t places, Rounds order,
                            const std::function<Item(unsigned round, std::size_t place)>& item);

/// Which of two that are compared goes first: it alternates, or is decided by coin flips of a seed.
class PairOrder {
 public:
  explicit PairOrder(std::optional<std::uint64_t> seed = {}) : flips_(seed.has_value()), coin_(seed.value_or(0)) {}
  /// Of the pair at this place of the alternation. Each call is a flip of the coin.
  bool first_goes_first(std::size_t place = 0) { return flips_ ? coin_.below(2) == 0 : place % 2 == 0; }

 private:
  bool flips_;
  Random coin_;
};

}  // namespace zerotax
