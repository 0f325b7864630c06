#include <string>

#include "doctor/check.h"

namespace zerotax::doctor {
namespace {

Finding look_at_virtualisation(const Machine& machine) {
  const Reading cpus = machine.text("/proc/cpuinfo");
  if (!cpus) return unknown(cpus.why);
  const auto at = cpus.text->find("\nflags");
  const std::string flags = at == std::string::npos ? "" : cpus.text->substr(at, cpus.text->find('\n', at + 1) - at);
  if ((flags + " ").find(" hypervisor ") == std::string::npos) return {"none seen", Weight::kOk, "", ""};
  std::string who;
  for (const char* path : {"/sys/hypervisor/type", "/sys/class/dmi/id/sys_vendor"}) {
    const Reading line = machine.line(path);
    if (who.empty() && line && !line.text->empty()) who = " (" + *line.text + ")";
  }
  return {"a virtual machine" + who, Weight::kNote,
          "times: memory that the host has not backed is up to 10 times slower at its first touch (zerotax touches it "
          "first), and neighbours cannot be seen from here; hardware counters may be missing",
          ""};
}

const Check virtualisation_check(Topic::kCpu, "virtualisation", look_at_virtualisation);

}  // namespace
}  // namespace zerotax::doctor
