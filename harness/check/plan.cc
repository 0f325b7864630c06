#include "check/plan.h"

#include <cctype>

#include "base/size.h"
#include "run/make_plan.h"

namespace zerotax::check {

Plan baseline_plan(const Allocator& allocator, double timeout_s) {
  Plan plan;
  plan.timeout_s = timeout_s;
  plan.allocators = {allocator};
  add_points(plan, {{"calloc_loop"}, {64 * kKiB, kMiB, 20 * kMiB, 100 * kMiB}, {0.0, 1.0}, {"main", "worker"}},
             kBaselineRepeats);
  // How many freed blocks are kept, and which are good enough for another size.
  add_points(plan, {{"calloc_batch"}, {48 * kMiB}, {0.0}, {"main"}}, kBaselineRepeats);
  add_points(plan, {{"calloc_mixed"}, {48 * kMiB}, {0.0}, {"main"}}, kBaselineRepeats);
  return plan;
}

BaselineRange baseline_range() { return {16 * kKiB, 256 * kMiB, 2}; }

std::string baseline_file_name(const Allocator& allocator) {
  std::string name = allocator.name + "-" + (allocator.version.empty() ? "unknown" : allocator.version);
  std::string clean;
  for (const char letter : name) {
    const bool plain = std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '.' || letter == '_';
    if (plain) {
      clean += letter;
    } else if (!clean.empty() && clean.back() != '-') {
      clean += '-';
    }
  }
  while (clean.ends_with('-')) clean.pop_back();
  return clean + ".json";
}

}  // namespace zerotax::check
