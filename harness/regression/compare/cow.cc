#include "compare/cow.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ranges>
#include <set>

#include "base/error.h"
#include "base/lines.h"
#include "base/units.h"
#include "cli/terminal_options.h"
#include "compare/bench.h"
#include "compare/points.h"
#include "files/document.h"
#include "files/output_file.h"
#include "os/page.h"

namespace zerotax::compare {
namespace {

/// Two runs of one program differ by a few pages per process, because addresses and hashes are random. Three runs of
/// CPython 3.11 with one child differed by 30 of 3,825 copies.
constexpr std::uint64_t kPagesByChance = 16;
constexpr std::uint64_t kShareByChance = 100;  // a hundredth

/// A count of one file: its range, or the reason why it has none.
using FoundRange = Measured<Range>;

Range exactly(std::uint64_t value) { return {value, value}; }

/// Returns a total with the confidence interval of a sample.
FoundRange total_of(const cow::Cow& cow, std::uint64_t value, const cow::Count cow::HalfWidths::*width) {
  if (!cow::are_told_apart(cow)) return NotAvailable{"events were lost, or a process was partly unwatched"};
  if (!cow.sampling) return exactly(value);
  const cow::Count& half = cow.sampling->half_width_95.*width;
  if (!half) return NotAvailable{"the sample is too small: " + half.why()};
  return Range{value - std::min(value, *half), value + *half};
}

/// Returns the bytes that the living children share at the end of the last interval at which this is known.
FoundRange shared_at_end(const cow::Cow& cow) {
  for (const auto& interval : std::views::reverse(cow.intervals)) {
    bool known = false;
    std::uint64_t bytes = 0;
    for (const cow::IntervalProcess& process : interval.processes) {
      if (!process.child || !process.sharing || !process.sharing->shared_bytes) continue;
      known = true;
      bytes += *process.sharing->shared_bytes;
    }
    if (known) return exactly(bytes);
  }
  return NotAvailable{"no child was alive at the end of an interval"};
}

FoundRange copied_by(const cow::Cow& cow, const std::string& label) {
  if (!cow.writers) return NotAvailable{"an earlier version wrote a file"};
  if (cow.sampling || !cow::are_told_apart(cow)) return NotAvailable{"not every fault was recorded"};
  std::uint64_t copies = 0;
  for (const cow::Writing& writing : *cow.writers) {
    if (cow::writer_label(writing) == label) copies += writing.copies;
  }
  return exactly(copies);
}

std::string range_text(const Range& range, bool in_bytes) {
  const auto text = [&](std::uint64_t value) { return in_bytes ? format_size(value) : format_count(value); };
  return range.width() == 0 ? text(range.low) : fmt::format("{} to {}", text(range.low), text(range.high));
}

/// Compares the files' counts one by one.
class Counts {
 public:
  Counts(const cow::Cow& before, const cow::Cow& after, CowComparison& to)
      : before_(before),
        after_(after),
        to_(to),
        by_chance_(kPagesByChance * std::max(before.processes.size(), after.processes.size())) {}

  /// `find` returns the range of a count in a file. `more_is` is the direction of a larger count.
  template <typename Find>
  void add(const std::string& name, const Find& find, Direction more_is, std::uint64_t unit_bytes = 0) {
    const FoundRange before = find(before_);
    const FoundRange after = find(after_);
    if (!before || !after) {
      to_.not_compared.push_back({name, before ? "NEW: " + after.why() : "OLD: " + before.why()});
      return;
    }
    const bool in_bytes = unit_bytes != 0;
    CowCount count{name, *before, *after, NotAvailable{"no difference beyond chance"}, "", in_bytes};
    count.line = fmt::format("{} {} → {}", name, range_text(*before, in_bytes), range_text(*after, in_bytes));
    const std::uint64_t chance =
        std::max(by_chance_ * (in_bytes ? unit_bytes : 1), std::max(before->high, after->high) / kShareByChance);
    const bool more = after->low > before->high + chance;
    const bool less = after->high + chance < before->low;
    if (more || less) count.direction = more ? more_is : opposite_of(more_is);
    to_.counts.push_back(std::move(count));
  }

