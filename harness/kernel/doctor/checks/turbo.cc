#include "doctor/check.h"

namespace zerotax::doctor {
namespace {

Finding note(const char* remedy) {
  return {"on", Weight::kNote,
          "times: the frequency depends on heat and on the load of the other CPUs; pairs of processes (compare) "
          "suffer least",
          remedy};
}

Finding look_at_turbo(const Machine& machine) {
  if (const auto off = machine.number("/sys/devices/system/cpu/intel_pstate/no_turbo")) {
    if (*off != 0) return {"off", Weight::kOk, "", ""};
    return note("echo 1 > /sys/devices/system/cpu/intel_pstate/no_turbo");
  }
  if (const auto on = machine.number("/sys/devices/system/cpu/cpufreq/boost")) {
    if (*on == 0) return {"off", Weight::kOk, "", ""};
    return note("echo 0 > /sys/devices/system/cpu/cpufreq/boost");
  }
  return unknown("the kernel does not say (usual in a virtual machine)");
}

const Check turbo_check(Topic::kCpu, "turbo", look_at_turbo);

}  // namespace
}  // namespace zerotax::doctor
