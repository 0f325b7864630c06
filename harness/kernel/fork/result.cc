#include "fork/result.h"

#include <fmt/format.h>
#include <linux/sched.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "base/error.h"
#include "base/statistics.h"
#include "base/units.h"
#include "fork/model.h"
#include "fork/sections.h"
#include "os/page.h"

namespace zerotax::fork {
namespace {

/// `why` is the reason if the pages were not counted.
Measured<PagesTaken> pages_taken(const std::optional<KernelPages>& counted, const std::string& why) {
  if (!counted) return NotAvailable{why.empty() ? "interrupted" : why};
  const KernelPages& pages = *counted;
  PagesTaken taken{
      pages.forks, pages.lost, pages.pages(), pages.zeroed_pages(), pages.contiguous(), pages.parent_table_bytes, {}};
  if (pages.parent_table_bytes < 0) taken.parent_table_bytes = NotAvailable{"/proc/PID/status has no VmPTE"};
  for (const auto& [order, its] : pages.orders) {
    taken.orders.push_back({std::uint64_t{1} << order, its.allocations, its.zeroed});
  }
  return taken;
}

Spread spread_of(const std::vector<double>& ns) {
  const Moments of = moments(ns);
  // The 95 % interval uses the normal distribution, because there are many forks.
  const double error = 1.96 * std::sqrt(of.variance / static_cast<double>(ns.size()));
  return {of.mean, of.variance, median(ns), of.mean - error, of.mean + error};
}

/// The mean and variance of each phase over the forks, and its share of the mean of the whole call.
Measured<Phases> phases_of_forks(const std::optional<ForkPhaseTimes>& times, const std::string& why) {
  if (!times) return NotAvailable{why.empty() ? "interrupted" : why};
  if (times->forks.size() < 2) return NotAvailable{"fewer than two forks had all of the kernel's events"};
  std::vector<double> whole;
  for (const auto& fork : times->forks) whole.push_back(std::accumulate(fork.begin(), fork.end(), 0.0));
  Phases phases{times->forks.size(), times->incomplete, times->lost, spread_of(whole), {}};
  for (std::size_t i = 0; i < fork_phases().size(); ++i) {
    std::vector<double> ns;
    ns.reserve(times->forks.size());
    for (const auto& fork : times->forks) ns.push_back(fork[i]);
    const ForkPhase& phase = fork_phases()[i];
    const Spread spread = spread_of(ns);
    phases.phases.push_back(
        {spread, phase.name, phase.begins, phase.ends, phase.does, spread.mean_ns / phases.whole.mean_ns});
  }
  return phases;
}

double ns_of_sample(const ForkSamples& samples) {
  return static_cast<double>(samples.period_ns) / static_cast<double>(samples.forks);
}

/// The samples of a part of a fork, and its time per fork: samples x period / forks.
Part part_of(std::uint64_t samples, const ForkSamples& of) {
  const auto all = static_cast<double>(of.stacks.size());
  // The number of samples is binomially distributed, which gives this standard deviation of the share.
  const double share = all > 0 ? static_cast<double>(samples) / all : 0;
  Part part;
  part.samples = samples;
  part.ns = static_cast<double>(samples) * ns_of_sample(of);
  part.share = share;
  part.share_error = all > 0 ? 2 * std::sqrt(share * (1 - share) / all) : 0;
  return part;
}

/// The samples by section, with nanoseconds per fork.
Samples samples_of(const ForkSamples& of) {
  std::vector<std::uint64_t> counts(fork_sections().size());
  for (const auto& stack : of.stacks) ++counts[section_of(stack)];
  Samples samples;
  samples.shares_memory = (of.flags & CLONE_VM) != 0;
  samples.forks = of.forks;
  samples.samples = of.stacks.size();
  samples.lost = of.lost;
  samples.period_ns = of.period_ns;
  samples.mean_ns = of.mean_ns;
  samples.median_ns = of.median_ns;
  samples.entry_ns = of.entry_ns;
  samples.sections_ns = ns_of_sample(of) * static_cast<double>(of.stacks.size());
  samples.sum_over_mean = (samples.sections_ns + of.entry_ns) / of.mean_ns;
  samples.observer = {of.unsampled_mean_ns, of.unsampled_median_ns, of.median_ns / of.unsampled_median_ns};
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const ForkSection& section = fork_sections()[i];
    samples.sections.push_back({part_of(counts[i], of), section.name, section.casper, section.memory});
  }
  const auto clearing = std::count_if(of.stacks.begin(), of.stacks.end(), clears_pages);
  samples.clearing = part_of(static_cast<std::uint64_t>(clearing), of);
  return samples;
}

Measured<std::vector<CloneFlags>> ablation_of(const ForkProcess& process) {
  const auto is_missing = [](const ForkAblation& part) { return part.round_ns.empty(); };
  if (process.ablation.empty() || std::any_of(process.ablation.begin(), process.ablation.end(), is_missing)) {
    return NotAvailable{"interrupted"};
  }
  std::vector<CloneFlags> flags;
  const double whole = median(process.ablation.front().round_ns);
  for (const ForkAblation& part : process.ablation) {
    const double ns = median(part.round_ns);
    flags.push_back({part.name, ns, 1 - ns / whole});
  }
  return flags;
}

MemoryShare memory_share_of(const Samples& samples, const Measured<std::vector<CloneFlags>>& ablation) {
  MemoryShare share;
  for (const SectionTime& section : samples.sections) {
    if (section.of_memory) share.sampled += section.share;
  }
  for (const CloneFlags& part : ablation.value_or({})) {
    if (part.flags == "CLONE_VM") share.ablated = part.share_saved;
  }
  share.apart = share.ablated - share.sampled;
  return share;
}

Process process_of(const ForkProcess& measured, const ForkData& data) {
  Process process;
  process.name = measured.name;
  process.visits = measured.visits;
  process.estimates = all_estimates(measured, data);
  process.facts = measured.facts;
  process.kernel_pages = pages_taken(measured.kernel_pages, measured.no_kernel_pages);
  process.phases = phases_of_forks(measured.phases, measured.no_phases);
  process.ablation = ablation_of(measured);
  if (measured.samples.empty()) {
    const NotAvailable none{measured.no_samples.empty() ? "not requested, or interrupted" : measured.no_samples};
    process.samples = none;
    process.memory_share = none;
    return process;
  }
  std::vector<Samples> samples;
  for (const ForkSamples& each : measured.samples) samples.push_back(samples_of(each));
  process.memory_share = memory_share_of(samples.front(), process.ablation);
  process.samples = std::move(samples);
  return process;
}

/// `no_pages` is the reason if the kernel's pages were not counted.
std::vector<Prediction> predictions_of(const std::vector<ForkPrediction>& predictions, const std::string& no_pages) {
  std::vector<Prediction> found;
  for (const ForkPrediction& prediction : predictions) {
    const ForkPlace& place = *prediction.place;
    found.push_back({place.sweep, place.size.populated_bytes, place.size.kind, place.facts, place.round_ns,
                     pages_taken(place.kernel_pages, no_pages), prediction.measured_ns, prediction.predicted_ns,
                     prediction.error(), std::nullopt});
  }
  return found;
}

double worst(const std::vector<ForkPrediction>& predictions) {
  double most = 0;
  for (const ForkPrediction& prediction : predictions) most = std::max(most, std::abs(prediction.error()));
  return most;
}

Measured<Model> model_of(const ForkModel& fitted, const std::string& no_pages) {
  if (!fitted.not_fitted.empty()) return NotAvailable{fitted.not_fitted};
  Model model;
  for (std::size_t i = 0; i < kForkTerms; ++i) {
    const NotAvailable none{"no process had this resource"};
    Term term{static_cast<ForkTerm>(i), fork_term_names()[i], none, none, none};
    if (fitted.known[i]) {
      term.ns = fitted.ns[i];
      term.low_ns = known_if(fitted.no_interval.empty(), fitted.interval[i].low, fitted.no_interval);
      term.high_ns = known_if(fitted.no_interval.empty(), fitted.interval[i].high, fitted.no_interval);
    }
    model.terms.push_back(std::move(term));
  }
  model.r_squared = fitted.r_squared;
  model.worst_fit_error = worst(fitted.fit);
  model.worst_held_back_error = worst(fitted.held);
  model.fit = predictions_of(fitted.fit, no_pages);
  model.held_back = predictions_of(fitted.held, no_pages);
  return model;
}

/// Predicts fork with page tables that are shared until a write. One entry replaces the 512 entries of a huge page
/// (with pages of 4 KiB), at the cost of a huge page's entry.
Measured<std::vector<SharedTables>> sharing_of(const ForkModel& model) {
  if (!model.not_fitted.empty()) return NotAvailable{model.not_fitted};
  if (!model.known[2]) {
    return NotAvailable{
        "no huge pages were available, and the cost of a shared page table is that of a huge page's entry"};
  }
  if (model.ns[1] <= 0 || model.ns[2] <= 0) {
    return NotAvailable{"the machine was too noisy, so the fitted cost of a page table's entry is negative"};
  }
  std::vector<SharedTables> rows;
  for (const std::uint64_t bytes :
       {std::uint64_t{0}, std::uint64_t{1} << 26, std::uint64_t{1} << 30, std::uint64_t{1} << 33}) {
    ForkTargetFacts now = model.fit.front().place->facts;
    now.pages += bytes / page_bytes();
    ForkTargetFacts shared = model.fit.front().place->facts;
    shared.huge_pages += bytes >> 21;
    const double now_ns = predict_fork(model, now);
    const double shared_ns = predict_fork(model, shared);
    rows.push_back({bytes, now_ns, shared_ns, 1 - shared_ns / now_ns, 512 * model.ns[1]});
  }
  return rows;
}

UsageError damaged(const std::string& where, const std::string& problem) {
  return {fmt::format("{} is damaged: {}", where, problem), "give a file of zerotax fork --json"};
}

/// Throws UsageError if a part has more samples than its process.
void check_part(const Part& part, const std::string& name, const Samples& all, const std::string& where) {
  if (part.samples <= all.samples) return;
  throw damaged(where, fmt::format("the part '{}' has {} of {}", name, format_count(part.samples),
                                   format_counted(all.samples, "sample")));
}

}  // namespace

