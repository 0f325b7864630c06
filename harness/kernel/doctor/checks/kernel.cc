#include <sys/utsname.h>

#include <string>

#include "doctor/check.h"

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
  return {*release.text, Weight::kOk, "", ""};
}

const Check kernel_check(Topic::kKernel, "version", look_at_kernel);

}  // namespace
}  // namespace zerotax::doctor
