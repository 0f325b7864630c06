#pragma once

#include <cstdint>

namespace snapshot {

using Element = std::uint64_t;

/// What an element holds after it was written `generation` times: of each element and generation another one, so that a
/// copy that is late, torn or of another place is found.
constexpr Element value(std::uint64_t index, std::uint64_t generation) {
  return (generation + 1) * 0x9E3779B97F4A7C15 ^ index;
}

}  // namespace snapshot
