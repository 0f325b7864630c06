#include <fmt/format.h>

#include "base/nearest.h"
#include "base/size.h"
#include "cli/common_options.h"
#include "compare/along.h"
#include "compare/options.h"
#include "compare/run_file.h"
#include "compare/sides.h"
#include "files/output_paths.h"
#include "os/environment.h"
#include "os/print.h"
#include "point/size_grid.h"
#include "run/interrupt.h"

namespace zerotax::compare {
namespace {

constexpr std::int64_t kMostRounds = 1000;

void refuse(const Argument& option, const Options& options, const char* remedy) {
  if (!option.given()) return;
  throw UsageError(fmt::format("{} cannot be given with --along {}", option.name(), options.along), remedy);
}

/// The one value of an option that a comparison of points takes several of.
template <typename Value>
Value only(const char* option, const std::vector<Value>& given, const Value& otherwise) {
  if (given.size() > 1) throw UsageError(fmt::format("several {} with --along", option), "give one");
  return given.empty() ? otherwise : given.front();
}

void check_along(const Options& options) {
  check_word("--along", options.along, axis_names());
  check_cost(options.cost);
  options.measure.check();
  for (const Argument& option : options.of_points) refuse(option, options, "leave it out");
  if (options.along == "touch") {
    for (const Argument& option : options.of_sizes) refuse(option, options, "leave it out, or give --along size");
    if (!options.measure.touches.empty()) {
      throw UsageError("--touch cannot be given with --along touch", "leave it out, or give --along size");
    }
  } else if (!options.measure.sizes.empty()) {
    throw UsageError("--size cannot be given with --along size", "leave it out, or give --along touch");
  }
  if (is_run_file(options.before) || is_run_file(options.after)) {
    throw UsageError("stored runs cannot be compared with --along", "give two allocators");
  }
  if (options.pairs != kNotGiven &&
      (options.pairs < static_cast<std::int64_t>(kFewestPairs) || options.pairs > kMostRounds)) {
    throw UsageError(fmt::format("invalid --rounds {}", options.pairs), "give 3 to 1000");
  }
  if (options.grid < 1 || options.grid > 64) {
    throw UsageError(fmt::format("invalid --grid {}", options.grid), "give 1 to 64 sizes per octave");
  }
}

/// The sizes of the first places.
std::vector<std::uint64_t> sizes_of(const Options& options, const Along& along) {
  if (along.by_touch) return {along.size_bytes};
  const std::uint64_t from = parse_size(options.from);
  const std::uint64_t to = parse_size(options.to);
  if (to > from) return size_grid(from, to, static_cast<unsigned>(options.grid));
  throw UsageError(fmt::format("--from {} is not below --to {}", options.from, options.to),
                   "give two sizes, the smaller one first");
}

}  // namespace

std::vector<std::string> axis_names() { return {"size", "touch"}; }

ExitStatus compare_along(const Options& options) {
  check_along(options);
  const MeasureOptions& measure = options.measure;
  Along along;
  along.by_touch = options.along == "touch";
  if (along.by_touch) along.size_bytes = parse_size(only<std::string>("--size", measure.sizes, kUsualSize));
  along.touch = only("--touch", measure.touches, 0.0);
  along.setup.thread = only<std::string>("--thread", measure.threads, kUsualThread);
  std::vector<PairedPlace> places = first_places(along, sizes_of(options, along));
  std::tie(along.setup.a, along.setup.b) = resolve_sides(options.before, options.after, measure.env);
  if (along.setup.a.name == along.setup.b.name) {
    throw UsageError(fmt::format("allocator '{}' is named twice", along.setup.a.name),
                     "give one of them another name: NAME=PATH");
  }
  check_outputs(options.exchange.outputs(), {{"the library of A", along.setup.a.preload.value_or("")},
                                             {"the library of B", along.setup.b.preload.value_or("")}});
  along.setup.cost = options.paid();
  along.setup.pairs = static_cast<unsigned>(options.pairs == kNotGiven ? kUsualPairs : options.pairs);
  along.setup.timeout_s = measure.timeout_s;
  const Json environment = describe_environment();
  measure_along(along, std::move(places));
  options.exchange.write({}, along_json(along, environment));
  if (!options.exchange.silent()) print_lines(stdout, along_text(along));
  if (!along.whole) say_interrupted("the verdict covers the pairs measured so far");
  return along.has_verdict() ? ExitStatus::kDone : ExitStatus::kFinding;
}

}  // namespace zerotax::compare
