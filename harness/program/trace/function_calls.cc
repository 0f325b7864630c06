#include "trace/function_calls.h"

#include <algorithm>
#include <cstring>

#include "trace/fields.h"

namespace zerotax::trace {
namespace {

/// Returns an address field of the event, or 0 if the event has no field of this name.
std::uint64_t address(const CtfEvent& event, std::string_view name) {
  std::uint64_t value = 0;
  const CtfField* field = event.type->field(name);
  if (field != nullptr && field->bytes == sizeof value) std::memcpy(&value, event.bytes + field->offset, sizeof value);
  return value;
}

/// Bytes that a call's return address and the hook's frame occupy below a function's stack pointer (System V ABI,
/// x86-64, 3.2.2; recorder/functions/hooks.cc).
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
  // Some records are missing before this event, so open calls may have ended without an exit event.
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
    // Calls deeper in the stack ended without exit events of their own.
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

std::size_t CallPaths::child(std::size_t process, std::size_t parent, std::uint64_t function) {
  const auto [found, added] = children_.try_emplace({parent, {process, function}}, paths_.size());
  if (added) {
    CallPath path;
    path.parent = parent;
    path.process = process;
    path.function = function;
    path.depth = parent == kRoot ? 0 : paths_[parent].depth + 1;
    paths_.push_back(path);
  }
  return found->second;
}

std::vector<std::size_t> CallPaths::ordered(unsigned depth) const {
  std::map<std::size_t, std::vector<std::size_t>> below;
  for (std::size_t i = 0; i < paths_.size(); ++i) below[paths_[i].parent].push_back(i);
  for (auto& [parent, paths] : below) {
    std::stable_sort(paths.begin(), paths.end(), [&](std::size_t one, std::size_t other) {
      const CallPath& first = paths_[one];
      const CallPath& second = paths_[other];
      return first.process != second.process ? first.process < second.process : first.total_ns > second.total_ns;
    });
  }
  // The walk is iterative, because the call tree of a program may be deep.
  std::vector<std::size_t> order;
  std::vector<std::size_t> waiting;
  const auto wait_for = [&](std::size_t parent) {
    const auto found = below.find(parent);
    if (found != below.end()) waiting.insert(waiting.end(), found->second.rbegin(), found->second.rend());
  };
  wait_for(kRoot);
  while (!waiting.empty()) {
    const std::size_t path = waiting.back();
    waiting.pop_back();
    if (depth != 0 && paths_[path].depth >= depth) continue;
    order.push_back(path);
    wait_for(path);
  }
  return order;
}

void FunctionNames::add(const std::string& process, const CtfEvent& event) {
  if (event.type->name != "function_module") return;
  Module module;
  module.begin = ctf_field<std::uint64_t>(event, "begin");
  module.end = ctf_field<std::uint64_t>(event, "end");
  module.bias = ctf_field<std::uint64_t>(event, "bias");
  module.path = ctf_field<std::string>(event, "path");
  module.build_id = ctf_field<std::vector<unsigned char>>(event, "build_id");
  module.build_id.resize(std::min(module.build_id.size(), ctf_field<std::size_t>(event, "build_id_bytes")));
  modules_[process].push_back(std::move(module));
}

const NamedFrame& FunctionNames::frame(const std::string& process, std::uint64_t address) {
  const auto known = frames_.find({process, address});
  if (known != frames_.end()) return known->second;
  const Module* found = nullptr;
  for (const Module& module : modules_[process]) {
    if (address >= module.begin && address < module.end) found = &module;
  }
  return frames_[{process, address}] = found == nullptr
                                           ? symbols_.frame("", {}, address)
                                           : symbols_.frame(found->path, found->build_id, address - found->bias);
}

std::string FunctionNames::label(const std::string& process, std::uint64_t address) {
  return frame_label(frame(process, address), true);
}

FunctionProfile::FunctionProfile(CtfTrace& trace, FunctionFilter& filter, bool with_paths) : trace_(trace) {
  const auto name = [&](const CtfEvent& event) { names_.add(trace.processes()[event.stream->process].folder, event); };
  std::map<FunctionCalls::Key, FunctionChoice> chosen;
  if (!filter.empty()) {
    // Reads the names of all libraries first, because a trace may name a library after the first calls of its
    // functions.
    trace.for_each(name);
    calls_.choose = [&](std::size_t process, std::uint64_t function) {
      const auto found = chosen.find({process, function});
      if (found != chosen.end()) return found->second;
      return chosen[{process, function}] = filter.choose(frame(process, function));
    };
  }
  if (with_paths) calls_.paths = &paths_;
  trace.for_each([&](const CtfEvent& event) {
    if (filter.empty()) name(event);
    calls_.add(event);
  });
  calls_.finish();
  calls_.choose = nullptr;
}

const NamedFrame& FunctionProfile::frame(std::size_t process, std::uint64_t function) {
  return names_.frame(trace_.processes()[process].folder, function);
}

}  // namespace zerotax::trace
