#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "point/plan.h"
#include "point/typed_point.h"

namespace zerotax::study {

/// What a loop of calls used. Times in nanoseconds.
struct LoopCost {
  double wall_ns = 0;
  double user_ns = 0;    ///< of CPU time
  double kernel_ns = 0;  ///< of CPU time
  double faults = 0;     ///< minor
  double voluntary_switches = 0;
  double involuntary_switches = 0;
  std::optional<double> cycles = {};  ///< nothing where the machine has no counter of them

  [[nodiscard]] double cpu_ns() const { return user_ns + kernel_ns; }
  [[nodiscard]] double switches() const { return voluntary_switches + involuntary_switches; }
};

/// A loop of malloc and free, or calloc and free, in a process of its own.
struct MeasuredLoop {
  std::string failure;        ///< why there is no result; empty if it was measured
  std::uint64_t calls = 0;    ///< made
  LoopCost cost;              ///< of all calls that were asked for
  bool estimated = false;     ///< from those that were made in the time that a loop has
  std::string why_no_cycles;  ///< empty if they were counted
};

/// An allocator at a size: both loops, and what the audit pass saw of calloc.
struct LoopPair {
  std::size_t allocator = 0;  ///< index into Plan::allocators
  std::uint64_t size_bytes = 0;
  MeasuredLoop with_malloc;
  MeasuredLoop with_calloc;
  Point audit;  ///< of calloc_loop

  /// What zeroing costs: calloc's loop minus malloc's, no part of it below 0. Nothing if a loop failed. All 0 if calloc
  /// writes no zeros and populates nothing.
  [[nodiscard]] std::optional<LoopCost> zeroing() const;
  /// Of what calloc zeroed, the share that was zero already; nothing if that is not known.
  [[nodiscard]] std::optional<double> redundant_share() const;
};

struct LoopRequest {
  std::uint32_t calls = 10'000;
  double seconds = 1;  ///< that one loop has, and one call at least
  double touch = 0;
  std::vector<std::uint64_t> sizes;
};

/// All pairs, sizes outermost. `plan` has the allocators and the timeout. What was finished if a signal asks for an
/// end.
std::vector<LoopPair> run_loops(const Plan& plan, const LoopRequest& request);

/// The document "zerotax.loop/1" (results/schema/loop.schema.json).
Json loops_json(const Plan& plan, const LoopRequest& request, const std::vector<LoopPair>& pairs,
                const std::vector<std::string>& command, const std::string& started, bool complete);

/// A table for each size, of at most 80 columns, and below it what zeroing costs.
std::string loops_text(const Plan& plan, const LoopRequest& request, const std::vector<LoopPair>& pairs);

}  // namespace zerotax::study
