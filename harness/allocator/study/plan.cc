#include "study/plan.h"

#include <iterator>
#include <vector>

#include "base/size.h"
#include "findings/summary.h"
#include "run/planning.h"

namespace zerotax::study {

using findings::kHeadlineSizes;

namespace {

/// Returns sizes from `first` to below `last`, with `steps` at equal distances per factor of two (64, 80, 96, 112, 128
/// KiB, …).
std::vector<std::uint64_t> grid(std::uint64_t first, std::uint64_t last, std::uint64_t steps) {
  std::vector<std::uint64_t> sizes;
  for (std::uint64_t octave = first; octave < last; octave *= 2) {
    for (std::uint64_t step = 0; step < steps; ++step) sizes.push_back(octave + octave / steps * step);
  }
  return sizes;
}

constexpr std::uint64_t kMostTouched = 128 * kMiB;

/// Adds points for a service that frees its buffers together and needs them again at once.
void add_refill_points(Plan& plan, const std::vector<std::uint64_t>& sizes, const std::vector<std::string>& threads) {
  for (const std::uint64_t size : sizes) {
    const Repeats repeats = size <= kMiB ? Repeats{12, 8, 8, 8, 30} : Repeats{6, 6, 6, 6, 0};
    add_points(plan, {{"refill_loop"}, {size}, {1.0}, threads}, repeats);
  }
}

}  // namespace

void add_quick_study(Plan& plan) {
  plan.study = "quick";
  // The large size has few repeats, so that the answer comes in seconds.
  add_points(plan, {{"calloc_loop"}, {kHeadlineSizes[0]}, {0.0}, {"main"}}, {10, 6, 6, 6, 300});
  add_points(plan, {{"calloc_loop"}, {kHeadlineSizes[1]}, {0.0}, {"main"}}, {5, 3, 3, 3, 300});
  // The sizes can be far apart, because the search for thresholds finds the exact byte of each change.
  std::vector<std::uint64_t> sizes = grid(64 * kKiB, 128 * kMiB, 2);
  const auto biggest = grid(128 * kMiB, kGiB, 1);
  sizes.insert(sizes.end(), biggest.begin(), biggest.end());
  sizes.push_back(kGiB);
  for (const std::uint64_t size : sizes) {
    // If behavior depends on the number of the call, it changes before the sixth call. Big blocks are either mapped
    // each time or kept. Every pass makes at least this many operations, so that all passes have the same operations in
    // their steady state. Small blocks are cheap, so there are enough operations to catch an effect in one call of
    // seven.
    const Repeats repeats = size <= 2 * kMiB    ? Repeats{20, 12, 12, 12, 30}
                            : size <= 8 * kMiB  ? Repeats{20, 8, 8, 8, 30}
                            : size <= 32 * kMiB ? Repeats{20, 6, 6, 6, 30}
                            : size <= 96 * kMiB ? Repeats{10, 4, 4, 4, 100}
                                                : Repeats{3, 3, 3, 3, 0};
    // Writing all of a block of 256 MiB or more would take a quarter of the study's time, and show the same as 128 MiB.
    const std::vector<double> touches = size <= kMostTouched ? std::vector{0.0, 1.0} : std::vector{0.0};
    add_points(plan, {{"calloc_loop"}, {size}, touches, {"main"}}, repeats);
  }
  add_refill_points(plan, {64 * kKiB, 256 * kKiB, kMiB, 4 * kMiB}, {"main"});
}

void add_full_study(Plan& plan) {
  plan.study = "full";
  std::vector<std::uint64_t> sizes = grid(64 * kKiB, 2 * kGiB, 4);
  sizes.insert(sizes.begin(), std::begin(kHeadlineSizes), std::end(kHeadlineSizes));
  sizes.push_back(2 * kGiB);
  for (const std::uint64_t size : sizes) {
    const Repeats repeats = size <= 64 * kMiB ? Repeats{50, 10, 8, 8, 1000} : Repeats{20, 8, 8, 8, 2000};
    add_points(plan, {{"calloc_loop"}, {size}, {0.0, 0.01, 0.1, 1.0}, {"main", "worker"}}, repeats);
  }
  add_refill_points(plan, grid(16 * kKiB, 32 * kMiB, 2), {"main", "worker"});
}

}  // namespace zerotax::study
