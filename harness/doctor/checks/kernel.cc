#include <fmt/format.h>
#include <sys/utsname.h>

#include <cstdio>
#include <string>

#include "doctor/check.h"
#include "os/syscall_trap.h"

namespace zerotax::doctor {
namespace {

Finding look_at_kernel(const Machine& machine) {
  Reading release = machine.line("/proc/sys/kernel/osrelease");
  if (!release && machine.is_this()) {
    utsname system{};
    ::uname(&system);
    release = {std::string(&system.release[0]), ""};
  }
  if (!release) return unknown(release.why);
  int major = 0;
  int minor = 0;
  if (std::sscanf(release.text->c_str(), "%d.%d", &major, &minor) != 2) {
    return unknown(fmt::format("'{}' is not a version", *release.text));
  }
  const int version = major * 1000 + minor;
  const char* newer = "apt-get install -t bookworm-backports linux-image-amd64";
  if (version < 5'011 && !syscall_trap::kForGood) {
    return {*release.text, Weight::kLimits,
            "system calls, and bytes that they return, are n/a (syscall user dispatch: Linux 5.11)", newer};
  }
  return {*release.text, Weight::kOk, "", ""};
}

const Check kernel_check(Topic::kKernel, "version", look_at_kernel);

}  // namespace
}  // namespace zerotax::doctor
