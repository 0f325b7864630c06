#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "base/units.h"
#include "snapshot/result.h"

namespace zerotax::snapshot {
namespace {

/// What the figure shows of a result that took a snapshot and was measured beside none; or why it shows nothing.
Measured<Mark> mark_of(const Result& result, std::uint64_t array_bytes) {
  if (!result.ok()) {
    return NotAvailable{fmt::format("{}: {}", status_name(result.status), result.reason.value_or("no reason given"))};
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

/// The results of the first allocator: sentence, notes and figure are of these.
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

/// A warning about these; null if there are none.
OrNull<std::string> warning(const char* words, const std::vector<std::string>& about) {
  if (about.empty()) return std::nullopt;
  return fmt::format(fmt::runtime(words), fmt::join(about, ", "));
}

/// The alternatives whose runs contradict each other: the slow ones took more than half as long again as the fast ones,
/// though every run does the same.
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

/// The alternatives of whose faults the kernel's buffers lost some.
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

}  // namespace

OrNull<std::string> loss_text(const std::vector<std::string>& lost) {
  return warning(
      "Counts of faults are too low, because events came faster than they could be read: {}. Measure a smaller array, "
      "or with fewer threads.",
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

}  // namespace zerotax::snapshot
