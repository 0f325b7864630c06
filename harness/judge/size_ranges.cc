#include "judge/size_ranges.h"

namespace zerotax {

const char* SizeRanges::word() const {
  if (known.empty()) return "unknown";
  if (spans.empty()) return "never";
  const bool all = spans.size() == 1 && spans[0].from == known.front() && spans[0].to == known.back();
  return all && unknown.empty() ? "always" : "some";
}

SizeRanges ranges_of(const std::map<std::uint64_t, Answer>& sizes) {
  SizeRanges ranges;
  bool held = false;
  for (const auto& [size, answer] : sizes) {
    (answer == Answer::kUnknown ? ranges.unknown : ranges.known).push_back(size);
    if (answer == Answer::kYes) {
      if (held) {
        ranges.spans.back().to = size;
      } else {
        ranges.spans.push_back({size, size});
      }
    }
    held = answer == Answer::kYes;
  }
  return ranges;
}

}  // namespace zerotax
