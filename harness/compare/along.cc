#include "compare/along.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "os/page.h"
#include "run/interrupt.h"
#include "run/make_plan.h"
#include "run/memory_guard.h"

namespace zerotax::compare {
namespace {

/// Places are added inside each bracket so many times, and so many each time: the gap shrinks to a 16th.
constexpr unsigned kRefinements = 2;
constexpr std::size_t kPlacesAdded = 3;
/// Crossings that are refined in a pass: more would be noise that takes minutes.
constexpr std::size_t kMostRefined = 4;
const std::vector<double> kFractions{0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 0.5, 1};

/// Pages that a fraction means: two fractions of a small block may mean the same.
std::uint64_t touched_pages(const PairedPlace& place) {
  const double pages = std::ceil(static_cast<double>(place.size_bytes) / static_cast<double>(page_bytes()));
  return static_cast<std::uint64_t>(std::ceil(place.touch * pages));
}

/// Adds a place unless an equal one is there already.
void add_place(const Along& along, std::vector<PairedPlace>& places, const PairedPlace& place) {
  const auto same = [&](const PairedPlace& other) {
    return place.size_bytes == other.size_bytes && touched_pages(place) == touched_pages(other);
  };
  if (std::any_of(places.begin(), places.end(), same)) return;
  if (std::any_of(along.places.begin(), along.places.end(), same)) return;
  places.push_back(place);
}

/// Where pairs are missing next: inside the brackets of what was found.
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

}  // namespace zerotax::compare
