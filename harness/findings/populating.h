#pragma once

#include <cstdint>

namespace zerotax::findings {

/// Whether so many faults can have populated half of this, at least. From 2 MiB on a fault may bring a huge page.
bool can_have_populated(std::uint64_t faults, std::uint64_t bytes);

}  // namespace zerotax::findings
