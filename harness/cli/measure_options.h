#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "drive/plan.h"

namespace zerotax {

/// The words that commands which measure have in common.
struct MeasureOptions {
  std::vector<std::string> allocators;
  std::vector<std::string> env;
  std::vector<std::string> cases{"calloc_loop"};
  std::vector<std::string> sizes;
  std::vector<double> touches;
  std::vector<std::string> threads;
  std::uint32_t ops = 0;  ///< 0: not given
  double timeout_s = 60;
  std::string out;
  std::string json;
  std::string resume;

  /// --allocator, --env, --timeout, --out, --resume.
  void add_common(CLI::App& app);
  /// --case, --size, --touch, --thread, --ops, --json.
  void add_axes(CLI::App& app);

  /// The axes, checked. Throws UsageError for a case that there is not, a size that is none, a fraction outside 0 to 1,
  /// an unknown thread.
  [[nodiscard]] PlanAxes axes() const;
  /// Throws UsageError for a number of operations or a timeout out of range.
  void check_numbers() const;
};

}  // namespace zerotax
