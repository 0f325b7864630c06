#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/fields.h"
#include "observe/kernel_event_log.h"

namespace zerotax::trace {

/// Converts the words of --event to the value of ZEROTAX_TRACE_EVENTS: names of events to record, and after ! names of
/// events not to record. Throws UsageError if a word cannot be the name of an event.
std::string event_list(const std::vector<std::string>& names);

/// Throws UsageError if --until names an event that a program cannot record. An empty --until is valid.
void check_trigger(const std::string& until);

/// The events that `trace run --kernel` records by default.
inline constexpr CommonKernelEvent kFaultsEvent{
    "faults",
    "page faults with their class, forks, execs and exits; as root, also the duration of each fault, and page "
    "allocations"};

/// Splits words such as "sched:sched_switch,faults" into names, without duplicates. Throws UsageError for an empty
/// name.
std::vector<std::string> kernel_event_names(const std::string& words);

// The fields below are the keys of results/schema/trace_events.schema.json, which describes them.

struct KernelEventField {
  RESULT("kernel event field");
  FIELD(std::string, name, "Name of the field.");
  FIELD(std::string, kind, "Type of the field's content.", one_of("signed|unsigned|text"));
  FIELD(std::uint32_t, bytes, "Size of an element of the field, in bytes.", least(1), most(8));
  FIELD(std::uint32_t, count, "Number of elements of the field; text ends at its first zero byte.", least(1));
};

struct ListedEvent {
  RESULT("listed event");
  FIELD(std::string, name, "Name of the event, in the form for --kernel.");
  FIELD(std::optional<std::string>, summary, "Description of an event that is not a tracepoint.");
  FIELD(std::optional<std::vector<KernelEventField>>, fields,
        "Fields of the event as a trace stores them; only if the whole name of the event was given.");
  FIELD(std::optional<std::vector<std::string>>, left_out, "Fields of the kernel's event that a trace cannot store.");
};

struct EventList {
  RESULT("zerotax trace events",
         "The kernel events that trace run --kernel can record, as zerotax trace events --json writes them.");
  static constexpr const char* kDocument = "zerotax.trace_events/1";
  FIELD(std::vector<ListedEvent>, events, "The events whose name contains the given text.", least_items(1));
  FIELD(Measured<std::size_t>, tracepoints, "Number of tracepoints of this kernel, with any name.", least(1));
};

/// Returns the kernel events whose name contains `text` (all events for ""). If `text` is the whole name of a
/// tracepoint, the result includes its fields. Throws UsageError if no event matches.
EventList kernel_event_list(const std::string& text);
std::string kernel_events_text(const EventList& events);

}  // namespace zerotax::trace
