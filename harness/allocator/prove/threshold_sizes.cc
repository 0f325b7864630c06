#include "prove/threshold_sizes.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <set>

#include "base/error.h"
#include "base/size.h"
#include "files/document.h"
#include "os/child.h"
#include "os/clock.h"
#include "os/stop.h"
#include "run/allocators.h"
#include "thresholds/document.h"

namespace zerotax::prove {
namespace {

/// With more sizes, too few blocks would have each size.
constexpr std::size_t kMostSizes = 48;

/// The command line of the search. The range covers the limits of mappings and caches.
std::vector<std::string> words_of(const Allocator& allocator, const std::string& file) {
  const std::string word = is_builtin(allocator.name) ? allocator.name : allocator_word(allocator);
  std::vector<std::string> words{"thresholds", "--allocator", word,    "--touch",   "1", "--grid", "1", "--from",
                                 "32KiB",      "--to",        "64MiB", "--timeout", "2", "--json", file};
  for (const auto& [key, value] : allocator.env) {
    words.insert(words.end(), {"--env", fmt::format("{}:{}={}", allocator.name, key, value)});
  }
  return words;
}

}  // namespace

std::vector<std::uint64_t> usual_thresholds() {
  std::vector<std::uint64_t> sizes;
  for (std::uint64_t size = 32 * kKiB; size <= 64 * kMiB; size *= 2) sizes.push_back(size);
  return sizes;
}

std::vector<std::uint64_t> threshold_sizes(const Allocator& allocator, double seconds, const std::string& folder,
                                           const std::function<void()>& look) {
  // The search runs in a process of its own, because an allocator that hangs at each size must not delay the proof.
  const std::string file = folder + "/thresholds.json";
  ChildCommand command;
  command.program = "/proc/self/exe";
  command.arguments = words_of(allocator, file);
  command.capture = true;
  command.timeout = std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000));
  const ChildResult result = run_child(command, [&] {
    look();
    return stop_requested();
  });
  end_if_stopped();
  std::set<std::uint64_t> sizes;
  if (result.end == ChildResult::End::kExited && result.code <= static_cast<int>(ExitStatus::kFinding)) {
    const thresholds::Thresholds found =
        thresholds::read_thresholds(read_document(file, "thresholds", "this is a defect in zerotax"));
    for (const thresholds::ThresholdLane& lane : found.lanes) {
      for (const Threshold& each : lane.found.thresholds) sizes.insert(each.at_bytes);
    }
  }
  if (sizes.empty()) return usual_thresholds();
  std::vector<std::uint64_t> all(sizes.begin(), sizes.end());
  all.resize(std::min(all.size(), kMostSizes));
  return all;
}

}  // namespace zerotax::prove
