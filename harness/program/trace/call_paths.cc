#include "trace/call_paths.h"

#include <algorithm>

namespace zerotax::trace {

std::size_t CallPaths::child(std::size_t process, std::size_t parent, std::uint64_t function) {
  const auto [found, added] = children_.try_emplace({parent, {process, function}}, paths_.size());
  if (added) {
    CallPath path;
    path.parent = parent;
    path.process = process;
    path.function = function;
    path.depth = parent == kRoot ? 0 : paths_[parent].depth + 1;
    paths_.push_back(path);
  }
  return found->second;
}

std::vector<std::size_t> CallPaths::ordered(unsigned depth) const {
  std::map<std::size_t, std::vector<std::size_t>> below;
  for (std::size_t i = 0; i < paths_.size(); ++i) below[paths_[i].parent].push_back(i);
  for (auto& [parent, paths] : below) {
    std::stable_sort(paths.begin(), paths.end(), [&](std::size_t one, std::size_t other) {
      const CallPath& first = paths_[one];
      const CallPath& second = paths_[other];
      return first.process != second.process ? first.process < second.process : first.total_ns > second.total_ns;
    });
  }
  // Without recursion: a program's may be deep.
  std::vector<std::size_t> order;
  std::vector<std::size_t> waiting;
  const auto wait_for = [&](std::size_t parent) {
    const auto found = below.find(parent);
    if (found != below.end()) waiting.insert(waiting.end(), found->second.rbegin(), found->second.rend());
  };
  wait_for(kRoot);
  while (!waiting.empty()) {
    const std::size_t path = waiting.back();
    waiting.pop_back();
    if (depth != 0 && paths_[path].depth >= depth) continue;
    order.push_back(path);
    wait_for(path);
  }
  return order;
}

}  // namespace zerotax::trace
