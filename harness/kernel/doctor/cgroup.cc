#include "doctor/cgroup.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "os/cgroup.h"

namespace zerotax::doctor {
namespace {

void climb(const Machine& machine, const std::string& folder, std::string path, const std::string& name,
           std::vector<CgroupFile>& found) {
  if (path == "/") path.clear();
  for (;;) {
    const std::string file = fmt::format("{}{}/{}", folder, path, name);
    if (const Reading line = machine.line(file)) found.push_back({file, *line.text});
    if (path.empty()) return;
    path.resize(std::min(path.rfind('/'), path.size()));
  }
}

bool has_word(const std::string& list, const std::string& word) {
  std::istringstream parts(list);
  for (std::string part; std::getline(parts, part, ',');) {
    if (part == word) return true;
  }
  return false;
}

}  // namespace

std::vector<CgroupFile> cgroup_files(const Machine& machine, const std::string& controller, const std::string& name_v2,
                                     const std::string& name_v1) {
  std::vector<CgroupFile> found;
  const Reading own = machine.text("/proc/self/cgroup");
  if (!own) return found;
  for (const auto& [controllers, path] : parse_cgroup_lines(*own.text)) {
    if (controllers.empty() && !name_v2.empty()) {
      // Beside version 1, version 2 is mounted one folder deeper.
      for (const char* folder : {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"}) {
        climb(machine, folder, path, name_v2, found);
      }
    } else if (has_word(controllers, controller) && !name_v1.empty()) {
      climb(machine, "/sys/fs/cgroup/" + controllers, path, name_v1, found);
      if (controllers != controller) climb(machine, "/sys/fs/cgroup/" + controller, path, name_v1, found);
    }
  }
  return found;
}

}  // namespace zerotax::doctor
