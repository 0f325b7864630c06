#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>

#include "doctor/check.h"

namespace zerotax::doctor {
namespace {

Finding look_at_governor(const Machine& machine) {
  const std::string folder = "/sys/devices/system/cpu";
  std::set<std::string> governors;
  for (const std::string& name : machine.names(folder)) {
    if (const Reading line = machine.line(fmt::format("{}/{}/cpufreq/scaling_governor", folder, name))) {
      governors.insert(*line.text);
    }
  }
  if (governors.empty()) return unknown("the kernel sets no CPU frequency here (usual in a virtual machine)");
  const std::string state = fmt::format("{}", fmt::join(governors, ", "));
  if (governors == std::set<std::string>{"performance"}) return {state, Weight::kOk, "", ""};
  return {state, Weight::kSpoils,
          "all times: the frequency follows the load, so a short process may run at a fraction of it",
          "cpupower frequency-set -g performance"};
}

const Check governor_check(Topic::kCpu, "frequency governor", look_at_governor);

}  // namespace
}  // namespace zerotax::doctor
