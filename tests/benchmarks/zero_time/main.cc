// Measures zero_ns by two independent methods, call by call in the same processes. One method puts a clock around every
// memset inside calloc. The other subtracts the time of a malloc of the same size, just before, from the time of
// calloc. The results should agree within 10 % from 20 MiB on.

#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <vector>

#include "base/error.h"
#include "base/size.h"
#include "base/statistics.h"
#include "base/units.h"
#include "cli/arguments.h"
#include "os/memory.h"
#include "point/point.h"
#include "point/steady_state.h"
#include "run/allocators.h"
#include "run/interrupt.h"
#include "run/probe_process.h"
#include "run/progress.h"

namespace {

using namespace zerotax;

constexpr double kAgreement = 0.10;

/// Medians over the steady operations of all processes.
struct Comparison {
  double clock_ns;
  double difference_ns;
  double ratio;  ///< ratio of the two methods' times, call by call
};

/// Returns the comparison; empty if the allocator did not survive, or zeroes nothing at this size.
std::optional<Comparison> compare(const Allocator& allocator, std::uint64_t size, const Repeats& repeats, int rounds) {
  const PointSpec point{0, "calloc_loop", size, 0.0, "main", repeats};
  std::vector<double> clocks;
  std::vector<double> differences;
  std::vector<double> ratios;
  for (int round = 0; round < rounds && interrupted() == 0; ++round) {
    const PassResult pass = run_pass(allocator, point, Pass::kDifferential, {});
    if (pass.status() != PassResult::Status::kOk) return {};
    for (std::size_t i = warm_up_operations(pass.ops()); i < pass.ops(); ++i) {
      if (pass.op(i).zero_ns == 0 || pass.op(i).zero_ns == kNotMeasured) return {};
      clocks.push_back(static_cast<double>(pass.op(i).zero_ns));
      differences.push_back(static_cast<double>(pass.op(i).calloc_ns - pass.op(i).malloc_ns));
      ratios.push_back(clocks.back() / differences.back());
    }
  }
  if (clocks.empty()) return {};
  return Comparison{quantile(clocks, 0.5), quantile(differences, 0.5), quantile(ratios, 0.5)};
}

int run(bool smoke) {
  const std::vector<std::uint64_t> sizes =
      smoke ? std::vector<std::uint64_t>{20 * kMiB} : std::vector<std::uint64_t>{20 * kMiB, 100 * kMiB, kGiB};
  const int rounds = smoke ? 1 : 5;
  warm_up_memory(2 * sizes.back(), nullptr);
  int disagreements = 0;
  fmt::print("{:<26} {:>9} {:>12} {:>14} {:>7}\n", "allocator", "size", "memset clock", "calloc-malloc", "ratio");
  const auto allocators = resolve_allocators({}, {});
  Progress progress("comparing", sizes.size() * allocators.size(),
                    static_cast<double>(sizes.size() * allocators.size()));
  for (const std::uint64_t size : sizes) {
    for (const Allocator& allocator : allocators) {
      progress.show(fmt::format("{} {}", allocator.name, format_size(size)));
      const Repeats repeats{20, 8, 20, 20, 2000};
      const auto found = compare(allocator, size, repeats, rounds);
      progress.advance(1);
      progress.clear();
      if (interrupted() != 0) return 128 + interrupted();
      const std::string label = allocator.name + " " + allocator.version;
      if (!found) {
        fmt::print("{:<26} {:>9} zeroes nothing\n", label, format_size(size));
        continue;
      }
      const bool agree = std::abs(found->ratio - 1) <= kAgreement;
      if (!agree) ++disagreements;
      fmt::print("{:<26} {:>9} {:>12} {:>14} {:>7.3f}{}\n", label, format_size(size), format_ns(found->clock_ns),
                 format_ns(found->difference_ns), found->ratio, agree ? "" : "  apart");
    }
  }
  fmt::print("{} rows are more than 10 % apart\n", disagreements);
  // Times never fail a test. The smoke run only checks that the benchmark works.
  return !smoke && disagreements > 0 ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  bool smoke = false;
  const auto add = [&](Arguments arguments) {
    arguments.flag("--smoke", smoke, "only check that the benchmark runs, with one size and one round");
  };
  const auto start = [&] {
    catch_interrupts();
    return run(smoke);
  };
  return standalone_main("benchmark-zero-time",
                         "measure zero_ns by two methods: a clock around memset, and calloc minus malloc", argc, argv,
                         add, start);
}
