#include "trace/document.h"

#include <algorithm>
#include <limits>

namespace zerotax::trace {
namespace {

struct Span {
  std::uint64_t events = 0;
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  std::int64_t last = std::numeric_limits<std::int64_t>::min();
  void add(std::int64_t ns) {
    ++events;
    first = std::min(first, ns);
    last = std::max(last, ns);
  }
};

/// When, in ns of CLOCK_MONOTONIC; n/a without an event.
void add_times(Json& json, const Span& span) {
  json["events"] = span.events;
  json["first_ns"] = span.events == 0 ? not_available("no event") : Json(span.first);
  json["last_ns"] = span.events == 0 ? not_available("no event") : Json(span.last);
}

Json process_json(const CtfProcess& process) {
  Json json;
  const auto said = [](const std::optional<std::string>& text) {
    return text ? Json(*text) : not_available("the trace does not say");
  };
  json["pid"] = process.metadata.pid;
  json["name"] = process.metadata.process_name;
  json["folder"] = process.folder;
  json["mode"] = said(process.metadata.mode);
  json["clock"] = said(process.metadata.clock_source);
  json["ticks_per_second"] = process.metadata.frequency;
  json["realtime_minus_monotonic_ns"] = static_cast<std::int64_t>(process.metadata.begin_realtime_ns) -
                                        static_cast<std::int64_t>(process.metadata.begin_monotonic_ns);
  return json;
}

}  // namespace

Json trace_json(CtfTrace& trace, const std::string& folder, TraceIntervals* intervals) {
  Span all;
  std::map<const CtfStream*, Span> streams;
  std::map<std::string, Span> types;
  trace.for_each([&](const CtfEvent& event) {
    all.add(event.monotonic_ns);
    streams[event.stream].add(event.monotonic_ns);
    types[event.type->name].add(event.monotonic_ns);
    if (intervals != nullptr) intervals->add(event);
  });
  Json json;
  json["schema"] = "zerotax.trace/1";
  json["zerotax_version"] = ZEROTAX_VERSION;
  json["folder"] = folder;
  add_times(json, all);
  json["discarded"] = trace.discarded();
  json["problems"] = trace.problems();
  json["processes"] = Json::array();
  for (std::size_t i = 0; i < trace.processes().size(); ++i) {
    Json process = process_json(trace.processes()[i]);
    process["streams"] = Json::array();
    for (const CtfStream& stream : trace.streams()) {
      if (stream.process != i) continue;
      Json row;
      row["stream"] = stream.number;
      row["tid"] = stream.tid;
      row["in_handlers"] = stream.nested;
      add_times(row, streams[&stream]);
      row["discarded"] = stream.discarded;
      process["streams"].push_back(std::move(row));
    }
    json["processes"].push_back(std::move(process));
  }
  json["types"] = Json::array();
  for (const auto& [name, span] : types) {
    Json row;
    row["name"] = name;
    add_times(row, span);
    json["types"].push_back(std::move(row));
  }
  json["intervals"] = intervals == nullptr ? not_available("not requested (--begin and --end)") : intervals->json();
  return json;
}

}  // namespace zerotax::trace
