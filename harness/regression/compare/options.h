#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "base/error.h"
#include "cli/exchange_options.h"
#include "cli/measure_options.h"
#include "run/point_run.h"

namespace zerotax::compare {

inline constexpr std::int64_t kNotGiven = std::numeric_limits<std::int64_t>::min();

/// The options of `zerotax compare`.
struct Options {
  std::string before;
  std::string after;
  std::vector<std::string> more;  ///< further stored runs, each to be compared with OLD
  MeasureOptions measure;
  std::int64_t pairs = kNotGiven;
  std::string cost = "total";
  std::vector<std::string> explain;
  ExchangeOptions exchange;
  bool plot = false;
  std::string csv;
  std::string google;
  std::string along;
  std::string from = "64KiB";
  std::string to = "256MiB";
  std::int64_t grid = 2;
  std::vector<Argument> of_measuring;  ///< options without effect on stored runs
  std::vector<Argument> of_points;     ///< options that also have no effect with --along

  [[nodiscard]] Cost paid() const { return cost == "calloc" ? Cost::kCalloc : Cost::kTotal; }
};

/// The axes of --along.
std::vector<std::string> axis_names();

/// Runs `zerotax compare` on two commands, which --- separates in `words`: compares counts, and times in pairs of runs.
/// Throws the same errors as the command.
ExitStatus compare_programs(const Options& options, const std::vector<std::string>& words);

/// Runs `zerotax compare --along`. Throws the same errors as the command.
ExitStatus compare_along(const Options& options);

}  // namespace zerotax::compare
