#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/fields.h"
#include "base/json.h"
#include "cli/measure_options.h"
#include "point/plan.h"
#include "point/typed_point.h"

namespace zerotax::study {

/// Resources used by a loop of calls. Times are in nanoseconds.
struct LoopCost {
  double wall_ns = 0;
  double user_ns = 0;    ///< CPU time in user mode
  double kernel_ns = 0;  ///< CPU time in the kernel
  double faults = 0;     ///< minor faults
  double voluntary_switches = 0;
  double involuntary_switches = 0;
  std::optional<double> cycles = {};  ///< empty if the machine has no counter of cycles

  [[nodiscard]] double cpu_ns() const { return user_ns + kernel_ns; }
  [[nodiscard]] double switches() const { return voluntary_switches + involuntary_switches; }
};

/// A loop of malloc and free, or of calloc and free, in a separate process.
struct MeasuredLoop {
  std::string failure;        ///< reason why there is no result; empty if the loop was measured
  std::uint64_t calls = 0;    ///< number of calls made
  LoopCost cost;              ///< cost of all requested calls
  bool estimated = false;     ///< whether the cost is estimated from the calls that were made within the time limit
  std::string why_no_cycles;  ///< reason for missing cycles; empty if they were counted
};

/// An allocator at a size, with both loops and calloc's audit pass.
struct LoopPair {
  std::size_t allocator = 0;  ///< index into Plan::allocators
  std::uint64_t size_bytes = 0;
  MeasuredLoop with_malloc;
  MeasuredLoop with_calloc;
  Point audit;  ///< audit of calloc_loop

  /// Returns the cost of zeroing: calloc's loop minus malloc's, with no part below 0. Returns nothing if a loop failed,
  /// and zeros if calloc writes no zeros and populates nothing.
  [[nodiscard]] std::optional<LoopCost> zeroing() const;
  /// Returns the share of calloc's zeroed bytes that was already zero, or nothing if the share is unknown.
  [[nodiscard]] std::optional<double> redundant_share() const;
};

struct LoopRequest {
  std::uint32_t calls = 10'000;
  double seconds = 1;  ///< time limit of a loop, which makes at least one call
  double touch = 0;
  std::vector<std::uint64_t> sizes;
};

/// Runs all pairs, sizes outermost. `plan` has the allocators and the timeout. Returns the finished pairs if a signal
/// requests termination.
std::vector<LoopPair> run_loops(const Plan& plan, const LoopRequest& request);

struct CostEntry {
  RESULT("cost", "Cost of all calls of a loop.");
  FIELD(double, wall_s, "Wall time, in seconds.");
  FIELD(double, user_s, "CPU time in user mode, in seconds.");
  FIELD(double, kernel_s, "CPU time in the kernel, in seconds.");
  FIELD(double, faults, "Number of minor page faults.");
  FIELD(double, voluntary_switches, "Number of context switches because the thread waited (voluntary).");
  FIELD(double, involuntary_switches, "Number of context switches because another thread was scheduled (involuntary).");
  FIELD(Measured<double>, cycles,
        "CPU cycles in user mode and in the kernel, or the reason why they were not counted.");
};

struct LoopEntry : CostEntry {
  RESULT("loop", "A loop of calls in a separate process.");
  BASE_FIELDS(CostEntry);
  FIELD(std::uint64_t, calls_made, "Number of calls made.", least(1));
  FIELD(bool, estimated,
        "Whether the values for all calls are estimated from the calls made within the loop's time limit.");
};

struct PairEntry {
  RESULT("pair", "The two loops of one allocator at one size.");
  FIELD(std::string, allocator, "Name of the allocator, as given to --allocator.");
  FIELD(std::uint64_t, size_bytes, "Size of each block in bytes.", least(1));
  MEMBER_AS("malloc", with_malloc, "Loop of malloc and free, or the reason why the loop is missing.");
  Measured<LoopEntry> with_malloc;
  MEMBER_AS("calloc", with_calloc, "Loop of calloc and free, or the reason why the loop is missing.");
  Measured<LoopEntry> with_calloc;
  FIELD(Json, zeroed_bytes, "Zeroed bytes of one call, as `zeroed_bytes` of the point calloc_loop at this size.",
        as_in("point.schema.json#/$defs/count"));
  FIELD(Json, redundant_zeroed_bytes,
        "Redundant zeroed bytes of one call, as `redundant_zeroed_bytes` of the point calloc_loop at this size.",
        as_in("point.schema.json#/$defs/count"));
  FIELD(Measured<double>, redundant_share,
        "Share of the zeroed bytes that were already zero, from 0 to 1, or the reason why the share is unknown.",
        most(1));
  FIELD(Measured<CostEntry>, zeroing,
        "Cost of zeroing, or the reason why the cost is unknown. The cost is the cost of calloc's loop minus the cost "
        "of malloc's loop, with no part below 0. All values are 0 if calloc neither writes zeros nor populates pages.");
};

struct LoopDocument : DocumentHead {
  RESULT(
      "zerotax run --loop",
      "The document of zerotax run --loop --json: a loop of calloc and free, and a loop of malloc and free, for each "
      "allocator and size. A metric that could not be measured is {\"na\": \"why\"}, never 0.");
  SCHEMA_FIELD("zerotax.loop/1");
  VERSION_FIELD();
  FIELD(Completion, state, "State of the run: all clients ran, or the run was stopped early.");
  STARTED_FIELD();
  MEMBER(command, "The command line, verbatim.", kMayBeEmpty, least_items(1));
  ENVIRONMENT_FIELD();
  FIELD(std::vector<Json>, allocators, "The allocators under test, as the probes report them.",
        as_in("run.schema.json#/properties/allocators"));
  FIELD(std::uint64_t, calls, "Number of calls in each loop; all values of a loop are totals over these calls.",
        least(1));
  FIELD(double, touch, "Fraction of the pages that the program writes between the call and free.",
        as_in("point.schema.json#/properties/touch"));
  FIELD(std::vector<PairEntry>, loops, "The loops, ordered by size first.");
};

Json loops_json(const Plan& plan, const LoopRequest& request, const std::vector<LoopPair>& pairs,
                const std::vector<std::string>& command, const std::string& started, bool complete);

/// Returns a table of at most 80 columns for each size, followed by the cost of zeroing.
std::string loops_text(const Plan& plan, const LoopRequest& request, const std::vector<LoopPair>& pairs);

/// Runs `zerotax run --loop`: a loop of calloc and a loop of malloc for each allocator and size. Prints a table, or
/// writes JSON. `seconds` is the time limit of a loop. Throws UsageError.
ExitStatus run_loop(const MeasureOptions& options, double seconds);

}  // namespace zerotax::study
