#include "programs/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "base/one_line.h"
#include "base/printable.h"
#include "base/shell.h"
#include "base/units.h"
#include "base/wrap.h"
#include "cli/exchange_options.h"
#include "programs/verdict.h"

namespace zerotax::programs {
namespace {

constexpr std::size_t kPlaces = 5;

std::string line(const std::string& text) { return wrap(text, "  ", "    "); }

bool is_shown(const Change& change, const Check& check, bool explain) {
  return explain || change.direction != Direction::kNeither || check.verdict == Verdict::kChanged;
}

std::string changes_text(const Check& check, bool explain, const Palette& palette) {
  Table table({{"  ", Unit::kText, 9},
               {"metric"},
               {"before", Unit::kText, 0, "n/a", std::nullopt, 2, Column::Side::kRight},
               {"now", Unit::kText, 0, "n/a", std::nullopt, 2, Column::Side::kRight}});
  for (const Change& change : check.changes) {
    if (!is_shown(change, check, explain)) continue;
    const MetricRow& row = row_of(change.metric);
    table.add({fmt::format("  {}", heading_of(change.direction)), name_of(row, change.process),
               format_range(row.unit, change.before), format_value(row.unit, change.after)});
  }
  if (table.empty()) return "";
  std::string text = table.text();
  text = palette.first_in(text, Tone::kWorse, "worse");
  return palette.first_in(text, Tone::kBetter, "better");
}

std::string sites_text(const Check& check, bool explain) {
  if (check.changes.empty() || check.sites.empty()) return "";
  Table table({{"  where", Unit::kText},
               {"calls", Unit::kText, 0, "n/a", std::nullopt, 2, Column::Side::kRight},
               {"bytes", Unit::kText, 0, "n/a", std::nullopt, 2, Column::Side::kRight}});
  std::size_t shown = 0;
  for (const SiteChange& site : check.sites) {
    if (!explain && shown == kPlaces) break;
    ++shown;
    const SiteNumber most = most_different(site);
    constexpr const char* kWords[] = {"", "requested", "by kernel", "refilled", "returned", "zeroed", "live"};
    table.add({"  " + one_line(place_words(site)),
               fmt::format("{} → {}", format_count(site.before[SiteNumber::kCalls]),
                           format_count(site.after[SiteNumber::kCalls])),
               fmt::format("{}: {} → {}", kWords[static_cast<std::size_t>(most)], format_size(site.before[most]),
                           format_size(site.after[most]))});
  }
  std::string text = table.text();
  if (shown < check.sites.size()) {
    text += line(fmt::format("{} more; --explain lists them", format_counted(check.sites.size() - shown, "place")));
  }
  return text;
}

std::string advice_text(const Check& check) { return check.advice.empty() ? "" : line(check.advice); }

std::string test_name(const MetricRow& row, const std::string& process) {
  return process.empty() ? row.key : fmt::format("{} of {}", row.key, process);
}

exchange::Outcome outcome_of(const Check& check, const Change& change) {
  exchange::Outcome outcome;
  outcome.suite = check.subject.name;
  outcome.file = check.baseline_path;
  outcome.name = test_name(row_of(change.metric), change.process);
  outcome.label = words_of(change);
  outcome.kind = kind_of(change.direction);
  outcome.fails = !check.passed && (check.strict || change.direction != Direction::kBetter);
  outcome.verdict = exchange::word_of(outcome.kind);
  outcome.headline = words_of(change);
  return outcome;
}

/// Adds the unchanged metrics of the baseline: each metric is a test.
void add_unchanged(const Check& check, const std::string& process, const Ranges& ranges,
                   std::vector<exchange::Outcome>& outcomes) {
  for (const MetricRow& row : metric_rows()) {
    const std::string name = test_name(row, process);
    const auto is_named = [&](const exchange::Outcome& each) { return each.name == name; };
    if (!ranges[row.metric] || std::any_of(outcomes.begin(), outcomes.end(), is_named)) continue;
    exchange::Outcome& outcome = outcomes.emplace_back();
    outcome.suite = check.subject.name;
    outcome.name = name;
    const auto left_out = std::find_if(check.not_compared.begin(), check.not_compared.end(),
                                       [&](const auto& each) { return each.name == name_of(row, process); });
    const bool compared = left_out == check.not_compared.end();
    outcome.verdict = compared ? exchange::word_of(outcome.kind) : "not compared";
    outcome.headline = compared ? format_range(row.unit, *ranges[row.metric]) : left_out->why;
  }
}

exchange::Benchmark benchmark_of(const std::string& name, const Values& values) {
  exchange::Benchmark benchmark{name, {}};
  for (const MetricRow& row : metric_rows()) {
    if (values[row.metric]) benchmark.measures.push_back({row.key, static_cast<double>(*values[row.metric])});
  }
  return benchmark;
}

}  // namespace

std::string check_text(const Check& check, bool explain, const Palette& palette) {
  const bool changed = check.verdict != Verdict::kSame;
  std::string text = printable(check.sentence) + "\n";
  text += fmt::format("  {}, compared with {} runs in {}\n", printable(check.subject.name), check.baseline.runs,
                      printable(check.baseline_path));
  text += changes_text(check, explain, palette) + sites_text(check, explain) +
          not_compared_text(check.not_compared, explain);
  text += advice_text(check);
  if (changed || explain) {
    for (const ConditionDifference& each : check.conditions) {
      text += line("The baseline was measured elsewhere: " + each.sentence + ".");
    }
  }
  for (const std::string& note : check.measured.notes) text += line(note);
  return text + accept_text(check.verdict, check.accept);
}

std::string checks_text(const Checks& all, bool explain, const Palette& palette) {
  std::string text = wrap(all.sentence, "", "  ");
  for (const Check& check : all.checks) {
    if (explain || check.verdict != Verdict::kSame) text += "\n" + check_text(check, explain, palette);
  }
  return text;
}

std::string bless_text(const Program& program, const std::vector<std::string>& notes, const std::string& path) {
  std::string text =
      fmt::format("{}: {}, {}\n", printable(program.name), printable(path), format_counted(program.runs, "run"));
  std::map<std::string, std::string> not_known;
  for (const MetricRow& row : metric_rows()) {
    const Measured<Range>& range = program.metrics[row.metric];
    if (!range) {
      std::string& names = not_known[range.why()];
      names += (names.empty() ? "" : ", ") + std::string(row.name);
    } else if (range->width() > least_slack(row.unit, *range)) {
      text += line(fmt::format("not the same each time: {}: {}", row.name, format_range(row.unit, *range)));
    }
  }
  for (const auto& [why, names] : not_known) text += line(fmt::format("not compared: {} ({})", names, why));
  for (const std::string& note : notes) text += line(note);
  return text;
}

std::string command_text(const Command& command) {
  std::vector<std::string> words;
  for (const auto& [key, value] : command.env) words.push_back(fmt::format("{}={}", key, value));
  words.insert(words.end(), command.command.begin(), command.command.end());
  return shell_text(words);
}

std::string compare_text(const Comparison& comparison, bool explain, const Palette& palette) {
  const Check& counts = comparison.counts;
  std::string text = wrap(comparison.sentence, "", "  ");
  const auto side = [&](const char* name, const Program& program) {
    text += wrap(command_text(program), fmt::format("  {}  ", name), "       ");
  };
  side("OLD", comparison.before);
  side("NEW", comparison.after);
  for (const ComparedTime& time : comparison.times) text += line(words_of(time));
  if (!comparison.pairs.empty()) {
    text += line(fmt::format("{} of runs; counts of {} and {}", format_counted(comparison.pairs.size(), "pair"),
                             format_counted(comparison.before.runs, "recorded run"),
                             format_counted(comparison.after.runs, "recorded run")));
  }
  text += changes_text(counts, explain, palette) + sites_text(counts, explain) +
          not_compared_text(counts.not_compared, explain);
  return text + advice_text(counts);
}

exchange::OutcomeList compare_outcomes(const Comparison& comparison) {
  exchange::OutcomeList list = check_outcomes(comparison.counts);
  list.command = "zerotax compare";
  list.sentence = comparison.sentence;
  list.subject = fmt::format("{} and {}", command_text(comparison.before), command_text(comparison.after));
  list.notes.clear();
  for (const ComparedTime& time : comparison.times) {
    exchange::Outcome outcome;
    outcome.suite = comparison.after.name;
    outcome.name = time.name;
    outcome.verdict = word_of(time.verdict.kind);
    outcome.headline = words_of(time);
    using enum TimeVerdict::Kind;
    outcome.kind = time.verdict.kind == kSlower   ? exchange::OutcomeKind::kWorse
                   : time.verdict.kind == kFaster ? exchange::OutcomeKind::kBetter
                   : time.verdict.kind == kSame   ? exchange::OutcomeKind::kSame
                                                  : exchange::OutcomeKind::kSkipped;
    outcome.fails = time.verdict.kind == kSlower && &time == comparison.times.data();
    list.outcomes.push_back(outcome);
  }
  if (list.kind == exchange::OutcomeKind::kSame || list.kind == exchange::OutcomeKind::kChanged) {
    if (!comparison.passed) list.kind = exchange::OutcomeKind::kWorse;
  }
  return list;
}

exchange::OutcomeList check_outcomes(const Check& check) {
  exchange::OutcomeList list;
  list.command = "zerotax check";
  list.sentence = check.sentence;
  list.verdict = word_of(check.verdict);
  list.kind = kind_of(check.verdict);
  list.thing = "change";
  list.subject = fmt::format("{} against {}", check.subject.name, check.baseline_path);
  for (const Change& change : check.changes) list.outcomes.push_back(outcome_of(check, change));
  add_unchanged(check, "", check.baseline.metrics, list.outcomes);
  if (check.baseline.processes.size() > 1) {
    for (const auto& [name, ranges] : check.baseline.processes) add_unchanged(check, name, ranges, list.outcomes);
  }
  list.benchmarks.push_back(benchmark_of(check.subject.name, check.measured.all));
  if (check.measured.processes.size() > 1) {
    for (const auto& [name, values] : check.measured.processes) {
      list.benchmarks.push_back(benchmark_of(fmt::format("{}/{}", check.subject.name, name), values));
    }
  }
  if (check.changes.empty()) return list;
  for (const ConditionDifference& each : check.conditions) list.notes.push_back(each.sentence + ".");
  list.notes.push_back(accept_note(check.accept));
  return list;
}

exchange::OutcomeList checks_outcomes(const Checks& all) {
  exchange::OutcomeList list;
  for (const Check& check : all.checks) {
    exchange::OutcomeList one = check_outcomes(check);
    list.command = one.command;
    list.thing = one.thing;
    list.subject += (list.subject.empty() ? "" : ", ") + one.subject;
    std::move(one.outcomes.begin(), one.outcomes.end(), std::back_inserter(list.outcomes));
    std::move(one.benchmarks.begin(), one.benchmarks.end(), std::back_inserter(list.benchmarks));
    std::move(one.notes.begin(), one.notes.end(), std::back_inserter(list.notes));
  }
  list.sentence = all.sentence;
  list.verdict = word_of(all.verdict);
  list.kind = kind_of(all.verdict);
  return list;
}

}  // namespace zerotax::programs
