// Sentences about the goal shared.

#include <fmt/format.h>

#include <algorithm>

#include "advise/advice.h"
#include "base/units.h"

namespace zerotax::advise {
namespace {

/// Copied bytes below which the goal shared has nothing to gain. A fork of a small program copies 0.1 to 0.3 MiB.
constexpr std::uint64_t kLeastCopied = 1 << 20;
/// A sentence names a part of the copied bytes that is at least 1/kNamedShare of them.
constexpr std::uint64_t kNamedShare = 20;

const Copies* first_copies(const Advice& advice) {
  const auto found = std::find_if(advice.result.runs.begin(), advice.result.runs.end(), [](const SearchRun& run) {
    return run.candidate == kPresent && run.trial.figures.copies && run.trial.figures.copies->copied_bytes;
  });
  return found != advice.result.runs.end() ? &*found->trial.figures.copies : nullptr;
}

/// Whether runs with a change before forks copied as much as runs without it.
bool had_no_effect(const Advice& advice, ForkChange change) {
  const std::string line = source_line({change});
  for (std::size_t i = 0; i < advice.catalogue.remedies.size() && i < advice.result.standings.size(); ++i) {
    if (advice.catalogue.remedies[i].source != line || !advice.catalogue.remedies[i].env.empty()) continue;
    const std::string verdict = remedy_verdict(advice, i);
    return verdict == "SAME" || verdict == "MORE";
  }
  return false;
}

}  // namespace

bool copies_little(const Copies& copies) { return copies.copied_bytes.value_or(0) < kLeastCopied; }

std::string shared_nothing_text(const Advice& advice) {
  const Copies* const copies = first_copies(advice);
  if (advice.nothing_to_gain && copies != nullptr) {
    if (copies->forks == 0) return "Nothing to gain: the program never forks, so its processes share no memory.";
    return fmt::format("Nothing to gain: after {}, the processes copy {} of the memory that they share.",
                       format_counted(copies->forks, "fork"), format_size(*copies->copied_bytes));
  }
  if (had_no_effect(advice, ForkChange::kFreeze) && had_no_effect(advice, ForkChange::kDisable)) {
    return "Nothing helps: neither gc.freeze() nor gc.disable() before the fork reduces the copies, so the collector "
           "does not cause them. Reference counts or the program's own writes do.";
  }
  if (had_no_effect(advice, ForkChange::kCompact) || had_no_effect(advice, ForkChange::kWarmup)) {
    return "Nothing helps: the processes copy as much after a compaction of Ruby's heap.";
  }
  const std::vector<Standing>& standings = advice.result.standings;
  const bool tried = std::any_of(standings.begin(), standings.end(),
                                 [](const Standing& each) { return each.state != Standing::State::kNotTried; });
  return tried ? "Nothing that was tried helps: the processes write to the pages that they share."
               : "Nothing was tried: no remedy is known for the copies of this program.";
}

std::vector<std::string> untried_changes(const Advice& advice) {
  std::vector<std::string> all;
  const Copies* const copies = first_copies(advice);
  if (copies == nullptr) return all;
  if (copies->before_exec_bytes >= std::max(kLeastCopied, *copies->copied_bytes / kNamedShare)) {
    all.push_back(
        fmt::format("Forked processes copied {} before they executed another program. posix_spawn() and vfork() copy "
                    "nothing. Python's subprocess uses vfork() only without preexec_fn.",
                    format_size(copies->before_exec_bytes)));
  }
  if (advice.at_forks.multiprocessing) {
    all.emplace_back(
        "multiprocessing.set_start_method(\"forkserver\") at the start of the program forks from a small process, but "
        "workers then import their modules again.");
  }
  return all;
}

}  // namespace zerotax::advise
