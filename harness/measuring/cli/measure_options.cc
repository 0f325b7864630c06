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
  zerotax::add_allocators(arguments, allocators, fallback);
  add_env(arguments, env);
  add_timeout(arguments, timeout_s);
}

void MeasureOptions::add_folder(Arguments& arguments, const std::vector<std::string>& beside_resume) {
  add_out(arguments, out);
  arguments.option("--resume", resume, "continue the interrupted run in this results folder")
      .path()
      .alone(beside_resume, {"{0} continues the run as it was planned, so {1} cannot be given",
                             "leave out {1}, or start a new run without {0}"});
}

void MeasureOptions::add_audit_only(Arguments& arguments) {
  arguments.flag("--audit-only", audit_only, "measure counts only, no times");
}

void MeasureOptions::add_huge_pages(Arguments& arguments) {
  arguments
      .option(
          "--thp", thp,
          "measure with this setting of transparent huge pages, and also measure the memory in huge pages (default: "
          "the system's setting; zeroed bytes are always counted in small pages)")
      .shown_as("WHEN")
      .one_of({"always", "madvise", "never"});
}

void MeasureOptions::add_touch_and_thread(Arguments& arguments, const std::string& touch_default) {
  add_touches(arguments, touches, touch_default);
  add_threads(arguments, threads);
}

void MeasureOptions::add_axes(Arguments& arguments) {
  add_cases(arguments, cases);
  add_sizes(arguments, sizes, usual_sizes_text());
  add_touch_and_thread(arguments, "0");
  add_ops(arguments, ops, "50, or fewer if operations are slow");
  add_json(arguments, json);
}

std::vector<Argument> MeasureOptions::add_compared(Arguments& arguments) {
  return {add_env(arguments, env, "NAME may be old or new"),
          add_timeout(arguments, timeout_s),
          add_cases(arguments, cases),
          add_sizes(arguments, sizes, usual_sizes_text()),
          add_touches(arguments, touches, "0 and 1"),
          add_threads(arguments, threads)};
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

void MeasureOptions::check(std::int64_t most) const {
  if (!ops || (*ops >= 1 && *ops <= most)) return;
  throw UsageError(fmt::format("invalid --ops {}", *ops), fmt::format("give a number from 1 to {}", most));
}

}  // namespace zerotax
