#include "os/environment.h"

#include <gnu/libc-version.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "os/huge_pages.h"
#include "os/memory.h"
#include "os/page.h"
#include "os/pagemap.h"
#include "os/syscall_trap.h"
#include "os/write_tracker.h"

namespace zerotax {
namespace {

Measured<std::string> cpu_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const auto colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return NotAvailable{"/proc/cpuinfo does not name a model"};
}

Measured<std::array<double, 3>> load_average() {
  std::array<double, 3> load{};
  if (::getloadavg(load.data(), 3) != 3) return NotAvailable{"getloadavg failed"};
  return load;
}

}  // namespace

Environment describe_environment() {
  utsname system{};
  ::uname(&system);
  const MemoryState memory = read_memory_state();
  const Pagemap pagemap;
  const WriteTracker tracker;
  const char* const refusal = syscall_trap::refusal();
  const bool scan = pagemap.method() == Pagemap::Method::kScan;
  Environment found;
  found.kernel = std::string(&system.release[0]);
  found.machine = std::string(&system.machine[0]);
  found.cpu = cpu_name();
  found.cpus = static_cast<std::uint64_t>(::sysconf(_SC_NPROCESSORS_ONLN));
  found.memory_bytes = memory.total;
  found.memory_available_bytes = memory.available;
  found.page_bytes = std::uint64_t{page_bytes()};
  found.thp = system_huge_pages();
  found.swap_bytes = memory.swap;
  found.cgroup_memory_limit_bytes = {memory.cgroup_limit, "no limit is set"};
  found.load_average = load_average();
  found.libc = std::string("glibc ") + ::gnu_get_libc_version();
  found.pagemap_scan = scan;
  found.capabilities =
      Capabilities{scan                                         ? "PAGEMAP_SCAN"
                   : pagemap.method() == Pagemap::Method::kRead ? "read"
                                                                : pagemap.reason(),
                   tracker.name(), refusal != nullptr ? refusal : syscall_trap::name(), ::geteuid() == 0};
  return found;
}

std::uint64_t page_bytes_of(const Json& environment) {
  const auto found = environment.find("page_bytes");
  return found != environment.end() && found->is_number_unsigned() ? found->get<std::uint64_t>() : page_bytes();
}

}  // namespace zerotax
