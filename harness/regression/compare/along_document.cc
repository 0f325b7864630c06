#include <cmath>

#include "compare/along.h"

namespace zerotax::compare {
namespace {

Json place_json(const Along& along, const PairedPlace& place) {
  Json json;
  json["size_bytes"] = place.size_bytes;
  json["touch"] = place.touch;
  json["pass"] = place.pass;
  json["left_out"] = place.left_out.empty() ? Json(nullptr) : Json(place.left_out);
  json["pairs"] = Json::array();
  for (const CostPair& pair : place.pairs) {
    json["pairs"].push_back({{"a_ns", pair.a_ns}, {"b_ns", pair.b_ns}, {"first", pair.a_first ? "a" : "b"}});
  }
  const PointVerdict* verdict = along.verdict_at(place);
  if (verdict == nullptr) {
    json["ratio"] = not_available(place.left_out.empty() ? "interrupted: fewer than three pairs" : place.left_out);
    json["clear"] = false;
    return json;
  }
  json["ratio"] = {{"median", std::exp(verdict->log_ratio)},
                   {"low", std::exp(verdict->interval.low)},
                   {"high", std::exp(verdict->interval.high)}};
  json["clear"] = verdict->clear;
  return json;
}

Json cheaper_json(const Along& along, int sign) { return sign == 0 ? Json(nullptr) : Json(along.cheaper(sign)); }

Json crossings_json(const Along& along) {
  const Crossover& found = along.found;
  Json json;
  json["crossings"] = Json::array();
  for (std::size_t k = 0; k < found.crossings.size(); ++k) {
    const Crossing& crossing = found.crossings[k];
    json["crossings"].push_back({{"at", crossing.at},
                                 {"low", crossing.interval.low},
                                 {"high", crossing.interval.high},
                                 {"bracket",
                                  {{"from", crossing.bracket.low},
                                   {"to", crossing.bracket.high},
                                   {"ratio_from", std::exp(crossing.log_ratio_before)},
                                   {"ratio_to", std::exp(crossing.log_ratio_after)}}},
                                 {"cheaper_below", cheaper_json(along, found.stretches[k].sign)},
                                 {"cheaper_above", cheaper_json(along, found.stretches[k + 1].sign)},
                                 {"share", crossing.share},
                                 {"certain", crossing.certain},
                                 {"jump", crossing.jump}});
  }
  json["stretches"] = Json::array();
  for (const Stretch& stretch : found.stretches) {
    json["stretches"].push_back({{"from", stretch.from},
                                 {"to", stretch.to},
                                 {"cheaper", cheaper_json(along, stretch.sign)},
                                 {"clear", stretch.clear},
                                 {"ratio_from", std::exp(stretch.log_ratio_from)},
                                 {"ratio_to", std::exp(stretch.log_ratio_to)},
                                 {"ratio_min", std::exp(stretch.log_ratios.low)},
                                 {"ratio_max", std::exp(stretch.log_ratios.high)}});
  }
  json["unproven"] = Json::array();
  for (const Dip& dip : found.dips) {
    json["unproven"].push_back({{"from", dip.from},
                                {"to", dip.to},
                                {"cheaper", cheaper_json(along, dip.log_ratio < 0 ? -1 : 1)},
                                {"ratio", std::exp(dip.log_ratio)},
                                {"share", dip.share}});
  }
  return json;
}

}  // namespace

Json along_json(const Along& along, const Json& environment) {
  const CrossoverMethod method;
  Json json;
  json["schema"] = "zerotax.crossover/1";
  json["state"] = along.whole ? "complete" : "interrupted";
  json["environment"] = environment;
  json["a"] = allocator_json(along.setup.a);
  json["b"] = allocator_json(along.setup.b);
  json["by"] = along.by_touch ? "touch" : "size";
  json["size_bytes"] = along.by_touch ? Json(along.size_bytes) : Json(nullptr);
  json["touch"] = along.by_touch ? Json(nullptr) : Json(along.touch);
  json["thread"] = along.setup.thread;
  json["cost"] = along.setup.cost == Cost::kCalloc ? "calloc" : "total";
  json["pairs_per_point"] = along.setup.pairs;
  json["resamples"] = method.resamples;
  json["seed"] = method.seed;
  json["level"] = method.level;
  json["verdict"] = !along.has_verdict()            ? "not measured"
                    : along.found.crossings.empty() ? "none in range"
                                                    : "crossings";
  json.update(crossings_json(along));
  json["points"] = Json::array();
  for (const PairedPlace& place : along.places) json["points"].push_back(place_json(along, place));
  return json;
}

}  // namespace zerotax::compare
