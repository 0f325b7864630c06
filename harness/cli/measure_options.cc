#include "cli/measure_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "base/size.h"
#include "drive/probe_identity.h"
#include "meter/record.h"

namespace zerotax {

void MeasureOptions::add_common(CLI::App& app) {
  app.add_option(
         "--allocator", allocators,
         "NAME of a built-in allocator, or NAME=PATH of any malloc replacement (repeatable; default: all built in)")
      ->allow_extra_args(false);
  app.add_option("--env", env, "NAME:KEY=VALUE, an environment variable for one allocator (repeatable)")
      ->allow_extra_args(false);
  app.add_option("--timeout", timeout_s, "seconds for one point")->capture_default_str();
  app.add_option("--out", out, "folder for the results; must be new or empty");
  app.add_option("--resume", resume, "go on with the results folder DIR of an interrupted run");
}

void MeasureOptions::add_axes(CLI::App& app) {
  app.add_option("--case", cases, "what the program does (see `zerotax list`)")
      ->allow_extra_args(false)
      ->capture_default_str();
  app.add_option("--size", sizes, "bytes asked of calloc, as in 100MiB (repeatable)")->allow_extra_args(false);
  app.add_option("--touch", touches,
                 "fraction of the pages written between calloc and free, 0 to 1 (repeatable; default 0)")
      ->allow_extra_args(false);
  app.add_option("--thread", threads, "main or worker: the thread that allocates (repeatable; default main)")
      ->allow_extra_args(false);
  app.add_option("--ops", ops, "operations per point (default: 50, fewer where they are slow)");
  app.add_option("--json", json, "write the whole run to this file (- is standard output)");
}

PlanAxes MeasureOptions::axes() const {
  PlanAxes axes;
  const auto known = known_cases();
  for (const std::string& name : cases) {
    if (!known.contains(name)) {
      std::vector<std::string> names;
      for (const auto& entry : known) names.push_back(entry.first);
      throw UsageError(fmt::format("unknown case '{}'", name), fmt::format("there are: {}", fmt::join(names, ", ")));
    }
  }
  axes.cases = cases;
  for (const std::string& size : sizes) axes.sizes.push_back(parse_size(size));
  if (axes.sizes.empty()) throw UsageError("no size is given", "add one or more, as in --size 100MiB --size 1000MiB");
  axes.touches = touches.empty() ? std::vector<double>{0.0} : touches;
  for (const double touch : axes.touches) {
    if (!(touch >= 0 && touch <= 1)) {
      throw UsageError(fmt::format("--touch {:g} is no fraction of the pages", touch), "give a number from 0 to 1");
    }
  }
  axes.threads = threads.empty() ? std::vector<std::string>{"main"} : threads;
  for (const std::string& thread : axes.threads) {
    if (thread != "main" && thread != "worker") {
      throw UsageError(fmt::format("unknown thread '{}'", thread), "give main or worker");
    }
  }
  return axes;
}

void MeasureOptions::check_numbers() const {
  if (ops > kMaxOps)
    throw UsageError(fmt::format("--ops {} is too many", ops), fmt::format("give at most {}", kMaxOps));
  if (!(timeout_s > 0) || timeout_s > 86'400) {
    throw UsageError(fmt::format("--timeout {:g} is no usable time", timeout_s),
                     "give seconds, more than 0 and at most 86400");
  }
}

}  // namespace zerotax
