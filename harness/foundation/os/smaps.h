#pragma once

#include <sys/types.h>

#include <cstdint>
#include <istream>
#include <optional>
#include <string>
#include <vector>

namespace zerotax {

/// What /proc/PID/smaps says of one mapping, in bytes.
struct MappingMemory {
  std::uint64_t begin = 0;
  std::uint64_t mapped = 0;
  std::uint64_t resident = 0;
  std::uint64_t anonymous = 0;
  std::uint64_t huge = 0;  ///< of anonymous: in transparent huge pages
  std::string name;        ///< path, [heap], [anon:…]; empty: anonymous
};

std::vector<MappingMemory> parse_smaps(std::istream& text);

/// Nothing if the process is gone, or may not be looked at. The kernel walks the page tables for it, about 10 ms per
/// GiB.
std::optional<std::vector<MappingMemory>> read_smaps(pid_t pid);

}  // namespace zerotax
