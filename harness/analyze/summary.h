#pragma once

#include <string>
#include <vector>

#include "analyze/tax.h"

namespace zerotax {

/// Nanoseconds for people: "850 ns", "1.54 us", "2.60 ms", "1.05 s".
std::string format_ns(double ns);

/// 1048576000 as "1,048,576,000".
std::string format_count(std::uint64_t count);

/// The summary that ends a study, for someone who has never heard of the matter: Markdown that also reads well in a
/// terminal of 80 columns. Who pays, from which size to which, and how much.
std::string write_summary(const std::vector<AllocatorTax>& taxes);

}  // namespace zerotax
