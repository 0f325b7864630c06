#include "observe/fault_data.h"

#include <algorithm>

namespace zerotax {

std::vector<MappingFaults> joined(std::vector<MappingFaults> parts) {
  std::stable_sort(parts.begin(), parts.end(),
                   [](const MappingFaults& one, const MappingFaults& other) { return one.begin < other.begin; });
  std::vector<MappingFaults> whole;
  for (MappingFaults& part : parts) {
    const auto same = std::find_if(whole.begin(), whole.end(), [&](const MappingFaults& other) {
      return other.name == part.name && part.begin < other.end;
    });
    if (same == whole.end()) {
      whole.push_back(std::move(part));
      continue;
    }
    same->end = std::max(same->end, part.end);
    same->counts.add(part.counts);
  }
  return whole;
}

}  // namespace zerotax
