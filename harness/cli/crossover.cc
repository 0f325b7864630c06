#include "analyze/crossover.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "analyze/summary.h"
#include "analyze/threshold_search.h"
#include "base/error.h"
#include "base/size.h"
#include "base/wrap.h"
#include "cli/subcommand.h"
#include "drive/interrupt.h"
#include "drive/memory_guard.h"
#include "drive/output_file.h"
#include "drive/paired_runs.h"
#include "os/environment.h"
#include "os/memory.h"
#include "os/page.h"

namespace zerotax {
namespace {

constexpr const char* kExamples =
    "  zerotax crossover glibc jemalloc --touch 1\n"
    "  zerotax crossover tcmalloc jemalloc --by touch --size 1MiB\n"
    "  zerotax crossover glibc mine=./libmine.so --from 1MiB --to 64MiB --json crossover.json\n";

/// Places are added inside each bracket this often, and this many each time: the gap becomes a 16th.
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
  std::string size;
  double touch = 0;
  std::string thread = "main";
  std::int64_t processes = 9;
  std::int64_t grid = 2;
  std::string cost = "total";
  std::string json;
  double timeout_s = 60;
  std::vector<const CLI::Option*> of_size;   ///< make sense with --by size only
  std::vector<const CLI::Option*> of_touch;  ///< with --by touch only
};

/// Everything that the report is made from.
struct Comparison {
  PairedSetup setup;
  bool by_touch = false;
  std::uint64_t size_bytes = 0;  ///< where it is fixed
  double touch = 0;              ///< where it is fixed
  std::vector<PairedPlace> places;
  Crossover found;
  bool whole = true;  ///< not interrupted

  [[nodiscard]] Axis axis() const { return by_touch ? Axis::kLinear : Axis::kLogarithmic; }
  [[nodiscard]] double at(const PairedPlace& place) const {
    return by_touch ? place.touch : static_cast<double>(place.size_bytes);
  }
  [[nodiscard]] const std::string& cheaper(int sign) const { return sign < 0 ? setup.a.name : setup.b.name; }
};

void check_words(const Options& options) {
  if (options.by != "size" && options.by != "touch") {
    throw UsageError(fmt::format("--by {} is no axis", options.by), "give size or touch");
  }
  if (options.cost != "calloc" && options.cost != "total") {
    throw UsageError(fmt::format("--cost {} is no cost", options.cost), "give calloc or total");
  }
  const bool by_touch = options.by == "touch";
  for (const CLI::Option* option : by_touch ? options.of_size : options.of_touch) {
    if (option->count() == 0) continue;
    throw UsageError(fmt::format("{} cannot be given with --by {}", option->get_name(), options.by),
                     fmt::format("leave it out, or give --by {}", by_touch ? "size" : "touch"));
  }
  if (by_touch && options.size.empty()) {
    throw UsageError("--by touch needs the size of the block", "add it, as in --size 1MiB");
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
  if (options.processes < static_cast<std::int64_t>(kFewestPairs) || options.processes > 1000) {
    throw UsageError(fmt::format("--processes {} is no usable number of pairs", options.processes), "give 3 to 1000");
  }
  if (options.grid < 1 || options.grid > 64) {
    throw UsageError(fmt::format("--grid {} is no usable number of sizes", options.grid), "give 1 to 64 an octave");
  }
  if (!(options.timeout_s > 0) || options.timeout_s > 86'400) {
    throw UsageError(fmt::format("--timeout {:g} is no usable time", options.timeout_s),
                     "give seconds, more than 0 and at most 86400");
  }
}

/// Pages that a fraction means: two fractions of a small block may mean the same.
std::uint64_t touched_pages(const PairedPlace& place) {
  const double pages = std::ceil(static_cast<double>(place.size_bytes) / kPageBytes);
  return static_cast<std::uint64_t>(std::ceil(place.touch * pages));
}

/// Adds a place unless there is one that is no other.
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
    sizes = threshold_grid(from, to, static_cast<unsigned>(options.grid));
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
  warm_up_memory(std::min(2 * largest, read_memory_state().usable() / 2), [] { return interrupted() != 0; });
  for (unsigned pass = 0; !places.empty(); ++pass) {
    comparison.whole = run_pairs(comparison.setup, places, [] { return interrupted() != 0; });
    comparison.places.insert(comparison.places.end(), places.begin(), places.end());
    std::sort(
        comparison.places.begin(), comparison.places.end(),
        [&](const PairedPlace& one, const PairedPlace& other) { return comparison.at(one) < comparison.at(other); });
    analyse(comparison);
    if (!comparison.whole || pass == kRefinements) return;
    places = refined_grid(comparison, pass + 1);
  }
}

const PointVerdict* verdict_at(const Comparison& comparison, const PairedPlace& place) {
  for (const PointVerdict& verdict : comparison.found.points) {
    if (verdict.at == comparison.at(place)) return &verdict;
  }
  return nullptr;
}

/// Whether enough was measured for a verdict.
bool has_verdict(const Comparison& comparison) { return comparison.found.points.size() >= 2; }

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
  json["verdict"] = !has_verdict(comparison)             ? "not measured"
                    : comparison.found.crossings.empty() ? "none in range"
                                                         : "crossings";
  json.update(findings_json(comparison));
  json["points"] = Json::array();
  for (const PairedPlace& place : comparison.places) json["points"].push_back(point_entry(comparison, place));
  return json;
}

/// A place that was measured, for people.
std::string format_at(const Comparison& comparison, double at) {
  if (comparison.by_touch) return fmt::format("{:.3g}", at);
  return format_size(static_cast<std::uint64_t>(std::llround(at)));
}