 private:
  const cow::Cow& before_;
  const cow::Cow& after_;
  CowComparison& to_;
  std::uint64_t by_chance_;
};

void add_totals(Counts& counts, std::uint64_t page) {
  using cow::Cow;
  counts.add(
      "copied pages", [](const Cow& cow) { return total_of(cow, cow.totals.copies, &cow::HalfWidths::copies); },
      Direction::kWorse);
  counts.add(
      "copied bytes",
      [](const Cow& cow) -> FoundRange {
        if (cow.sampling) return NotAvailable{"the sample has no interval for bytes"};
        return total_of(cow, cow.totals.copied_bytes, &cow::HalfWidths::copies);
      },
      Direction::kWorse, page);
  counts.add(
      "zero-filled pages",
      [](const Cow& cow) { return total_of(cow, cow.totals.zero_fills, &cow::HalfWidths::zero_fills); },
      Direction::kWorse);
  counts.add("shared by children at the end", shared_at_end, Direction::kBetter, page);
}

void add_writers(Counts& counts, const cow::Cow& before, const cow::Cow& after) {
  std::set<std::string> labels;
  for (const cow::Cow* file : {&before, &after}) {
    for (const cow::Writing& writing : file->writers.value_or(std::vector<cow::Writing>{})) {
      labels.insert(cow::writer_label(writing));
    }
  }
  for (const std::string& label : labels) {
    counts.add(
        "copied by " + label, [&](const cow::Cow& cow) { return copied_by(cow, label); }, Direction::kNeither);
  }
}

std::vector<std::string> notes_of(const cow::Cow& before, const cow::Cow& after) {
  std::vector<std::string> notes;
  const auto differ = [&](const char* name, const std::string& one, const std::string& other) {
    if (one != other) notes.push_back(fmt::format("{} differ: OLD {}, NEW {}.", name, one, other));
  };
  const auto command = [](const cow::Cow& cow) {
    return cow.command.empty() ? "a running process" : fmt::format("'{}'", fmt::join(cow.command, " "));
  };
  differ("The commands", command(before), command(after));
  differ("The methods of observing faults", word(before.method), word(after.method));
  differ("The counted processes", before.counted, after.counted);
  const std::string conditions = differing_conditions(before.environment, after.environment);
  if (!conditions.empty()) notes.push_back("The files were measured under different conditions: " + conditions + ".");
  if (before.method == cow::Method::kSoftware || after.method == cow::Method::kSoftware) {
    notes.emplace_back("An ordinary user's counts include faults in user mode only.");
  }
  return notes;
}

std::string sentence_of(const CowComparison& comparison) {
  const auto differing = static_cast<std::size_t>(std::count_if(
      comparison.counts.begin(), comparison.counts.end(), [](const CowCount& each) { return bool(each.direction); }));
  const std::string verdict = word(comparison.verdict);
  const std::size_t all = comparison.counts.size();
  if (differing == 0) return fmt::format("{}: {} agree", verdict, format_counted(all, "count"));
  const auto first = std::find_if(comparison.counts.begin(), comparison.counts.end(),
                                  [](const CowCount& each) { return bool(each.direction); });
  return fmt::format("{}: {}; {} of {} {}", verdict, first->line, differing, format_counted(all, "count"),
                     differing == 1 ? "differs" : "differ");
}

std::string verdict_text(const CowCount& count) { return count.direction ? heading_of(*count.direction) : "same"; }

CowFile file_of(const cow::Cow& cow, const std::string& path) {
  return {path, cow.command, word(cow.method), cow.environment};
}

cow::Cow read_cow_file(const std::string& path) {
  return cow::read_cow(read_document(path, "cow", "give two files that zerotax cow --json wrote"));
}

}  // namespace

CowComparison compare_cow_files(const cow::Cow& before, const std::string& old_path, const cow::Cow& after,
                                const std::string& new_path) {
  CowComparison comparison;
  comparison.before = file_of(before, old_path);
  comparison.after = file_of(after, new_path);
  Counts counts(before, after, comparison);
  const Json& page = before.environment.at("page_bytes");
  add_totals(counts, page.is_number() ? page.get<std::uint64_t>() : page_bytes());
  add_writers(counts, before, after);
  const auto any = [&](Direction direction) {
    return std::any_of(comparison.counts.begin(), comparison.counts.end(),
                       [&](const CowCount& each) { return each.direction && *each.direction == direction; });
  };
  comparison.verdict = joined_verdict(false, any(Direction::kWorse), any(Direction::kBetter), any(Direction::kNeither));
  comparison.sentence = sentence_of(comparison);
  comparison.notes = notes_of(before, after);
  return comparison;
}

Answer cow_answer(const CowComparison& comparison) {
  Answer answer{.headline = fmt::format("{}. OLD is {}, NEW is {}.", comparison.sentence, comparison.before.path,
                                        comparison.after.path),
                .warnings = comparison.notes};
  Table table({{"count"}, right_text("OLD", 0, 2), right_text("NEW", 0, 2), {"verdict", Unit::kText, 0, "", {}, 2}});
  for (const CowCount& each : comparison.counts) {
    table.add(
        {each.name, range_text(each.before, each.in_bytes), range_text(each.after, each.in_bytes), verdict_text(each)});
  }
  if (!table.empty()) answer.table = table;
  for (const NotCompared& each : comparison.not_compared) {
    answer.warnings.push_back(fmt::format("Not compared: {} ({}).", each.name, each.why));
  }
  answer.legend =
      fmt::format("A difference of up to {} pages per process, or of 1 %, counts as chance.", kPagesByChance);
  return answer;
}

exchange::OutcomeList cow_outcomes(const CowComparison& comparison) {
  exchange::OutcomeList list;
  list.command = "zerotax compare";
  list.subject = fmt::format("{} and {}", comparison.before.path, comparison.after.path);
  list.kind = kind_of(comparison.verdict);
  list.verdict = word(comparison.verdict);
  list.sentence = comparison.sentence;
  list.thing = "count";
  list.notes = comparison.notes;
  exchange::Benchmark benchmark{"cow", {}};
  for (const CowCount& each : comparison.counts) {
    exchange::Outcome& outcome = list.outcomes.emplace_back();
    outcome.suite = "zerotax cow";
    outcome.name = each.name;
    outcome.kind = each.direction ? kind_of(*each.direction) : exchange::OutcomeKind::kSame;
    outcome.fails = outcome.kind == exchange::OutcomeKind::kWorse;
    outcome.verdict = verdict_text(each);
    outcome.headline = each.line;
    benchmark.measures.push_back({each.name,
                                  static_cast<double>(each.after.nearest((each.after.low + each.after.high) / 2)),
                                  static_cast<double>(each.after.low), static_cast<double>(each.after.high)});
  }
  list.benchmarks.push_back(std::move(benchmark));
  return list;
}

ExitStatus compare_cow(const Options& options) {
  refuse_other_options(options, "cow");
  check_outputs(options.exchange.outputs(), {{"OLD", options.before}, {"NEW", options.after}});
  const cow::Cow before = read_cow_file(options.before);
  const CowComparison comparison =
      compare_cow_files(before, options.before, read_cow_file(options.after), options.after);
  if (comparison.counts.empty()) {
    throw MachineError("no count can be compared: " + comparison.not_compared.front().why,
                       "watch both runs again, with a larger --buffer");
  }
  options.exchange.publish(
      cow_outcomes(comparison), document_of(comparison),
      wants_full_text() ? answer_text(cow_answer(comparison), SIZE_MAX) : answer_text(cow_answer(comparison)));
  const bool worse = comparison.verdict == Verdict::kWorse || comparison.verdict == Verdict::kMixed;
  return worse ? ExitStatus::kFinding : ExitStatus::kDone;
}

}  // namespace zerotax::compare
