#include "crossover/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/size.h"
#include "base/statistics.h"
#include "base/units.h"
#include "base/wrap.h"

namespace zerotax::crossover {
namespace {

const PointVerdict* verdict_at(const Comparison& comparison, const PairedPlace& place) {
  for (const PointVerdict& verdict : comparison.found.points) {
    if (verdict.at == comparison.at(place)) return &verdict;
  }
  return nullptr;
}

Json point_entry(const Comparison& comparison, const PairedPlace& place) {
  Json json;
  json["size_bytes"] = place.size_bytes;
  json["touch"] = place.touch;
  json["pass"] = place.pass;
  json["left_out"] = place.left_out.empty() ? Json(nullptr) : Json(place.left_out);
  json["pairs"] = Json::array();
  for (const CostPair& pair : place.pairs) {
    json["pairs"].push_back({{"a_ns", pair.a_ns}, {"b_ns", pair.b_ns}, {"first", pair.a_first ? "a" : "b"}});
  }
  const PointVerdict* verdict = verdict_at(comparison, place);
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

Json side(const Comparison& comparison, int sign) { return sign == 0 ? Json(nullptr) : Json(comparison.cheaper(sign)); }

Json findings_json(const Comparison& comparison) {
  const Crossover& found = comparison.found;
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
                                 {"cheaper_below", side(comparison, found.stretches[k].sign)},
                                 {"cheaper_above", side(comparison, found.stretches[k + 1].sign)},
                                 {"share", crossing.share},
                                 {"certain", crossing.certain},
                                 {"jump", crossing.jump}});
  }
  json["stretches"] = Json::array();
  for (const Stretch& stretch : found.stretches) {
    json["stretches"].push_back({{"from", stretch.from},
                                 {"to", stretch.to},
                                 {"cheaper", side(comparison, stretch.sign)},
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
                                {"cheaper", side(comparison, dip.log_ratio < 0 ? -1 : 1)},
                                {"ratio", std::exp(dip.log_ratio)},
                                {"share", dip.share}});
  }
  return json;
}

/// A measured place, with its unit.
std::string format_at(const Comparison& comparison, double at) {
  if (comparison.by_touch) return format_number(at);
  return format_size(static_cast<std::uint64_t>(std::llround(at)));
}

/// A place that was estimated: a size to three digits.
std::string estimated_at(const Comparison& comparison, double at) {
  if (comparison.by_touch) return format_number(at);
  const char* unit = at < kMiB ? "KiB" : at < kGiB ? "MiB" : "GiB";
  const double value = at / static_cast<double>(at < kMiB ? kKiB : at < kGiB ? kMiB : kGiB);
  return fmt::format("{:.{}f} {}", value, value < 10 ? 2 : value < 100 ? 1 : 0, unit);
}

/// Words in lines; all but the first are indented.
std::string wrap_at(const std::string& text, std::size_t indent) { return wrap(text, "", std::string(indent, ' ')); }

std::string ratio_text(double log_ratio) { return format_number(std::exp(log_ratio)); }

std::string label(const Allocator& allocator) {
  std::string text = name_and_version(allocator);
  for (const auto& [key, value] : allocator.env) text += fmt::format(" {}={}", key, value);
  return text;
}

std::string header_text(const Comparison& comparison) {
  const PairedSetup& setup = comparison.setup;
  std::string text = wrap_at("A  " + label(setup.a), 3) + wrap_at("B  " + label(setup.b), 3);
  const char* cost = setup.cost == Cost::kCalloc ? "calloc" : "calloc + touch + free";
  const std::string fixed = comparison.by_touch
                                ? fmt::format("of {}, by touched fraction", format_size(comparison.size_bytes))
                                : fmt::format("by size, touch {:g}", comparison.touch);
  return text + wrap_at(fmt::format("{} {}, {} thread, {} pairs of processes at each place", cost, fixed, setup.thread,
                                    setup.pairs),
                        2);
}

std::string table_text(const Comparison& comparison) {
  std::string text = fmt::format("\n{:>12} {:>10} {:>10} {:>9}   {}\n", comparison.by_touch ? "touch" : "size", "A",
                                 "B", "A/B", "95 % interval");
  std::string left_out;
  for (const PairedPlace& place : comparison.places) {
    const std::string at = format_at(comparison, comparison.at(place));
    const PointVerdict* verdict = verdict_at(comparison, place);
    if (verdict == nullptr) {
      left_out +=
          wrap_at(fmt::format("{} is left out: {}", at, place.left_out.empty() ? "interrupted" : place.left_out), 2);
      continue;
    }
    std::vector<double> a;
    std::vector<double> b;
    for (const CostPair& pair : place.pairs) {
      a.push_back(pair.a_ns);
      b.push_back(pair.b_ns);
    }
    text += fmt::format("{:>12} {:>10} {:>10} {:>9}   {} to {}{}\n", at, format_ns(median(a)), format_ns(median(b)),
                        ratio_text(verdict->log_ratio), ratio_text(verdict->interval.low),
                        ratio_text(verdict->interval.high), verdict->clear ? "" : "  not clear");
  }
  return text + left_out + "\n";
}

