#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "base/error.h"
#include "base/nearest.h"
#include "base/size.h"
#include "cli/common_options.h"
#include "cli/subcommand.h"
#include "core/interrupt.h"
#include "core/memory_guard.h"
#include "core/output_file.h"
#include "core/output_paths.h"
#include "core/paired_runs.h"
#include "core/size_grid.h"
#include "crossover/comparison.h"
#include "os/environment.h"
#include "os/page.h"

namespace zerotax::crossover {
namespace {

constexpr const char* kExamples =
    "  zerotax crossover glibc jemalloc --touch 1\n"
    "  zerotax crossover tcmalloc jemalloc --by touch --size 1MiB\n"
    "  zerotax crossover glibc mine=./libmine.so --from 1MiB --to 64MiB --json crossover.json\n";

/// Places are added inside each bracket so many times, and so many each time: the gap shrinks to a 16th.
constexpr unsigned kRefinements = 2;
constexpr std::size_t kPlacesAdded = 3;
/// Crossings that are refined in a pass: more would be noise that takes minutes.
constexpr std::size_t kMostRefined = 4;
constexpr std::size_t kFewestPairs = 3;
const std::vector<double> kFractions{0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 0.5, 1};

struct Options {
  std::string a;
  std::string b;
  std::vector<std::string> env;
  std::string by = "size";
  std::string from = "64KiB";
  std::string to = "256MiB";
  std::string size = kUsualSize;
  double touch = 0;
  std::string thread = kUsualThread;
  std::int64_t rounds = kUsualPairs;
  std::int64_t grid = 2;
  std::string cost = "total";
  std::string json;
  double timeout_s = 60;
  std::vector<Argument> of_size;   ///< make sense with --by size only
  std::vector<Argument> of_touch;  ///< with --by touch only
};

std::vector<std::string> axis_names() { return {"size", "touch"}; }

void check_words(const Options& options) {
  check_word("--by", options.by, axis_names());
  check_cost(options.cost);
  const bool by_touch = options.by == "touch";
  for (const Argument& option : by_touch ? options.of_size : options.of_touch) {
    if (!option.given()) continue;
    throw UsageError(fmt::format("{} cannot be given with --by {}", option.name(), options.by),
                     fmt::format("leave it out, or give --by {}", by_touch ? "size" : "touch"));
  }
  for (const std::string& word : options.env) {
    const std::string name = word.substr(0, word.find(':'));
    if (name == word || name == options.a.substr(0, options.a.find('=')) ||
        name == options.b.substr(0, options.b.find('='))) {
      continue;
    }
    throw UsageError(fmt::format("--env names '{}', which is not compared", name), "name one of the two allocators");
  }
}

void check_numbers(const Options& options) {
  if (options.rounds < static_cast<std::int64_t>(kFewestPairs) || options.rounds > 1000) {
    throw UsageError(fmt::format("invalid --rounds {}", options.rounds), "give 3 to 1000");
  }
  if (options.grid < 1 || options.grid > 64) {
    throw UsageError(fmt::format("invalid --grid {}", options.grid), "give 1 to 64 sizes per octave");
  }
  if (!(options.timeout_s > 0) || options.timeout_s > 86'400) {
    throw UsageError(fmt::format("invalid --timeout {:g}", options.timeout_s),
                     "give seconds, more than 0 and at most 86400");
  }
}

/// Pages that a fraction means: two fractions of a small block may mean the same.
std::uint64_t touched_pages(const PairedPlace& place) {
  const double pages = std::ceil(static_cast<double>(place.size_bytes) / kPageBytes);
  return static_cast<std::uint64_t>(std::ceil(place.touch * pages));
}

/// Adds a place unless an equal one is there already.
void add_place(const Comparison& comparison, std::vector<PairedPlace>& places, const PairedPlace& place) {
  const auto same = [&](const PairedPlace& other) {
    return place.size_bytes == other.size_bytes && touched_pages(place) == touched_pages(other);
  };
  if (std::any_of(places.begin(), places.end(), same)) return;
  if (std::any_of(comparison.places.begin(), comparison.places.end(), same)) return;
  places.push_back(place);
}

std::vector<PairedPlace> first_grid(const Options& options, Comparison& comparison) {
  comparison.by_touch = options.by == "touch";
  std::vector<std::uint64_t> sizes;
  if (comparison.by_touch) {
    comparison.size_bytes = parse_size(options.size);
    sizes = {comparison.size_bytes};
  } else {
    const std::uint64_t from = parse_size(options.from);
    const std::uint64_t to = parse_size(options.to);
    if (to <= from) {
      throw UsageError(fmt::format("--from {} is not below --to {}", options.from, options.to),
                       "give two sizes, the smaller one first");
    }
    sizes = size_grid(from, to, static_cast<unsigned>(options.grid));
    comparison.touch = options.touch;
  }
  const std::vector<double> touches = comparison.by_touch ? kFractions : std::vector<double>{options.touch};
  check_axes({{"calloc_loop"}, sizes, touches, {options.thread}});
  std::vector<PairedPlace> places;
  for (const std::uint64_t size : sizes) {
    for (const double touch : touches) add_place(comparison, places, {size, touch, 0, {}, {}});
  }
  return places;
}

/// Where pairs are missing next: inside the brackets of what was found.
std::vector<PairedPlace> refined_grid(const Comparison& comparison, unsigned pass) {
  std::vector<PairedPlace> places;
  const std::size_t crossings = std::min(kMostRefined, comparison.found.crossings.size());
  for (std::size_t i = 0; i < crossings; ++i) {
    for (const double at :
         refine_bracket(comparison.found, comparison.found.crossings[i], comparison.axis(), kPlacesAdded)) {
      const auto size = comparison.by_touch ? comparison.size_bytes : static_cast<std::uint64_t>(std::llround(at));
      add_place(comparison, places, {size, comparison.by_touch ? at : comparison.touch, pass, {}, {}});
    }
  }
  return places;
}

void analyse(Comparison& comparison) {
  std::vector<PairedSample> samples;
  for (const PairedPlace& place : comparison.places) {
    if (!place.left_out.empty() || place.pairs.size() < kFewestPairs) continue;
    PairedSample& sample = samples.emplace_back(PairedSample{comparison.at(place), {}});
    for (const CostPair& pair : place.pairs) sample.log_ratios.push_back(std::log(pair.a_ns / pair.b_ns));
  }
  comparison.found = find_crossover(std::move(samples), comparison.axis());
}

void measure(Comparison& comparison, std::vector<PairedPlace> places) {
  std::uint64_t largest = 0;
  std::string too_large;
  for (const PairedPlace& place : places) {
    const std::string why = why_too_large(place.size_bytes);
    if (why.empty()) largest = std::max(largest, place.size_bytes);
    if (too_large.empty()) too_large = why;
  }
  if (largest == 0) throw MachineError("nothing can be measured: " + too_large, "give smaller sizes");
  warm_up(2 * largest);
  for (unsigned pass = 0; !places.empty(); ++pass) {
    comparison.whole = run_pairs(comparison.setup, places, stop_requested);
    comparison.places.insert(comparison.places.end(), places.begin(), places.end());
    std::sort(
        comparison.places.begin(), comparison.places.end(),
        [&](const PairedPlace& one, const PairedPlace& other) { return comparison.at(one) < comparison.at(other); });
    analyse(comparison);
    if (!comparison.whole || pass == kRefinements) return;
    places = refined_grid(comparison, pass + 1);
  }
}

ExitStatus crossover(const Options& options) {
  check_words(options);
  check_numbers(options);
  Comparison comparison;
  std::vector<PairedPlace> places = first_grid(options, comparison);
  check_outputs({{"--json", options.json}}, library_inputs({options.a, options.b}));
  const std::vector<Allocator> allocators = resolve_allocators({options.a, options.b}, options.env);
  comparison.setup = {allocators[0],
                      allocators[1],
                      options.thread,
                      options.cost == "calloc" ? Cost::kCalloc : Cost::kTotal,
                      static_cast<unsigned>(options.rounds),
                      options.timeout_s};
  const Json environment = describe_environment();
  measure(comparison, std::move(places));

  if (!options.json.empty()) write_file(options.json, json_text(crossover_json(comparison, environment)));
  if (options.json != "-") {
    fmt::print("{}", crossover_text(comparison));
  }
  if (!comparison.whole) fmt::print(stderr, "zerotax: interrupted: the verdict covers the pairs measured so far\n");
  return comparison.has_verdict() ? ExitStatus::kDone : ExitStatus::kFinding;
}

std::function<ExitStatus()> configure(Arguments& arguments) {
  const auto options = std::make_shared<Options>();
  arguments.option("A", options->a, "NAME of a built-in allocator, or NAME=PATH of any malloc replacement").required();
  arguments.option("B", options->b, "the other one").required();
  add_env(arguments, options->env);
  arguments.option("--by", options->by, "what to vary: size or touch")
      .shown_as("AXIS")
      .completed_by(axis_names)
      .with_default();
  options->of_size = {
      add_from(arguments, options->from),
      add_to(arguments, options->to),
      add_touch(arguments, options->touch, "with --by size"),
      add_grid(arguments, options->grid),
  };
  options->of_touch = {add_size(arguments, options->size, "with --by touch")};
  add_thread(arguments, options->thread);
  add_rounds(arguments, options->rounds, "pairs").with_default();
  arguments.formerly("--processes", "--rounds");
  add_cost(arguments, options->cost);
  add_json(arguments, options->json);
  add_timeout(arguments, options->timeout_s);
  return [options] { return crossover(*options); };
}

const Subcommand command("crossover",
                         "find the size or touched fraction at which one of two allocators becomes cheaper", kExamples,
                         configure);

}  // namespace
}  // namespace zerotax::crossover
