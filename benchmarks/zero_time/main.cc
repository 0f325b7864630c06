// zero_ns by two independent methods in the same run: a clock around every memset inside calloc (the zeroing pass), and
// calloc minus malloc of the same size in one process (the differential pass). They should agree within 10 % from 20
// MiB on.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <vector>

#include "analyze/summary.h"
#include "base/error.h"
#include "base/size.h"
#include "base/statistics.h"
#include "drive/interrupt.h"
#include "drive/point.h"
#include "drive/probe_process.h"
#include "drive/progress.h"
#include "os/memory.h"

namespace {

using namespace zerotax;

constexpr double kAgreement = 0.10;

/// Median over the steady operations of what `value` says of one; a process is one observation.
template <typename Value>
double steady_median(const PassResult& pass, Value value) {
  std::vector<double> values;
  for (std::size_t i = warm_up_operations(pass.ops()); i < pass.ops(); ++i) {
    values.push_back(static_cast<double>(value(pass.op(i))));
  }
  return quantile(values, 0.5);
}

struct Comparison {
  double clock_ns;
  double difference_ns;
};

/// Empty if the allocator did not survive, or zeroes nothing at this size.
std::vector<Comparison> compare(const Allocator& allocator, std::uint64_t size, std::uint32_t ops, int rounds) {
  const PointSpec point{0, "calloc_loop", size, 0.0, "main", {ops, ops, ops, 0}};
  std::vector<Comparison> found;
  for (int round = 0; round < rounds && interrupted() == 0; ++round) {
    const PassResult zeroing = run_pass(allocator, point, Pass::kZeroing, {}, nullptr);
    const PassResult difference = run_pass(allocator, point, Pass::kDifferential, {}, nullptr);
    if (zeroing.status() != PassResult::Status::kOk || difference.status() != PassResult::Status::kOk) return {};
    found.push_back({steady_median(zeroing, [](const OpRecord& op) { return op.zero_ns; }),
                     steady_median(difference, [](const OpRecord& op) { return op.calloc_ns - op.malloc_ns; })});
    if (found.back().clock_ns == 0) return {};
  }
  return found;
}

double median_of(const std::vector<Comparison>& found, double Comparison::*part) {
  std::vector<double> values;
  for (const Comparison& entry : found) values.push_back(entry.*part);
  return quantile(values, 0.5);
}

int run(bool smoke) {
  const std::vector<std::uint64_t> sizes =
      smoke ? std::vector<std::uint64_t>{20 * kMiB} : std::vector<std::uint64_t>{20 * kMiB, 100 * kMiB, kGiB};
  const int rounds = smoke ? 1 : 7;
  warm_up_memory(2 * sizes.back(), nullptr);
  int disagreements = 0;
  fmt::print("{:<26} {:>9} {:>12} {:>14} {:>7}\n", "allocator", "size", "memset clock", "calloc-malloc", "ratio");
  const auto allocators = resolve_allocators({}, {});
  Progress progress("comparing", sizes.size() * allocators.size(),
                    static_cast<double>(sizes.size() * allocators.size()));
  for (const std::uint64_t size : sizes) {
    for (const Allocator& allocator : allocators) {
      progress.show(fmt::format("{} {}", allocator.name, format_size(size)));
      // Six calls reach every allocator's steady state; big blocks have it from the second on.
      const std::uint32_t ops = size >= kGiB ? 4 : 12;
      const auto found = compare(allocator, size, ops, rounds);
      progress.advance(1);
      progress.clear();
      if (interrupted() != 0) return 128 + interrupted();
      const std::string label = allocator.name + " " + allocator.version;
      if (found.empty()) {
        fmt::print("{:<26} {:>9} zeroes nothing\n", label, format_size(size));
        continue;
      }
      const double clock = median_of(found, &Comparison::clock_ns);
      const double difference = median_of(found, &Comparison::difference_ns);
      const bool agree = std::abs(clock / difference - 1) <= kAgreement;
      if (!agree) ++disagreements;
      fmt::print("{:<26} {:>9} {:>12} {:>14} {:>7.3f}{}\n", label, format_size(size), format_ns(clock),
                 format_ns(difference), clock / difference, agree ? "" : "  apart");
    }
  }
  fmt::print("{} rows are more than 10 % apart\n", disagreements);
  // Times fail no test: the smoke run only shows that it works.
  return !smoke && disagreements > 0 ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"zero_ns by two methods: a clock around memset, and calloc minus malloc"};
  bool smoke = false;
  app.add_flag("--smoke", smoke, "one size, one round: only to see that it works");
  CLI11_PARSE(app, argc, argv);
  catch_interrupts();
  try {
    return run(smoke);
  } catch (const Error& failure) {
    fmt::print(stderr, "benchmark-zero-time: {}: {}\n", failure.what(), failure.remedy());
    return static_cast<int>(failure.status());
  }
}
