#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/fields.h"
#include "observe/kernel_event_log.h"

namespace zerotax::trace {

/// The value of ZEROTAX_TRACE_EVENTS, from the words of --event: event names to record, and after ! names not to
/// record. Throws UsageError for a word that cannot be the name of an event.
std::string event_list(const std::vector<std::string>& names);

/// Throws UsageError unless --until is empty or a name of an event that a program can record.
void check_trigger(const std::string& until);

/// The name of what `trace run --kernel` records by default.
inline constexpr CommonKernelEvent kFaultsEvent{
    "faults", "page faults with their class, forks, execs and exits; as root, their duration, and page allocations"};

/// "sched:sched_switch,faults" as names, each once. Throws UsageError for an empty one.
std::vector<std::string> kernel_event_names(const std::string& words);

// The fields below are the keys of results/schema/trace_events.schema.json, which describes them.

struct KernelEventField {
  RESULT("kernel event field");
  FIELD(std::string, name, "Name of the field.");
  FIELD(std::string, kind, "What it holds.", one_of("signed|unsigned|text"));
  FIELD(std::uint32_t, bytes, "Bytes of an element.", least(1), most(8));
  FIELD(std::uint32_t, count, "Number of elements; text ends at its first 0.", least(1));
};

struct ListedEvent {
  RESULT("listed event");
  FIELD(std::string, name, "Name of the event, as --kernel takes it.");
  FIELD(std::optional<std::string>, summary, "What it is, if it is no tracepoint.");
  FIELD(std::optional<std::vector<KernelEventField>>, fields,
        "Its fields as a trace has them, if its whole name was given.");
  FIELD(std::optional<std::vector<std::string>>, left_out, "Fields of the kernel's that a trace cannot hold.");
};

struct EventList {
  RESULT("zerotax trace events",
         "What zerotax trace events --json writes: the kernel's events that trace run --kernel can record.");
  static constexpr const char* kDocument = "zerotax.trace_events/1";
  FIELD(std::vector<ListedEvent>, events, "The events whose name contains the text that was given.", least_items(1));
  FIELD(Measured<std::size_t>, tracepoints, "Number of tracepoints of this kernel, whatever their names.", least(1));
};

/// The events of this kernel whose name contains `text` (all: ""); with the exact name of one tracepoint, also its
/// fields. Throws UsageError if no event matches.
EventList kernel_event_list(const std::string& text);
std::string kernel_events_text(const EventList& events);

}  // namespace zerotax::trace
