#pragma once

#include <string>
#include <vector>

#include "base/answer.h"
#include "base/table.h"
#include "baseline/result.h"
#include "exchange/outcome.h"

namespace zerotax::baseline {

/// Returns the text of checks: the verdict, the groups, and how to accept the changes. With `explain`, also lists every
/// changed metric. The first line is the verdict. The other lines have at most 80 columns, except for paths and names.
std::string check_text(const AllocatorChecks& checks, bool explain, const Palette& palette = {});
/// Returns the text of the check of a command: the changes, their call sites, and how to accept the changes. With
/// `explain`, also lists every call site.
std::string check_text(const ProgramCheck& check, bool explain, const Palette& palette = {});
/// Returns the text for several commands: the overall verdict, and the text of each command that changed, or of all
/// with `explain`.
std::string check_text(const ProgramChecks& checks, bool explain, const Palette& palette = {});

/// Returns the checks on one screen (base/answer.h).
Answer check_answer(const AllocatorChecks& checks, const Palette& palette = {});
Answer check_answer(const ProgramCheck& check, const Palette& palette = {});
Answer check_answer(const ProgramChecks& all, const Palette& palette = {});
/// Returns the part of the answer that concerns counts, without the baseline and the commands.
Answer counts_answer(const ProgramCheck& check, const Palette& palette = {});

// The functions below make parts of the text of a command. is_shown returns whether a change is shown: a change that
// costs nothing is shown only if nothing else changed.
bool is_shown(const ProgramChange& change, const ProgramCheck& check);
/// Returns words such as "0 → 64" and "returned: 0 B → 64 MiB", for the bytes that changed most.
std::string calls_words(const SiteChange& site);
std::string bytes_words(const SiteChange& site);
std::string changes_text(const ProgramCheck& check, bool explain, const Palette& palette);
std::string sites_text(const ProgramCheck& check, bool explain);
std::string advice_text(const ProgramCheck& check);
/// Returns the command line, such as "A=1 ./decoder small.bin".
std::string command_text(const runs::Command& command);

/// Returns the checks for the formats of other programs: an outcome for each group of changes, or a passing outcome for
/// an allocator without changes. The compared metrics of each point become benchmarks.
exchange::OutcomeList check_outcomes(const AllocatorChecks& checks);
/// Returns the checks of commands for the formats of other programs: an outcome for each metric.
exchange::OutcomeList check_outcomes(const ProgramCheck& check);
exchange::OutcomeList check_outcomes(const ProgramChecks& checks);

/// Returns the current command line with --explain added.
std::string explain_command(std::vector<std::string> command);

/// Returns the command that accepts the first change. Empty if nothing changed.
std::string accept_command(const AllocatorChecks& checks);

/// Returns the parts of a new baseline that varied between runs. Each metric has a line, with an example and the number
/// of its values that have a range. Also lists what is left out, and the uncertain thresholds, by name. Returns "" for
/// a steady baseline.
std::string unsteady_text(const Baseline& baseline);
/// Returns the metrics of a blessed command, the parts that were not observed, and the differences between runs.
std::string bless_text(const Program& program, const std::vector<std::string>& notes, const std::string& path);

}  // namespace zerotax::baseline
