#include "snapshot/document.h"

namespace zerotax::snapshot {

void to_json(Json& json, Status status) { json = status_name(status); }
void from_json(const Json& json, Status& status) { status = status_of(json.get<std::string>()); }
NLOHMANN_JSON_SERIALIZE_ENUM(FaultMethod,
                             {{FaultMethod::kTracepoints, "tracepoints"}, {FaultMethod::kSoftware, "software"}})
NLOHMANN_JSON_SERIALIZE_ENUM(Effect,
                             {{Effect::kRemoves, "removes"}, {Effect::kReduces, "reduces"}, {Effect::kNone, "none"}})
NLOHMANN_JSON_SERIALIZE_ENUM(IsItCopying, {{IsItCopying::kNo, "no"},
                                           {IsItCopying::kUntilEnd, "until_end"},
                                           {IsItCopying::kAfterEnd, "after_end"}})
NLOHMANN_JSON_SERIALIZE_ENUM(DoneFirst, {{DoneFirst::kAlways, "always"},
                                         {DoneFirst::kSometimes, "sometimes"},
                                         {DoneFirst::kNever, "never"}})

ZEROTAX_FIELDS(Quantiles, median, p05, p95)
ZEROTAX_FIELDS(Counts, copies, reuses, zero_fills, file_faults, other)
ZEROTAX_FIELDS(Memory, before_bytes, peak_bytes, samples)
ZEROTAX_FIELDS(Destination, pages, parent, child)
ZEROTAX_FIELDS(Timeline, bin_ns, bins)
ZEROTAX_FIELDS(Faults, method, lost, before_end, after_end, elsewhere, child, helper, destination, traced, counted,
               pages, exclusive_pages, end_s, timeline)

void to_json(Json& json, const Sections& sections) {
  for (std::size_t work = 0; work < kKernelWorks; ++work) json[kernel_works()[work].key] = sections[work];
}
void from_json(const Json& json, Sections& sections) {
  for (std::size_t work = 0; work < kKernelWorks; ++work) json.at(kernel_works()[work].key).get_to(sections[work]);
}

ZEROTAX_FIELDS(CpuPart, samples, user_ns, kernel_ns, sections_ns)
ZEROTAX_FIELDS(Cpu, hz, lost, before_end, after_end, child)
ZEROTAX_FIELDS(CpuInterval, end_ns, user_ns, system_ns, child_user_ns, child_system_ns)
ZEROTAX_FIELDS(CpuTime, writers_begin_ns, writers_end_ns, snapshot_ns, child_end_ns, intervals)
ZEROTAX_FIELDS(Child, user_ns, system_ns, batches, unmapped_batches, unmap_error)
ZEROTAX_FIELDS(HelperFigures, wall_ns, user_ns, system_ns, faults, failed_bytes)
ZEROTAX_FIELDS(AfterEnd, runs, writers_user_ns, writers_system_ns, writers_faults, helper)
ZEROTAX_FIELDS(Mark, slowdown, memory_share, stopped_ns)
ZEROTAX_FIELDS(WithAndWithout<double>, without, with)
ZEROTAX_FIELDS(WithAndWithout<std::uint64_t>, without, with)
ZEROTAX_FIELDS(Remedy, of, faults, writers_system_ns, reuse_faults, writers_cpu_ns, helper_cpu_ns, saved_ns, effect,
               sentence)
ZEROTAX_FIELDS(Threads, writers, checkpointers, passes)
ZEROTAX_FIELDS(Result, version, preload, env, allocator, alternative, status, reason, parameters, baseline, runs,
               has_child, writers_wall_ns, slowdown, writers_user_ns, writers_system_ns, stopped_ns, snapshot_ns,
               checked_elements, child, after_end, memory, faults, faults_held, cpu, cpu_held, cpu_time, mark, remedy)
ZEROTAX_FIELDS(Parameters, array_bytes, batch_bytes, writers, checkpointers, passes, repeat, hold)
ZEROTAX_FIELDS(AlternativeFacts, name, summary, remedy_of, published)
ZEROTAX_FIELDS(NextCommand, command, measures)
ZEROTAX_FIELDS(Advice, allocator, instead_of, least_time, shortest_stop, least_memory, least_time_with_child,
               no_faults_after_end, next)
ZEROTAX_FIELDS_WRITTEN(Snapshot, schema, zerotax_version, state, started, command, environment, parameters,
                       alternatives, results, advice, sentence, contradiction, loss, notes)
// The verdict is not read but made again (add_verdict).
ZEROTAX_FIELDS_READ(Snapshot, schema, zerotax_version, state, started, command, environment, parameters, alternatives,
                    results)

ZEROTAX_FIELDS_WRITTEN(NodeShares, first, second)
ZEROTAX_FIELDS_WRITTEN(Placed, array, destination)
ZEROTAX_FIELDS_WRITTEN(SweepVerdict, is_it_copying, copy_done_first, sentence)
/// A row of a sweep contains the parameters of its snapshot and its figures, but fewer counts of faults than a result.
void to_json(Json& json, const SweptRow& row) {
  json = Json::object();
  const auto add = [&](const char* key, const auto& value) { write_field(json, key, value); };
  add("alternative", row.alternative);
  add("array_bytes", row.at.array_bytes);
  add("batch_bytes", row.at.batch_bytes);
  add("writers", row.at.writers);
  add("checkpointers", row.at.checkpointers);
  add("passes", row.at.passes);
  add("placement", row.at.placement);
  add("status", row.status);
  add("reason", row.reason);
  add("runs", row.runs);
  add("writers_wall_ns", row.writers_wall_ns);
  add("copy_ns", row.snapshot_ns);
  add("child_end_ns", row.child_end_ns);
  add("writers_user_ns", row.writers_user_ns);
  add("writers_system_ns", row.writers_system_ns);
  add("copy_done_first_runs", row.copy_done_first_runs);
  add("cpu_time", row.cpu_time);
  add("faults", row.faults);
  if (Json& faults = json["faults"]; row.faults) {
    for (const char* key :
         {"elsewhere", "child", "helper", "destination", "traced", "counted", "exclusive_pages", "end_s", "timeline"}) {
      faults.erase(key);
    }
  }
  add("placed", row.placed);
  add("verdict", row.verdict);
}

ZEROTAX_FIELDS_WRITTEN(SweptAxes, writers, checkpointers, array_bytes, batch_bytes, placement)
ZEROTAX_FIELDS_WRITTEN(Sweep, schema, zerotax_version, state, started, command, environment, allocator, repeat, axes,
                       rows, loss, sentence)

Json snapshot_json(const Snapshot& snapshot) { return snapshot; }

Snapshot read_snapshot(const Json& json) { return json.get<Snapshot>(); }

Json sweep_json(const Sweep& sweep) { return sweep; }

}  // namespace zerotax::snapshot
