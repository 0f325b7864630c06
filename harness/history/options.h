#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/arguments.h"
#include "history/builder.h"
#include "history/measure.h"

namespace zerotax::history {

/// The words that `history` and `bisect` have in common: which repository, how versions are built, what is measured.
struct CommonOptions {
  std::string repository;
  std::string recipe;
  std::string build;
  std::string library;
  std::vector<std::string> sizes;
  std::int64_t jobs = 0;  ///< 0: see build_jobs
  double build_timeout_s = 1800;
  double timeout_s = 60;
  bool no_thresholds = false;
  std::string to;  ///< the largest size of the search for thresholds

  void add(Arguments& arguments, const char* sizes_words, const char* no_thresholds_words);
  /// Throws UsageError for what makes no sense, and for an unknown recipe. Nothing is run.
  [[nodiscard]] Recipe chosen_recipe() const;
  [[nodiscard]] Grid grid() const;
  /// Throws UsageError for numbers out of range.
  void check() const;
  /// Of --jobs; else one for each CPU, or one of a task that shares its node with others.
  [[nodiscard]] unsigned build_jobs(bool of_task = false) const;
};

}  // namespace zerotax::history
