#pragma once

#include <vector>

#include "check/check_document.h"
#include "exchange/outcome.h"

namespace zerotax::check {

/// What other programs' formats show of a check: an outcome for each group of changes, or one that passes for an
/// allocator without any; and what each point does now as benchmarks, as far as it was compared. `document`: check_json
/// of the same results.
exchange::OutcomeList check_outcomes(const std::vector<CheckResult>& results, const Json& document, bool strict);

}  // namespace zerotax::check
