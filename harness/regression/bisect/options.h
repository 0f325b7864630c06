#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bisect/builder.h"
#include "bisect/versions.h"
#include "cli/arguments.h"

namespace zerotax::bisect {

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
  // With a command after --: what is measured is a program.
  std::vector<std::string> keep;
  std::string name;
  std::int64_t rounds = 3;
  std::vector<std::string> words;  ///< the command
  bool replays = false;            ///< it is a recording, and a version the allocator that it is replayed under

  void add(Arguments& arguments, const char* sizes_words, const char* no_thresholds_words);
  /// Takes the words after --. Throws UsageError if --library is given for a command, or
  /// missing for a recording.
  void take_command();
  /// Throws UsageError for what makes no sense, and for an unknown recipe. Nothing is run.
  [[nodiscard]] Recipe chosen_recipe() const;
  [[nodiscard]] Grid grid() const;
  /// Of --jobs; else one for each CPU, or one of a task that shares its node with others.
  [[nodiscard]] unsigned build_jobs(bool of_task = false) const;

 private:
  [[nodiscard]] Recipe recipe_of_command() const;
  [[nodiscard]] std::string name_of_command() const;
};

}  // namespace zerotax::bisect
