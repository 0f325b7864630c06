#include "os/perf_refusal.h"

#include <fmt/format.h>
#include <linux/capability.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <optional>
#include <sstream>

namespace zerotax {
namespace {

constexpr unsigned kPerfmon = 38;  // CAP_PERFMON, Linux 5.8
constexpr const char* kParanoid = "/proc/sys/kernel/perf_event_paranoid";

std::optional<int> paranoid_level() {
  int level = 0;
  return std::ifstream(kParanoid) >> level ? std::optional(level) : std::nullopt;
}

/// A row of /proc/self/status, as a number of that base; 0 if it is missing.
std::uint64_t status_row(const std::string& name, int base) {
  std::ifstream status("/proc/self/status");
  for (std::string row; std::getline(status, row);) {
    if (row.starts_with(name + ":")) return std::strtoull(row.c_str() + name.size() + 1, nullptr, base);
  }
  return 0;
}

/// Debian and Ubuntu have settings above 2, with which CAP_PERFMON does not help.
bool is_privileged(int level) {
  const std::uint64_t capabilities = status_row("CapEff", 16);
  return (capabilities >> CAP_SYS_ADMIN & 1) != 0 || ((capabilities >> kPerfmon & 1) != 0 && level <= 2);
}

}  // namespace

int perf_denial() {
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  const auto fd = ::syscall(SYS_perf_event_open, &attributes, 0, -1, -1, ~0UL);
  if (fd < 0) return errno == EINVAL ? 0 : errno;
  ::close(static_cast<int>(fd));  // a sandbox that knows no flags
  return 0;
}

std::string why_perf_denied() {
  const int error = perf_denial();
  if (error == 0) return "";
  if (error == ENOSYS && !paranoid_level()) return "this kernel has no perf events";
  constexpr std::uint64_t kFiltered = 2;  // SECCOMP_MODE_FILTER
  return fmt::format("{} denies perf_event_open ({}), whatever kernel.perf_event_paranoid is",
                     status_row("Seccomp", 10) == kFiltered ? "a seccomp filter of this process, as containers have,"
                                                            : "a sandbox between this process and the kernel",
                     std::strerror(error));
}

MachineError perf_refusal(const std::string& what, int error, int paranoid) {
  if (error == EMFILE || error == ENFILE) {
    return {fmt::format("{}: more files would be open than may be ({})", what, std::strerror(error)),
            "raise the limit of open files (ulimit -n)"};
  }
  const std::string denied = why_perf_denied();
  const auto level = paranoid_level();
  if (!denied.empty()) {
    return {fmt::format("{}: {}", what, denied), level ? kPermitPerf : "use one built with CONFIG_PERF_EVENTS"};
  }
  if (error == ENOSYS || error == ENOENT || error == EOPNOTSUPP) {
    return {fmt::format("{}: this kernel has no such event ({})", what, std::strerror(error)),
            "use one built with CONFIG_PERF_EVENTS"};
  }
  const std::string refused = fmt::format("{} ({})", what, std::strerror(error));
  if (error != EACCES && error != EPERM) return {refused, "see `zerotax doctor`"};
  const bool privileged = is_privileged(level.value_or(0));
  if (!privileged && paranoid < 0) return {refused + ": only root may", "run zerotax as root"};
  if (!privileged && level && *level > paranoid) {
    return {fmt::format("{}: kernel.perf_event_paranoid is {}", refused, *level),
            fmt::format("run zerotax as root, or have root run: sysctl kernel.perf_event_paranoid={}", paranoid)};
  }
  return {fmt::format("{}: kernel.perf_event_paranoid permits it, so a security module does not, or the process is not "
                      "yours to look at",
                      refused),
          "run zerotax as root, outside the container if it is in one"};
}

}  // namespace zerotax
