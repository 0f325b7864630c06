#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "base/size.h"
#include "base/units.h"
#include "baseline/review.h"
#include "judge/judgement.h"
#include "judge/rule.h"

namespace zerotax::baseline {
namespace {

/// Returns an exact size, such as "20 MiB" or "1,000,003 bytes".
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

/// Returns words such as " from 64 KiB to 1 MiB and from 20 MiB to 100 MiB", with at most three ranges, or "" without
/// ranges.
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

/// Returns the calls concerned: the case (unless the case is calloc_loop), and the part of the block that is written
/// to.
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

std::string calls_words(const SystemCalls& calls) {
  std::vector<std::string> words;
  for (const auto& [name, times] : calls) words.push_back(times == 1 ? name : fmt::format("{} {}", times, name));
  return words.empty() ? "no call" : fmt::format("{}", fmt::join(words, ", "));
}

/// Returns the unit, such as " faults", " zeroed bytes" or, for a count of 1, " fault".
std::string unit_words(Metric metric, const MetricValue& value) {
  const char* unit = words_of(metric).unit;
  if (unit == nullptr) return fmt::format(" {}", row_of(metric).name);
  return fmt::format(fmt::runtime(unit), value.count() == 1 ? "" : "s");
}

std::string example_words(const BaselineChange& change) {
  return fmt::format("{} → {}{} at {}", value_words(change.before), value_words(change.after),
                     change.metric ? unit_words(*change.metric, change.after) : "",
                     exact_size(change.point->size_bytes));
}

using Metrics = std::vector<Metric>;

/// The words for a cause: a title, a subject, and two predicates (for new behavior, and for behavior that ended). If no
/// function of findings judged the group, `more` and `less` replace the predicates. If `shown_by` lists metrics and
/// none of the listed metrics changed, `more` and `less` replace the predicates, too.
struct CauseWords {
  const char* title;
  const char* subject;
  const char* now;
  const char* no_longer;
  Metrics telling = {Metric::kZeroedBytes, Metric::kRedundantZeroedBytes};  ///< metrics that serve as examples, the
                                                                            ///< best first
  const char* more = nullptr;
  const char* less = nullptr;
  Metrics shown_by = {};
};

const CauseWords& words_for(Cause cause) {
  using enum Metric;
  constexpr const char* kCalloc = "calloc";
  constexpr const char* kRound = "a round of calloc and free";
  const Metrics fresh{kCallocFaults, kPopulatedBytes, kRedundantZeroedBytes, kZeroedBytes};
  const Metrics reused{kRedundantZeroedBytes, kZeroedBytes};
  const Metrics in_free{kRedundantZeroedInFreeBytes, kZeroedInFreeBytes};
  const Metrics faults{kCallocFaults, kTouchFaults, kFreeFaults, kKernelZeroedBytes, kPopulatedBytes};
  const Metrics calls{kFreeSyscalls, kCallocSyscalls};
  const Metrics returned{kTouchFaults,   kCallocFaults, kFreeFaults,    kKernelZeroedBytes,
                         kReturnedBytes, kFreeSyscalls, kCallocSyscalls};
  const Metrics places{kHome, kZeroedMethod};
  const Metrics home{kHome};
  /// Indexed by Cause.
  static const std::vector<CauseWords> all{
      {"calloc crashes, hangs or fails", kCalloc, "now fails", "works again"},
      {"calloc hands out dirty memory", kCalloc, "now hands out dirty memory, and breaks its promise",
       "no longer hands out dirty memory"},
      {"calloc hands out misaligned blocks", kCalloc, "now hands out misaligned blocks",
       "no longer hands out misaligned blocks"},
      {"calloc zeroes fresh memory", kCalloc, "now zeroes fresh memory", "no longer zeroes fresh memory", fresh},
      {"calloc zeroes reused memory", kCalloc, "now zeroes reused blocks that are zero already",
       "no longer zeroes reused blocks that are zero already", reused},
      {"zeroing beyond the request", kCalloc, "now zeroes more than was asked for",
       "no longer zeroes more than was asked for"},
      {"free zeroes the block", "free of a block", "now writes zeros over the block",
       "no longer writes zeros over the block", in_free, "now writes more zeros over the block",
       "now writes fewer zeros over the block"},
      {"memory returned to the kernel", kRound, "now gives memory back, which the kernel zeroes again",
       "no longer gives memory back to the kernel", returned, "now gives more memory back to the kernel",
       "now gives less memory back to the kernel"},
      {"thresholds", kCalloc, "", ""},
      {"zeroed bytes", kCalloc, "now zeroes more bytes", "now zeroes fewer bytes"},
      {"page faults", kRound, "now takes more page faults", "now takes fewer page faults", faults,
       "now populates more memory", "now populates less memory", kFaultMetrics},
      {"system calls", kRound, "now makes more system calls", "now makes fewer system calls", calls},
      {"where blocks live, and how they are zeroed", kCalloc, "now gets its block elsewhere",
       "now gets its block elsewhere", places, "now writes its zeros in another way",
       "now writes its zeros in another way", home},
      {"no longer measured", "a part of the baseline", "is no longer measured", "is no longer measured"}};
  return all[static_cast<std::size_t>(cause)];
}

bool is_nearer(const BaselineChange& one, const BaselineChange& other, std::uint64_t named) {
  const auto rank = [&](const BaselineChange& change) {
    const std::uint64_t size = change.point->size_bytes;
    return std::tuple(change.point->case_name != "calloc_loop", size > named ? size - named : named - size, change.call,
                      change.point->thread != "main", change.point->touch);
  };
  return rank(one) < rank(other);
}

/// Returns the change that best shows a group at the size that names the group, or nullptr. Metrics that contradict the
/// group are not used. For example, fewer faults while writing do not show a group of more faults in calloc.
const BaselineChange* example_of(const ReviewInput& input, const Draft& draft) {
  const ReviewGroup& group = draft.group;
  if (group.cases.empty()) return nullptr;
  const std::uint64_t named =
      group.ranges.empty() ? 0 : named_size(group.ranges.front().from_bytes, group.ranges.back().to_bytes);
  const auto nearest = [&](const auto& counts) {
    const BaselineChange* best = nullptr;
    for (const std::size_t i : group.changes) {
      const BaselineChange& change = input.changes[i];
      if (!change.point || change.kind == ChangeKind::kNotMeasured || is_beneath_notice(change)) continue;
      if (!counts(change)) continue;
      if (best == nullptr || is_nearer(change, *best, named)) best = &change;
    }
    return best;
  };
  const auto* status = nearest([](const BaselineChange& change) { return change.kind == ChangeKind::kStatus; });
  if (status != nullptr) return status;
  for (const Metric metric : words_for(draft.moved.value_or(group.cause)).telling) {
    const auto* found = nearest([&](const BaselineChange& change) {
      const Direction own = direction_of(change);
      return change.metric == metric && (own == group.direction || own == Direction::kNeither);
    });
    if (found != nullptr) return found;
  }
  return nearest([](const BaselineChange& change) { return change.metric.has_value(); });
}

bool has_metric(const ReviewInput& input, const ReviewGroup& group, const Metrics& metrics) {
  return std::any_of(group.changes.begin(), group.changes.end(), [&](std::size_t i) {
    const auto& metric = input.changes[i].metric;
    return metric && std::find(metrics.begin(), metrics.end(), *metric) != metrics.end();
  });
}

/// Returns whether every call of the new measurement, including the first calls, zeroes redundantly at every point of
/// the group.
bool is_every_call(const ReviewInput& input, const ReviewGroup& group) {
  return std::all_of(group.changes.begin(), group.changes.end(), [&](std::size_t i) {
    if (!input.changes[i].point) return true;
    const Point* point = point_of(input.after, *input.changes[i].point);
    return point != nullptr && std::all_of(point->first_ops.begin(), point->first_ops.end(), [&](const auto& first) {
             return is_much_of(first.count(Metric::kRedundantZeroedBytes), point->size_bytes) != YesNo::kNo;
           });
  });
}

/// Returns the predicate of the sentence: what the subject does now, or no longer.
std::string what_now(const ReviewInput& input, const Draft& draft, Cause cause, const BaselineChange* example) {
  const ReviewGroup& group = draft.group;
  const CauseWords& words = words_for(cause);
  const bool worse = group.direction == Direction::kWorse;
  if (cause == Cause::kFails && worse && example != nullptr && example->kind == ChangeKind::kStatus) {
    const auto status = example->after.word();
    if (status == word_of(PointStatus::kCrashed)) return "now crashes";
    if (status == word_of(PointStatus::kTimeout)) return "now does not terminate";
  }
  if (cause == Cause::kSystemCalls && group.direction == Direction::kNeither) return "now makes other system calls";
  const bool plain = words.shown_by.empty() ? draft.judged : has_metric(input, group, words.shown_by);
  if (plain || words.more == nullptr) return worse ? words.now : words.no_longer;
  return worse ? words.more : words.less;
}

std::string subject_words(const ReviewInput& input, const Draft& draft, Cause cause) {
  const ReviewGroup& group = draft.group;
  if (group.first_calls_only) {
    const bool is_first = cause == Cause::kZeroesFresh && (!group.example || group.example->call <= 1);
    if (!is_first) return "an early calloc";
    return group.thread == "worker" ? "the first calloc of a thread" : "the first calloc of a process";
  }
  const bool of_calloc = cause == Cause::kZeroesFresh || cause == Cause::kZeroesReused;
  const bool every = group.direction == Direction::kWorse &&
                     ((of_calloc && is_every_call(input, group)) || (cause == Cause::kZeroesInFree && draft.judged));
  return fmt::format("{}{}", every ? "every " : "", words_for(cause).subject);
}

std::string title_of(const ReviewGroup& group) {
  if (group.cause == Cause::kZeroesFresh && group.first_calls_only) return "the first calloc zeroes fresh memory";
  if (group.cause != Cause::kThreshold || group.thresholds.size() != 1) return words_for(group.cause).title;
  const ReviewThreshold& threshold = group.thresholds.front();
  if (!threshold.before_bytes) return "a new threshold";
  if (!threshold.after_bytes) return "a threshold is gone";
  return threshold.is_move() ? "a threshold moved" : "a threshold means something else";
}

std::string first_words(const BehaviourChanges& changes) {
  if (changes.size() == 1) return changes.front().words;
  return fmt::format("{}; and {}", changes.front().words, format_counted(changes.size() - 1, "more change"));
}

/// `what` describes the change at the threshold. For a threshold that moved, `what` is not used.
std::string threshold_words(const ReviewThreshold& threshold, const std::string& what) {
  const std::string at = exact_size(threshold.at_bytes());
  if (!threshold.before_bytes) return fmt::format("there is a new threshold at {}: {}", at, what);
  if (!threshold.after_bytes) return fmt::format("the threshold at {} is gone: {}", at, what);
  if (threshold.is_move())
    return fmt::format("the threshold at {} moved to {}", at, exact_size(*threshold.after_bytes));
  return fmt::format("the threshold at {} means something else now: {}", at, what);
}

/// Returns the sentence on a group of thresholds that no measured point shows.
std::string thresholds_sentence(const ReviewInput& input, const ReviewGroup& group) {
  const ThresholdChange& change = input.changes[group.changes.front()].threshold;
  const std::string what = first_words(change.is_gone() ? *change.before : *change.after);
  const ReviewThreshold& first = group.thresholds.front();
  std::string text = threshold_words(first, what);
  if (first.is_move()) {
    const bool down = *first.after_bytes < *first.before_bytes;
    text += fmt::format(": sizes{} were {} it, and are now {} it ({})", ranges_words(group.ranges),
                        down ? "below" : "above", down ? "above" : "below", what);
  }
  if (group.thresholds.size() > 1) {
    text += fmt::format("; {} changed up to {}", format_counted(group.thresholds.size() - 1, "other"),
                        exact_size(group.ranges.back().to_bytes + 1));
  }
  return text;
}

std::string group_sentence(const ReviewInput& input, const Draft& draft, const BaselineChange* example) {
  const ReviewGroup& group = draft.group;
  if (group.cases.empty() || (group.cause == Cause::kThreshold && !draft.moved)) {
    return thresholds_sentence(input, group);
  }
  const Cause cause = draft.moved.value_or(group.cause);
  std::string text =
      thread_words(group) + subject_words(input, draft, cause) + ranges_words(group.ranges) + scope_words(group);
  text += " " + what_now(input, draft, cause, example);
  if (draft.moved) text = threshold_words(group.thresholds.front(), "") + ": " + text;
  return example == nullptr ? text : text + ": " + example_words(*example);
}

/// Returns the number of groups in each direction that `shown` does not count, such as " (other changes: 1 for the
/// worse)".
std::string others_words(const std::vector<ReviewGroup>& groups, std::array<std::ptrdiff_t, 3> shown) {
  for (const ReviewGroup& group : groups) --shown[static_cast<std::size_t>(group.direction)];
  std::vector<std::string> words;
  for (const auto& [count, name] :
       {std::pair{shown[0], "for the worse"}, {shown[1], "for the better"}, {shown[2], "neither"}}) {
    if (count < 0) words.push_back(fmt::format("{} {}", -count, name));
  }
  return words.empty() ? "" : fmt::format(" (other changes: {})", fmt::join(words, ", "));
}

}  // namespace

std::string value_words(const MetricValue& value) {
  if (const auto count = value.count()) return format_count(*count);
  return value.calls() != nullptr ? calls_words(*value.calls()) : value.word().value_or("");
}

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

std::string sentence_of(const ReviewInput& input, Verdict verdict, const std::vector<ReviewGroup>& groups) {
  if (groups.empty()) {
    const std::string points = format_counted(input.before.points.size(), "point");
    if (!input.before.thresholds) return fmt::format("same: {} as in the baseline", points);
    return fmt::format("same: {} and {} as in the baseline", points,
                       format_counted(input.before.thresholds->size(), "threshold"));
  }
  const std::string text = fmt::format("{}: {}", word(verdict), groups.front().sentence);
  if (verdict != Verdict::kMixed) {
    std::array<std::ptrdiff_t, 3> shown{};
    shown[static_cast<std::size_t>(groups.front().direction)] = 1;
    return text + others_words(groups, shown);
  }
  const auto better = std::find_if(groups.begin(), groups.end(),
                                   [](const auto& group) { return group.direction == Direction::kBetter; });
  return fmt::format("{}; but {}{}", text, better->sentence, others_words(groups, {1, 1, 0}));
}

}  // namespace zerotax::baseline
