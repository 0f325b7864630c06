#include "os/smaps.h"

#include <fmt/format.h>

#include <cstdio>
#include <fstream>

namespace zerotax {

std::vector<MappingMemory> parse_smaps(std::istream& text) {
  std::vector<MappingMemory> mappings;
  for (std::string line; std::getline(text, line);) {
    unsigned long long begin = 0;
    unsigned long long end = 0;
    int name = 0;
    if (std::sscanf(line.c_str(), "%llx-%llx %*s %*x %*s %*u %n", &begin, &end, &name) == 2 && name > 0) {
      MappingMemory mapping;
      mapping.begin = begin;
      mapping.mapped = end - begin;
      mapping.name = line.substr(static_cast<std::size_t>(name));
      mappings.push_back(std::move(mapping));
      continue;
    }
    char field[32]{};
    unsigned long long kib = 0;
    if (mappings.empty() || std::sscanf(line.c_str(), "%31[A-Za-z_]: %llu kB", &field[0], &kib) != 2) continue;
    const std::string word = &field[0];
    if (word == "Rss") mappings.back().resident = kib * 1024;
    if (word == "Anonymous") mappings.back().anonymous = kib * 1024;
    if (word == "AnonHugePages") mappings.back().huge = kib * 1024;
  }
  return mappings;
}

std::optional<std::vector<MappingMemory>> read_smaps(pid_t pid) {
  std::ifstream file(fmt::format("/proc/{}/smaps", pid));
  std::vector<MappingMemory> mappings = parse_smaps(file);
  // One that may not be looked at reads as an error, one that has ended, and a kernel thread, as nothing.
  if (mappings.empty()) return std::nullopt;
  return mappings;
}

}  // namespace zerotax
