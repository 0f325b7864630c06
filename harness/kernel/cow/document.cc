#include "cow/document.h"

namespace zerotax::cow {

NLOHMANN_JSON_SERIALIZE_ENUM(Method, {{Method::kTracepoints, method_name(Method::kTracepoints)},
                                      {Method::kSoftware, method_name(Method::kSoftware)}})
NLOHMANN_JSON_SERIALIZE_ENUM(MappingKind, {{MappingKind::kHeap, "heap"},
                                           {MappingKind::kStack, "stack"},
                                           {MappingKind::kFile, "file"},
                                           {MappingKind::kAnonymous, "anonymous"},
                                           {MappingKind::kSpecial, "special"},
                                           {MappingKind::kUnknown, "unknown"}})

ZEROTAX_FIELDS(Counts, copies, reuses, zero_fills, refills, file_faults, other, kernel, copied_bytes, zeroed_bytes,
               copy_ns)
ZEROTAX_FIELDS(Totals, copies, reuses, zero_fills, refills, file_faults, other, kernel, copied_bytes, zeroed_bytes,
               copy_ns, lost, handled)
ZEROTAX_FIELDS(Mapping, begin, end, kind, name, counts)
ZEROTAX_FIELDS(Process, pid, parent, name, counts, rss_bytes, pss_bytes, vsz_bytes, mappings)
ZEROTAX_FIELDS(IntervalProcess, pid, child, counts, rss_bytes, pss_bytes, vsz_bytes)
ZEROTAX_FIELDS(Interval, from_s, to_s, began, ended, counts, processes)
ZEROTAX_FIELDS(FaultsFile, path, written, not_written, problem)
ZEROTAX_FIELDS(HalfWidths, copies, reuses, zero_fills)
ZEROTAX_FIELDS(Sampling, recorded, windows, half_width_95)
ZEROTAX_FIELDS(Bound, at_least, at_most)
ZEROTAX_FIELDS(Bounds, copies, zero_fills)
ZEROTAX_FIELDS(Unwatched, pid, name, faults)
ZEROTAX_FIELDS(Stacks, taken, lost, skipped)
ZEROTAX_FIELDS(Code, function, module, counts, through)
ZEROTAX_FIELDS(CopyingEnd, at_s, child_from_s, child_to_s, copies_until, copies_after, zero_fills_until,
               zero_fills_after)
ZEROTAX_FIELDS(InSystemCalls, copies, zero_fills)
ZEROTAX_FIELDS(Cow, schema, zerotax_version, started, environment, command, pid, exit_status, method, counted,
               interval_s, wall_s, buffer_bytes, faults_file, totals, sampling, bounds, unclassified, in_system_calls,
               unwatched, running, processes, intervals, script_names, stacks, code, copying_ended, sentence, notes)

Json cow_json(const Cow& cow) { return cow; }

Cow read_cow(const Json& json) { return json.get<Cow>(); }

}  // namespace zerotax::cow
