#include "profile/account.h"

#include <cmath>
#include <string>

namespace zerotax::profile {
namespace {

constexpr const char* kEnded = "(threads that ended)";

bool stands_for_kernel(const Stack& stack) {
  return stack.back().module == "kernel" && stack.back().function == kKernelNotSampled;
}

}  // namespace

void account_rest(ProfileData& data, double system_s, unsigned hz) {
  if (data.sees_kernel) return;
  std::uint64_t known = 0;
  for (const auto& [stack, count] : data.stacks) known += stands_for_kernel(stack) ? count : 0;
  const auto all = static_cast<std::uint64_t>(std::llround(system_s * hz));
  if (all <= known) return;
  const std::uint64_t rest = all - known;
  const std::string program = data.stacks.empty() ? kEnded : data.stacks.begin()->first.front().function;
  data.stacks[{{program, ""}, {kKernelNotSampled, "kernel"}}] += rest;
  data.samples += rest;
  data.accounted += rest;
  if (!data.by_thread) return;
  // Which thread's it was is not known, unless there is but one.
  const bool one = data.threads.size() == 1;
  const std::uint32_t process = data.threads.empty() ? 0 : data.threads.begin()->first.first;
  ThreadProfile& thread = one ? data.threads.begin()->second : data.threads[{process, 0}];
  if (thread.name.empty()) thread.name = kEnded;
  thread.samples += rest;
  thread.stacks[{{kKernelNotSampled, "kernel"}}] += rest;
}

}  // namespace zerotax::profile
