#include "run/child_verdict.h"

#include <fmt/format.h>

#include <cstring>

#include "base/one_line.h"
#include "base/printable.h"
#include "os/machine_trouble.h"

namespace zerotax {

std::string last_line(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return first_characters(printable(text.substr(text.rfind('\n') + 1)), 160);
}

std::string how_it_ended(const ChildResult& child, std::chrono::duration<double> timeout) {
  using End = ChildResult::End;
  switch (child.end) {
    case End::kExited:
      return fmt::format("exited with status {}", child.code);
    case End::kSignalled:
      return "killed by " + signal_name(child.code);
    case End::kSuspended:
      return fmt::format("stopped by {}, and not continued", signal_name(child.code));
    case End::kTimeout:
      return fmt::format("not done after {:.3g} s", timeout.count());
    case End::kMemory:
      return "out of memory";
    case End::kStopped:
      return "interrupted";
    case End::kNotStarted:
      break;
  }
  return fmt::format("could not be started: {}", std::strerror(child.code));
}

ChildVerdict judge(const ChildResult& child, std::chrono::milliseconds timeout) {
  using End = ChildResult::End;
  const std::string how = how_it_ended(child, timeout);
  switch (child.end) {
    case End::kExited:
      if (child.code == 0) return {"ok", ""};
      return {"failed", fmt::format("{}: {}", how, last_line(child.errors))};
    case End::kSignalled:
    case End::kSuspended:
      return {"crashed", how};
    case End::kTimeout:
      return {"timeout", how};
    case End::kMemory:
      return {"crashed", how + ": its resident set exceeded twice its request plus 1 GiB"};
    case End::kStopped:
      return {"skipped", how};
    case End::kNotStarted:
      // A lack of descriptors or processes is the machine's fault.
      if (std::strcmp(child.failed_call, "exec") != 0) throw start_trouble("a program of zerotax", child, "");
      break;
  }
  return {"failed", how};
}

}  // namespace zerotax
