#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/fields.h"
#include "base/json.h"
#include "record/calls/result.h"

namespace zerotax::replay {

// The fields below are the keys of results/schema/replay.schema.json, which describes them.

using Count = Measured<std::uint64_t>;

/// What one replay did.
struct Replayed {
  Json allocator;
  record::CallsCounts counts;
  // Bounds, if written pages are unknown. `counts` are then n/a where they depend on these pages.
  std::optional<record::CallsCounts> at_least;
  std::optional<record::CallsCounts> at_most;
  Count failed_calls;
  Measured<std::int64_t> user_ns;
  Measured<std::int64_t> system_ns;
  Measured<std::int64_t> wall_ns;
  bool as_recorded = false;  ///< the allocator, and the settings, of the recorded run

  std::string name;  ///< not in the document
};

/// By how much a replay as recorded differs from the recorded run: 0.05 is 5 % more.
struct Errors {
  Measured<double> minor_faults;
  Measured<double> zero_fill_faults;
  Measured<double> kernel_zeroed_bytes;
  Measured<double> refilled_bytes;
  Measured<double> returned_bytes;
  Measured<double> zeroed_bytes;
  Measured<double> redundant_zeroed_bytes;
  Measured<double> mapping_calls;
  Measured<double> peak_bytes;
};

/// The recording.
struct Recording {
  std::string path;
  std::uint64_t bytes = 0;
  std::uint64_t calls = 0;
  std::uint64_t processes = 0;
  std::uint64_t threads = 0;
  std::string allocator;
  std::vector<std::string> env;
  bool limited = false;
  std::optional<std::uint64_t> unknown_blocks;  ///< large blocks with unknown pages
  std::optional<std::uint64_t> unknown_bytes;   ///< the most that the program wrote and a replay does not
  record::CallsCounts counts;
};

/// What became of one recording.
struct Workload {
  Recording recording;
  std::string order;  ///< "recorded" or "free_running"
  std::vector<Replayed> replays;
  std::optional<Errors> errors;
  std::string prediction;  ///< how well replay predicts, as a sentence
  bool complete = true;
};

/// The object "zerotax.replay/1".
struct Replay : DocumentHead, Workload {};

/// The object "zerotax.workloads/1": recordings that were replayed under the same allocators.
struct Workloads : DocumentHead {
  std::vector<Workload> workloads{};
  std::string sentence{};  ///< which allocators write the fewest zeros; empty if that is not known
  bool complete = true;
};

/// "jemalloc" of "jemalloc 5.3.0 MALLOC_CONF=...".
std::string short_name(const Replayed& replay);
/// Zeros that kernel and allocator wrote.
Count zeros_of(const record::CallsCounts& counts);
/// Adds the sentence.
void add_sentence(Workloads& workloads);

/// Adds errors and the sentence on them.
void add_verdict(Workload& workload);
/// Whether any allocator could not be replayed.
bool any_failed(const Workload& workload);

std::string replay_text(const Replay& replay);
/// A table of workloads x allocators, zeros by kernel and allocator together; and the sentence.
std::string zeros_text(const Workloads& workloads);
/// The same, and tables of refilled memory, the most memory held, and CPU time.
std::string workloads_text(const Workloads& workloads);

}  // namespace zerotax::replay
