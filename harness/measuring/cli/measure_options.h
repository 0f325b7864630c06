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

/// The options that the measuring commands share.
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

  /// Adds --allocator, --env and --timeout. `fallback` describes the allocators that are measured without --allocator.
  void add_allocators(Arguments& arguments, const std::string& fallback = "all built in");
  /// Adds --out and --resume. `beside_resume` lists the options that may be given together with --resume.
  void add_folder(Arguments& arguments, const std::vector<std::string>& beside_resume = {"--on"});
  void add_audit_only(Arguments& arguments);
  /// Adds --thp.
  void add_huge_pages(Arguments& arguments);
  /// Adds --touch and --thread. `touch_default` describes the command's default of --touch.
  void add_touch_and_thread(Arguments& arguments, const std::string& touch_default);
  /// Adds --case, --size, --touch, --thread, --ops and --json.
  void add_axes(Arguments& arguments);

  /// Adds --env, --timeout, --case, --size, --touch and --thread with the defaults of a comparison, and returns them
  /// all.
  std::vector<Argument> add_compared(Arguments& arguments);

  /// Returns the checked axes. Throws UsageError for an unknown case, an invalid size, a fraction outside 0 to 1, or an
  /// unknown thread.
  [[nodiscard]] PlanAxes axes() const;
  /// Returns the setting of --thp. Throws MachineError if processes of this system cannot use that setting.
  [[nodiscard]] HugePages huge_pages() const;
  /// Throws UsageError if the number of operations is not from 1 to `most`.
  void check(std::int64_t most = kMaxOps) const;
};

}  // namespace zerotax
