#include "record/document.h"

#include "judge/projects.h"
#include "record/inside.h"
#include "record/remedies.h"

namespace zerotax::record {

NLOHMANN_JSON_SERIALIZE_ENUM(Began, {{Began::kExec, "exec"}, {Began::kFork, "fork"}})
NLOHMANN_JSON_SERIALIZE_ENUM(ZeroedBy, {{ZeroedBy::kCounted, "counted"},
                                        {ZeroedBy::kSampled, "sampled"},
                                        {ZeroedBy::kBounded, "bounded"}})
NLOHMANN_JSON_SERIALIZE_ENUM(Watched, {{Watched::kCommand, "command"},
                                       {Watched::kProcess, "process"},
                                       {Watched::kCgroup, "cgroup"},
                                       {Watched::kUser, "user"},
                                       {Watched::kMachine, "machine"}})
NLOHMANN_JSON_SERIALIZE_ENUM(ReturnCause, {{kByFree, "free"},
                                           {kByRealloc, "realloc"},
                                           {kByAllocation, "allocation"},
                                           {kByPurge, "purge"},
                                           {kByProgram, "program"}})
NLOHMANN_JSON_SERIALIZE_ENUM(Mechanism, {{kMunmap, mechanism_name(kMunmap)},
                                         {kMadvise, mechanism_name(kMadvise)},
                                         {kBrk, mechanism_name(kBrk)},
                                         {kMremap, mechanism_name(kMremap)},
                                         {kMmap, mechanism_name(kMmap)}})

void to_json(Json& json, Cause cause) { json = cause_name(cause); }
void from_json(const Json& json, Cause& cause) {
  for (cause = Cause::kFresh; cause < Cause::kStores && json != cause_name(cause);) {
    cause = static_cast<Cause>(static_cast<int>(cause) + 1);
  }
}

ZEROTAX_FIELDS(Zeroing, zeroing_stores, zeroed_bytes, redundant_zeroed_bytes, examined_zeroed_bytes, zero_ns,
               zero_cpu_ns, zero_faults, timed_zeroed_bytes)
ZEROTAX_FIELDS(SmallSamples, stores, bytes, redundant_bytes)
ZEROTAX_FIELDS(UnseenCalls, calls, populated_bytes)
ZEROTAX_FIELDS(HugeBlocks, freed, examined_bytes, written_bytes)
ZEROTAX_FIELDS(ReturnedBy, by, mechanism, calls, bytes, cpu_ns)
ZEROTAX_FIELDS(Returned, calls, bytes, cpu_ns, sampled_calls, rows, interval_bytes)
ZEROTAX_FIELDS(Metrics, calloc_calls, requested_bytes, zeroing_stores, zeroed_bytes, redundant_zeroed_bytes,
               examined_zeroed_bytes, zero_ns, zero_cpu_ns, zero_faults, timed_zeroed_bytes, malloc_calls, malloc_bytes,
               realloc_calls, realloc_bytes, by_hand, by_program, small_samples, unseen, in_free, free_calls, returned,
               offered_bytes, huge_blocks, own_ns, own_cpu_ns)
ZEROTAX_FIELDS(KernelMetrics, zeroed_bytes, huge_bytes, fresh_bytes, refilled_bytes, returned_bytes, peak_bytes,
               zero_fill_faults, minor_faults, minor_faults_at_least, zeroed_interval_bytes, fault_cpu_ns,
               zeroed_at_least_bytes, zeroed_at_most_bytes, refilled_interval_bytes)
ZEROTAX_FIELDS(Totals, calloc_calls, requested_bytes, zeroing_stores, zeroed_bytes, redundant_zeroed_bytes,
               examined_zeroed_bytes, zero_ns, zero_cpu_ns, zero_faults, timed_zeroed_bytes, malloc_calls, malloc_bytes,
               realloc_calls, realloc_bytes, by_hand, by_program, small_samples, unseen, in_free, free_calls, returned,
               offered_bytes, huge_blocks, own_ns, own_cpu_ns, kernel, share_of_wall, share_of_cpu)
ZEROTAX_FIELDS(SizeRow, from_bytes, below_bytes, calloc_calls, requested_bytes, malloc_calls, realloc_calls,
               zeroed_bytes, redundant_zeroed_bytes, by_hand_zeroed_bytes, by_hand_redundant_zeroed_bytes,
               unpopulated_blocks, kernel_zeroed_bytes, refilled_bytes, returned_bytes)
ZEROTAX_FIELDS(SampledSite, zeroed_bytes, redundant_zeroed_bytes, kernel_zeroed_bytes, calls, kernel_interval_bytes,
               return_calls, returned_at_most_bytes, returned_interval_bytes, zero_cpu_ns, zero_cpu_interval_ns)
void to_json(Json& json, const ReturnedBytes& bytes) {
  json = Json::object();
  for (std::size_t i = 0; i < kMechanisms; ++i) {
    if (bytes.by[i] != 0) json[mechanism_name(i)] = bytes.by[i];
  }
}
void from_json(const Json& json, ReturnedBytes& bytes) {
  for (std::size_t i = 0; i < kMechanisms; ++i) bytes.by[i] = json.value(mechanism_name(i), std::uint64_t{0});
}
ZEROTAX_FIELDS(RecordedSite, kind, calls, requested_bytes, zeroed_bytes, redundant_zeroed_bytes, zero_ns, zero_faults,
               sampled, kernel_zeroed_bytes, refilled_bytes, returned_by, returned_bytes, frames)
ZEROTAX_FIELDS(RecordedThread, tid, name, threads, figures)
ZEROTAX_FIELDS(RecordedProcess, pid, parent_pid, executable, command, allocator, began, started_ns, ended, wall_ns,
               user_ns, system_ns, gaps, figures, kernel, lost_blocks, threads)
ZEROTAX_FIELDS(NotFollowed, pid, program, reason, processes, minor_faults, cpu_ns)
ZEROTAX_FIELDS(TaxRow, cause, bytes, faults, cpu_ns, share_of_cpu, estimated, at_least_cpu_ns, at_most_cpu_ns,
               at_most_bytes, cpu_interval_ns)
ZEROTAX_FIELDS(OtherFaults, faults, estimated_cpu_ns, noticed)
NLOHMANN_JSON_SERIALIZE_ENUM(Beside, {{Beside::kSharedMemory, "shared_memory"},
                                      {Beside::kZeroPages, "zero_pages"},
                                      {Beside::kCopiedInFork, "copied_in_fork"},
                                      {Beside::kExit, "exit"},
                                      {Beside::kThrottled, "throttled"}})
ZEROTAX_FIELDS(BesideRow, what, bytes, ns, noticed, at_least)
ZEROTAX_FIELDS(NotRecorded, processes, minor_faults, cpu_ns, noticed)
ZEROTAX_FIELDS(FaultCost, base_ns_per_byte, huge_ns_per_byte, samples, measured_in)
ZEROTAX_FIELDS(Tax, cpu_ns, recorder_cpu_ns, zeroing_cpu_ns, kernel_cpu_ns, share_of_cpu, zeroing_at_least_cpu_ns,
               zeroing_at_most_cpu_ns, zeroing_cpu_interval_ns, capped, rows, other_faults, beside, not_recorded,
               timing_changed, kernel_unknown_processes, fault_cost, advice)
ZEROTAX_FIELDS(RunResult, exit_status, signal, wall_ns, user_ns, system_ns)
ZEROTAX_FIELDS(Rule, large_bytes, first_sample_bytes, last_sample_bytes)
ZEROTAX_FIELDS(Outside, why, watched, pid, cgroup, zeroed_by, cpu_samples, fault_samples, return_samples,
               why_no_returns, lost_records, clearing_cpu_ns, clearing_interval_ns, advisable, notes)
ZEROTAX_FIELDS(SizeClass, from_bytes, calls, bytes)
ZEROTAX_FIELDS(StoreCaller, frame, function, calls, bytes, smallest_bytes, largest_bytes, sizes)
ZEROTAX_FIELDS(StoreSizes, calls, bytes, other_bytes_calls, lost_calls, functions, unwatched, callers)
ZEROTAX_FIELDS(Record, schema, zerotax_version, started, environment, command, allocator, run, rule, tax, totals,
               histogram, sites, kernel_zeroed_elsewhere_bytes, script_names, processes, not_followed, lost_processes,
               arena_bytes, outside, store_sizes)
ZEROTAX_FIELDS_READ(KnownRemedy, name, env, causes, words, costs, always, threads, huge_pages, since, before, undoes,
                    unbounded, growing)
ZEROTAX_FIELDS_READ(InsideMarks, text, variable)

/// allocators/<name>/upstream.json, as far as it is read here.
struct Upstream {
  std::optional<std::vector<KnownRemedy>> remedies;
  std::optional<InsideMarks> inside;
  std::optional<std::vector<std::string>> setters;
};
ZEROTAX_FIELDS_READ(Upstream, remedies, inside, setters)

namespace {

Upstream upstream(const std::string& allocator) {
  const Json* json = upstream_of(allocator);
  return json == nullptr ? Upstream{} : json->get<Upstream>();
}

}  // namespace

std::vector<KnownRemedy> known_remedies(const std::string& allocator) {
  return upstream(allocator).remedies.value_or(std::vector<KnownRemedy>{});
}

std::vector<std::string> option_setters(const std::string& allocator) {
  return upstream(allocator).setters.value_or(std::vector<std::string>{});
}

std::map<std::string, InsideMarks> inside_marks() {
  std::map<std::string, InsideMarks> marks;
  for (const auto& [allocator, text] : embedded_upstreams()) {
    if (const auto inside = upstream(allocator).inside) marks.emplace(allocator, *inside);
  }
  return marks;
}

Json record_json(const Record& record) { return record; }
Record read_record(const Json& json) { return json.get<Record>(); }

}  // namespace zerotax::record
