#include "trace/kernel_events.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/lines.h"
#include "observe/kernel_event_log.h"

namespace zerotax::trace {
namespace {

std::vector<KernelEventField> fields_of(const KernelEventType& type) {
  std::vector<KernelEventField> fields;
  for (const zerotax_field& field : type.fields()) {
    const char* kind = field.kind == ZEROTAX_KIND_TEXT     ? "text"
                       : field.kind == ZEROTAX_KIND_SIGNED ? "signed"
                                                           : "unsigned";
    fields.push_back({field.name, kind, field.bytes, field.count});
  }
  return fields;
}

constexpr const char* kNameCharacters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_*?";

void check_event_name(const char* option, const std::string& name) {
  if (!name.empty() && name.find_first_not_of(kNameCharacters) == std::string::npos) return;
  throw UsageError(fmt::format("invalid {} '{}'", option, name),
                   "give the name of a type of event: letters, digits and _, with * and ? to match several");
}

}  // namespace

std::vector<std::string> kernel_event_names(const std::string& words) {
  std::vector<std::string> names;
  for (std::size_t begin = 0; begin <= words.size();) {
    const std::size_t end = std::min(words.find(',', begin), words.size());
    const std::string name = words.substr(begin, end - begin);
    if (name.empty()) {
      throw UsageError(fmt::format("--kernel '{}' names no event", words),
                       "give names separated by commas, as in --kernel=faults,sched:sched_wakeup");
    }
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    begin = end + 1;
  }
  return names;
}

EventList kernel_event_list(const std::string& text) {
  EventList listed;
  for (const CommonKernelEvent& event : {kFaultsEvent, kSwitches}) {
    if (std::string(event.name).find(text) == std::string::npos) continue;
    listed.events.push_back({event.name, event.summary, {}, {}});
  }
  const std::vector<std::string> all = trace_event_names();
  listed.tracepoints = known_if(!all.empty(), all.size(), "tracepoints are root's");
  for (const std::string& name : all) {
    if (name.find(text) == std::string::npos) continue;
    ListedEvent& event = listed.events.emplace_back();
    event.name = name;
    if (name == text) {
      const KernelEventType type(kernel_event_kind(name));
      event.fields = fields_of(type);
      event.left_out = type.left_out();
    }
  }
  if (!listed.events.empty()) return listed;
  throw UsageError(fmt::format("no event of this kernel has '{}' in its name", text),
                   all.empty() ? "run zerotax as root, because only root can read tracepoints"
                               : "zerotax trace events lists all events");
}

std::string kernel_events_text(const EventList& events) {
  std::string text;
  for (const ListedEvent& event : events.events) {
    text += event.name + "\n";
    if (event.summary) text += wrap(*event.summary, "    ", "    ");
    if (!event.fields) continue;
    for (const KernelEventField& field : *event.fields) {
      text +=
          fmt::format("    {}{}: {}, {} bytes\n", field.name, field.count > 1 ? fmt::format("[{}]", field.count) : "",
                      field.kind, field.bytes * field.count);
    }
    for (const std::string& name : *event.left_out) text += fmt::format("    {}: not recorded\n", name);
  }
  if (!events.tracepoints) text += wrap("tracepoints: n/a (" + events.tracepoints.why() + ")", "", "  ");
  return text;
}

std::string event_list(const std::vector<std::string>& names) {
  std::string list;
  for (const std::string& name : names) {
    check_event_name("--event", name.starts_with('!') ? name.substr(1) : name);
    list += (list.empty() ? "" : ",") + name;
  }
  return list;
}

void check_trigger(const std::string& until) {
  if (until.empty()) return;
  if (until.starts_with("kernel_")) {
    throw UsageError(
        fmt::format("--until '{}' is a kernel event, and only the program's own events can end its trace", until),
        "name a type of event that the program records");
  }
  check_event_name("--until", until);
}

}  // namespace zerotax::trace
