#include "trace/kernel_events.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/wrap.h"
#include "observe/kernel_event_type.h"

namespace zerotax::trace {
namespace {

Json fields_json(const KernelEventType& type) {
  Json fields = Json::array();
  for (const zerotax_field& field : type.fields()) {
    const char* kind = field.kind == ZEROTAX_KIND_TEXT     ? "text"
                       : field.kind == ZEROTAX_KIND_SIGNED ? "signed"
                                                           : "unsigned";
    fields.push_back({{"name", field.name}, {"kind", kind}, {"bytes", field.bytes}, {"count", field.count}});
  }
  return fields;
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

Json kernel_events_json(const std::string& text) {
  Json json;
  json["schema"] = "zerotax.trace_events/1";
  json["zerotax_version"] = ZEROTAX_VERSION;
  json["events"] = Json::array();
  for (const CommonKernelEvent& event : {kFaultsEvent, kSwitches}) {
    if (std::string(event.name).find(text) == std::string::npos) continue;
    json["events"].push_back({{"name", event.name}, {"summary", event.summary}});
  }
  const std::vector<std::string> all = trace_event_names();
  json["tracepoints"] = all.empty() ? not_available("tracepoints are root's") : Json(all.size());
  for (const std::string& name : all) {
    if (name.find(text) == std::string::npos) continue;
    Json event{{"name", name}};
    if (name == text) {
      const KernelEventType type(kernel_event_kind(name));
      event["fields"] = fields_json(type);
      event["left_out"] = type.left_out();
    }
    json["events"].push_back(std::move(event));
  }
  if (!json.at("events").empty()) return json;
  throw UsageError(fmt::format("no event of this kernel has '{}' in its name", text),
                   all.empty() ? "run it as root: tracepoints are root's" : "zerotax trace events lists all of them");
}

std::string kernel_events_text(const Json& json) {
  std::string text;
  for (const Json& event : json.at("events")) {
    text += event.at("name").get<std::string>() + "\n";
    if (event.contains("summary")) text += wrap(event.at("summary").get<std::string>(), "    ", "    ");
    if (!event.contains("fields")) continue;
    for (const Json& field : event.at("fields")) {
      const auto count = field.at("count").get<unsigned>();
      text += fmt::format("    {}{}: {}, {} bytes\n", field.at("name").get<std::string>(),
                          count > 1 ? fmt::format("[{}]", count) : "", field.at("kind").get<std::string>(),
                          field.at("bytes").get<unsigned>() * count);
    }
    for (const Json& name : event.at("left_out")) {
      text += fmt::format("    {}: not recorded\n", name.get<std::string>());
    }
  }
  if (is_not_available(json.at("tracepoints"))) {
    text += wrap("tracepoints: n/a (" + text_field(json.at("tracepoints"), "na", "") + ")", "", "  ");
  }
  return text;
}

}  // namespace zerotax::trace
