#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <tuple>

#include "base/distributions.h"
#include "base/size.h"
#include "base/units.h"
#include "fork/agreement.h"
#include "fork/document.h"
#include "os/page.h"

namespace zerotax::fork {
namespace {

/// Whether a process of the sweep has nothing else much than its populated pages, so that they alone explain its time:
/// what is populated by mmap adds a few mappings.
bool is_plain(const Json& facts, const Json& base) {
  constexpr std::uint64_t kFewMappings = 3;
  return facts.at("mappings").get<std::uint64_t>() <= base.at("mappings").get<std::uint64_t>() + kFewMappings &&
         facts.at("descriptors") == base.at("descriptors") && facts.at("threads") == base.at("threads");
}

const Json* base_of(const Json& model) {
  const Json& fit = model.at("fit");
  const auto found =
      std::find_if(fit.begin(), fit.end(), [](const Json& place) { return place.at("sweep") == "base"; });
  return found == fit.end() ? nullptr : &*found;
}

/// What a term of the model costs; nothing if that is not known.
std::optional<double> cost_of(const Json& model, const char* key) {
  for (const Json& term : model.at("terms")) {
    if (term.at("key") == key && !is_not_available(term.at("ns"))) return term.at("ns").get<double>();
  }
  return std::nullopt;
}

/// The model's time of a fork by populated bytes, for each kind of pages whose cost is known.
Json lines_of(const Json& model, const Json& base) {
  Json lines = Json::array();
  for (const auto& [kind, key, bytes] :
       {std::tuple{"private", "page", kPageBytes}, {"huge", "huge_page", kHugePageBytes}}) {
    const auto ns = cost_of(model, key);
    if (!ns) continue;
    lines.push_back(
        {{"kind", kind}, {"empty_ns", base.at("predicted_ns")}, {"ns_per_byte", *ns / static_cast<double>(bytes)}});
  }
  return lines;
}

/// "fork takes 25 µs, and 70 ns for each populated page: 18 ms with 1 GiB."
Json sentence_of(const Json& model) {
  if (is_not_available(model)) return model;
  const auto page_ns = cost_of(model, "page");
  const Json* base = base_of(model);
  if (base == nullptr || !page_ns) return not_available("the model does not know what a page costs");
  const double empty_ns = base->at("predicted_ns");
  constexpr double kPages = static_cast<double>(kGiB) / static_cast<double>(kPageBytes);
  return fmt::format("fork takes {}, and {} for each populated page: {} with 1 GiB.", format_ns(empty_ns),
                     format_ns(*page_ns), format_ns(empty_ns + *page_ns * kPages));
}

/// With few samples only how much it can be at most: nobody takes a row of 0 ns for a part that is free.
constexpr std::uint64_t kFewSamples = 10;

/// Adds the 95 % interval (Clopper and Pearson) of what a part takes, and its time as a table has it.
void add_interval(Json& part, const Json& samples) {
  const auto count = part.at("samples").get<std::uint64_t>();
  const auto all = samples.at("samples").get<std::uint64_t>();
  if (all == 0) return;
  const double ns_of_all =
      static_cast<double>(all) * samples.at("period_ns").get<double>() / samples.at("forks").get<double>();
  const Interval share = binomial_interval(count, all);
  part["low_ns"] = share.low * ns_of_all;
  part["high_ns"] = share.high * ns_of_all;
  part["text"] = count < kFewSamples ? "< " + format_ns(part["high_ns"]) : format_ns(part.at("ns"));
}

void add_intervals(Json& processes) {
  for (Json& process : processes) {
    if (!process.at("samples").is_array()) continue;
    for (Json& samples : process.at("samples")) {
      for (Json& section : samples.at("sections")) add_interval(section, samples);
      if (samples.contains("clearing")) add_interval(samples["clearing"], samples);
    }
  }
}

/// "1 GiB: a fork took 26.7 ms (clone flags) to 38.4 ms (sweep) ..."; nothing if the medians agree, or a file of an
/// earlier version has none.
std::string contradiction_of(const Json& process) {
  std::vector<ForkEstimate> estimates;
  for (const Json& each : process.value("estimates", Json::array())) {
    estimates.push_back({each.at("part").get<std::string>(), each.at("ns").get<double>()});
  }
  if (apart(estimates) <= kMostApart) return "";
  const auto [least, most] =
      std::minmax_element(estimates.begin(), estimates.end(),
                          [](const ForkEstimate& one, const ForkEstimate& other) { return one.ns < other.ns; });
  const auto visits = process.at("visits").get<std::uint64_t>();
  return fmt::format(
      "{}: the median fork took {} ({}) to {} ({}) in different parts of this run{}. Something else used "
      "the machine, or the memory of the processes lay differently in it. Compare figures within one "
      "table only, or measure again on a quiet machine.",
      process.at("name").get<std::string>(), format_ns(least->ns), least->part, format_ns(most->ns), most->part,
      visits > 1 ? fmt::format(", in the best of {} visits", visits) : "");
}

/// Samples that miss time the clock shows, or the reverse; nothing if they account for it within a tenth.
std::string unaccounted_of(const Json& process) {
  constexpr double kMostOff = 0.1;
  const Json& samples = process.at("samples");
  if (!samples.is_array() || samples.empty()) return "";
  const double ratio = samples.at(0).at("sum_over_mean").get<double>();
  if (std::abs(ratio - 1) <= kMostOff) return "";
  return fmt::format("{}: the samples account for {} of the time by the clock. {}",
                     process.at("name").get<std::string>(), format_percent(ratio),
                     ratio < 1 ? "For the rest this CPU took none: the hypervisor ran something else, or interrupts "
                                 "were off."
                               : "That is more than there was: do not trust the sections of this process.");
}

Json notes_of(const Json& fork) {
  const Json& processes = fork.at("processes");
  const bool sampled = std::any_of(processes.begin(), processes.end(),
                                   [](const Json& process) { return process.at("samples").is_array(); });
  Json notes = Json::array();
  if (!sampled) notes.push_back("No sections: the kernel was not sampled.");
  for (const Json& process : processes) {
    for (const std::string& note : {contradiction_of(process), unaccounted_of(process)}) {
      if (!note.empty()) notes.push_back(note);
    }
  }
  return notes;
}

}  // namespace

void add_verdict(Json& fork) {
  fork["sentence"] = sentence_of(fork.at("model"));
  for (Json& process : fork.at("processes")) {
    const std::string contradiction = contradiction_of(process);
    process["contradiction"] = contradiction.empty() ? Json() : Json(contradiction);
  }
  fork["notes"] = notes_of(fork);
  add_intervals(fork.at("processes"));
  Json& model = fork.at("model");
  if (is_not_available(model)) return;
  const Json* base = base_of(model);
  if (base == nullptr) return;
  const Json facts = base->at("facts");
  Json lines = lines_of(model, *base);
  for (const char* places : {"fit", "held_back"}) {
    for (Json& place : model.at(places)) place["plain"] = is_plain(place.at("facts"), facts);
  }
  model["lines"] = std::move(lines);  // last: it moves the rest
}

}  // namespace zerotax::fork
