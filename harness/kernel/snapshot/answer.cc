#include "base/answer.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/lines.h"
#include "base/units.h"
#include "os/environment.h"
#include "snapshot/table.h"

namespace zerotax::snapshot {
namespace {

constexpr const char* kStoppedEarly = "The run was stopped early, so some rows are missing.";

std::uint64_t count_of(const Faults& faults, std::uint64_t Counts::*kind) {
  return faults.before_end.*kind + faults.after_end.*kind;
}

/// The alternative with which the first allocator's advice compares all other alternatives; null if there is none.
const Result* base_of(const Snapshot& snapshot) {
  if (snapshot.advice.empty() || !snapshot.advice.front().instead_of) return nullptr;
  return snapshot.find(snapshot.advice.front().allocator, *snapshot.advice.front().instead_of);
}

std::string headline(const Snapshot& snapshot) {
  const std::string size = format_size(snapshot.parameters.array_bytes);
  std::string text = snapshot.sentence ? *snapshot.sentence
                                       : fmt::format("A snapshot of {} under writers has no comparison: {}.", size,
                                                     snapshot.sentence.why());
  const Result* base = base_of(snapshot);
  if (base == nullptr) return text;
  text += fmt::format(" With {}, the writers stop for {}", base->alternative, format_ns(base->stopped_ns->median));
  if (!base->faults) return text + ".";
  const std::uint64_t copies = count_of(*base->faults, &Counts::copies);
  return text + fmt::format(", and the kernel copies {} ({}).", format_counted(copies, "page"),
                            format_size(copies * page_bytes_of(snapshot.environment)));
}

/// The measured alternatives. The slowest comes first.
Table alternatives(const Snapshot& snapshot) {
  const bool several = snapshot.allocators().size() > 1;
  std::vector<const Result*> results;
  for (const Result& result : snapshot.results) {
    if (result.ok()) results.push_back(&result);
  }
  std::stable_sort(results.begin(), results.end(), [](const Result* one, const Result* other) {
    return one->slowdown.value_or(0) > other->slowdown.value_or(0);
  });
  std::vector<Column> columns;
  if (several) columns.push_back({"allocator"});
  for (const Column& column : {Column{"alternative", Unit::kText, 15}, right_text("slowdown"),
                               Column{"stopped", Unit::kNs, 8}, Column{"kernel", Unit::kNs, 8}, right_text("memory", 9),
                               Column{"copied", Unit::kCount, 8}, Column{"reused", Unit::kCount, 8}}) {
    columns.push_back(column);
  }
  Table table(std::move(columns));
  for (const Result* result : results) {
    std::vector<Cell> cells;
    if (several) cells.emplace_back(result->allocator);
    cells.insert(
        cells.end(),
        {result->alternative, result->slowdown ? Cell(fmt::format("{:.2f}", *result->slowdown)) : Cell::not_available(),
         result->stopped_ns ? Cell(result->stopped_ns->median) : Cell::not_available(),
         result->writers_system_ns ? Cell(result->writers_system_ns->median) : Cell::not_available(),
         result->memory ? Cell("+" + format_size(result->memory->added_bytes())) : Cell::not_available(),
         result->faults ? Cell(count_of(*result->faults, &Counts::copies)) : Cell::not_available(),
         result->faults ? Cell(count_of(*result->faults, &Counts::reuses)) : Cell::not_available()});
    table.add(std::move(cells));
  }
  return table;
}

std::vector<Answer::Step> steps(const Snapshot& snapshot) {
  std::vector<Answer::Step> all;
  if (snapshot.advice.empty()) return all;
  const Advice& advice = snapshot.advice.front();
  for (const std::string& way : recommended(snapshot, advice)) all.push_back({"", way});
  for (const NextCommand& next : advice.next) all.push_back({next.command, fmt::format("measure {}:", next.measures)});
  return all;
}

std::vector<std::string> warnings(const Snapshot& snapshot) {
  std::vector<std::string> all;
  std::vector<std::string> skipped;
  for (const Result& result : snapshot.results) {
    if (!result.ok()) (result.status == Status::kSkipped ? skipped : all).push_back(failure_text(result) + ".");
  }
  if (snapshot.state == Completion::kInterrupted) all.emplace_back(kStoppedEarly);
  if (snapshot.parameters.hold)
    all.emplace_back("With --hold, the writers wait, so the counts are exact, and the times are meaningless.");
  for (const OrNull<std::string>& warning : {snapshot.contradiction, snapshot.loss}) {
    if (warning) all.push_back(*warning);
  }
  all.insert(all.end(), skipped.begin(), skipped.end());
  return all;
}

}  // namespace

Answer snapshot_answer(const Snapshot& snapshot) {
  Answer answer;
  answer.headline = headline(snapshot);
  answer.table = alternatives(snapshot);
  if (const Result* base = base_of(snapshot)) answer.where = counts_in_brief(*base);
  answer.warnings = warnings(snapshot);
  answer.steps = steps(snapshot);
  // Warnings take up lines of the screen, so fewer next steps are shown beside them.
  if (const std::size_t most = answer.warnings.empty() ? 4 : 2; answer.steps.size() > most) answer.steps.resize(most);
  answer.legend = "slowdown: the writers' time divided by the writers' time without a snapshot";
  answer.more = "Answers on each alternative, and the faults after the child's end";
  return answer;
}

std::string snapshot_text(const Snapshot& snapshot) {
  std::string text = wrap(headline(snapshot)) + "\n" + snapshot_table(snapshot) + snapshot_answers(snapshot);
  for (const OrNull<std::string>& warning : {snapshot.contradiction, snapshot.loss}) {
    if (warning) text += wrap(*warning, "! ", "  ");
  }
  return text;
}

Answer sweep_answer(const Sweep& sweep) {
  const auto time_of = [](const SweptRow* row) { return row->writers_wall_ns ? row->writers_wall_ns->median : 0; };
  std::vector<const SweptRow*> rows;
  Answer answer;
  for (const SweptRow& row : sweep.rows) {
    if (row.ok()) rows.push_back(&row);
    if (row.reason)
      answer.warnings.push_back(fmt::format("{}: {}: {}.", sweep_title(row), word(row.status), *row.reason));
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [&](const SweptRow* one, const SweptRow* other) { return time_of(one) > time_of(other); });
  answer.headline = sweep_sentence(sweep);
  answer.table = swept_rows(rows);
  if (!rows.empty()) {
    const SweptRow& slowest = *rows.front();
    answer.where = fmt::format("{}: the writers need {}{}", sweep_title(slowest), format_ns(time_of(&slowest)),
                               slowest.verdict ? "; " + slowest.verdict->sentence : ".");
    answer.steps = {{fmt::format("zerotax snapshot --size {} --batch {} --writers {} --checkpointers {}",
                                 size_word(slowest.array_bytes), size_word(slowest.batch_bytes), slowest.writers,
                                 slowest.checkpointers),
                     "compare other ways to take this snapshot:"}};
  }
  if (sweep.state == Completion::kInterrupted) answer.warnings.emplace_back(kStoppedEarly);
  if (sweep.loss) answer.warnings.push_back(*sweep.loss);
  answer.legend = kCopiedFirst;
  answer.more = "All rows by their parameters";
  return answer;
}

}  // namespace zerotax::snapshot
