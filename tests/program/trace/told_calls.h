#pragma once

#include <cstring>
#include <vector>

#include "trace/function_calls.h"

namespace zerotax::trace {

/// Makes entries, exits and jumps like those in a trace. A function is a number; `stack` is a depth.
class Told {
 public:
  void enter(std::uint64_t function, std::uint64_t depth, std::int64_t ns, pid_t tid = 1) {
    tell("function_entry", {"function", "stack"}, {function, 1'000'000 - depth * 100}, ns, tid);
  }
  void leave(std::uint64_t function, std::int64_t ns, pid_t tid = 1) {
    tell("function_exit", {"function"}, {function, 0}, ns, tid);
  }
  void jump_to(std::uint64_t depth, std::int64_t ns) {
    tell("function_jump", {"stack"}, {1'000'000 - depth * 100 + 16, 0}, ns, 1);
  }
  void lose() { lost_ = 1; }
  FunctionFigures of(std::uint64_t function) {
    const auto found = calls.figures().find({0, function});
    return found == calls.figures().end() ? FunctionFigures{} : found->second;
  }
  FunctionCalls calls;

 private:
  void tell(const char* name, const std::vector<const char*>& fields, const std::uint64_t (&values)[2], std::int64_t ns,
            pid_t tid) {
    CtfType type;
    type.name = name;
    for (const char* field : fields) {
      type.fields.push_back({field, CtfField::Kind::kUnsigned, 8, 1, false, type.bytes});
      type.bytes += 8;
    }
    CtfStream stream;
    stream.tid = tid;
    char bytes[16];
    std::memcpy(bytes, values, sizeof bytes);
    CtfEvent event;
    event.stream = &stream;
    event.type = &type;
    event.monotonic_ns = ns;
    event.bytes = bytes;
    event.discarded_before = lost_;
    lost_ = 0;
    calls.add(event);
  }
  std::uint64_t lost_ = 0;
};

}  // namespace zerotax::trace
