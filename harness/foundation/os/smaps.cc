#include "os/smaps.h"

#include <fmt/format.h>

#include <cstdio>
#include <fstream>
#include <utility>

#include "os/process_info.h"

namespace zerotax {

std::vector<MappingMemory> parse_smaps(std::istream& text) {
  std::vector<MappingMemory> mappings;
  for (std::string line; std::getline(text, line);) {
    if (auto found = parse_mapping(line)) {
      MappingMemory& mapping = mappings.emplace_back();
      mapping.begin = found->begin;
      mapping.mapped = found->end - found->begin;
      mapping.name = std::move(found->name);
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
  std::ifstream file(fmt::format("/proc/{}/smaps", living_thread(pid)));
  std::vector<MappingMemory> mappings = parse_smaps(file);
  // One that may not be looked at reads as an error, one that has ended, and a kernel thread, as nothing.
  if (mappings.empty()) return std::nullopt;
  return mappings;
}

}  // namespace zerotax
