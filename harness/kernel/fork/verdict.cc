#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <tuple>

#include "base/size.h"
#include "base/statistics.h"
#include "base/units.h"
#include "fork/result.h"
#include "os/environment.h"
#include "os/page.h"

namespace zerotax::fork {
namespace {

/// Whether a process of the sweep has little besides its populated pages, so that the pages alone explain the time of a
/// fork. Memory populated with mmap adds a few mappings.
bool is_plain(const ForkTargetFacts& facts, const ForkTargetFacts& base) {
  constexpr std::uint64_t kFewMappings = 3;
  return facts.mappings <= base.mappings + kFewMappings && facts.descriptors == base.descriptors &&
         facts.threads == base.threads;
}

const Prediction* base_of(const Model& model) {
  const auto found =
      std::find_if(model.fit.begin(), model.fit.end(), [](const Prediction& place) { return place.sweep == "base"; });
  return found == model.fit.end() ? nullptr : &*found;
}

/// The cost of a term of the model; no value if unknown.
std::optional<double> cost_of(const Model& model, ForkTerm key) {
  for (const Term& term : model.terms) {
    if (term.key == key && term.ns) return *term.ns;
  }
  return std::nullopt;
}

/// The model's time of a fork by populated bytes, for each kind of pages whose cost is known.
std::vector<Line> lines_of(const Model& model, double empty_ns, std::uint64_t page) {
  std::vector<Line> lines;
  for (const auto& [kind, key, bytes] :
       {std::tuple{"private", ForkTerm::kPage, page}, {"huge", ForkTerm::kHugePage, huge_page_of(page)}}) {
    if (const auto ns = cost_of(model, key)) lines.push_back({kind, empty_ns, *ns / static_cast<double>(bytes)});
  }
  return lines;
}

/// The verdict, such as "fork takes 25 µs, and 70 ns for each populated page: 18 ms with 1 GiB."
Measured<std::string> sentence_of(const Measured<Model>& model, std::uint64_t page) {
  if (!model) return NotAvailable{model.why()};
  const auto page_ns = cost_of(*model, ForkTerm::kPage);
  const Prediction* base = base_of(*model);
  if (base == nullptr || !page_ns) return NotAvailable{"the model has no cost of a page"};
  const double pages = static_cast<double>(kGiB) / static_cast<double>(page);
  return fmt::format("fork takes {}, and {} for each populated page: {} with 1 GiB.", format_ns(base->predicted_ns),
                     format_ns(*page_ns), format_ns(base->predicted_ns + *page_ns * pages));
}

/// With fewer samples, a part has only an upper bound. A table should not show 0 ns for a part that is not free.
constexpr std::uint64_t kFewSamples = 10;

/// Adds the 95 % interval of a part's time (Clopper and Pearson), and its text for a table.
void add_interval(Part& part, const Samples& samples) {
  if (samples.samples == 0) return;
  const double ns_of_all = static_cast<double>(samples.samples) * static_cast<double>(samples.period_ns) /
                           static_cast<double>(samples.forks);
  const Interval share = binomial_interval(part.samples, samples.samples);
  part.low_ns = share.low * ns_of_all;
  part.high_ns = share.high * ns_of_all;
  part.text = part.samples < kFewSamples ? "< " + format_ns(*part.high_ns) : format_ns(part.ns);
}

void add_intervals(std::vector<Samples>& of_process) {
  for (Samples& samples : of_process) {
    for (SectionTime& section : samples.sections) add_interval(section, samples);
    if (samples.clearing) add_interval(*samples.clearing, samples);
  }
}

/// Returns a note such as "1 GiB: a fork took 26.7 ms (clone flags) to 38.4 ms (sweep) ..."; empty if the medians
/// agree, or if an earlier version wrote no medians.
std::string contradiction_of(const Process& process) {
  const std::vector<ForkEstimate> estimates = process.estimates.value_or(std::vector<ForkEstimate>());
  if (apart(estimates) <= kMostApart) return "";
  const auto [least, most] =
      std::minmax_element(estimates.begin(), estimates.end(),
                          [](const ForkEstimate& one, const ForkEstimate& other) { return one.ns < other.ns; });
  const unsigned visits = process.visits.value_or(1);
  return fmt::format(
      "{}: the median fork took {} ({}) to {} ({}) in different parts of this run{}. Something else used "
      "the machine, or the memory of the processes lay differently in it. Compare figures within one "
      "table only, or measure again on a quiet machine.",
      process.name, format_ns(least->ns), word(least->part), format_ns(most->ns), word(most->part),
      visits > 1 ? fmt::format(", in the best of {} visits", visits) : "");
}

/// A note on samples that account for less or more time than the clock; empty if the difference is within a tenth.
std::string unaccounted_of(const Process& process) {
  constexpr double kMostOff = 0.1;
  const Samples* samples = process.plain_samples();
  if (samples == nullptr || std::abs(samples->sum_over_mean - 1) <= kMostOff) return "";
  return fmt::format("{}: the samples account for {} of the time by the clock. {}", process.name,
                     format_percent(samples->sum_over_mean),
                     samples->sum_over_mean < 1
                         ? "During the rest, this CPU took no samples, because the hypervisor ran another guest, or "
                           "interrupts were off."
                         : "The samples add up to more than the measured time, so do not trust the sections of this "
                           "process.");
}

std::string quick_note(const Fork& fork) {
  if (fork.full.value_or(true) || !fork.model) return "";
  const Model& model = *fork.model;
  return fmt::format(
      "Quick: {} processes, {} each, predict {} within {}; --thorough measures more and larger processes for "
      "longer, which gives narrower intervals.",
      model.fit.size(), format_counted(fork.rounds, "time"), format_counted(model.held_back.size(), "other"),
      format_percent(model.worst_held_back_error));
}

std::vector<std::string> notes_of(const Fork& fork) {
  const std::vector<Process>& processes = fork.processes;
  const bool sampled =
      std::any_of(processes.begin(), processes.end(), [](const Process& process) { return bool{process.samples}; });
  std::vector<std::string> notes;
  if (!sampled) notes.emplace_back("No sections: the kernel was not sampled.");
  for (const Process& process : processes) {
    for (const std::string& note : {contradiction_of(process), unaccounted_of(process)}) {
      if (!note.empty()) notes.push_back(note);
    }
  }
  if (std::string quick = quick_note(fork); !quick.empty()) notes.push_back(std::move(quick));
  return notes;
}

void add_to_model(Model& model, std::uint64_t page) {
  const Prediction* base = base_of(model);
  if (base == nullptr) return;
  const ForkTargetFacts facts = base->facts;
  for (auto* places : {&model.fit, &model.held_back}) {
    for (Prediction& place : *places) place.plain = is_plain(place.facts, facts);
  }
  model.lines = lines_of(model, base->predicted_ns, page);
}

}  // namespace

void add_verdict(Fork& fork) {
  const std::uint64_t page = page_bytes_of(fork.environment);
  fork.sentence = sentence_of(fork.model, page);
  fork.notes = notes_of(fork);
  for (Process& process : fork.processes) {
    process.contradiction.reset();
    if (std::string words = contradiction_of(process); !words.empty()) process.contradiction = std::move(words);
    if (process.samples) add_intervals(*process.samples);
  }
  if (fork.model) add_to_model(*fork.model, page);
}

}  // namespace zerotax::fork
