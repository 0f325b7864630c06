#pragma once

#include "trace/call_paths.h"
#include "trace/ctf_trace.h"
#include "trace/function_calls.h"
#include "trace/function_filter.h"
#include "trace/function_names.h"

namespace zerotax::trace {

/// The function calls of a trace: figures, call tree and names.
class FunctionProfile {
 public:
  /// Reads the trace; `filter` remembers which of its names matched. The call tree only if `with_paths`.
  FunctionProfile(CtfTrace& trace, FunctionFilter& filter, bool with_paths);

  [[nodiscard]] const std::map<FunctionCalls::Key, FunctionFigures>& figures() const { return calls_.figures(); }
  [[nodiscard]] const CallPaths& paths() const { return paths_; }
  [[nodiscard]] std::uint64_t exits_without_entry() const { return calls_.exits_without_entry(); }
  const NamedFrame& frame(std::size_t process, std::uint64_t function);

 private:
  CtfTrace& trace_;
  FunctionNames names_;
  CallPaths paths_;
  FunctionCalls calls_;
};

}  // namespace zerotax::trace
