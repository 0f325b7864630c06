#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "base/size.h"
#include "base/units.h"
#include "replay/result.h"

namespace zerotax::replay {
namespace {

/// Largest difference that the pages and stacks of two programs explain.
constexpr std::uint64_t kSlackBytes = std::uint64_t{64} << 10;
constexpr std::uint64_t kSlackCounts = 16;

Measured<double> error_of(const Count& recorded, const Count& replayed, std::uint64_t slack) {
  if (!recorded) return NotAvailable{recorded.why()};
  if (!replayed) return NotAvailable{replayed.why()};
  if (less(std::max(*recorded, *replayed), std::min(*recorded, *replayed)) <= slack) return 0.0;
  if (*recorded == 0) return NotAvailable{"the recorded run had a count of 0"};
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
      {"of it redundantly", &errors.redundant_zeroed_bytes},
      {"peak memory", &errors.peak_bytes}};
  std::vector<std::string> words;
  std::vector<std::string> unknown;
  for (const auto& [name, error] : rows) {
    if (*error) {
      words.push_back(**error == 0 ? fmt::format("{} 0", name) : fmt::format("{} {:+.1f} %", name, **error * 100));
    } else {
      unknown.emplace_back(name);
    }
  }
  if (words.empty()) {
    return fmt::format("The accuracy of replay is unknown: nothing was counted under {}, as recorded ({}).", allocator,
                       errors.zero_fill_faults.why());
  }
  return fmt::format("Replay under {}, as recorded, differs from the recorded run by: {}{}{}.", allocator,
                     fmt::join(words, ", "), unknown.empty() ? "" : "; unknown: ", fmt::join(unknown, ", "));
}

}  // namespace

bool predicts_well(const Workload& workload) {
  constexpr double kMostError = 0.05;
  if (!workload.errors) return false;
  const auto is_small = [](const Measured<double>& error) { return error && std::abs(*error) <= kMostError; };
  const Errors& errors = *workload.errors;
  return is_small(errors.zero_fill_faults) && is_small(errors.kernel_zeroed_bytes) && is_small(errors.refilled_bytes);
}

bool any_failed(const Workload& workload) {
  return std::any_of(workload.replays.begin(), workload.replays.end(),
                     [](const Replayed& each) { return !each.failed_calls; });
}

std::string short_name(const Replayed& replay) { return replay.name.substr(0, replay.name.find(' ')); }

Count zeros_of(const record::CallsCounts& counts) {
  const Count& kernel = counts.kernel_zeroed_bytes;
  const Count& allocator = counts.zeroed_bytes;
  return kernel && allocator ? Count(*kernel + *allocator) : kernel ? allocator : kernel;
}

void add_sentence(Workloads& all) {
  // Allocators, with the number of workloads in which each writes the fewest zeros, alone or with others. Allocators
  // are in the order of the document.
  std::vector<std::pair<std::string, std::size_t>> fewest;
  std::size_t known = 0;
  for (const Workload& workload : all.workloads) {
    std::optional<std::uint64_t> least;
    for (const Replayed& each : workload.replays) {
      const Count zeros = zeros_of(each.counts);
      if (zeros) least = std::min(least.value_or(*zeros), *zeros);
    }
    if (!least) continue;
    ++known;
    for (const Replayed& each : workload.replays) {
      const std::string name = short_name(each);
      auto place =
          std::find_if(fewest.begin(), fewest.end(), [&](const auto& allocator) { return allocator.first == name; });
      if (place == fewest.end()) place = fewest.insert(fewest.end(), {name, 0});
      if (zeros_of(each.counts).value_or(*least + kSlackBytes + 1) <= *least + kSlackBytes) ++place->second;
    }
  }
  all.sentence.clear();
  if (known == 0 || fewest.size() < 2) return;
  std::stable_sort(fewest.begin(), fewest.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  const std::size_t best = fewest.front().second;
  std::vector<std::string> names;
  for (const auto& [name, count] : fewest) {
    if (count == best) names.push_back(name);
  }
  all.sentence = fmt::format("Of {}, {} wrote the fewest zeros in {}{}", format_counted(known, "real program"),
                             fmt::join(names, " and "), best, names.size() > 1 ? " each" : "");
  const auto& [last, count] = fewest.back();
  all.sentence += count < best ? fmt::format(", and {} in {}.", last, count) : ".";
}

void add_verdict(Workload& workload) {
  const auto same = std::find_if(workload.replays.begin(), workload.replays.end(),
                                 [](const Replayed& each) { return each.as_recorded; });
  const Recording& recording = workload.recording;
  const bool is_bounded = std::any_of(workload.replays.begin(), workload.replays.end(),
                                      [](const Replayed& each) { return each.at_least.has_value(); });
  if (is_bounded) {
    workload.prediction = fmt::format(
        "The accuracy of replay is unknown: the end of a process was not seen, because {}. The program may have "
        "written to pages of {} that a replay does not write to.",
        workload.recording.limited ? "the recording stopped at --calls-limit"
                                   : "the process was killed, or the recording stopped earlier",
        recording.unknown_blocks.value_or(0) == 0
            ? "its data"
            : fmt::format("{}", format_counted(*recording.unknown_blocks, "large block")));
  } else if (workload.recording.limited) {
    workload.prediction =
        "The accuracy of replay is unknown: the recording stopped at --calls-limit, and the recorded run went on.";
  } else if (workload.recording.allocator.empty()) {
    workload.prediction = "The accuracy of replay is unknown: the recording has no counts of the run.";
  } else if (same == workload.replays.end()) {
    workload.prediction = fmt::format(
        "The accuracy of replay is unknown: the program was recorded with {}{}{}, and no replay used this setup.",
        workload.recording.allocator, workload.recording.env.empty() ? "" : " and ",
        fmt::join(workload.recording.env, " "));
  } else {
    workload.errors = errors_of(workload.recording.counts, same->counts);
    workload.prediction = sentence(*workload.errors, same->name);
  }
}

}  // namespace zerotax::replay
