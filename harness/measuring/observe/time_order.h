#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace zerotax {

/// Applies the events before a time in chronological order, and leaves the remaining events pending. Each CPU has its
/// own buffer, and the buffers are read one after the other. Events older than the start of the previous reading are
/// therefore complete.
template <typename Event, typename Apply>
void apply_in_order(std::vector<Event>& pending, std::uint64_t before_ns, Apply apply) {
  std::stable_sort(pending.begin(), pending.end(),
                   [](const Event& one, const Event& other) { return one.time_ns < other.time_ns; });
  const auto end =
      std::find_if(pending.begin(), pending.end(), [&](const Event& event) { return event.time_ns >= before_ns; });
  std::for_each(pending.begin(), end, apply);
  pending.erase(pending.begin(), end);
}

}  // namespace zerotax
