#include "os/throttling.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "os/cgroup.h"
#include "os/text_of.h"

namespace zerotax {
namespace {

bool has_cpu(const std::string& controllers) { return (',' + controllers + ',').find(",cpu,") != std::string::npos; }

}  // namespace

std::uint64_t parse_throttled_ns(const std::string& text) {
  std::istringstream lines(text);
  std::string name;
  for (std::uint64_t value = 0; lines >> name >> value;) {
    if (name == "throttled_usec") return value * 1000;
    if (name == "throttled_time") return value;
  }
  return 0;
}

Throttling::Throttling(pid_t process) {
  for (const CgroupLine& line : parse_cgroup_lines(text_of(fmt::format("/proc/{}/cgroup", process)))) {
    const bool second = line.controllers.empty();
    if (!second && !has_cpu(line.controllers)) continue;
    const std::vector<std::string> mounts =
        second ? std::vector<std::string>{"/sys/fs/cgroup", "/sys/fs/cgroup/unified"}
               : std::vector<std::string>{"/sys/fs/cgroup/" + line.controllers, "/sys/fs/cgroup/cpu"};
    for (const std::string& mount : mounts) {
      // Visits the group and the groups above it, the root included.
      for (std::string path = line.path == "/" ? "" : line.path;; path.resize(path.rfind('/'))) {
        const std::string file = mount + path + "/cpu.stat";
        const std::string text = text_of(file);
        if (!text.empty()) groups_.push_back({file, parse_throttled_ns(text)});
        if (path.rfind('/') == std::string::npos) break;
      }
    }
  }
}

Measured<std::uint64_t> Throttling::since() const {
  if (groups_.empty()) return NotAvailable{"cpu.stat of its control groups cannot be read here"};
  std::uint64_t most = 0;
  for (const Group& group : groups_) {
    const std::uint64_t now = parse_throttled_ns(text_of(group.file));
    most = std::max(most, now - std::min(now, group.before_ns));
  }
  return most;
}

}  // namespace zerotax