std::string side_text(const Comparison& comparison, const char* where, const Stretch& stretch, const std::string& near,
                      const std::string& far) {
  return wrap_at(fmt::format("  {} {} {} cheaper: A/B is {}, and {}", where, comparison.cheaper(stretch.sign),
                             stretch.clear ? "is" : "may be", near, far),
                 4);
}

std::string crossing_text(const Comparison& comparison, std::size_t k) {
  const Crossing& crossing = comparison.found.crossings[k];
  const Stretch& below = comparison.found.stretches[k];
  const Stretch& above = comparison.found.stretches[k + 1];
  const auto at = [&](double place) { return estimated_at(comparison, place); };
  std::string text = wrap_at(fmt::format("{} at {} (95 % interval {} to {}), in {:.4g} % of the resamples",
                                         crossing.certain ? "crossing" : "uncertain crossing", at(crossing.at),
                                         at(crossing.interval.low), at(crossing.interval.high), 100 * crossing.share),
                             2);
  if (!crossing.certain) text += "  uncertain: one of its sides may be noise; more --rounds may settle it\n";
  if (crossing.jump) text += "  a jump: the ratio more than doubles somewhere in the gap\n";
  text += side_text(comparison, "below", below,
                    fmt::format("{} at {}", ratio_text(crossing.log_ratio_before), at(crossing.bracket.low)),
                    fmt::format("{} at {}", ratio_text(below.log_ratio_from), at(below.from)));
  text += side_text(comparison, "above", above,
                    fmt::format("{} at {}", ratio_text(crossing.log_ratio_after), at(crossing.bracket.high)),
                    fmt::format("{} at {}", ratio_text(above.log_ratio_to), at(above.to)));
  return text;
}

std::string none_text(const Comparison& comparison) {
  const Stretch& stretch = comparison.found.stretches.front();
  const std::string range =
      fmt::format("{} to {}", format_at(comparison, stretch.from), format_at(comparison, stretch.to));
  const std::string ratios =
      fmt::format("A/B is {} to {}", ratio_text(stretch.log_ratios.low), ratio_text(stretch.log_ratios.high));
  if (!stretch.clear) return wrap_at(fmt::format("none in range ({}): no difference is clear; {}", range, ratios), 2);
  const bool everywhere = stretch.log_ratios.low * stretch.log_ratios.high > 0;
  return wrap_at(fmt::format("none in range ({}): {} is cheaper {}; {}", range, comparison.cheaper(stretch.sign),
                             everywhere ? "everywhere" : "wherever the difference is clear", ratios),
                 2);
}

std::string findings_text(const Comparison& comparison) {
  if (!comparison.has_verdict()) return "not measured: fewer than two places are left\n";
  if (comparison.found.crossings.empty()) return none_text(comparison);
  std::string text;
  for (std::size_t k = 0; k < comparison.found.crossings.size(); ++k) text += crossing_text(comparison, k);
  return text;
}

std::string dips_text(const Comparison& comparison) {
  std::string text;
  for (const Dip& dip : comparison.found.dips) {
    text += wrap_at(fmt::format("unproven: {} may be cheaper from {} to {} (A/B {}), which would be two more crossings",
                                comparison.cheaper(dip.log_ratio < 0 ? -1 : 1), format_at(comparison, dip.from),
                                format_at(comparison, dip.to), ratio_text(dip.log_ratio)),
                    2);
  }
  return text;
}

}  // namespace

Json crossover_json(const Comparison& comparison, const Json& environment) {
  const CrossoverMethod method;
  Json json;
  json["schema"] = "zerotax.crossover/1";
  json["state"] = comparison.whole ? "complete" : "interrupted";
  json["environment"] = environment;
  json["a"] = allocator_json(comparison.setup.a);
  json["b"] = allocator_json(comparison.setup.b);
  json["by"] = comparison.by_touch ? "touch" : "size";
  json["size_bytes"] = comparison.by_touch ? Json(comparison.size_bytes) : Json(nullptr);
  json["touch"] = comparison.by_touch ? Json(nullptr) : Json(comparison.touch);
  json["thread"] = comparison.setup.thread;
  json["cost"] = comparison.setup.cost == Cost::kCalloc ? "calloc" : "total";
  json["pairs_per_point"] = comparison.setup.pairs;
  json["resamples"] = method.resamples;
  json["seed"] = method.seed;
  json["level"] = method.level;
  json["verdict"] = !comparison.has_verdict()            ? "not measured"
                    : comparison.found.crossings.empty() ? "none in range"
                                                         : "crossings";
  json.update(findings_json(comparison));
  json["points"] = Json::array();
  for (const PairedPlace& place : comparison.places) json["points"].push_back(point_entry(comparison, place));
  return json;
}

std::string crossover_text(const Comparison& comparison) {
  return header_text(comparison) + table_text(comparison) + findings_text(comparison) + dips_text(comparison);
}

}  // namespace zerotax::crossover
