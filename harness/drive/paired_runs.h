#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "drive/plan.h"

namespace zerotax {

/// What of an operation is compared.
enum class Cost {
  kCalloc,  ///< calloc alone
  kTotal,   ///< calloc, the touch, and free
};

/// Two processes that ran one right after the other: the median cost of an operation in each, in nanoseconds.
struct CostPair {
  double a_ns;
  double b_ns;
  bool a_first;
};

/// One place of a comparison, and what was measured there.
struct PairedPlace {
  std::uint64_t size_bytes;
  double touch;
  unsigned pass = 0;  ///< 0: of the first grid; from 1 on: added by that refinement
  std::vector<CostPair> pairs;
  std::string left_out;  ///< why it is of no use, or empty
};

/// What stays the same over all places of a comparison.
struct PairedSetup {
  Allocator a;
  Allocator b;
  std::string thread;  ///< "main" or "worker"
  Cost cost = Cost::kTotal;
  unsigned pairs = 9;     ///< at each place
  double timeout_s = 60;  ///< of one process
};

/// Measures `setup.pairs` pairs at each place, round by round: one pair at every place, then the next, so that a
/// machine that slows down slows all places alike. Nothing runs beside it; who of a pair is first alternates with
/// places and rounds. A place whose process fails, or does not fit in memory, is left out from then on. Returns false
/// if `stop` asked for an end: then the last round is not whole.
bool run_pairs(const PairedSetup& setup, std::vector<PairedPlace>& places, const std::function<bool()>& stop);

}  // namespace zerotax
