#pragma once

#include "check/result.h"
#include "exchange/outcome.h"

namespace zerotax::check {

/// What other programs' formats show of a check: an outcome for each group of changes, or one that passes for an
/// allocator without any; and what each point does now as benchmarks, as far as it was compared.
exchange::OutcomeList check_outcomes(const Check& check);

}  // namespace zerotax::check
