#pragma once

#include <string>
#include <vector>

#include "base/table.h"
#include "baseline/result.h"
#include "exchange/outcome.h"

namespace zerotax::baseline {

/// For people: the verdict, the groups, how to accept it; with `explain` every changed metric as well. The first line
/// is the verdict; the others have at most 80 columns, but for paths and names.
std::string check_text(const AllocatorChecks& checks, bool explain, const Palette& palette = {});
/// The text for a command: what changed, where, and how to accept it; with `explain`, every place as well.
std::string check_text(const ProgramCheck& check, bool explain, const Palette& palette = {});
/// Of several commands: the verdict of all, and the text of those that changed; of all with `explain`.
std::string check_text(const ProgramChecks& checks, bool explain, const Palette& palette = {});

// Parts of the text of a command.
std::string changes_text(const ProgramCheck& check, bool explain, const Palette& palette);
std::string sites_text(const ProgramCheck& check, bool explain);
std::string advice_text(const ProgramCheck& check);
/// "A=1 ./decoder small.bin".
std::string command_text(const runs::Command& command);

/// The checks for other programs' formats: an outcome for each group of changes, or a passing one for an allocator
/// without changes. The compared metrics of each point are benchmarks.
exchange::OutcomeList check_outcomes(const AllocatorChecks& checks);
/// The checks of commands for other programs' formats: an outcome for each metric.
exchange::OutcomeList check_outcomes(const ProgramCheck& check);
exchange::OutcomeList check_outcomes(const ProgramChecks& checks);

/// What to do next, as a command to paste: of a check that failed, the same once more with --explain (`command`: the
/// words of the command line), or if it was given, what accepts the first change. Empty if nothing changed.
std::string next_step(const AllocatorChecks& checks, bool explain, std::vector<std::string> command);

/// What of a new baseline was not the same in every run, for people: a line for each metric, with how many of its
/// values have a range and an example of one; what is left out, and the uncertain thresholds, by name. "" of a steady
/// one.
std::string unsteady_text(const Baseline& baseline);
/// What was blessed of a command, which parts of it were not seen, and how far its metrics differ from run to run.
std::string bless_text(const Program& program, const std::vector<std::string>& notes, const std::string& path);

}  // namespace zerotax::baseline
