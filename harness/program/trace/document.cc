#include "trace/document.h"

#include <fmt/format.h>

#include "files/document.h"
#include "trace/fields.h"
#include "trace/function_calls.h"

namespace zerotax::trace {
namespace {

std::string quoted(const std::string& text) { return json_line(Json(text)); }

/// Writes one object of the JSON array in Chrome's "Trace Event Format", whose unit of time is the microsecond.
void write_event(std::FILE* to, const CtfProcess& process, const CtfEvent& event, FunctionNames& names) {
  const double us = static_cast<double>(event.monotonic_ns) * 1e-3;
  const std::string& type = event.type->name;
  const auto where = fmt::format(R"("ts":{:.3f},"pid":{},"tid":{})", us, event.pid, event.tid);
  // Skips exits and jumps, which are written as ends of slices, and modules, which are not shown.
  if (type == "function_exit" || type == "function_jump" || type == "function_module") return;
  if (type == "function_entry") {
    const auto address = ctf_field<std::uint64_t>(event, "function");
    fmt::print(to, ",\n{{\"name\":{},\"ph\":\"B\",{}}}", quoted(names.label(process.folder, address)), where);
    return;
  }
  if (type == "kernel_page_fault") {  // the kernel reports a fault when the fault ends
    const double duration_us = ctf_field<double>(event, "duration_ns") * 1e-3;
    fmt::print(to, ",\n{{\"name\":{},\"ph\":\"X\",\"ts\":{:.3f},\"dur\":{:.3f},\"pid\":{},\"tid\":{},\"args\":{}}}",
               quoted("fault: " + ctf_field<std::string>(event, "kind")), us - duration_us, duration_us, event.pid,
               event.tid, json_line(ctf_fields(event)));
    return;
  }
  fmt::print(to, ",\n{{\"name\":{},\"ph\":\"i\",\"s\":\"t\",{},\"args\":{}}}", quoted(type), where,
             json_line(ctf_fields(event)));
}

}  // namespace

Json summary_json(const Summary& summary) { return document_of(summary); }
Json functions_json(const Functions& functions) { return document_of(functions); }
Json function_diff_json(const FunctionDiff& diff) { return document_of(diff); }
Json control_json(const Control& control) { return document_of(control); }
Json event_list_json(const EventList& events) { return document_of(events); }

void write_perfetto(CtfTrace& trace, std::FILE* to) {
  FunctionNames names;
  trace.for_each([&](const CtfEvent& event) { names.add(trace.processes()[event.stream->process].folder, event); });
  fmt::print(to, R"({{"displayTimeUnit":"ns","traceEvents":[)");
  fmt::print(to, R"({{"name":"zerotax","ph":"M","pid":0,"tid":0,"args":{{}}}})");
  for (const CtfProcess& process : trace.processes()) {
    fmt::print(to, ",\n{{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":{},\"tid\":0,\"args\":{{\"name\":{}}}}}",
               process.metadata.pid, quoted(process.metadata.process_name));
  }
  FunctionCalls calls;
  // Ends the slice of each call that ends, including calls that end with a jump.
  calls.on_end = [&](std::size_t process, pid_t tid, std::int64_t ns) {
    fmt::print(to, ",\n{{\"ph\":\"E\",\"ts\":{:.3f},\"pid\":{},\"tid\":{}}}", static_cast<double>(ns) * 1e-3,
               trace.processes()[process].metadata.pid, tid);
  };
  trace.for_each([&](const CtfEvent& event) {
    calls.add(event);
    write_event(to, trace.processes()[event.stream->process], event, names);
  });
  fmt::print(to, "\n]}}\n");
}

}  // namespace zerotax::trace
