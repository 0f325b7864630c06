#include "os/environment.h"

#include <gnu/libc-version.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "os/memory.h"
#include "os/page.h"
#include "os/pagemap.h"
#include "os/write_tracker.h"

namespace zerotax {
namespace {

Json first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  if (std::getline(file, line)) return line;
  return not_available(path + " cannot be read");
}

Json cpu_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const auto colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return not_available("/proc/cpuinfo does not name a model");
}

/// "always [madvise] never" says madvise.
Json huge_pages() {
  const Json line = first_line("/sys/kernel/mm/transparent_hugepage/enabled");
  if (!line.is_string()) return not_available("this kernel has no transparent huge pages");
  const auto text = line.get<std::string>();
  const auto open = text.find('[');
  const auto close = text.find(']');
  if (open == std::string::npos || close == std::string::npos) return text;
  return text.substr(open + 1, close - open - 1);
}

Json load_average() {
  double load[3];
  if (::getloadavg(&load[0], 3) != 3) return not_available("getloadavg failed");
  return Json::array({load[0], load[1], load[2]});
}

Json capabilities() {
  const Pagemap pagemap;
  const WriteTracker tracker;
  Json found;
  found["pagemap"] = pagemap.method() == Pagemap::Method::kScan   ? "PAGEMAP_SCAN"
                     : pagemap.method() == Pagemap::Method::kRead ? "read"
                                                                  : pagemap.reason();
  found["write_tracking"] = tracker.available() ? "userfaultfd, asynchronous" : std::string(tracker.reason());
  found["root"] = ::geteuid() == 0;
  return found;
}

}  // namespace

Json describe_environment() {
  utsname system{};
  ::uname(&system);
  const MemoryState memory = read_memory_state();
  const Json found = capabilities();
  Json environment;
  environment["kernel"] = &system.release[0];
  environment["machine"] = &system.machine[0];
  environment["cpu"] = cpu_name();
  environment["cpus"] = ::sysconf(_SC_NPROCESSORS_ONLN);
  environment["memory_bytes"] = memory.total;
  environment["memory_available_bytes"] = memory.available;
  environment["page_bytes"] = kPageBytes;
  environment["thp"] = huge_pages();
  environment["swap_bytes"] = memory.swap;
  environment["cgroup_memory_limit_bytes"] =
      memory.cgroup_limit ? Json(*memory.cgroup_limit) : not_available("no limit is set");
  environment["load_average"] = load_average();
  environment["libc"] = std::string("glibc ") + ::gnu_get_libc_version();
  environment["pagemap_scan"] = found["pagemap"] == "PAGEMAP_SCAN";
  environment["capabilities"] = found;
  return environment;
}

}  // namespace zerotax
