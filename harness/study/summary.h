#pragma once

#include <string>
#include <vector>

#include "base/units.h"
#include "findings/tax.h"

namespace zerotax::study {

/// The summary that ends a study, for someone who has never heard of the matter: Markdown that also reads well in a
/// terminal of 80 columns. Who pays, from which size to which, and how much.
std::string write_summary(const std::vector<findings::AllocatorTax>& taxes);

}  // namespace zerotax::study