Fork fork_result(const ForkData& data, Json environment, const std::string& started) {
  const ForkModel model = fit_fork_model(data.places);
  Fork fork;
  fork.schema = "zerotax.fork/1";
  fork.started = started;
  fork.environment = std::move(environment);
  fork.complete = data.complete;
  fork.full = data.plan.full;
  fork.rounds = data.plan.rounds;
  fork.most_bytes = data.plan.most_bytes;
  if (!data.left_out.empty()) fork.left_out = data.left_out;
  fork.casper = casper_table();
  for (const ForkProcess& process : data.processes) fork.processes.push_back(process_of(process, data));
  fork.ways = {data.ways_bytes, data.ways};
  fork.model = model_of(model, data.processes.empty() ? "" : data.processes.front().no_kernel_pages);
  fork.shared_page_tables = sharing_of(model);
  return fork;
}

Json fork_json(const Fork& fork) { return fork; }

Fork read_fork(const Json& json, const std::string& where) {
  Fork fork = json.get<Fork>();
  std::set<std::size_t> sections;
  std::set<std::size_t> phases;
  for (const Process& process : fork.processes) {
    if (process.phases) phases.insert(process.phases->phases.size());
    if (const Samples* samples = process.plain_samples()) sections.insert(samples->sections.size());
    for (const Samples& samples : process.samples.value_or({})) {
      check_part(samples.clearing.value_or(Part()), "clearing", samples, where);
      for (const SectionTime& section : samples.sections) check_part(section, section.name, samples, where);
    }
  }
  if (sections.size() > 1 || phases.size() > 1) throw damaged(where, "its processes have different sections or phases");
  return fork;
}

}  // namespace zerotax::fork
