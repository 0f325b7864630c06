#include "trace/control_document.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/one_line.h"
#include "base/units.h"
#include "os/process_info.h"
#include "trace/ctf_trace.h"

namespace zerotax::trace {
namespace {

using recorder::ControlRecording;

const char* recording_name(ControlRecording recording) {
  switch (recording) {
    case ControlRecording::kOn:
      return "recording";
    case ControlRecording::kTriggered:
      return "triggered";
    case ControlRecording::kOff:
      break;
  }
  return "off";
}

/// How many records the trace has now, in its files and buffers.
Json count_now(const std::string& folder) {
  try {
    CtfTrace trace(folder);
    std::uint64_t records = 0;
    trace.for_each([&](const CtfEvent& /*event*/) { ++records; });
    return records;
  } catch (const Error& error) {
    return not_available(error.what());
  }
}

std::string or_all(const Json& names) { return names.is_null() ? "all" : names.get<std::string>(); }

}  // namespace

Json control_json(pid_t pid, const std::string& action, const ControlAnswer& answer) {
  Json json;
  json["schema"] = "zerotax.trace_control/1";
  json["zerotax_version"] = ZEROTAX_VERSION;
  json["action"] = action;
  json["pid"] = pid;
  const std::string name = process_name(pid);
  json["name"] = name.empty() ? not_available("the process has ended") : Json(one_line(name));
  json["state"] = recording_name(answer.recording);
  const bool none = answer.folder.empty();
  const char* why = "the process has recorded nothing";
  json["folder"] = none ? not_available(why) : Json(one_line(answer.folder));
  json["buffer_bytes"] = none ? not_available(why) : Json(answer.buffer_bytes);
  json["mode"] = none ? not_available(why) : Json(answer.mode == 2 ? "overwrite" : "lost");
  json["drain"] = none ? not_available(why) : Json(answer.drain == 3 ? "off" : answer.drain == 2 ? "self" : "thread");
  json["clock"] = none ? not_available(why) : Json(answer.monotonic ? "monotonic" : "tsc");
  json["events"] = answer.events.empty() ? Json(nullptr) : Json(one_line(answer.events));
  json["until"] = answer.until.empty() ? Json(nullptr) : Json(one_line(answer.until));
  json["records"] = none ? not_available(why) : count_now(answer.folder);
  json["lost"] = none ? not_available(why) : Json(answer.lost);
  return json;
}

std::string control_text(const Json& json) {
  const std::string state = json.at("state");
  std::string text = fmt::format("process {} ({}): {}", json.at("pid").get<int>(), text_field(json, "name", "ended"),
                                 state == "triggered" ? "stopped by its event" : state);
  if (is_not_available(json.at("folder"))) return text + "\n";
  text += fmt::format("\n  folder   {}\n  buffer   {} per thread, {}, drain {}, clock {}\n",
                      text_field(json, "folder", ""), format_size(json.at("buffer_bytes")),
                      text_field(json, "mode", ""), text_field(json, "drain", ""), text_field(json, "clock", ""));
  text += fmt::format("  events   {}", or_all(json.at("events")));
  if (!json.at("until").is_null()) text += fmt::format(", until {}", text_field(json, "until", ""));
  const Json& records = json.at("records");
  text += fmt::format("\n  records  {}, {} lost\n",
                      is_not_available(records) ? "n/a" : format_count(records.get<std::uint64_t>()),
                      format_count(json.at("lost").get<std::uint64_t>()));
  return text;
}

}  // namespace zerotax::trace
