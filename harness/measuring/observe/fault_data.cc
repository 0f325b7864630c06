#include "observe/fault_data.h"

#include <algorithm>

namespace zerotax {

void FaultSampling::add_gap(std::uint64_t gap, std::uint64_t all, const ClassCounts& counts) {
  const auto add = [&](double Variance::*of, std::uint64_t count, Variance& shares) {
    const auto faults = static_cast<double>(all);
    // None of a few says little: as if one more had been seen, half of it of the class.
    const double share = (static_cast<double>(count) + 0.5) / (faults + 1);
    const double change = before_ ? share - (*before_).*of : 0;
    const auto unseen = static_cast<double>(gap);
    variance.*of += unseen * unseen * (share * (1 - share) / faults + change * change / 2);
    shares.*of = share;
  };
  Variance shares;
  add(&Variance::copies, counts.copies, shares);
  add(&Variance::reuses, counts.reuses, shares);
  add(&Variance::zero_fills, counts.zero_fills, shares);
  before_ = shares;
}

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
