#include "trace/control_result.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/one_line.h"
#include "base/units.h"
#include "os/process_info.h"
#include "trace/ctf_trace.h"

namespace zerotax::trace {
namespace {

using recorder::ControlRecording;

/// How many records the trace has now, in its files and buffers.
Measured<std::uint64_t> count_now(const std::string& folder) {
  try {
    CtfTrace trace(folder);
    std::uint64_t records = 0;
    trace.for_each([&](const CtfEvent& /*event*/) { ++records; });
    return records;
  } catch (const Error& error) {
    return NotAvailable{error.what()};
  }
}

OrNull<std::string> given(const std::string& names) {
  OrNull<std::string> line;
  if (!names.empty()) line = one_line(names);
  return line;
}

}  // namespace

Control control_result(pid_t pid, const std::string& action, const ControlAnswer& answer) {
  const std::string name = process_name(pid);
  const bool any = !answer.folder.empty();
  const NotAvailable nothing{"the process has recorded nothing"};
  const auto known = [&](auto value) { return known_if(any, value, nothing.why); };
  Control control;
  control.action = action;
  control.pid = pid;
  control.name = known_if(!name.empty(), one_line(name), "the process has ended");
  control.state = answer.recording;
  control.folder = known(one_line(answer.folder));
  control.buffer_bytes = known(answer.buffer_bytes);
  control.mode = known(std::string(answer.mode == 2 ? "overwrite" : "lost"));
  control.drain = known(std::string(answer.drain == 3 ? "off" : answer.drain == 2 ? "self" : "thread"));
  control.clock = known(std::string(answer.monotonic ? "monotonic" : "tsc"));
  control.events = given(answer.events);
  control.until = given(answer.until);
  control.records = any ? count_now(answer.folder) : nothing;
  control.lost = known(answer.lost);
  return control;
}

std::string control_text(const Control& control) {
  std::string text =
      fmt::format("process {} ({}): {}", control.pid, control.name.value_or("ended"),
                  control.state == ControlRecording::kTriggered ? "stopped by its event" : word(control.state));
  if (!control.folder) return text + "\n";
  text += fmt::format("\n  folder   {}\n  buffer   {} per thread, {}, drain {}, clock {}\n", *control.folder,
                      format_size(*control.buffer_bytes), *control.mode, *control.drain, *control.clock);
  text += fmt::format("  events   {}", control.events.value_or("all"));
  if (control.until) text += fmt::format(", until {}", *control.until);
  text += fmt::format("\n  records  {}, {} lost\n", control.records ? format_count(*control.records) : "n/a",
                      format_count(*control.lost));
  return text;
}

}  // namespace zerotax::trace
