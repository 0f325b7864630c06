#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "base/units.h"
#include "snapshot/sweep.h"

namespace zerotax::snapshot {
namespace {

/// The values that the figure shows for a result. If the result failed, has no snapshot, or cannot be compared with
/// `none`, the reason why the figure does not show it.
Measured<Mark> mark_of(const Result& result, std::uint64_t array_bytes) {
  if (!result.ok()) {
    return NotAvailable{fmt::format("{}: {}", word(result.status), result.reason.value_or("no reason given"))};
  }
  if (!result.checked_elements) return NotAvailable{"what the others are compared with"};
  if (!result.slowdown) return NotAvailable{result.slowdown.why()};
  Mark mark{*result.slowdown, NotAvailable{"not measured"}, result.stopped_ns->median};
  mark.memory_share =
      result.memory
          ? Measured<double>(static_cast<double>(result.memory->added_bytes()) / static_cast<double>(array_bytes))
          : NotAvailable{result.memory.why()};
  return mark;
}

/// The results of the first allocator. The sentence, the notes and the figure describe only this allocator.
std::vector<const Result*> shown(const Snapshot& snapshot) {
  std::vector<const Result*> found;
  for (const Result& result : snapshot.results) {
    if (result.allocator == snapshot.results.front().allocator) found.push_back(&result);
  }
  return found;
}

Measured<std::string> sentence_of(const Snapshot& snapshot) {
  std::vector<const Result*> found = shown(snapshot);
  std::erase_if(found, [](const Result* result) { return !result->mark; });
  if (found.size() < 2) return NotAvailable{"fewer than two alternatives were measured beside none"};
  const auto [best, worst] =
      std::minmax_element(found.begin(), found.end(),
                          [](const Result* one, const Result* other) { return *one->slowdown < *other->slowdown; });
  return fmt::format("A snapshot of {} under writers: they need {} times as long with {}, {} times with {}.",
                     format_size(snapshot.parameters.array_bytes), format_ratio(*(*best)->slowdown),
                     (*best)->alternative, format_ratio(*(*worst)->slowdown), (*worst)->alternative);
}

std::string parameters_words(const Parameters& parameters) {
  return fmt::format("{}, {} that {}, batches of {}; {}.", format_counted(parameters.writers, "writer"),
                     format_counted(parameters.checkpointers, "thread"),
                     parameters.checkpointers == 1 ? "copies" : "copy", format_size(parameters.batch_bytes),
                     parameters.repeat == 1 ? "one run" : fmt::format("medians of {} runs", parameters.repeat));
}

/// A warning about these alternatives or rows; null if there are none.
OrNull<std::string> warning(const char* words, const std::vector<std::string>& about) {
  if (about.empty()) return std::nullopt;
  return fmt::format(fmt::runtime(words), fmt::join(about, ", "));
}

/// A warning about alternatives whose runs contradict each other. Slow runs took more than 1.5 times as long as fast
/// runs, although every run does the same work.
OrNull<std::string> contradiction_of(const std::vector<const Result*>& results) {
  constexpr double kMostApart = 1.5;
  std::vector<std::string> apart;
  for (const Result* result : results) {
    if (!result->ok() || result->writers_wall_ns->p95 <= result->writers_wall_ns->p05 * kMostApart) continue;
    apart.push_back(fmt::format("{} ({} to {})", result->alternative, format_ns(result->writers_wall_ns->p05),
                                format_ns(result->writers_wall_ns->p95)));
  }
  return warning(
      "Runs of the same contradict each other: {}. Something else used the machine; measure again on a quiet one, or "
      "with more --rounds.",
      apart);
}

/// A warning about alternatives for which the kernel's buffers lost faults.
OrNull<std::string> loss_of(const std::vector<const Result*>& results) {
  std::vector<std::string> lost;
  for (const Result* result : results) {
    for (const Measured<Faults>* faults : {&result->faults, &result->faults_held}) {
      if (!*faults || (*faults)->lost == 0) continue;
      lost.push_back(fmt::format("{}{} ({} lost: {} of {} seen)", result->alternative,
                                 faults == &result->faults ? "" : ", held", format_counted((*faults)->lost, "event"),
                                 format_count((*faults)->traced),
                                 format_counted(static_cast<std::uint64_t>((*faults)->counted), "fault")));
    }
  }
  return loss_text(lost);
}

std::vector<std::string> notes_of(const Snapshot& snapshot) {
  std::vector<std::string> notes{
      parameters_words(snapshot.parameters) +
      " Memory and faults are of runs of their own; faults are slower while they are traced."};
  const std::vector<const Result*> results = shown(snapshot);
  for (const Result* result : results) {
    if (!result->ok()) notes.push_back(fmt::format("{}: {}.", result->alternative, result->mark.why()));
  }
  for (const Result* result : results) {
    if (!result->published() || !result->parameters) continue;
    notes.push_back(fmt::format("{}: {}, {} that copy; compared with {}.", result->alternative,
                                format_counted(result->parameters->writers, "writer"),
                                format_counted(result->parameters->checkpointers, "thread"), result->compared_with()));
  }
  for (const OrNull<std::string>& warning : {snapshot.contradiction, snapshot.loss}) {
    if (warning) notes.push_back(*warning);
  }
  std::vector<std::string> others = snapshot.allocators();
  if (others.size() < 2) return notes;
  const std::string first = others.front();
  others.erase(others.begin());
  std::sort(others.begin(), others.end());
  notes.push_back(fmt::format("Of {}; measured also: {}.", first, fmt::join(others, ", ")));
  return notes;
}

/// Share of the pages that may be copied after the child's end for other reasons: pages on another CPU's list, 31 per
/// CPU (docs/cow.md), and faults under way at the child's end.
constexpr double kStrayShare = 0.02;

Measured<IsItCopying> copying_verdict(const Measured<SweptFaults>& faults) {
  if (!faults) return NotAvailable{faults.why()};
  if (static_cast<double>(faults->after_end.copies) > kStrayShare * static_cast<double>(faults->pages)) {
    return IsItCopying::kAfterEnd;
  }
  return faults->before_end.copies > 0 ? IsItCopying::kUntilEnd : IsItCopying::kNo;
}

Measured<DoneFirst> first_verdict(const SweptRow& row) {
  const Measured<std::uint64_t>& runs = row.copy_done_first_runs;
  if (!runs) return NotAvailable{runs.why()};
  if (*runs == 0) return DoneFirst::kNever;
  return *runs == row.runs ? DoneFirst::kAlways : DoneFirst::kSometimes;
}

std::string copying_words(const Measured<IsItCopying>& copying, const Measured<SweptFaults>& faults) {
  if (!copying) return "whether the kernel copies is unknown";
  const std::string after = fmt::format("after it {} copied and {} reused", format_count(faults->after_end.copies),
                                        format_count(faults->after_end.reuses));
  if (*copying == IsItCopying::kNo) return fmt::format("the kernel copies nothing; {}", after);
  return fmt::format("the kernel copies {} pages until the copy is done and its child has ended, {}",
                     format_count(faults->before_end.copies), after);
}

std::string first_words(const SweptRow& row) {
  if (!row.copy_done_first_runs) return "there is no copy";
  return fmt::format("the copy is done before the writers are in {} of {}", *row.copy_done_first_runs,
                     format_counted(row.runs, "run"));
}

/// A warning about rows for which the kernel's buffers lost faults.
OrNull<std::string> rows_loss(const std::vector<SweptRow>& rows) {
  std::vector<std::string> lost;
  for (const SweptRow& row : rows) {
    if (!row.ok() || !row.faults || row.faults->lost == 0) continue;
    lost.push_back(fmt::format("{} ({} lost)", sweep_title(row), format_counted(row.faults->lost, "event")));
  }
  return loss_text(lost);
}

}  // namespace

OrNull<std::string> loss_text(const std::vector<std::string>& lost) {
  return warning(
      "Counts of faults are too low, because events came faster than they could be read: {}. Measure a smaller "
      "array, or use fewer threads.",
      lost);
}

void add_verdict(Snapshot& snapshot) {
  for (Result& result : snapshot.results) {
    result.mark = mark_of(result, snapshot.parameters.array_bytes);
    result.remedy = remedy_of(snapshot, result);
  }
  const std::vector<const Result*> results = shown(snapshot);
  snapshot.advice = advice_of(snapshot);
  snapshot.sentence = sentence_of(snapshot);
  snapshot.contradiction = contradiction_of(results);
  snapshot.loss = loss_of(results);
  snapshot.notes = notes_of(snapshot);
}

std::string sweep_title(const SweptRow& row) {
  return fmt::format("{}, {} in batches of {}, {}, {}{}", row.alternative, format_size(row.array_bytes),
                     format_size(row.batch_bytes), format_counted(row.writers, "writer"),
                     format_counted(row.checkpointers, "checkpointer"),
                     row.placement == "default" ? "" : ", " + row.placement);
}

Measured<SweepVerdict> sweep_verdict(const SweptRow& row) {
  if (!row.ok()) return NotAvailable{row.reason.value_or("it failed")};
  const Measured<IsItCopying> copying = copying_verdict(row.faults);
  return SweepVerdict{copying, first_verdict(row),
                      fmt::format("{}; {}.", first_words(row), copying_words(copying, row.faults))};
}

void add_sweep_verdict(Sweep& sweep) {
  std::size_t measured = 0;
  std::size_t first = 0;
  std::size_t late = 0;
  sweep.loss = rows_loss(sweep.rows);
  for (SweptRow& row : sweep.rows) {
    row.verdict = sweep_verdict(row);
    if (!row.verdict || !row.verdict->copy_done_first) continue;
    ++measured;
    first += row.verdict->copy_done_first == DoneFirst::kAlways ? 1 : 0;
    late += row.verdict->is_it_copying == IsItCopying::kAfterEnd ? 1 : 0;
  }
  if (measured == 0) {
    sweep.sentence = NotAvailable{"no row with a snapshot was measured"};
    return;
  }
  sweep.sentence = fmt::format(
      "The copy is always done before the writers are in {} of {}; the kernel continues copying after the child's end "
      "in "
      "{}.",
      first, format_counted(measured, "row"), late == 0 ? "none" : std::to_string(late));
}

}  // namespace zerotax::snapshot
