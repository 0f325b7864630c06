#include "trace/function_profile.h"

namespace zerotax::trace {

FunctionProfile::FunctionProfile(CtfTrace& trace, FunctionFilter& filter, bool with_paths) : trace_(trace) {
  const auto name = [&](const CtfEvent& event) { names_.add(trace.processes()[event.stream->process].folder, event); };
  std::map<FunctionCalls::Key, FunctionChoice> chosen;
  if (!filter.empty()) {
    // A library may be named behind the first calls of its functions.
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
