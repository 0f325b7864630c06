#include <cmath>

#include "compare/compare_document.h"

namespace zerotax::compare {

namespace {

PlaceEntry entry_of(const Along& along, const PairedPlace& place) {
  PlaceEntry entry{place.size_bytes, place.touch, place.pass, place.left_out, {}, {}, false};
  for (const CostPair& pair : place.pairs) entry.pairs.push_back({pair.a_ns, pair.b_ns, pair.a_first ? "a" : "b"});
  const PointVerdict* verdict = along.verdict_at(place);
  if (verdict == nullptr) {
    entry.ratio = NotAvailable{place.left_out.empty() ? "interrupted: fewer than three pairs" : place.left_out};
    return entry;
  }
  entry.ratio =
      MedianRatio{std::exp(verdict->log_ratio), std::exp(verdict->interval.low), std::exp(verdict->interval.high)};
  entry.clear = verdict->clear;
  return entry;
}

/// Returns the name of the cheaper allocator, or "" if neither is cheaper.
std::string cheaper_of(const Along& along, int sign) { return sign == 0 ? "" : along.cheaper(sign); }

void add_crossings(const Along& along, AlongDocument& document) {
  const Crossover& found = along.found;
  for (std::size_t k = 0; k < found.crossings.size(); ++k) {
    const Crossing& crossing = found.crossings[k];
    const BracketEntry bracket{crossing.bracket.low, crossing.bracket.high, std::exp(crossing.log_ratio_before),
                               std::exp(crossing.log_ratio_after)};
    document.crossings.push_back({crossing.at, crossing.interval.low, crossing.interval.high, bracket,
                                  cheaper_of(along, found.stretches[k].sign),
                                  cheaper_of(along, found.stretches[k + 1].sign), crossing.share, crossing.certain,
                                  crossing.jump});
  }
  for (const Stretch& stretch : found.stretches) {
    document.stretches.push_back({stretch.from, stretch.to, cheaper_of(along, stretch.sign), stretch.clear,
                                  std::exp(stretch.log_ratio_from), std::exp(stretch.log_ratio_to),
                                  std::exp(stretch.log_ratios.low), std::exp(stretch.log_ratios.high)});
  }
  for (const Dip& dip : found.dips) {
    document.unproven.push_back(
        {dip.from, dip.to, cheaper_of(along, dip.log_ratio < 0 ? -1 : 1), std::exp(dip.log_ratio), dip.share});
  }
}

}  // namespace

AlongDocument along_document(const Along& along, const Json& environment) {
  const CrossoverMethod method;
  AlongDocument document;
  document.state = completion(along.whole);
  document.environment = environment;
  document.a = allocator_json(along.setup.a);
  document.b = allocator_json(along.setup.b);
  document.by = along.by_touch ? "touch" : "size";
  if (along.by_touch) document.size_bytes = along.size_bytes;
  if (!along.by_touch) document.touch = along.touch;
  document.thread = along.setup.thread;
  document.cost = along.setup.cost == Cost::kCalloc ? "calloc" : "total";
  document.pairs_per_point = along.setup.pairs;
  document.resamples = method.resamples;
  document.seed = method.seed;
  document.level = method.level;
  document.verdict = !along.has_verdict()            ? "not measured"
                     : along.found.crossings.empty() ? "none in range"
                                                     : "crossings";
  add_crossings(along, document);
  for (const PairedPlace& place : along.places) document.points.push_back(entry_of(along, place));
  return document;
}

}  // namespace zerotax::compare
