#include "base/answer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "base/lines.h"
#include "base/printable.h"
#include "base/shell.h"
#include "base/units.h"
#include "baseline/next_steps.h"
#include "baseline/table.h"
#include "point/metrics.h"
#include "run/allocators.h"

namespace zerotax::baseline {
namespace {

constexpr std::size_t kLongestName = 36;
constexpr std::size_t kLongestValue = 16;
constexpr std::size_t kMostCauses = 3;

Cell direction_cell(Direction direction, const Palette& palette) {
  const char* const heading = heading_of(direction);
  if (direction == Direction::kNeither) return heading;
  return Cell::colored(palette(direction == Direction::kBetter ? Tone::kBetter : Tone::kWorse, heading));
}

void add_once(const std::string& sentence, std::vector<std::string>& all) {
  if (std::find(all.begin(), all.end(), sentence) == all.end()) all.push_back(sentence);
}

void add_not_compared(const CheckedSubject& subject, std::vector<std::string>& all) {
  const std::vector<NotCompared>& not_compared = subject.not_compared;
  for (const NotCompared& each : not_compared) {
    const auto count = static_cast<std::uint64_t>(std::count_if(
        not_compared.begin(), not_compared.end(), [&](const NotCompared& other) { return other.why == each.why; }));
    add_once(fmt::format("Not compared ({}): {}.", each.why, count == 1 ? each.name : format_counted(count, "metric")),
             all);
  }
}

/// A row of the table: the largest change of one metric in one direction.
struct ShownChange {
  Direction direction = Direction::kNeither;
  std::string what;
  std::string at;
  std::string before;
  std::string now;
  double times = 0;  ///< factor by which the value grew or shrank
};

std::string at_words(const BaselineChange& change) {
  if (!change.point) return format_given_size(change.at_bytes);
  const PointIdentity& point = *change.point;
  std::string text = fmt::format("{} touch {:g}", format_size(point.size_bytes), point.touch);
  if (point.thread != "main") text += " " + point.thread;
  if (change.call != 0) text += fmt::format(" call {}", change.call);
  return text;
}

std::string shown_value(const BaselineChange& change, const MetricValue& value) {
  const auto count = value.count();
  const bool is_size = count && change.metric && row_of(*change.metric).kind == MetricKind::kBytes;
  return first_characters(is_size ? format_size(*count) : value_words(value), kLongestValue);
}

ShownChange shown_change(const BaselineChange& change, Direction of_group) {
  constexpr double kGravest = 1e18;  // whether the point fails
  ShownChange shown{direction_of(change), "status", at_words(change), "", "", kGravest};
  if (shown.direction == Direction::kNeither) shown.direction = of_group;
  if (change.kind == ChangeKind::kThreshold) {
    const ThresholdChange& threshold = change.threshold;
    shown.what = "threshold";
    shown.before = threshold.is_new() ? "none" : "there";
    shown.now = threshold.is_gone() ? "none" : threshold.is_new() ? "there" : "another";
    shown.times = 1;
    return shown;
  }
  if (change.kind == ChangeKind::kNotMeasured) {
    shown.before = "measured";
    shown.now = "not measured";
    return shown;
  }
  shown.before = shown_value(change, change.before);
  shown.now = shown_value(change, change.after);
  if (!change.metric) return shown;
  const MetricRow& row = row_of(*change.metric);
  shown.what = row.name;
  const auto before = change.before.number();
  const auto after = change.after.number();
  const double floor =
      static_cast<double>(least_slack(row.kind == MetricKind::kBytes ? Unit::kBytes : Unit::kCount, {}));
  shown.times = before && after ? (std::max(*before, *after) + floor) / (std::min(*before, *after) + floor) : 0;
  return shown;
}

/// Returns the changed metrics, sorted by direction (worse, then better) and by size (the largest first).
Table changed_metrics(const Review& review, const Palette& palette) {
  std::map<std::pair<Direction, std::string>, ShownChange> largest;
  for (const ReviewGroup& group : review.groups) {
    for (const std::size_t place : group.changes) {
      const ShownChange shown = shown_change(review.changes[place], group.direction);
      const auto [found, is_new] = largest.emplace(std::pair{shown.direction, shown.what}, shown);
      if (!is_new && shown.times > found->second.times) found->second = shown;
    }
  }
  std::vector<ShownChange> rows;
  rows.reserve(largest.size());
  for (auto& [key, shown] : largest) rows.push_back(std::move(shown));
  std::stable_sort(rows.begin(), rows.end(), [](const ShownChange& one, const ShownChange& other) {
    return std::tuple(one.direction, -one.times) < std::tuple(other.direction, -other.times);
  });
  Table table({{"", Unit::kText, 8},
               {"metric"},
               {"at", Unit::kText, 0, "", {}, 2},
               right_text("before", 0, 2),
               right_text("now", 0, 2)});
  for (const ShownChange& row : rows) {
    table.add({direction_cell(row.direction, palette), row.what, row.at, row.before, row.now});
  }
  return table;
}

/// Returns a summary of all changes, such as "180 changes at 24 points, from 64 KiB to 1 MiB: calloc zeroes fresh
/// memory (120), page faults (60)."
std::string where_words(const Review& review) {
  std::set<std::string> points;
  std::set<std::uint64_t> sizes;
  for (const BaselineChange& change : review.changes) {
    if (change.point) points.insert(name_of(*change.point));
    sizes.insert(change.point ? change.point->size_bytes : change.at_bytes);
  }
  std::string text = format_counted(review.changes.size(), "change");
  if (!points.empty()) text += " at " + format_counted(points.size(), "point");
  text += sizes.size() == 1 ? " of " + format_size(*sizes.begin())
                            : fmt::format(" from {} to {}", format_size(*sizes.begin()), format_size(*sizes.rbegin()));
  std::vector<std::string> causes;
  for (std::size_t i = 0; i < std::min(review.groups.size(), kMostCauses); ++i) {
    const ReviewGroup& group = review.groups[i];
    causes.push_back(fmt::format("{} ({}, {})", group.title, heading_of(group.direction), group.changes.size()));
  }
  if (review.groups.size() > kMostCauses) {
    causes.push_back(format_counted(review.groups.size() - kMostCauses, "other cause"));
  }
  return fmt::format("{}: {}.", text, fmt::join(causes, "; "));
}

std::vector<std::string> warnings(const AllocatorChecks& checks) {
  std::vector<std::string> all;
  bool is_busy = false;
  for (const AllocatorCheck& result : checks.checks) {
    for (const ConditionDifference& each : result.conditions) {
      if (result.verdict == Verdict::kSame || !each.may_explain) continue;
      add_once("The baseline was measured elsewhere: " + each.sentence, all);
    }
    if (result.load.busy && !is_busy) add_once(result.load.sentence, all);
    is_busy |= result.load.busy;
    for (const std::string& note : result.notes) add_once(note, all);
    if (!result.accepted_failures.empty()) {
      add_once(fmt::format("The baseline of {} accepts {}.", result.allocator.name,
                           format_counted(result.accepted_failures.size(), "failure")),
               all);
    }
    add_not_compared(result, all);
  }
  return all;
}

/// Returns the first subject whose verdict is the overall verdict, or else the first subject that changed.
template <typename Checks>
const auto* worst_of(const Checks& all) {
  const typename decltype(all.checks)::value_type* worst = nullptr;
  for (const auto& each : all.checks) {
    if (each.verdict == Verdict::kSame) continue;
    if (worst == nullptr || (each.verdict == all.verdict && worst->verdict != all.verdict)) worst = &each;
  }
  return worst;
}

/// Returns the changes of the command as a whole. If only processes changed, returns the changes of the processes.
std::vector<const ProgramChange*> shown_changes(const ProgramCheck& check) {
  std::vector<const ProgramChange*> all;
  for (const bool whole : {true, false}) {
    for (const ProgramChange& change : check.changes) {
      if (change.process.empty() == whole && is_shown(change, check)) all.push_back(&change);
    }
    if (!all.empty()) break;
  }
  std::stable_sort(all.begin(), all.end(), [](const ProgramChange* one, const ProgramChange* other) {
    return std::tuple(one->direction, -times(*one)) < std::tuple(other->direction, -times(*other));
  });
  return all;
}

std::string where_words(const ProgramCheck& check) {
  if (check.changes.empty() || check.sites.empty()) return "";
  const SiteChange& site = check.sites.front();
  const std::string others =
      check.sites.size() == 1 ? "" : "; " + format_counted(check.sites.size() - 1, "other place") + " changed";
  return fmt::format("{}, {} calls, {}{}.", place_words(site), calls_words(site), bytes_words(site), others);
}

constexpr const char* kNoTimes = "Times were not compared; zerotax compare measures times.";

/// Returns how certain the verdict is: the least number of measurements that showed a change.
std::string certainty(const AllocatorChecks& checks) {
  int least = 0;
  for (const AllocatorCheck& check : checks.checks) {
    for (const BaselineChange& change : check.review.changes) {
      if (change.kind != ChangeKind::kNotMeasured) least = least == 0 ? change.times : std::min(least, change.times);
    }
  }
  if (least == 0) return fmt::format("Counts are exact. {}", kNoTimes);
  return fmt::format("Counts are exact: at least {} show each change, and none contradicts it. {}",
                     format_counted(static_cast<std::uint64_t>(least), "measurement"), kNoTimes);
}

/// Returns how certain the verdict is: the metrics that repeat, and the metrics that are compared with a range.
std::string certainty(const ProgramCheck& check) {
  std::size_t steady = 0;
  std::size_t varying = 0;
  for (const runs::MetricRow& row : runs::metric_rows()) {
    const Measured<Range>& range = check.baseline.metrics[row.metric];
    if (range) ++(range->width() == 0 ? steady : varying);
  }
  std::string text = steady == 0 ? ""
                                 : fmt::format("{} exactly. ", steady == 1 ? "1 count repeats"
                                                                           : fmt::format("{} counts repeat", steady));
  if (varying != 0) {
    text += fmt::format("{} in the baseline, and a change must leave the range. ",
                        varying == 1 ? "1 count varied" : fmt::format("{} counts varied", varying));
  }
  if (!check.changes.empty()) text += fmt::format("{} show each change. ", format_counted(check.runs, "run"));
  return text + kNoTimes;
}

}  // namespace

Answer check_answer(const AllocatorChecks& checks, const Palette& palette) {
  Answer answer{.headline = checks.sentence + "."};
  const AllocatorCheck* const worst = worst_of(checks);
  if (checks.checks.size() == 1) {
    const AllocatorCheck& only = checks.checks.front();
    answer.headline += fmt::format(" {} was compared with {}.", name_and_version(only.allocator), only.baseline_path);
    if (worst != nullptr) {
      answer.table = changed_metrics(only.review, palette);
      answer.where = where_words(only.review);
    }
  } else {
    Table& table = answer.table.emplace(
        Table({{"allocator"}, {"verdict"}, right_text("changes", 0, 2), {"cause", Unit::kText, 0, "", {}, 2}}));
    for (const bool same : {false, true}) {
      for (const AllocatorCheck& each : checks.checks) {
        if ((each.verdict == Verdict::kSame) != same) continue;
        table.add({each.allocator.name, word(each.verdict), format_count(each.review.changes.size()),
                   same ? "" : each.review.groups.front().title});
      }
    }
    if (worst != nullptr)
      answer.where = fmt::format("The verdict on {} is {}.", name_and_version(worst->allocator), worst->sentence);
  }
  if (worst != nullptr) {
    answer.steps = next_steps(*worst);
    answer.more = "All changes: --explain. All causes, and all that was not compared";
  }
  for (const AllocatorCheck& each : checks.checks) {
    if (!each.proof || !each.proof->finding) continue;
    add_alternative(answer.steps, {shell_text({"zerotax", "prove", "--allocator", allocator_word(each.allocator)}),
                                   "find the broken promise again, as a C program:"});
  }
  answer.warnings = warnings(checks);
  answer.legend = certainty(checks);
  return answer;
}

Answer counts_answer(const ProgramCheck& check, const Palette& palette) {
  Answer answer{.headline = check.sentence + ".", .where = where_words(check)};
  const std::vector<const ProgramChange*> changes = shown_changes(check);
  if (!changes.empty()) {
    Table& table = answer.table.emplace(
        Table({{"", Unit::kText, 8}, {"metric"}, right_text("before", 0, 2), right_text("now", 0, 2)}));
    for (const ProgramChange* change : changes) {
      const runs::MetricRow& row = row_of(change->metric);
      table.add({direction_cell(change->direction, palette), first_characters(name_of(*change), kLongestName),
                 format_range(row.unit, change->before), format_value(row.unit, change->after)});
    }
  }
  if (!check.advice.empty()) answer.where += (answer.where.empty() ? "" : " ") + check.advice;
  if (!check.changes.empty()) answer.more = "All metrics and places that changed";
  add_not_compared(check, answer.warnings);
  return answer;
}

Answer check_answer(const ProgramCheck& check, const Palette& palette) {
  Answer answer = counts_answer(check, palette);
  answer.headline += fmt::format(" {} was compared with {} in {}.", check.subject.name,
                                 format_counted(check.baseline.runs, "run"), check.baseline.path);
  for (Answer::Step& step : next_steps(check)) answer.steps.push_back(std::move(step));
  std::vector<std::string> first;
  for (const ConditionDifference& each : check.conditions) {
    if (check.verdict != Verdict::kSame) first.push_back("The baseline was measured elsewhere: " + each.sentence + ".");
  }
  for (const std::string& note : check.measured.notes) first.push_back(note);
  answer.warnings.insert(answer.warnings.begin(), first.begin(), first.end());
  answer.legend = certainty(check);
  if (!check.changes.empty()) answer.more = "All changes: --explain. All causes, and all places that changed";
  return answer;
}

Answer check_answer(const ProgramChecks& all, const Palette& palette) {
  const ProgramCheck* const worst = worst_of(all);
  if (worst == nullptr) return {.headline = all.sentence + ".", .legend = certainty(all.checks.front())};
  Answer answer = check_answer(*worst, palette);
  answer.where = fmt::format("The verdict on {} is {}.", worst->subject.name, worst->sentence);
  answer.headline = all.sentence + ".";
  Table table(
      {{"command", Unit::kText}, {"verdict"}, right_text("changes", 0, 2), {"largest", Unit::kText, 0, "", {}, 2}});
  for (const ProgramCheck& check : all.checks) {
    const std::vector<const ProgramChange*> changes = shown_changes(check);
    if (changes.empty()) continue;
    table.add({first_characters(check.subject.name, kLongestName / 2), word(check.verdict),
               format_count(check.changes.size()), first_characters(words_of(*changes.front()), kLongestName)});
  }
  answer.table = table;
  return answer;
}

}  // namespace zerotax::baseline
