#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/units.h"
#include "snapshot/sweep.h"

namespace zerotax::snapshot {
namespace {

/// Copies after the child's end that are of no child: pages on the list of another CPU, 31 for each (docs/cow.md), and
/// the few faults that were under way when it ended.
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
  if (!copying) return "whether the kernel copies is not known";
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

/// The rows of whose faults the kernel's buffers lost some.
OrNull<std::string> loss_of(const std::vector<SweptRow>& rows) {
  std::vector<std::string> lost;
  for (const SweptRow& row : rows) {
    if (!row.ok() || !row.faults || row.faults->lost == 0) continue;
    lost.push_back(fmt::format("{} ({} lost)", sweep_title(row), format_counted(row.faults->lost, "event")));
  }
  return loss_text(lost);
}

}  // namespace

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
  sweep.loss = loss_of(sweep.rows);
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
