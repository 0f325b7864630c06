#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/fields.h"
#include "observe/kernel_event_log.h"

namespace zerotax::trace {

/// The name of what `trace run --kernel` records by default.
inline constexpr CommonKernelEvent kFaultsEvent{
    "faults", "page faults with their class, forks, execs and exits; as root, their duration, and page allocations"};

/// "sched:sched_switch,faults" as names, each once. Throws UsageError for an empty one.
std::vector<std::string> kernel_event_names(const std::string& words);

// The fields below are the keys of results/schema/trace_events.schema.json, which describes them.

struct KernelEventField {
  std::string name;
  std::string kind;
  std::uint32_t bytes = 0;
  std::uint32_t count = 0;
};

struct ListedEvent {
  std::string name;
  std::optional<std::string> summary;
  std::optional<std::vector<KernelEventField>> fields;
  std::optional<std::vector<std::string>> left_out;
};

struct EventList {
  std::vector<ListedEvent> events;
  Measured<std::size_t> tracepoints;
};

/// The events of this kernel whose name contains `text` (all: ""); with the exact name of one tracepoint, also its
/// fields. Throws UsageError if no event matches.
EventList kernel_event_list(const std::string& text);
std::string kernel_events_text(const EventList& events);

}  // namespace zerotax::trace
