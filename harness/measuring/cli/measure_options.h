#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/arguments.h"
#include "cli/places.h"
#include "meter/sample_block.h"
#include "run/planning.h"

namespace zerotax {

/// The words that commands which measure have in common.
struct MeasureOptions {
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
  bool audit_only = false;
  std::string thp;
  FleetOptions fleet;  ///< --on

  /// --allocator, --env, --timeout. `fallback`: what is measured where no allocator is given.
  void add_allocators(Arguments& arguments, const std::string& fallback = "all built in");
  /// --out and --resume. `beside_resume`: the options that may be given together with --resume.
  void add_folder(Arguments& arguments, const std::vector<std::string>& beside_resume = {"--on"});
  /// --audit-only.
  void add_audit_only(Arguments& arguments);
  /// --thp.
  void add_huge_pages(Arguments& arguments);
  /// --touch, --thread; the words name the default of a command.
  void add_touch_and_thread(Arguments& arguments, const std::string& touch_default);
  /// --case, --size, --touch, --thread, --ops, --json.
  void add_axes(Arguments& arguments);

  /// --env, --timeout, --case, --size, --touch, --thread, with the defaults of a comparison; returns them all.
  std::vector<Argument> add_compared(Arguments& arguments);

  /// The axes, checked. Throws UsageError for an unknown case, an invalid size, a fraction outside 0 to 1,
  /// an unknown thread.
  [[nodiscard]] PlanAxes axes() const;
  /// Throws MachineError if processes of this system cannot have them.
  [[nodiscard]] HugePages huge_pages() const;
  /// Throws UsageError for a number of operations that is not from 1 to `most`.
  void check(std::int64_t most = kMaxOps) const;
};

}  // namespace zerotax
