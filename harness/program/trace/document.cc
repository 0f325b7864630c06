#include "trace/document.h"

template <>
struct nlohmann::adl_serializer<zerotax::recorder::ControlRecording> {
  static void to_json(zerotax::Json& json, zerotax::recorder::ControlRecording state) {
    json = zerotax::trace::state_name(state);
  }
};

namespace zerotax::trace {

NLOHMANN_JSON_SERIALIZE_ENUM(Direction,
                             {{Direction::kSame, "same"}, {Direction::kLess, "less"}, {Direction::kMore, "more"}})

void to_json(Json& json, FunctionChange change) { json = change_words(change); }

ZEROTAX_FIELDS_WRITTEN(Stream, stream, tid, in_handlers, events, first_ns, last_ns, discarded)
ZEROTAX_FIELDS_WRITTEN(Process, pid, name, folder, mode, clock, ticks_per_second, realtime_minus_monotonic_ns, streams)
ZEROTAX_FIELDS_WRITTEN(EventCount, name, events, first_ns, last_ns)
ZEROTAX_FIELDS_WRITTEN(Distribution, count, total_ns, mean_ns, variance_ns2, min_ns, p25_ns, median_ns, p75_ns, p95_ns,
                       p99_ns, max_ns)
ZEROTAX_FIELDS_WRITTEN(HistogramRow, from_ns, to_ns, count)
ZEROTAX_FIELDS_WRITTEN(IntervalKey, from, to)
ZEROTAX_FIELDS_WRITTEN(IntervalThread, pid, tid, from_without_to, to_without_from, time)
ZEROTAX_FIELDS_WRITTEN(Intervals, from, to, key, all, sentence, histogram, threads)
ZEROTAX_FIELDS_WRITTEN(Summary, folder, events, first_ns, last_ns, discarded, problems, processes, types, intervals)

ZEROTAX_FIELDS_WRITTEN(Filters, functions, not_functions, objects, not_objects)
ZEROTAX_FIELDS_WRITTEN(FunctionRow, pid, frame, calls, total_ns, self_ns, min_ns, median_ns, p90_ns, p99_ns, max_ns,
                       mean_ns, variance_ns2, stddev_ns, left_without_exit, unfinished)
ZEROTAX_FIELDS_WRITTEN(PathRow, pid, depth, parent, frame, calls, total_ns, self_ns, unfinished)
ZEROTAX_FIELDS_WRITTEN(Functions, folder, filters, discarded, problems, exits_without_entry, functions, tree)

ZEROTAX_FIELDS_WRITTEN(Source, folder, discarded, problems)
ZEROTAX_FIELDS_WRITTEN(DiffFigures, calls, total_ns, self_ns, self_mean_ns, self_stddev_ns, unfinished)
ZEROTAX_FIELDS_WRITTEN(DiffRow, function, object, before, after, calls_change, self_change_ns, noise_ns, verdict, why)
ZEROTAX_FIELDS_WRITTEN(FunctionDiff, before, after, filters, verdict, functions)

ZEROTAX_FIELDS_WRITTEN(Control, action, pid, name, state, folder, buffer_bytes, mode, drain, clock, events, until,
                       records, lost)

ZEROTAX_FIELDS_WRITTEN(KernelEventField, name, kind, bytes, count)
ZEROTAX_FIELDS_WRITTEN(ListedEvent, name, summary, fields, left_out)
ZEROTAX_FIELDS_WRITTEN(EventList, events, tracepoints)

namespace {

Json document(const char* schema, const Json& result) {
  Json json{{"schema", schema}, {"zerotax_version", ZEROTAX_VERSION}};
  json.update(result);
  return json;
}

}  // namespace

Json summary_json(const Summary& summary) { return document("zerotax.trace/1", summary); }
Json functions_json(const Functions& functions) { return document("zerotax.functions/1", functions); }
Json function_diff_json(const FunctionDiff& diff) { return document("zerotax.functions_diff/1", diff); }
Json control_json(const Control& control) { return document("zerotax.trace_control/1", control); }
Json event_list_json(const EventList& events) { return document("zerotax.trace_events/1", events); }

}  // namespace zerotax::trace
