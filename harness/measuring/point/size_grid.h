#pragma once

#include <cstdint>
#include <vector>

namespace zerotax {

/// Sizes from `from` to `to`, both included, `per_octave` to each doubling.
std::vector<std::uint64_t> size_grid(std::uint64_t from, std::uint64_t to, unsigned per_octave);

}  // namespace zerotax
