#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/size.h"
#include "base/units.h"
#include "check/review_draft.h"
#include "findings/finding.h"
#include "findings/judgement.h"

namespace zerotax::check {
namespace {

using findings::Answer;

/// To the byte: "20 MiB", "1,000,003 bytes".
std::string exact_size(std::uint64_t bytes) {
  for (const auto& [unit, name] : {std::pair{kGiB, "GiB"}, {kMiB, "MiB"}, {kKiB, "KiB"}}) {
    if (bytes >= unit && bytes % unit == 0) return fmt::format("{} {}", format_count(bytes / unit), name);
  }
  return format_counted(bytes, "byte");
}

bool is_round(std::uint64_t bytes) { return bytes % kKiB == 0; }

std::string from_words(std::uint64_t bytes) {
  return !is_round(bytes) && is_round(bytes - 1) ? "just above " + exact_size(bytes - 1) : exact_size(bytes);
}

std::string to_words(std::uint64_t bytes) {
  return !is_round(bytes) && is_round(bytes + 1) ? "just below " + exact_size(bytes + 1) : exact_size(bytes);
}

std::string range_words(const ReviewRange& range) {
  if (range.from_bytes == range.to_bytes) return "of " + exact_size(range.from_bytes);
  return fmt::format("from {} to {}", from_words(range.from_bytes), to_words(range.to_bytes));
}

/// " from 64 KiB to 1 MiB and from 20 MiB to 100 MiB", at most three of them; "" if there are none.
std::string ranges_words(const std::vector<ReviewRange>& ranges) {
  constexpr std::size_t kMost = 3;
  std::string words;
  for (std::size_t i = 0; i < std::min(ranges.size(), kMost); ++i) {
    const bool last = i + 1 == std::min(ranges.size(), kMost);
    words += (i == 0 ? " " : last && ranges.size() <= kMost ? " and " : ", ") + range_words(ranges[i]);
  }
  if (ranges.size() > kMost) words += fmt::format(" and {} more ranges", ranges.size() - kMost);
  return words;
}

/// Which calls: the case, where it is not the plain one, and what is written to the block.
std::string scope_words(const ReviewGroup& group) {
  std::string words;
  if (!group.cases.empty() && group.cases.front() != "calloc_loop") {
    words += fmt::format(" in {}", fmt::join(group.cases, ", "));
  }
  if (!group.touch) return words;
  words += *group.touch == 0   ? ", where nothing is written to the block,"
           : *group.touch == 1 ? ", where the whole block is written to,"
                               : fmt::format(", where {} of the block is written to,", format_percent(*group.touch));
  return words;
}

std::string thread_words(const ReviewGroup& group) {
  return group.thread == "worker" ? "on worker threads only, "
         : group.thread == "main" ? "on the main thread only, "
                                  : "";
}

std::string calls_words(const Json& calls) {
  if (calls.empty()) return "no call";
  std::vector<std::string> words;
  for (const auto& [name, times] : calls.items()) {
    words.push_back(times == 1 ? name : fmt::format("{} {}", times.get<std::uint64_t>(), name));
  }
  return fmt::format("{}", fmt::join(words, ", "));
}

/// "faults", "zeroed bytes"; of one, "fault".
std::string unit_words(Metric metric, const Json& value) {
  const char* plural = value == 1 ? "" : "s";
  switch (metric) {
    case Metric::kCallocFaults:
      return fmt::format("fault{}", plural);
    case Metric::kTouchFaults:
      return fmt::format("fault{} while writing", plural);
    case Metric::kFreeFaults:
      return fmt::format("fault{} in free", plural);
    case Metric::kCallocSyscalls:
      return "in calloc";
    case Metric::kFreeSyscalls:
      return "in free";
    case Metric::kHome:
    case Metric::kZeroedMethod:
      return "";
    default:
      return row_of(metric).name;
  }
}

std::string value_words(const Json& value) {
  if (value.is_number_unsigned() || value.is_number_integer()) return format_count(value.get<std::uint64_t>());
  if (value.is_object()) return calls_words(value);
  return value.is_string() ? value.get<std::string>() : value.dump();
}

std::string example_words(const BaselineChange& change) {
  const std::string unit = change.metric ? unit_words(*change.metric, change.after) : "";
  return fmt::format("{} → {}{}{} at {}", value_words(change.before), value_words(change.after),
                     unit.empty() ? "" : " ", unit, exact_size(change.point->size_bytes));
}

/// The metrics that show a cause best.
std::vector<Metric> telling_metrics(Cause cause) {
  using enum Metric;
  switch (cause) {
    case Cause::kZeroesFresh:
      return {kCallocFaults, kPopulatedBytes, kRedundantZeroedBytes, kZeroedBytes};
    case Cause::kZeroesReused:
      return {kRedundantZeroedBytes, kZeroedBytes};
    case Cause::kZeroesInFree:
      return {kRedundantZeroedInFreeBytes, kZeroedInFreeBytes};
    case Cause::kReturnsMemory:
      return {kTouchFaults,   kCallocFaults, kFreeFaults,    kKernelZeroedBytes,
              kReturnedBytes, kFreeSyscalls, kCallocSyscalls};
    case Cause::kFaults:
      return {kCallocFaults, kTouchFaults, kFreeFaults, kKernelZeroedBytes, kPopulatedBytes};
    case Cause::kSystemCalls:
      return {kFreeSyscalls, kCallocSyscalls};
    case Cause::kPlacement:
      return {kHome, kZeroedMethod};
    default:
      return {kZeroedBytes, kRedundantZeroedBytes};
  }
}

bool is_nearer(const BaselineChange& one, const BaselineChange& other, std::uint64_t named) {
  const auto rank = [&](const BaselineChange& change) {
    const std::uint64_t size = change.point->size_bytes;
    return std::tuple(change.point->case_name != "calloc_loop", size > named ? size - named : named - size, change.call,
                      change.point->thread != "main", change.point->touch);
  };
  return rank(one) < rank(other);
}

/// The change that shows a group at the size that names it; nullptr if none does. Metrics that speak against the group,
/// as fewer faults while writing where calloc takes them, are no example.
const BaselineChange* example_of(const ReviewInput& input, const Draft& draft) {
  const ReviewGroup& group = draft.group;
  if (group.cases.empty()) return nullptr;
  const std::uint64_t named =
      group.ranges.empty() ? 0 : findings::named_size(group.ranges.front().from_bytes, group.ranges.back().to_bytes);
  const auto nearest = [&](const auto& counts) {
    const BaselineChange* best = nullptr;
    for (const std::size_t i : group.changes) {
      const BaselineChange& change = input.changes[i];
      if (!change.point || change.kind == ChangeKind::kNotMeasured || !counts(change)) continue;
      if (best == nullptr || is_nearer(change, *best, named)) best = &change;
    }
    return best;
  };
  const auto* status = nearest([](const BaselineChange& change) { return change.kind == ChangeKind::kStatus; });
  if (status != nullptr) return status;
  for (const Metric metric : telling_metrics(draft.moved.value_or(group.cause))) {
    const auto* found = nearest([&](const BaselineChange& change) {
      const Direction own = direction_of(change);
      return change.metric == metric && (own == group.direction || own == Direction::kNeither);
    });
    if (found != nullptr) return found;
  }
  return nearest([](const BaselineChange& change) { return change.metric.has_value(); });
}

bool has_metric(const ReviewInput& input, const ReviewGroup& group, std::initializer_list<Metric> metrics) {
  return std::any_of(group.changes.begin(), group.changes.end(), [&](std::size_t i) {
    const auto& metric = input.changes[i].metric;
    return metric && std::find(metrics.begin(), metrics.end(), *metric) != metrics.end();
  });
}

/// Whether each call of the new measurement does it, the first ones too, at every point of the group.
bool is_every_call(const ReviewInput& input, const ReviewGroup& group) {
  return std::all_of(group.changes.begin(), group.changes.end(), [&](std::size_t i) {
    if (!input.changes[i].point) return true;
    const Point* point = point_of(input.after, *input.changes[i].point);
    return point != nullptr && std::all_of(point->first_ops.begin(), point->first_ops.end(), [&](const auto& first) {
             return findings::is_much_of(first.count(Metric::kRedundantZeroedBytes), point->size_bytes) != Answer::kNo;
           });
  });
}

std::string failing_words(const BaselineChange* status) {
  const std::string now = status == nullptr ? "" : status->after.get<std::string>();
  return now == "crashed" ? "now crashes" : now == "timeout" ? "now does not come to an end" : "now fails";
}

/// What happens now, or no longer: behind the subject.
std::string what_now(const ReviewInput& input, const Draft& draft, Cause cause, const BaselineChange* example) {
  const ReviewGroup& group = draft.group;
  const bool worse = group.direction == Direction::kWorse;
  const auto now = [&](const char* more, const char* less) { return std::string(worse ? more : less); };
  switch (cause) {
    case Cause::kFails:
      return worse ? failing_words(example != nullptr && !example->metric ? example : nullptr) : "works again";
    case Cause::kNotZero:
      return now("now hands out dirty memory, and breaks its promise", "no longer hands out dirty memory");
    case Cause::kMisaligned:
      return now("now hands out misaligned blocks", "no longer hands out misaligned blocks");
    case Cause::kZeroesFresh:
      if (group.first_calls_only) return now("now zeroes fresh memory", "no longer zeroes fresh memory");
      return now("now zeroes fresh memory", "no longer zeroes fresh memory");
    case Cause::kZeroesReused:
      return now("now zeroes reused blocks that are zero already",
                 "no longer zeroes reused blocks that are zero already");
    case Cause::kZeroesBeyond:
      return now("now zeroes more than was asked for", "no longer zeroes more than was asked for");
    case Cause::kZeroesInFree:
      if (!draft.judged) return now("now writes more zeros over the block", "now writes fewer zeros over the block");
      return now("now writes zeros over the block", "no longer writes zeros over the block");
    case Cause::kReturnsMemory:
      if (!draft.judged)
        return now("now gives more memory back to the kernel", "now gives less memory back to the kernel");
      return now("now gives memory back, which the kernel zeroes again", "no longer gives memory back to the kernel");
    case Cause::kZeroedBytes:
      return now("now zeroes more bytes", "now zeroes fewer bytes");
    case Cause::kFaults:
      if (has_metric(input, group, kFaultMetrics))
        return now("now takes more page faults", "now takes fewer page faults");
      return now("now populates more memory", "now populates less memory");
    case Cause::kSystemCalls:
      if (group.direction == Direction::kNeither) return "now makes other system calls";
      return now("now makes more system calls", "now makes fewer system calls");
    case Cause::kPlacement:
      if (has_metric(input, group, {Metric::kHome})) return "now gets its block elsewhere";
      return "now writes its zeros in another way";
    default:
      return "is not measured any more";
  }
}

std::string subject_words(const ReviewInput& input, const Draft& draft, Cause cause) {
  const ReviewGroup& group = draft.group;
  if (group.first_calls_only) return cause == Cause::kZeroesFresh ? "the first calloc of a process" : "an early calloc";
  switch (cause) {
    case Cause::kZeroesFresh:
    case Cause::kZeroesReused:
      return group.direction == Direction::kWorse && is_every_call(input, group) ? "every calloc" : "calloc";
    case Cause::kZeroesInFree:
      return draft.judged && group.direction == Direction::kWorse ? "every free of a block" : "free of a block";
    case Cause::kReturnsMemory:
    case Cause::kFaults:
    case Cause::kSystemCalls:
      return "a round of calloc and free";
    case Cause::kNotMeasured:
      return "what the baseline has";
    default:
      return "calloc";
  }
}

std::string title_of(const ReviewGroup& group) {
  switch (group.cause) {
    case Cause::kFails:
      return "calloc crashes, hangs or fails";
    case Cause::kNotZero:
      return "calloc hands out dirty memory";
    case Cause::kMisaligned:
      return "calloc hands out misaligned blocks";
    case Cause::kZeroesFresh:
      return group.first_calls_only ? "the first calloc zeroes fresh memory" : "calloc zeroes fresh memory";
    case Cause::kZeroesReused:
      return "calloc zeroes reused memory";
    case Cause::kZeroesBeyond:
      return "zeroing beyond the request";
    case Cause::kZeroesInFree:
      return "free zeroes the block";
    case Cause::kReturnsMemory:
      return "memory returned to the kernel";
    case Cause::kThreshold:
      if (group.thresholds.size() != 1) return "thresholds";
      if (!group.thresholds[0].before_bytes) return "a new threshold";
      if (!group.thresholds[0].after_bytes) return "a threshold is gone";
      return group.thresholds[0].before_bytes == group.thresholds[0].after_bytes ? "a threshold means something else"
                                                                                 : "a threshold moved";
    case Cause::kZeroedBytes:
      return "zeroed bytes";
    case Cause::kFaults:
      return "page faults";
    case Cause::kSystemCalls:
      return "system calls";
    case Cause::kPlacement:
      return "where blocks live, and how they are zeroed";
    case Cause::kNotMeasured:
      break;
  }
  return "not measured any more";
}

std::string first_words(const Json& changes) {
  return changes.size() == 1 ? changes[0].get<std::string>()
                             : fmt::format("{}; and {}", changes[0].get<std::string>(),
                                           format_counted(changes.size() - 1, "more change"));
}

std::string threshold_words(const ReviewThreshold& threshold, const Json& words) {
  if (!threshold.before_bytes) {
    return fmt::format("there is a new threshold at {}: {}", exact_size(*threshold.after_bytes), first_words(words));
  }
  const std::string before = exact_size(*threshold.before_bytes);
  if (!threshold.after_bytes) return fmt::format("the threshold at {} is gone: {}", before, first_words(words));
  if (threshold.after_bytes == threshold.before_bytes) {
    return fmt::format("the threshold at {} means something else now: {}", before, first_words(words));
  }
  return fmt::format("the threshold at {} moved to {}", before, exact_size(*threshold.after_bytes));
}

/// Of a group of thresholds that no measured point shows.
std::string thresholds_sentence(const ReviewInput& input, const ReviewGroup& group) {
  const BaselineChange& first = input.changes[group.changes.front()];
  const Json& words = first.after.is_null() ? first.before : first.after;
  std::string text = threshold_words(group.thresholds.front(), words);
  const auto& moved = group.thresholds.front();
  if (moved.before_bytes && moved.after_bytes && moved.before_bytes != moved.after_bytes) {
    text += fmt::format(": what{} happened {} it now happens {} it ({})", ranges_words(group.ranges),
                        *moved.after_bytes < *moved.before_bytes ? "below" : "above",
                        *moved.after_bytes < *moved.before_bytes ? "above" : "below", first_words(words));
  }
  if (group.thresholds.size() > 1) {
    text += fmt::format("; {} other{} changed up to {}", group.thresholds.size() - 1,
                        group.thresholds.size() == 2 ? "" : "s", exact_size(group.ranges.back().to_bytes + 1));
  }
  return text;
}

std::string group_sentence(const ReviewInput& input, const Draft& draft, const BaselineChange* example) {
  const ReviewGroup& group = draft.group;
  if (group.cause == Cause::kThreshold && !draft.moved) return thresholds_sentence(input, group);
  if (group.cases.empty()) return thresholds_sentence(input, group);
  const Cause cause = draft.moved.value_or(group.cause);
  std::string text =
      thread_words(group) + subject_words(input, draft, cause) + ranges_words(group.ranges) + scope_words(group);
  text += " " + what_now(input, draft, cause, example);
  if (draft.moved) text = threshold_words(group.thresholds.front(), Json::array()) + ": " + text;
  return example == nullptr ? text : text + ": " + example_words(*example);
}

/// How many more groups there are of each direction: " (and 1 more for the worse, 2 neither better nor worse)".
std::string others_words(const std::vector<ReviewGroup>& groups, std::size_t shown_worse, std::size_t shown_better,
                         std::size_t shown_neither) {
  std::vector<std::string> words;
  const auto add = [&](Direction direction, std::size_t shown, const char* name) {
    const auto count = static_cast<std::size_t>(
        std::count_if(groups.begin(), groups.end(), [&](const auto& group) { return group.direction == direction; }));
    if (count > shown) words.push_back(fmt::format("{} {}", count - shown, name));
  };
  add(Direction::kWorse, shown_worse, "for the worse");
  add(Direction::kBetter, shown_better, "for the better");
  add(Direction::kNeither, shown_neither, "neither");
  return words.empty() ? "" : fmt::format(" (other changes: {})", fmt::join(words, ", "));
}

}  // namespace

void put_in_words(const ReviewInput& input, Draft& draft) {
  ReviewGroup& group = draft.group;
  const BaselineChange* example = example_of(input, draft);
  if (example != nullptr) {
    group.example = ReviewExample{*example->point, example->metric, example->call,
                                  example->before, example->after,  example_words(*example)};
  }
  group.title = title_of(group);
  group.sentence = group_sentence(input, draft, example);
}

std::string sentence_of(const ReviewInput& input, ReviewVerdict verdict, const std::vector<ReviewGroup>& groups) {
  if (groups.empty()) {
    const std::string points = format_counted(input.before.points.size(), "point");
    if (!input.before.thresholds) return fmt::format("same: {} as in the baseline", points);
    return fmt::format("same: {} and {} as in the baseline", points,
                       format_counted(input.before.thresholds->size(), "threshold"));
  }
  const std::string text = fmt::format("{}: {}", word_of(verdict), groups.front().sentence);
  if (verdict != ReviewVerdict::kMixed) {
    const Direction shown = groups.front().direction;
    return text + others_words(groups, shown == Direction::kWorse ? 1 : 0, shown == Direction::kBetter ? 1 : 0,
                               shown == Direction::kNeither ? 1 : 0);
  }
  const auto better = std::find_if(groups.begin(), groups.end(),
                                   [](const auto& group) { return group.direction == Direction::kBetter; });
  return fmt::format("{}; but {}{}", text, better->sentence, others_words(groups, 1, 1, 0));
}

}  // namespace zerotax::check
