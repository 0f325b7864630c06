#include <algorithm>

#include "results.h"

using namespace zerotax;

namespace {

constexpr std::size_t kResamples = 2000;
constexpr std::uint64_t kSeed = 18;
constexpr double kLevel = 0.95;

constexpr double kMostFaults = 1.05;
constexpr double kMostCpu = 1.02;
constexpr double kMostPeak = 1.15;
constexpr double kBeyondDoubt = 1.5;

constexpr const char* kOurs = "adaptive";

const std::vector<Run>* runs_of(const MeasuredProgram& measured, const std::string& contender) {
  const auto found = measured.runs.find(contender);
  return found == measured.runs.end() || found->second.empty() ? nullptr : &found->second;
}

}  // namespace

double faults_of(const Figures& figures) { return figures.faults; }
double cpu_of(const Figures& figures) { return figures.cpu_s(); }
double peak_of(const Figures& figures) { return figures.peak_bytes; }

std::size_t MeasuredProgram::rounds() const {
  std::size_t most = 0;
  for (const auto& [name, all] : runs) most = std::max(most, all.size());
  return most;
}

std::string MeasuredProgram::status(const std::string& contender) const {
  const std::vector<Run>* all = runs_of(*this, contender);
  if (all == nullptr) return "not measured";
  if (all->back().status != "ok") return all->back().status;
  const std::vector<Run>* defaults = runs_of(*this, kDefault);
  if (defaults == nullptr || defaults->front().status != "ok") return "ok";
  const bool same = std::ranges::all_of(*all, [&](const Run& run) { return run.output == defaults->front().output; });
  return same ? "ok" : "other output";
}

std::optional<double> MeasuredProgram::median(const std::string& contender, double (*figure)(const Figures&)) const {
  if (status(contender) != "ok") return {};
  std::vector<double> values;
  for (const Run& run : *runs_of(*this, contender)) values.push_back(figure(run.figures));
  return zerotax::median(values);
}

std::string baseline(const MeasuredProgram& measured, double (*figure)(const Figures&)) {
  const auto plain = measured.median(kDefault, figure);
  const auto raised = measured.median(kRaised, figure);
  if (!plain) return raised ? kRaised : "";
  return raised && *raised < *plain ? kRaised : kDefault;
}

std::optional<Ratio> ratio(const MeasuredProgram& measured, const std::string& contender, const std::string& other,
                           double (*figure)(const Figures&)) {
  if (measured.status(contender) != "ok" || measured.status(other) != "ok") return {};
  const std::vector<Run>& own = *runs_of(measured, contender);
  const std::vector<Run>& its = *runs_of(measured, other);
  std::vector<double> ratios;
  for (std::size_t round = 0; round < std::min(own.size(), its.size()); ++round) {
    const double divisor = figure(its[round].figures);
    if (divisor > 0) ratios.push_back(figure(own[round].figures) / divisor);
  }
  if (ratios.empty()) return {};
  std::vector<double> estimates;
  for (const auto& medians : resampled_medians({ratios}, kResamples, kSeed)) estimates.push_back(medians.at(0));
  return Ratio{median(ratios), percentile_interval(estimates, kLevel)};
}

std::optional<Promises> judge(const MeasuredProgram& measured) {
  if (runs_of(measured, kOurs) == nullptr || measured.status(kDefault) != "ok") return {};
  if (measured.status(kOurs) != "ok") return Promises{false, false, false, false};
  const auto faults = ratio(measured, kOurs, baseline(measured, faults_of), faults_of);
  const auto cpu = ratio(measured, kOurs, baseline(measured, cpu_of), cpu_of);
  const auto to_default = ratio(measured, kOurs, kDefault, cpu_of);
  const auto peak = ratio(measured, kOurs, kDefault, peak_of);
  return Promises{!faults || faults->median <= kMostFaults, !cpu || cpu->interval.low <= kMostCpu,
                  !to_default || to_default->interval.low <= 1, !peak || peak->median <= kMostPeak};
}

bool is_undecided(const MeasuredProgram& measured) {
  const auto open = [](const std::optional<Ratio>& ratio, double limit) {
    return ratio && ratio->interval.high > limit && ratio->interval.low < limit * kBeyondDoubt;
  };
  return open(ratio(measured, kOurs, baseline(measured, cpu_of), cpu_of), kMostCpu) ||
         open(ratio(measured, kOurs, kDefault, cpu_of), 1);
}

bool is_judged(const std::string& contender) {
  return contender == kOurs || contender == kDefault || contender == kRaised;
}