/// A place that was estimated: a size to three digits.
std::string estimated_at(const Comparison& comparison, double at) {
  if (comparison.by_touch) return fmt::format("{:.3g}", at);
  const char* unit = at < kMiB ? "KiB" : at < kGiB ? "MiB" : "GiB";
  const double value = at / static_cast<double>(at < kMiB ? kKiB : at < kGiB ? kMiB : kGiB);
  return fmt::format("{:.{}f} {}", value, value < 10 ? 2 : value < 100 ? 1 : 0, unit);
}

/// Words in lines; all but the first are indented.
std::string wrap_at(const std::string& text, std::size_t indent) { return wrap(text, "", std::string(indent, ' ')); }

std::string format_ratio(double log_ratio) { return fmt::format("{:.3g}", std::exp(log_ratio)); }

std::string label(const Allocator& allocator) {
  std::string text = allocator.name + (allocator.version.empty() ? "" : " " + allocator.version);
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
                        format_ratio(verdict->log_ratio), format_ratio(verdict->interval.low),
                        format_ratio(verdict->interval.high), verdict->clear ? "" : "  not clear");
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
  if (!crossing.certain) text += "  uncertain: one of its sides may be noise; more --processes may tell\n";
  if (crossing.jump) text += "  a jump: the ratio more than doubles in the gap, anywhere in it\n";
  text += side_text(comparison, "below", below,
                    fmt::format("{} at {}", format_ratio(crossing.log_ratio_before), at(crossing.bracket.low)),
                    fmt::format("{} at {}", format_ratio(below.log_ratio_from), at(below.from)));
  text += side_text(comparison, "above", above,
                    fmt::format("{} at {}", format_ratio(crossing.log_ratio_after), at(crossing.bracket.high)),
                    fmt::format("{} at {}", format_ratio(above.log_ratio_to), at(above.to)));
  return text;
}

std::string none_text(const Comparison& comparison) {
  const Stretch& stretch = comparison.found.stretches.front();
  const std::string range =
      fmt::format("{} to {}", format_at(comparison, stretch.from), format_at(comparison, stretch.to));
  const std::string ratios =
      fmt::format("A/B is {} to {}", format_ratio(stretch.log_ratios.low), format_ratio(stretch.log_ratios.high));
  if (!stretch.clear) return wrap_at(fmt::format("none in range ({}): no difference is clear; {}", range, ratios), 2);
  const bool everywhere = stretch.log_ratios.low * stretch.log_ratios.high > 0;
  return wrap_at(fmt::format("none in range ({}): {} is cheaper {}; {}", range, comparison.cheaper(stretch.sign),
                             everywhere ? "everywhere" : "wherever the difference is clear", ratios),
                 2);
}

std::string findings_text(const Comparison& comparison) {
  if (!has_verdict(comparison)) return "not measured: fewer than two places are left\n";
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
                                format_at(comparison, dip.to), format_ratio(dip.log_ratio)),
                    2);
  }
  return text;
}

ExitStatus crossover(const Options& options) {
  check_words(options);
  check_numbers(options);
  Comparison comparison;
  std::vector<PairedPlace> places = first_grid(options, comparison);
  if (!options.json.empty()) check_writable(options.json);
  const std::vector<Allocator> allocators = resolve_allocators({options.a, options.b}, options.env);
  comparison.setup = {allocators[0],
                      allocators[1],
                      options.thread,
                      options.cost == "calloc" ? Cost::kCalloc : Cost::kTotal,
                      static_cast<unsigned>(options.processes),
                      options.timeout_s};
  const Json environment = describe_environment();
  measure(comparison, std::move(places));

  if (!options.json.empty()) write_file(options.json, crossover_json(comparison, environment).dump(1) + "\n");
  if (options.json != "-") {
    fmt::print("{}{}{}{}", header_text(comparison), table_text(comparison), findings_text(comparison),
               dips_text(comparison));
  }
  if (!comparison.whole) fmt::print(stderr, "zerotax: interrupted: the verdict is of the pairs so far\n");
  return has_verdict(comparison) ? ExitStatus::kDone : ExitStatus::kFinding;
}

std::function<ExitStatus()> configure(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  app.add_option("A", options->a, "NAME of a built-in allocator, or NAME=PATH of any malloc replacement")->required();
  app.add_option("B", options->b, "the other one")->required();
  app.add_option("--env", options->env, "NAME:KEY=VALUE, an environment variable for one of them (repeatable)")
      ->allow_extra_args(false);
  app.add_option("--by", options->by, "size, or touch: what is varied")->capture_default_str();
  options->of_size = {
      app.add_option("--from", options->from, "smallest size")->capture_default_str(),
      app.add_option("--to", options->to, "largest size")->capture_default_str(),
      app.add_option("--touch", options->touch, "with --by size: fraction of the pages written, 0 to 1")
          ->capture_default_str(),
      app.add_option("--grid", options->grid, "sizes an octave to begin with")->capture_default_str(),
  };
  options->of_touch = {app.add_option("--size", options->size, "with --by touch: bytes asked of calloc, as in 1MiB")};
  app.add_option("--thread", options->thread, "main or worker: the thread that allocates")->capture_default_str();
  app.add_option("--processes", options->processes, "pairs of processes at each place")->capture_default_str();
  app.add_option("--cost", options->cost, "calloc, or total: calloc + touch + free")->capture_default_str();
  app.add_option("--json", options->json, "write data and verdict to this file (- is standard output)");
  app.add_option("--timeout", options->timeout_s, "seconds for one process")->capture_default_str();
  return [options] { return crossover(*options); };
}

const Subcommand command("crossover", "find the size, or touched fraction, where one of two allocators becomes cheaper",
                         kExamples, configure);

}  // namespace
}  // namespace zerotax
