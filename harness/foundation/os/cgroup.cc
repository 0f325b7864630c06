#include "os/cgroup.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

#include "os/input_file.h"

namespace zerotax {
namespace {

namespace fs = std::filesystem;

struct Hierarchy {
  std::string folder;
  bool has_perf_events = false;
};

/// Returns the hierarchies of control groups, beginning with the hierarchy of perf events.
std::vector<Hierarchy> hierarchies(const std::string& mounts) {
  std::vector<Hierarchy> first;  // version 1
  std::vector<Hierarchy> found;
  bool has_second = false;
  std::istringstream lines(mounts);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string device;
    Hierarchy each;
    std::string type;
    std::string options;
    if (!(words >> device >> each.folder >> type >> options)) continue;
    if (type == "cgroup2") found.insert(found.begin(), each);
    has_second = has_second || type == "cgroup2";
    if (type != "cgroup") continue;
    each.has_perf_events = (',' + options + ',').find(",perf_event,") != std::string::npos;
    (each.has_perf_events ? first : found).push_back(each);
  }
  // perf_event belongs to version 2 unless version 1 has it (Documentation/admin-guide/cgroup-v2.rst, perf_event).
  if (first.empty() && has_second) found.front().has_perf_events = true;
  first.insert(first.end(), found.begin(), found.end());
  return first;
}

std::optional<CgroupFolder> cgroup_at(const fs::path& path, const Hierarchy& hierarchy) {
  std::error_code failure;
  const std::string folder = fs::canonical(path, failure).string();
  const std::string& root = hierarchy.folder;
  const bool is_below = folder == root || folder.starts_with(root + '/');
  if (failure || !is_below || !fs::exists(folder + "/cgroup.procs", failure)) return std::nullopt;
  return CgroupFolder{folder == root ? "/" : folder.substr(root.size()), folder, hierarchy.has_perf_events};
}

void add_processes(const fs::path& folder, std::vector<pid_t>& processes) {
  std::ifstream file(folder / "cgroup.procs");
  for (pid_t pid = 0; file >> pid;) {
    if (pid > 0) processes.push_back(pid);  // a process of another PID namespace is listed as 0
  }
  std::error_code failure;
  for (fs::directory_iterator entry(folder, failure); !failure && entry != fs::directory_iterator();
       entry.increment(failure)) {
    if (entry->is_directory(failure) && !entry->is_symlink(failure)) add_processes(entry->path(), processes);
  }
}

bool has_cpu(const std::string& controllers) { return (',' + controllers + ',').find(",cpu,") != std::string::npos; }

}  // namespace

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

std::optional<CgroupFolder> find_cgroup(const std::string& name, const std::string& mounts) {
  if (name.empty()) return std::nullopt;
  const std::vector<Hierarchy> all = hierarchies(mounts);
  for (const Hierarchy& each : all) {
    if (auto found = cgroup_at(name, each)) return found;
  }
  // A line of /proc/PID/cgroup has a number, controllers, and a path.
  const std::size_t colon = name.find(':');
  const std::size_t second = colon == std::string::npos ? colon : name.find(':', colon + 1);
  const std::string path = second == std::string::npos ? name : name.substr(second + 1);
  for (const Hierarchy& each : all) {
    if (auto found = cgroup_at(each.folder + '/' + path, each)) return found;
  }
  return std::nullopt;
}

std::optional<CgroupFolder> find_cgroup(const std::string& name) {
  return find_cgroup(name, text_of("/proc/self/mounts"));
}

std::vector<pid_t> cgroup_processes(const std::string& folder) {
  std::vector<pid_t> processes;
  add_processes(folder, processes);
  std::sort(processes.begin(), processes.end());
  processes.erase(std::unique(processes.begin(), processes.end()), processes.end());
  return processes;
}

std::optional<CgroupTime> cgroup_time(const std::string& folder) {
  std::ifstream file(folder + "/cpu.stat");
  CgroupTime time;
  bool known = false;
  std::string name;
  for (std::int64_t us = 0; file >> name >> us;) {
    if (name == "user_usec") time.user_ns = us * 1000;
    if (name == "system_usec") time.system_ns = us * 1000;
    known = known || name == "user_usec";
  }
  return known ? std::optional(time) : std::nullopt;
}

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
      // Adds the group and all groups above it, including the root.
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
  if (groups_.empty()) return NotAvailable{"cpu.stat of the control groups cannot be read here"};
  std::uint64_t most = 0;
  for (const Group& group : groups_) {
    const std::uint64_t now = parse_throttled_ns(text_of(group.file));
    most = std::max(most, now - std::min(now, group.before_ns));
  }
  return most;
}

}  // namespace zerotax
