#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/answer.h"
#include "base/fields.h"
#include "base/json.h"
#include "record/calls/result.h"

namespace zerotax::replay {

using Count = Measured<std::uint64_t>;

struct Replayed {
  RESULT("replayed", "Results of one replay.");
  FIELD(Json, allocator, "The allocator, as in run.schema.json.", with(R"({"type": "object"})"));
  FIELD(record::CallsCounts, counts, "Counts of the replay. A count that depends on unknown pages is n/a.");
  FIELD(std::optional<record::CallsCounts>, at_least,
        "Counts of the replay without the unknown pages. Absent if no pages are unknown.");
  FIELD(std::optional<record::CallsCounts>, at_most, "Counts of the replay with all unknown pages included.");
  FIELD(Count, failed_calls, "Number of calls that returned no block.");
  FIELD(Measured<std::int64_t>, user_ns, "CPU time in user mode, without the recorder.");
  FIELD(Measured<std::int64_t>, system_ns, "CPU time in the kernel, without the recorder.");
  FIELD(Measured<std::int64_t>, wall_ns, "Wall time in nanoseconds, without the recorder.");
  FIELD(bool, as_recorded, "Whether the replay has the allocator and settings of the recorded run.");
  std::string name;  ///< not in the document
};

struct Errors {
  RESULT("errors",
         "Relative differences between the counts of the recorded run and of its replay under the same allocator and "
         "settings. 0.05 means 5 % more in the replay.");
  FIELD(Measured<double>, minor_faults, "Relative difference of minor_faults.", kAnySign);
  FIELD(Measured<double>, zero_fill_faults, "Relative difference of zero_fill_faults.", kAnySign);
  FIELD(Measured<double>, kernel_zeroed_bytes, "Relative difference of kernel_zeroed_bytes.", kAnySign);
  FIELD(Measured<double>, refilled_bytes, "Relative difference of refilled_bytes.", kAnySign);
  FIELD(Measured<double>, returned_bytes, "Relative difference of returned_bytes.", kAnySign);
  FIELD(Measured<double>, zeroed_bytes, "Relative difference of zeroed_bytes.", kAnySign);
  FIELD(Measured<double>, redundant_zeroed_bytes, "Relative difference of redundant_zeroed_bytes.", kAnySign);
  FIELD(Measured<double>, mapping_calls, "Relative difference of mapping_calls.", kAnySign);
  FIELD(Measured<double>, peak_bytes, "Relative difference of peak_bytes.", kAnySign);
};

struct Recording {
  RESULT("recording", "The recording that was replayed.");
  FIELD(std::string, path, "Path of the recording, as given on the command line.", kMayBeEmpty);
  FIELD(std::uint64_t, bytes, "Size of the file in bytes.");
  FIELD(std::uint64_t, calls, "Number of calls to the allocator that were replayed.");
  FIELD(std::uint64_t, processes, "Number of processes that made the calls.");
  FIELD(std::uint64_t, threads, "Number of threads of all processes.");
  FIELD(std::string, allocator, "File name of the recorded allocator's library.", kMayBeEmpty);
  FIELD(std::vector<std::string>, env, "Settings of the recorded allocator, as KEY=VALUE.", kMayBeEmpty);
  FIELD(bool, limited, "Whether the recording stopped at --calls-limit.");
  FIELD(std::optional<std::uint64_t>, unknown_blocks,
        "Large blocks of which the recording may lack populated pages, because the end of their process was not "
        "seen. Absent if there are no such blocks.");
  FIELD(std::optional<std::uint64_t>, unknown_bytes,
        "Upper bound of the bytes of pages to which the recorded processes wrote and a replay does not write.");
  FIELD(record::CallsCounts, counts, "Counts of the recorded run.");
};

struct Workload {
  RESULT("workload", "Replays of one recording.");
  FIELD(Recording, recording, "The file that was replayed.");
  FIELD(std::string, order, "Order of calls by different threads.", one_of("recorded|free_running"));
  FIELD(std::vector<Replayed>, replays, "One replay for each allocator.");
  FIELD(std::optional<Errors>, errors,
        "Relative differences between the counts of the recorded run and of its replay under the same allocator and "
        "settings.");
  FIELD(std::string, prediction, "Accuracy of the replay's predictions, in a sentence.");
  MEMBER(complete, "Whether all replays were measured.");
  bool complete = true;
};

struct Replay : DocumentHead, Workload {
  RESULT("zerotax replay", "Recorded calls, repeated under several allocators, as zerotax replay --json writes them.");
  SCHEMA_FIELD("zerotax.replay/1");
  VERSION_FIELD();
  STARTED_FIELD();
  MEMBER(environment, "The machine and kernel, as in run.schema.json.", with(R"({"type": "object"})"));
  MEMBER(command, "The command line, as a list of words.", kMayBeEmpty);
  BASE_FIELDS(Workload);
};

struct Workloads : DocumentHead {
  RESULT("zerotax replay of several recordings",
         "Several recordings, each replayed under the same allocators, as zerotax replay --json writes them, and "
         "zerotax study in workloads.json.");
  SCHEMA_FIELD("zerotax.workloads/1");
  VERSION_FIELD();
  STARTED_FIELD();
  MEMBER(environment, "The machine and kernel, as in run.schema.json.", with(R"({"type": "object"})"));
  MEMBER(command, "The command line, as a list of words.", kMayBeEmpty);
  FIELD(std::vector<Workload>, workloads, "Results for each recording.");
  FIELD(std::string, sentence,
        "A sentence that names the allocators that write the fewest zeros; empty while nothing was replayed.",
        kMayBeEmpty);
  MEMBER(complete, "Whether all replays were measured.");
  bool complete = true;
};

/// Returns the name without version and settings: "jemalloc" for "jemalloc 5.3.0 MALLOC_CONF=...".
std::string short_name(const Replayed& replay);
/// Returns the number of bytes that kernel and allocator zeroed together.
Count zeros_of(const record::CallsCounts& counts);
/// Sets the sentence about the allocators that write the fewest zeros.
void add_sentence(Workloads& workloads);

/// Sets the errors of the replay under the recorded allocator, and the sentence about these errors.
void add_verdict(Workload& workload);
/// Whether the replay under the recorded allocator differs from the recorded run by at most 5 % in faults,
/// kernel-zeroed bytes and refilled bytes.
bool predicts_well(const Workload& workload);
/// Whether any allocator could not be replayed.
bool any_failed(const Workload& workload);

/// Returns the head of a document, with the present time and environment.
DocumentHead new_head(const char* schema);
/// Return the objects "zerotax.replay/1" and "zerotax.workloads/1".
Json replay_json(const Replay& replay);
Json workloads_json(const Workloads& workloads);
Workloads read_workloads(const Json& json);

/// Returns the replays of the recording with the most replays. These replays give the columns of a table of recordings.
/// `all` must not be empty.
inline const std::vector<Replayed>& all_replays(const Workloads& all) {
  return std::max_element(all.workloads.begin(), all.workloads.end(),
                          [](const Workload& a, const Workload& b) { return a.replays.size() < b.replays.size(); })
      ->replays;
}

/// Return the answers. Each answer fits one screen.
Answer replay_answer(const Replay& replay);
Answer workloads_answer(const Workloads& workloads);
/// Return a sentence: about the least and the greatest CPU time, or about the allocators with the fewest zeros.
std::string headline(const Replay& replay);
std::string headline(const Workloads& workloads);

std::string replay_text(const Replay& replay);
/// Returns a table of workloads and allocators with the zeros by kernel and allocator together, and the sentence about
/// the fewest zeros.
std::string zeros_text(const Workloads& workloads);
/// Returns zeros_text() and tables of refilled memory, peak memory and CPU time.
std::string workloads_text(const Workloads& workloads);

// Parts of the texts above.

/// Sum of the CPU times in user mode and in kernel mode.
Measured<std::int64_t> cpu_ns(const Replayed& replay);
/// Explains a time by its counts, such as "faults 206 to 4,409, by kernel 800 KiB to 17.2 MiB, ...". If nothing was
/// counted, returns the reason.
std::string why_text(const Replayed& replay);

}  // namespace zerotax::replay
