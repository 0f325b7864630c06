#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bisect/builder.h"
#include "bisect/versions.h"
#include "cli/arguments.h"

namespace zerotax::bisect {

/// The options that `history` and `bisect` have in common: the repository, how versions are built, and the
/// measurements.
struct CommonOptions {
  std::string repository;
  std::string recipe;
  std::string build;
  std::string library;
  std::vector<std::string> sizes;
  std::int64_t jobs = 0;  ///< 0: use build_jobs()
  double build_timeout_s = 1800;
  double timeout_s = 60;
  bool no_thresholds = false;
  std::string to;  ///< the largest size of the search for thresholds
  // Options for a command after --. With a command, a program is measured instead of an allocator.
  std::vector<std::string> keep;
  std::string name;
  std::int64_t rounds = 3;
  std::vector<std::string> words;  ///< words of the command
  bool replays = false;            ///< whether the command is a recording, which is replayed under the allocator of
                                   ///< each version

  void add(Arguments& arguments, const char* sizes_words, const char* no_thresholds_words);
  /// Takes the words after --. Throws UsageError if --library is given for a command, or missing for a recording.
  void take_command();
  /// Returns the recipe. Throws UsageError for conflicting options, and for an unknown recipe. Runs nothing.
  [[nodiscard]] Recipe chosen_recipe() const;
  [[nodiscard]] Grid grid() const;
  /// Returns the value of --jobs. Without --jobs, returns the number of CPUs, or 1 for a task that shares its node with
  /// others.
  [[nodiscard]] unsigned build_jobs(bool of_task = false) const;

 private:
  [[nodiscard]] Recipe recipe_of_command() const;
  [[nodiscard]] std::string name_of_command() const;
};

}  // namespace zerotax::bisect
