#include "cli/measure_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "base/size.h"
#include "cli/common_options.h"

namespace zerotax {
namespace {

std::string usual_sizes_text() { return fmt::format("{}", fmt::join(usual_sizes(), ", ")); }

}  // namespace

void MeasureOptions::add_allocators(Arguments& arguments, const std::string& fallback) {
  described_.push_back(zerotax::add_allocators(arguments, allocators, fallback));
  described_.push_back(add_env(arguments, env));
  described_.push_back(add_timeout(arguments, timeout_s));
}

void MeasureOptions::add_folder(Arguments& arguments) {
  described_.push_back(add_out(arguments, out));
  resume_ = arguments.option("--resume", resume, "resume the interrupted run in results folder DIR, as it was planned")
                .path();
}

void MeasureOptions::add_fleet(Arguments& arguments) {
  fleet.add(arguments);
  described_.push_back(arguments.find("--shards"));
}

void MeasureOptions::add_audit_only(Arguments& arguments) {
  described_.push_back(arguments.flag("--audit-only", audit_only, "measure only what is counted, and take no times"));
}

void MeasureOptions::add_huge_pages(Arguments& arguments) {
  described_.push_back(
      arguments
          .option("--thp", thp,
                  "measure with transparent huge pages of this kind, and what memory they take (default: "
                  "as the system has them; bytes zeroed are always counted in small pages)")
          .shown_as("WHEN")
          .one_of({"always", "madvise", "never"}));
}

void MeasureOptions::add_touch_and_thread(Arguments& arguments, const std::string& touch_default) {
  described_.push_back(add_touches(arguments, touches, touch_default));
  described_.push_back(add_threads(arguments, threads));
}

void MeasureOptions::add_axes(Arguments& arguments) {
  described_.push_back(add_cases(arguments, cases));
  described_.push_back(add_sizes(arguments, sizes, usual_sizes_text()));
  add_touch_and_thread(arguments, "0");
  described_.push_back(add_ops(arguments, ops, "50, fewer if they are slow"));
  add_json(arguments, json);
}

std::vector<Argument> MeasureOptions::add_compared(Arguments& arguments) {
  described_.push_back(add_env(arguments, env, "NAME may be old or new"));
  described_.push_back(add_timeout(arguments, timeout_s));
  described_.push_back(add_cases(arguments, cases));
  described_.push_back(add_sizes(arguments, sizes, usual_sizes_text()));
  add_touch_and_thread(arguments, "0 and 1");
  return {described_.begin(), described_.end()};
}

PlanAxes MeasureOptions::axes() const {
  PlanAxes axes;
  axes.cases = cases.empty() ? std::vector<std::string>{"calloc_loop"} : cases;
  for (const std::string& size : sizes.empty() ? usual_sizes() : sizes) axes.sizes.push_back(parse_size(size));
  axes.touches = touches.empty() ? std::vector<double>{0.0} : touches;
  axes.threads = threads.empty() ? std::vector<std::string>{kUsualThread} : threads;
  check_axes(axes);
  return axes;
}

HugePages MeasureOptions::huge_pages() const {
  const HugePages wanted = huge_pages_of(thp);
  const std::string why = why_no_huge_pages(wanted);
  if (why.empty()) return wanted;
  throw MachineError(fmt::format("--thp {}: {}", thp, why),
                     fmt::format("measure in a virtual machine, with --on vm:trixie,thp={0} --thp {0}",
                                 wanted == HugePages::kAlways ? "always" : "madvise"));
}

void MeasureOptions::check(std::int64_t most_ops) const {
  for (const Argument& option : described_) {
    if (!resume_ || !resume_->given() || !option.given()) continue;
    throw UsageError(fmt::format("--resume continues the run as it was planned, so {} cannot be given", option.name()),
                     fmt::format("leave out {}, or start a new run without --resume", option.name()));
  }
  if (ops && (*ops < 1 || *ops > most_ops)) {
    throw UsageError(fmt::format("invalid --ops {}", *ops), fmt::format("give a number from 1 to {}", most_ops));
  }
}

}  // namespace zerotax
