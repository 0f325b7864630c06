#include "os/process_info.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "os/page.h"

namespace zerotax {
namespace {

std::string path_of(pid_t pid, const char* file) { return fmt::format("/proc/{}/{}", pid, file); }

}  // namespace

ProcessMemory process_memory(pid_t pid, bool pss) {
  ProcessMemory memory;
  std::uint64_t pages = 0;
  std::uint64_t resident = 0;
  // A zombie answers with zeros: it holds nothing that can be measured.
  if (std::ifstream(path_of(pid, "statm")) >> pages >> resident && pages > 0) {
    memory.vsz = pages * kPageBytes;
    memory.rss = resident * kPageBytes;
  }
  if (pss) memory.pss = rollup_bytes(pid, "Pss");
  return memory;
}

std::optional<std::uint64_t> rollup_bytes(pid_t pid, const std::string& name) {
  std::ifstream rollup(path_of(pid, "smaps_rollup"));
  for (std::string line; std::getline(rollup, line);) {
    std::istringstream words(line);
    std::string found;
    std::uint64_t kib = 0;
    if (words >> found >> kib && found == name + ":") return kib * 1024;
  }
  return std::nullopt;
}

std::vector<ProcessMapping> process_mappings(pid_t pid) {
  std::vector<ProcessMapping> mappings;
  std::ifstream maps(path_of(pid, "maps"));
  for (std::string line; std::getline(maps, line);) {
    unsigned long long begin = 0;
    unsigned long long end = 0;
    unsigned long long offset = 0;
    char flags[5]{};
    int name = 0;
    if (std::sscanf(line.c_str(), "%llx-%llx %4s %llx %*s %*s %n", &begin, &end, &flags[0], &offset, &name) != 4)
      continue;
    mappings.push_back(
        {begin, end, offset, flags[1] == 'w', flags[3] == 's', line.substr(static_cast<std::size_t>(name))});
  }
  return mappings;
}

std::vector<pid_t> process_threads(pid_t pid) {
  std::vector<pid_t> threads;
  std::error_code failure;
  std::filesystem::directory_iterator entry(path_of(pid, "task"), failure);
  for (; !failure && entry != std::filesystem::directory_iterator(); entry.increment(failure)) {
    threads.push_back(static_cast<pid_t>(std::atoi(entry->path().filename().c_str())));
  }
  return threads;
}

std::vector<pid_t> process_children(pid_t pid) {
  std::vector<pid_t> children;
  for (const pid_t thread : process_threads(pid)) {
    std::ifstream file(fmt::format("/proc/{}/task/{}/children", pid, thread));
    for (pid_t child = 0; file >> child;) children.push_back(child);
  }
  return children;
}

std::vector<pid_t> process_tree(pid_t pid) {
  std::vector<pid_t> all{pid};
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (const pid_t child : process_children(all[i])) all.push_back(child);
  }
  return all;
}

std::string process_name(pid_t pid) {
  std::string name;
  std::ifstream file(path_of(pid, "comm"));
  std::getline(file, name);
  return name;
}

}  // namespace zerotax
