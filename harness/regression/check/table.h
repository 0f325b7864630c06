#pragma once

#include <string>
#include <vector>

#include "base/table.h"
#include "check/result.h"
#include "exchange/outcome.h"

namespace zerotax::check {

/// The check for other programs' formats. It has an outcome for each group of changes, or a passing one for an
/// allocator without changes. The compared metrics of each point are benchmarks.
exchange::OutcomeList check_outcomes(const Check& check);

/// For people: the verdict, the groups, how to accept it; with `explain` every changed metric as well. The first line
/// is the verdict; the others have at most 80 columns, but for paths and names.
std::string check_text(const Check& check, bool explain, const Palette& palette = {});

/// What to do next, as a command to paste: of a check that failed, the same once more with --explain (`command`: the
/// words of the command line), or if it was given, what accepts the first change. Empty if nothing changed.
std::string next_step(const Check& check, bool explain, std::vector<std::string> command);

/// What of a new baseline was not the same in every run, for people: a line for each metric, with how many of its
/// values have a range and an example of one; what is left out, and the uncertain thresholds, by name. "" of a steady
/// one.
std::string unsteady_text(const Baseline& baseline);

}  // namespace zerotax::check
