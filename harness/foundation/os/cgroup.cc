#include "os/cgroup.h"

#include <sstream>

namespace zerotax {

std::vector<CgroupLine> parse_cgroup_lines(const std::string& text) {
  std::vector<CgroupLine> found;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const auto first = line.find(':');
    const auto second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    found.push_back({line.substr(first + 1, second - first - 1), line.substr(second + 1)});
  }
  return found;
}

std::string memory_cgroup(const std::string& text) {
  std::string found;
  for (const CgroupLine& line : parse_cgroup_lines(text)) {
    if (line.controllers.find("memory") != std::string::npos) return line.path;
    if (line.controllers.empty()) found = line.path;
  }
  return found;
}

}  // namespace zerotax
