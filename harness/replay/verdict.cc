#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/less.h"
#include "replay/result.h"

namespace zerotax::replay {
namespace {

/// Differences that are no more than the pages and stacks of two programs.
constexpr std::uint64_t kSlackBytes = std::uint64_t{64} << 10;
constexpr std::uint64_t kSlackCounts = 16;

Measured<double> error_of(const Count& recorded, const Count& replayed, std::uint64_t slack) {
  if (!recorded) return NotAvailable{recorded.why()};
  if (!replayed) return NotAvailable{replayed.why()};
  if (less(std::max(*recorded, *replayed), std::min(*recorded, *replayed)) <= slack) return 0.0;
  if (*recorded == 0) return NotAvailable{"the recorded run had none"};
  return static_cast<double>(*replayed) / static_cast<double>(*recorded) - 1;
}

Errors errors_of(const record::CallsCounts& recorded, const record::CallsCounts& replayed) {
  const auto of_count = [&](Count record::CallsCounts::*count) {
    return error_of(recorded.*count, replayed.*count, kSlackCounts);
  };
  const auto of_bytes = [&](Count record::CallsCounts::*count) {
    return error_of(recorded.*count, replayed.*count, kSlackBytes);
  };
  using C = record::CallsCounts;
  return {of_count(&C::minor_faults),           of_count(&C::zero_fill_faults), of_bytes(&C::kernel_zeroed_bytes),
          of_bytes(&C::refilled_bytes),         of_bytes(&C::returned_bytes),   of_bytes(&C::zeroed_bytes),
          of_bytes(&C::redundant_zeroed_bytes), of_count(&C::mapping_calls),    of_bytes(&C::peak_bytes)};
}

std::string sentence(const Errors& errors, const std::string& allocator) {
  const std::pair<const char*, const Measured<double>*> rows[] = {
      {"zero-fill faults", &errors.zero_fill_faults},
      {"memory zeroed by the kernel", &errors.kernel_zeroed_bytes},
      {"refilled memory", &errors.refilled_bytes},
      {"memory zeroed by the allocator", &errors.zeroed_bytes},
      {"peak memory", &errors.peak_bytes}};
  std::vector<std::string> words;
  for (const auto& [name, error] : rows) {
    if (*error)
      words.push_back(**error == 0 ? fmt::format("{} 0", name) : fmt::format("{} {:+.1f} %", name, **error * 100));
  }
  return fmt::format("Replay under {}, as recorded, differs from the recorded run by: {}.", allocator,
                     fmt::join(words, ", "));
}

}  // namespace

bool any_failed(const Replay& replay) {
  return std::any_of(replay.replays.begin(), replay.replays.end(),
                     [](const Replayed& each) { return !each.counts.minor_faults; });
}

void add_verdict(Replay& replay) {
  const auto same =
      std::find_if(replay.replays.begin(), replay.replays.end(), [](const Replayed& each) { return each.as_recorded; });
  if (replay.recording.limited) {
    replay.prediction =
        "How well replay predicts is unknown: the recording stopped at --calls-limit, and the recorded run went on.";
  } else if (replay.recording.allocator.empty()) {
    replay.prediction = "How well replay predicts is unknown: the recording has no counts of the run.";
  } else if (same == replay.replays.end()) {
    replay.prediction = fmt::format(
        "How well replay predicts is unknown: the program was recorded with {}{}{}, which was not "
        "replayed.",
        replay.recording.allocator, replay.recording.env.empty() ? "" : " and ", fmt::join(replay.recording.env, " "));
  } else {
    replay.errors = errors_of(replay.recording.counts, same->counts);
    replay.prediction = sentence(*replay.errors, same->name);
  }
}

}  // namespace zerotax::replay
