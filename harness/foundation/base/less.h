#pragma once

#include <cstdint>

namespace zerotax {

/// The rest of a value; 0 where the part is more.
inline std::uint64_t less(std::uint64_t value, std::uint64_t part) { return value > part ? value - part : 0; }

}  // namespace zerotax
