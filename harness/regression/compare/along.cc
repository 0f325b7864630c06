#include "compare/along.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/nearest.h"
#include "base/size.h"
#include "cli/common_options.h"
#include "cli/terminal_options.h"
#include "compare/compare_document.h"
#include "compare/options.h"
#include "compare/points.h"
#include "files/output_file.h"
#include "os/environment.h"
#include "os/page.h"
#include "os/print.h"
#include "point/plan.h"
#include "run/experiment.h"
#include "run/interrupt.h"
#include "run/planning.h"

namespace zerotax::compare {
namespace {

/// Number of passes that add places inside each bracket, and number of places added per pass. All passes together
/// shrink the gap to a 16th.
constexpr unsigned kRefinements = 2;
constexpr std::size_t kPlacesAdded = 3;
/// Maximum number of crossings that a pass refines. More crossings are noise, and would take minutes.
constexpr std::size_t kMostRefined = 4;
const std::vector<double> kFractions{0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 0.5, 1};

/// Returns the number of pages that a fraction touches. In a small block, two fractions may touch equally many pages.
std::uint64_t touched_pages(const PairedPlace& place) {
  const double pages = std::ceil(static_cast<double>(place.size_bytes) / static_cast<double>(page_bytes()));
  return static_cast<std::uint64_t>(std::ceil(place.touch * pages));
}

/// Adds a place, unless an equal place exists.
void add_place(const Along& along, std::vector<PairedPlace>& places, const PairedPlace& place) {
  const auto same = [&](const PairedPlace& other) {
    return place.size_bytes == other.size_bytes && touched_pages(place) == touched_pages(other);
  };
  if (std::any_of(places.begin(), places.end(), same)) return;
  if (std::any_of(along.places.begin(), along.places.end(), same)) return;
  places.push_back(place);
}

/// Returns the places to measure next, inside the brackets of the crossings that were found.
std::vector<PairedPlace> refined_grid(const Along& along, unsigned pass) {
  std::vector<PairedPlace> places;
  const std::size_t crossings = std::min(kMostRefined, along.found.crossings.size());
  for (std::size_t i = 0; i < crossings; ++i) {
    for (const double at : refine_bracket(along.found, along.found.crossings[i], along.axis(), kPlacesAdded)) {
      const auto size = along.by_touch ? along.size_bytes : static_cast<std::uint64_t>(std::llround(at));
      add_place(along, places, {size, along.by_touch ? at : along.touch, pass, {}, {}});
    }
  }
  return places;
}

void analyse(Along& along) {
  std::vector<PairedSample> samples;
  for (const PairedPlace& place : along.places) {
    if (!place.left_out.empty() || place.pairs.size() < kFewestPairs) continue;
    PairedSample& sample = samples.emplace_back(PairedSample{along.at(place), {}});
    for (const CostPair& pair : place.pairs) sample.log_ratios.push_back(std::log(pair.a_ns / pair.b_ns));
  }
  along.found = find_crossover(std::move(samples), along.axis());
}

constexpr std::int64_t kMostRounds = 1000;

/// Returns the only value of an option. Other comparisons allow several values.
template <typename Value>
Value only(const char* option, const std::vector<Value>& given, const Value& otherwise) {
  if (given.size() > 1) throw UsageError(fmt::format("--along takes only one {}", option), "give one");
  return given.empty() ? otherwise : given.front();
}

void check_along(const Options& options) {
  check_word("--along", options.along, axis_names());
  check_cost(options.cost);
  options.measure.check();
  if (is_run_file(options.before) || is_run_file(options.after)) {
    throw UsageError("stored runs cannot be compared with --along", "give two allocators");
  }
  if (options.pairs != kNotGiven &&
      (options.pairs < static_cast<std::int64_t>(kFewestPairs) || options.pairs > kMostRounds)) {
    throw UsageError(fmt::format("invalid --rounds {}", options.pairs), "give 3 to 1000");
  }
}

/// Returns the sizes of the first places.
std::vector<std::uint64_t> sizes_of(const Options& options, const Along& along) {
  if (along.by_touch) return {along.size_bytes};
  const std::uint64_t from = parse_size(options.from);
  const std::uint64_t to = parse_size(options.to);
  if (to > from) return size_grid(from, to, static_cast<unsigned>(options.grid));
  throw UsageError(fmt::format("--from {} is not below --to {}", options.from, options.to),
                   "give two sizes, the smaller one first");
}

}  // namespace

const PointVerdict* Along::verdict_at(const PairedPlace& place) const {
  const auto same = [&](const PointVerdict& each) { return each.at == at(place); };
  const auto verdict = std::find_if(found.points.begin(), found.points.end(), same);
  return verdict == found.points.end() ? nullptr : &*verdict;
}

std::vector<PairedPlace> first_places(const Along& along, const std::vector<std::uint64_t>& sizes) {
  const std::vector<double> touches = along.by_touch ? kFractions : std::vector<double>{along.touch};
  check_axes({{"calloc_loop"}, sizes, touches, {along.setup.thread}});
  std::vector<PairedPlace> places;
  for (const std::uint64_t size : sizes) {
    for (const double touch : touches) add_place(along, places, {size, touch, 0, {}, {}});
  }
  return places;
}

void measure_along(Along& along, std::vector<PairedPlace> places) {
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
    along.whole = run_pairs(along.setup, places);
    along.places.insert(along.places.end(), places.begin(), places.end());
    std::sort(along.places.begin(), along.places.end(),
              [&](const PairedPlace& one, const PairedPlace& other) { return along.at(one) < along.at(other); });
    analyse(along);
    if (!along.whole || pass == kRefinements) return;
    places = refined_grid(along, pass + 1);
  }
}

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
                     "give one of the two allocators another name: NAME=PATH");
  }
  check_outputs(options.exchange.outputs(), {{"the library of A", along.setup.a.preload.value_or("")},
                                             {"the library of B", along.setup.b.preload.value_or("")}});
  along.setup.cost = options.paid();
  along.setup.pairs = static_cast<unsigned>(options.pairs == kNotGiven ? kUsualPairs : options.pairs);
  along.setup.timeout_s = measure.timeout_s;
  const Json environment = describe_environment();
  measure_along(along, std::move(places));
  options.exchange.publish({}, along_document(along, environment),
                           wants_full_text() ? along_text(along) : answer_text(along_answer(along)));
  if (!along.whole) say_interrupted("the verdict covers the pairs measured so far");
  return along.has_verdict() ? ExitStatus::kDone : ExitStatus::kFinding;
}

}  // namespace zerotax::compare
