#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "point/plan.h"

namespace zerotax {

/// Which cost of an operation is compared.
enum class Cost {
  kCalloc,  ///< calloc alone
  kTotal,   ///< calloc, the touch, and free
};

/// Two processes that ran one right after the other: the median cost of an operation in each, in nanoseconds, and the
/// minor faults of one (calloc, touch and free; the lower median).
struct CostPair {
  double a_ns;
  double b_ns;
  bool a_first;
  std::int64_t a_faults = 0;
  std::int64_t b_faults = 0;
};

/// One place of a comparison, and what was measured there.
struct PairedPlace {
  std::uint64_t size_bytes;
  double touch;
  unsigned pass = 0;  ///< 0: of the first grid; from 1 on: added by that refinement
  std::vector<CostPair> pairs;
  std::string left_out;  ///< why it is not used, or empty
  std::string case_name = "calloc_loop";
  std::string thread = {};  ///< empty: that of the setup
};

/// What stays the same over all places of a comparison.
struct PairedSetup {
  Allocator a;
  Allocator b;
  std::string thread;  ///< "main" or "worker"
  Cost cost = Cost::kTotal;
  unsigned pairs = 9;     ///< at each place
  double timeout_s = 60;  ///< of one process
  /// Which of a pair is first is decided by coin flips of this seed; without one, it alternates.
  std::optional<std::uint64_t> coins = {};
};

/// Measures `setup.pairs` pairs at each place, round by round: one pair at every place, then the next, so that a
/// machine that slows down slows all places alike. Nothing runs beside it; which of a pair is first alternates with
/// places and rounds, or is decided by a coin flip. A place whose process fails, or does not fit in memory, is left out
/// from then on. Returns false if a signal asked for an end: then the last round is not whole.
bool run_pairs(const PairedSetup& setup, std::vector<PairedPlace>& places);

}  // namespace zerotax
