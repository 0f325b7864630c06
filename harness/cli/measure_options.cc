#include "cli/measure_options.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/size.h"
#include "meter/sample_block.h"

namespace zerotax {

void MeasureOptions::add_allocators(Arguments& arguments) {
  repeatable(
      arguments, "--allocator", allocators,
      "NAME of a built-in allocator, or NAME=PATH of any malloc replacement (repeatable; default: all built in)");
  repeatable(arguments, "--env", env, "NAME:KEY=VALUE, an environment variable for one allocator (repeatable)");
  described_.push_back(arguments.option("--timeout", timeout_s, "time limit of one point, in seconds").with_default());
}

void MeasureOptions::add_folder(Arguments& arguments) {
  described_.push_back(arguments.option("--out", out, "folder for the results; must be new or empty").path());
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

void MeasureOptions::add_touch_and_thread(Arguments& arguments, const char* touch_default, const char* thread_default) {
  const auto touch_words = fmt::format(
      "fraction of the pages written between calloc and free, 0 to 1 (repeatable; default {})", touch_default);
  repeatable(arguments, "--touch", touches, touch_words.c_str());
  const auto thread_words =
      fmt::format("thread that allocates: main or worker (repeatable; default {})", thread_default);
  repeatable(arguments, "--thread", threads, thread_words.c_str());
}

void MeasureOptions::add_axes(Arguments& arguments) {
  repeatable(arguments, "--case", cases, "what the program does (see `zerotax list`; default calloc_loop)");
  repeatable(arguments, "--size", sizes, "bytes to request from calloc, as in 100MiB (repeatable)");
  add_touch_and_thread(arguments, "0", "main");
  described_.push_back(arguments.option("--ops", ops, "operations per point (default: 50, fewer if they are slow)"));
  arguments.option("--json", json, "write the whole run to this file (- is standard output)").path();
}

std::vector<Argument> MeasureOptions::add_compared(Arguments& arguments) {
  repeatable(arguments, "--env", env,
             "NAME:KEY=VALUE, an environment variable for one of them; NAME may be old or new (repeatable)");
  described_.push_back(
      arguments.option("--timeout", timeout_s, "time limit of one process, in seconds").with_default());
  repeatable(arguments, "--case", cases, "what the program does (see `zerotax list`; default calloc_loop)");
  repeatable(arguments, "--size", sizes,
             "bytes to request from calloc (repeatable; default 64KiB, 1MiB, 20MiB, 100MiB)");
  add_touch_and_thread(arguments, "0 and 1", "main");
  return {described_.begin(), described_.end()};
}

template <typename T>
void MeasureOptions::repeatable(Arguments& arguments, const char* name, std::vector<T>& values,
                                const char* description) {
  described_.push_back(arguments.option(name, values, description).repeatable());
}

PlanAxes MeasureOptions::axes() const {
  PlanAxes axes;
  axes.cases = cases.empty() ? std::vector<std::string>{"calloc_loop"} : cases;
  for (const std::string& size : sizes) axes.sizes.push_back(parse_size(size));
  if (axes.sizes.empty()) throw UsageError("no size is given", "add one or more, as in --size 100MiB --size 1000MiB");
  axes.touches = touches.empty() ? std::vector<double>{0.0} : touches;
  axes.threads = threads.empty() ? std::vector<std::string>{"main"} : threads;
  check_axes(axes);
  return axes;
}

void MeasureOptions::check() const {
  for (const Argument& option : described_) {
    if (!resume_ || !resume_->given() || !option.given()) continue;
    throw UsageError(fmt::format("--resume continues the run as it was planned, so {} cannot be given", option.name()),
                     fmt::format("leave out {}, or start a new run without --resume", option.name()));
  }
  if (ops && (*ops < 1 || *ops > static_cast<std::int64_t>(kMaxOps))) {
    throw UsageError(fmt::format("invalid --ops {}", *ops), fmt::format("give a number from 1 to {}", kMaxOps));
  }
  if (!(timeout_s > 0) || timeout_s > 86'400) {
    throw UsageError(fmt::format("invalid --timeout {:g}", timeout_s), "give seconds, more than 0 and at most 86400");
  }
}

}  // namespace zerotax
