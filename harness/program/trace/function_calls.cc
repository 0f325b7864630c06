#include "trace/function_calls.h"

#include <algorithm>
#include <cstring>

namespace zerotax::trace {
namespace {

/// An address; 0 if there is none of this name.
std::uint64_t address(const CtfEvent& event, std::string_view name) {
  std::uint64_t value = 0;
  const CtfField* field = event.type->field(name);
  if (field != nullptr && field->bytes == sizeof value) std::memcpy(&value, event.bytes + field->offset, sizeof value);
  return value;
}

/// What a frame's hook and a call's return address take below a function's stack pointer (System V ABI, x86-64, 3.2.2;
/// recorder/functions/hooks.cc).
constexpr std::uint64_t kHookBelow = 24;

}  // namespace

void FunctionCalls::begin_call(std::size_t process, Thread& thread, Call call) {
  const FunctionChoice choice = choose ? choose(process, call.function) : FunctionChoice{};
  const bool outermost = thread.calls.empty();
  call.inside = choice.begins || (!outermost && thread.calls.back().inside);
  call.left_out = choice.ends || (!outermost && thread.calls.back().left_out);
  call.shown = call.inside && !call.left_out && choice.shown;
  call.path = outermost ? CallPaths::kRoot : thread.calls.back().path;
  if (call.shown && paths != nullptr) call.path = paths->child(process, call.path, call.function);
  if (call.shown) ++thread.shown_depth[call.function];
  ++thread.depth[call.function];
  thread.calls.push_back(call);
}

void FunctionCalls::end_call(std::size_t process, Thread& thread, std::int64_t now_ns, bool left) {
  const Call call = thread.calls.back();
  thread.calls.pop_back();
  --thread.depth[call.function];
  const std::int64_t ns = std::max<std::int64_t>(now_ns - call.begin_ns, 0);
  if (!thread.calls.empty()) thread.calls.back().inner_ns += ns;
  if (on_end) on_end(process, thread.tid, now_ns);
  if (!call.shown) return;
  const auto all = static_cast<std::uint64_t>(ns);
  const auto self = static_cast<std::uint64_t>(std::max<std::int64_t>(ns - call.inner_ns, 0));
  FunctionFigures& figures = figures_[{process, call.function}];
  ++figures.calls;
  if (left) ++figures.left;
  figures.duration.add(all);
  figures.durations.add(all);
  figures.self.add(self);
  figures.self_ns += self;
  if (--thread.shown_depth[call.function] == 0) figures.total_ns += all;
  if (paths == nullptr) return;
  CallPath& path = paths->at(call.path);
  ++path.calls;
  path.total_ns += all;
  path.self_ns += self;
}

void FunctionCalls::drop_calls(std::size_t process, Thread& thread) {
  for (const Call& call : thread.calls) {
    if (!call.shown) continue;
    ++figures_[{process, call.function}].unfinished;
    if (paths != nullptr) ++paths->at(call.path).unfinished;
  }
  thread.calls.clear();
  thread.depth.clear();
  thread.shown_depth.clear();
}

void FunctionCalls::add(const CtfEvent& event) {
  const std::size_t process = event.stream->process;
  Thread& thread = threads_[{process, event.stream->tid}];
  thread.tid = event.stream->tid;
  // It is unknown which of the calls in progress have ended meanwhile.
  if (event.discarded_before > 0) drop_calls(process, thread);
  const std::string& type = event.type->name;
  if (type == "function_entry") {
    Call call;
    call.function = address(event, "function");
    call.stack = address(event, "stack");
    call.begin_ns = event.monotonic_ns;
    begin_call(process, thread, call);
  } else if (type == "function_exit") {
    const std::uint64_t function = address(event, "function");
    if (thread.depth[function] == 0) {
      ++exits_without_entry_;
      return;
    }
    // Those above it had no exit.
    while (thread.calls.back().function != function) end_call(process, thread, event.monotonic_ns, true);
    end_call(process, thread, event.monotonic_ns, false);
  } else if (type == "function_jump") {
    const std::uint64_t stack = address(event, "stack");
    while (!thread.calls.empty() && thread.calls.back().stack + kHookBelow < stack) {
      end_call(process, thread, event.monotonic_ns, true);
    }
  }
}

void FunctionCalls::finish() {
  for (auto& [key, thread] : threads_) drop_calls(key.first, thread);
}

}  // namespace zerotax::trace
