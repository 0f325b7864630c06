#include "trace/function_calls.h"

#include <algorithm>
#include <cstring>

namespace zerotax::trace {
namespace {

std::uint64_t field(const CtfEvent& event, const char* name) {
  std::uint64_t value = 0;
  for (const CtfField& each : event.type->fields) {
    if (each.name == name && each.bytes == sizeof value) std::memcpy(&value, event.bytes + each.offset, sizeof value);
  }
  return value;
}

/// What a frame's hook and a call's return address take below a function's stack pointer (System V ABI, x86-64, 3.2.2).
constexpr std::uint64_t kHookBelow = 24;

}  // namespace

void FunctionCalls::end_call(std::size_t process, Thread& thread, std::int64_t now_ns, bool left) {
  const Call call = thread.calls.back();
  thread.calls.pop_back();
  const std::int64_t ns = std::max<std::int64_t>(now_ns - call.begin_ns, 0);
  FunctionFigures& figures = figures_[{process, call.function}];
  ++figures.calls;
  if (left) ++figures.left;
  figures.duration.add(static_cast<std::uint64_t>(ns));
  figures.self_ns += static_cast<std::uint64_t>(std::max<std::int64_t>(ns - call.inner_ns, 0));
  if (--thread.depth[call.function] == 0) figures.total_ns += static_cast<std::uint64_t>(ns);
  if (!thread.calls.empty()) thread.calls.back().inner_ns += ns;
  if (on_end) on_end(process, thread.tid, now_ns);
}

void FunctionCalls::drop_calls(std::size_t process, Thread& thread) {
  for (const Call& call : thread.calls) ++figures_[{process, call.function}].unfinished;
  thread.calls.clear();
  thread.depth.clear();
}

void FunctionCalls::add(const CtfEvent& event) {
  const std::size_t process = event.stream->process;
  Thread& thread = threads_[{process, event.stream->tid}];
  thread.tid = event.stream->tid;
  // It is unknown which of the calls in progress have ended meanwhile.
  if (event.discarded_before > 0) drop_calls(process, thread);
  const std::string& type = event.type->name;
  if (type == "function_entry") {
    const std::uint64_t function = field(event, "function");
    thread.calls.push_back({function, field(event, "stack"), event.monotonic_ns, 0});
    ++thread.depth[function];
  } else if (type == "function_exit") {
    const std::uint64_t function = field(event, "function");
    if (thread.depth[function] == 0) {
      ++exits_without_entry_;
      return;
    }
    // Those above it had no exit.
    while (thread.calls.back().function != function) end_call(process, thread, event.monotonic_ns, true);
    end_call(process, thread, event.monotonic_ns, false);
  } else if (type == "function_jump") {
    const std::uint64_t stack = field(event, "stack");
    while (!thread.calls.empty() && thread.calls.back().stack + kHookBelow < stack) {
      end_call(process, thread, event.monotonic_ns, true);
    }
  }
}

void FunctionCalls::finish() {
  for (auto& [key, thread] : threads_) drop_calls(key.first, thread);
}

}  // namespace zerotax::trace
