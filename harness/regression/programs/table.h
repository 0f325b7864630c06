#pragma once

#include <string>
#include <vector>

#include "base/table.h"
#include "exchange/outcome.h"
#include "programs/comparison.h"

namespace zerotax::programs {

/// For people: the verdict in the first line, then what changed, where, and how to accept it. `explain`: with all that
/// only says how, every place, and what was not compared.
std::string check_text(const Check& check, bool explain, const Palette& palette = {});

/// Of several commands: the verdict of all, and the text of those that changed; of all with `explain`.
std::string checks_text(const Checks& checks, bool explain, const Palette& palette = {});

/// "A=1 ./decoder small.bin".
std::string command_text(const Command& command);

/// The same of two commands: the verdict in the first line, then times, what changed and where.
std::string compare_text(const Comparison& comparison, bool explain, const Palette& palette = {});
exchange::OutcomeList compare_outcomes(const Comparison& comparison);

/// What was blessed, what was not seen of it, and how far it differs from run to run.
std::string bless_text(const Program& program, const std::vector<std::string>& notes, const std::string& path);

/// For the formats of others: an outcome for each change, or one that passes.
exchange::OutcomeList check_outcomes(const Check& check);
exchange::OutcomeList checks_outcomes(const Checks& checks);

}  // namespace zerotax::programs
