#include "point/size_grid.h"

#include <cmath>
#include <stdexcept>

namespace zerotax {

std::vector<std::uint64_t> size_grid(std::uint64_t from, std::uint64_t to, unsigned per_octave) {
  if (from == 0 || to < from || per_octave == 0) throw std::invalid_argument("invalid grid");
  std::vector<std::uint64_t> grid;
  for (unsigned step = 0;; ++step) {
    const double size = static_cast<double>(from) * std::exp2(static_cast<double>(step) / per_octave);
    if (size >= static_cast<double>(to)) break;
    const auto whole = static_cast<std::uint64_t>(size);
    if (grid.empty() || whole > grid.back()) grid.push_back(whole);
  }
  grid.push_back(to);
  return grid;
}

}  // namespace zerotax
