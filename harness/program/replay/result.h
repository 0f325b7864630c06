#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/fields.h"
#include "base/json.h"
#include "record/calls/result.h"

namespace zerotax::replay {

using Count = Measured<std::uint64_t>;

struct Replayed {
  RESULT("replayed", "What one replay did.");
  FIELD(Json, allocator, "As in run.schema.json.", with(R"({"type": "object"})"));
  FIELD(record::CallsCounts, counts, "What the replay counted. Counts that depend on unknown pages are n/a.");
  FIELD(std::optional<record::CallsCounts>, at_least,
        "What the replay counted without the unknown pages. Absent if no pages are unknown.");
  FIELD(std::optional<record::CallsCounts>, at_most, "What the replay would count with all unknown pages.");
  FIELD(Count, failed_calls, "Calls that returned no block.");
  FIELD(Measured<std::int64_t>, user_ns, "CPU time in user mode, without the recorder.");
  FIELD(Measured<std::int64_t>, system_ns, "CPU time in the kernel, without the recorder.");
  FIELD(Measured<std::int64_t>, wall_ns, "From start to end, without the recorder.");
  FIELD(bool, as_recorded, "Whether allocator and settings are those of the recorded run.");
  std::string name;  ///< not in the document
};

struct Errors {
  RESULT("errors", "By how much a replay as recorded differs from the recorded run: 0.05 is 5 % more.");
  FIELD(Measured<double>, minor_faults, "Of minor_faults.", kAnySign);
  FIELD(Measured<double>, zero_fill_faults, "Of zero_fill_faults.", kAnySign);
  FIELD(Measured<double>, kernel_zeroed_bytes, "Of kernel_zeroed_bytes.", kAnySign);
  FIELD(Measured<double>, refilled_bytes, "Of refilled_bytes.", kAnySign);
  FIELD(Measured<double>, returned_bytes, "Of returned_bytes.", kAnySign);
  FIELD(Measured<double>, zeroed_bytes, "Of zeroed_bytes.", kAnySign);
  FIELD(Measured<double>, redundant_zeroed_bytes, "Of redundant_zeroed_bytes.", kAnySign);
  FIELD(Measured<double>, mapping_calls, "Of mapping_calls.", kAnySign);
  FIELD(Measured<double>, peak_bytes, "Of peak_bytes.", kAnySign);
};

struct Recording {
  RESULT("recording", "The recording.");
  FIELD(std::string, path, "As it was given.", kMayBeEmpty);
  FIELD(std::uint64_t, bytes, "Bytes of the file.");
  FIELD(std::uint64_t, calls, "Calls of the allocator that were replayed.");
  FIELD(std::uint64_t, processes, "Processes that made them.");
  FIELD(std::uint64_t, threads, "Threads of all processes.");
  FIELD(std::string, allocator, "File name of the recorded allocator's library.", kMayBeEmpty);
  FIELD(std::vector<std::string>, env, "Its settings, as KEY=VALUE.", kMayBeEmpty);
  FIELD(bool, limited, "Whether the recording stopped at --calls-limit.");
  FIELD(std::optional<std::uint64_t>, unknown_blocks,
        "Large blocks whose populated pages are not all in the recording, because the end of their process was not "
        "seen. Absent: none.");
  FIELD(std::optional<std::uint64_t>, unknown_bytes,
        "The most bytes of pages that the recorded processes wrote to and a replay does not write to.");
  FIELD(record::CallsCounts, counts, "What the recorded run counted.");
};

struct Workload {
  RESULT("workload", "What became of one recording.");
  FIELD(Recording, recording, "The file that was replayed.");
  FIELD(std::string, order, "How calls of several threads follow each other.", one_of("recorded|free_running"));
  FIELD(std::vector<Replayed>, replays, "One for each allocator.");
  FIELD(std::optional<Errors>, errors, "By how much the replay as recorded differs from the recorded run.");
  FIELD(std::string, prediction, "How well replay predicts, in a sentence.");
  MEMBER(complete, "Whether all of it was measured.");
  bool complete = true;
};

struct Replay : DocumentHead, Workload {
  RESULT("zerotax replay", "What zerotax replay --json writes: recorded calls, made again under several allocators.");
  SCHEMA_FIELD("zerotax.replay/1");
  VERSION_FIELD();
  STARTED_FIELD();
  MEMBER(environment, "As in run.schema.json.", with(R"({"type": "object"})"));
  MEMBER(command, "Words of the command line.", kMayBeEmpty);
  BASE_FIELDS(Workload);
};

struct Workloads : DocumentHead {
  RESULT("zerotax replay of several recordings",
         "What zerotax replay --json writes for several recordings, and zerotax study in workloads.json: each replayed "
         "under the same allocators.");
  SCHEMA_FIELD("zerotax.workloads/1");
  VERSION_FIELD();
  STARTED_FIELD();
  MEMBER(environment, "As in run.schema.json.", with(R"({"type": "object"})"));
  MEMBER(command, "Words of the command line.", kMayBeEmpty);
  FIELD(std::vector<Workload>, workloads, "One for each recording.");
  FIELD(std::string, sentence,
        "Which allocators write the fewest zeros, in a sentence; empty while nothing was replayed.", kMayBeEmpty);
  MEMBER(complete, "Whether all of it was measured.");
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

/// The head of a document, with the present time and environment.
DocumentHead new_head(const char* schema);
/// The objects "zerotax.replay/1" and "zerotax.workloads/1".
Json replay_json(const Replay& replay);
Json workloads_json(const Workloads& workloads);
Workloads read_workloads(const Json& json);

std::string replay_text(const Replay& replay);
/// A table of workloads x allocators, zeros by kernel and allocator together; and the sentence.
std::string zeros_text(const Workloads& workloads);
/// The same, and tables of refilled memory, the most memory held, and CPU time.
std::string workloads_text(const Workloads& workloads);

}  // namespace zerotax::replay
