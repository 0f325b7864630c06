#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "drive/plan.h"

namespace zerotax {

/// Refuses an empty word: a variable that was not set would otherwise quietly mean "nothing asked".
CLI::Validator not_empty();

/// The words that commands which measure have in common.
class MeasureOptions {
 public:
  std::vector<std::string> allocators;
  std::vector<std::string> env;
  std::vector<std::string> cases;
  std::vector<std::string> sizes;
  std::vector<double> touches;
  std::vector<std::string> threads;
  std::optional<std::int64_t> ops;
  double timeout_s = 60;
  std::string out;
  std::string json;
  std::string resume;

  /// --allocator, --env, --timeout.
  void add_allocators(CLI::App& app);
  /// --out, --resume.
  void add_folder(CLI::App& app);
  /// --touch, --thread; the words say what a command takes when they are not given.
  void add_touch_and_thread(CLI::App& app, const char* touch_default, const char* thread_default);
  /// --case, --size, --touch, --thread, --ops, --json.
  void add_axes(CLI::App& app);

  /// --env, --timeout, --case, --size, --touch, --thread, with the defaults of a comparison; returns them all.
  std::vector<const CLI::Option*> add_compared(CLI::App& app);

  /// The axes, checked. Throws UsageError for a case that there is not, a size that is none, a fraction outside 0 to 1,
  /// an unknown thread.
  [[nodiscard]] PlanAxes axes() const;
  /// Throws UsageError for a number of operations or a timeout out of range, and for anything that would change the
  /// plan of a run that is resumed.
  void check() const;

 private:
  template <typename T>
  void repeatable(CLI::App& app, const char* name, std::vector<T>& values, const char* description);

  CLI::Option* resume_ = nullptr;
  std::vector<CLI::Option*> described_;  ///< those that say what is measured and where to
};

}  // namespace zerotax
