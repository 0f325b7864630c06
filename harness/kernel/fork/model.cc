#include "fork/model.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "base/statistics.h"
#include "base/units.h"
#include "os/page.h"

namespace zerotax::fork {
namespace {

constexpr std::size_t kResamples = 1000;
constexpr std::uint64_t kSeed = 1989;
constexpr const char* kHeldBack = "held back";

using Row = Eigen::Matrix<double, 1, kForkTerms>;
using Coefficients = Eigen::Matrix<double, kForkTerms, 1>;

Row row_of(const ForkTargetFacts& facts) {
  const std::array<double, kForkTerms> counts = term_counts(facts);
  return Eigen::Map<const Row>(counts.data());
}

/// Solves for the costs by least squares. Each row is a process of the sweep, and is divided by its measured time. The
/// cost of a column of zeros is 0.
Coefficients solve(const Eigen::MatrixXd& rows, const std::vector<double>& ns) {
  Eigen::MatrixXd scaled = rows;
  for (Eigen::Index i = 0; i < scaled.rows(); ++i) scaled.row(i) /= ns[static_cast<std::size_t>(i)];
  // Scales each column to length 1, because pages number millions and threads dozens.
  Eigen::VectorXd lengths = scaled.colwise().norm();
  for (Eigen::Index i = 0; i < lengths.size(); ++i) {
    if (lengths(i) == 0) lengths(i) = 1;
    scaled.col(i) /= lengths(i);
  }
  const Eigen::VectorXd solution = scaled.colPivHouseholderQr().solve(Eigen::VectorXd::Ones(scaled.rows()));
  return solution.cwiseQuotient(lengths);
}

/// R²: 1 - (sum of the model's squared relative errors) / (the same sum for the best constant).
double fit_quality(const Eigen::MatrixXd& rows, const Coefficients& found, const std::vector<double>& ns) {
  double ones = 0;
  double squares = 0;
  for (const double value : ns) {
    ones += 1 / value;
    squares += 1 / (value * value);
  }
  const double constant = ones / squares;
  double left = 0;
  double total = 0;
  for (std::size_t i = 0; i < ns.size(); ++i) {
    const double predicted = rows.row(static_cast<Eigen::Index>(i)) * found;
    left += std::pow(predicted / ns[i] - 1, 2);
    total += std::pow(constant / ns[i] - 1, 2);
  }
  return 1 - left / total;
}

}  // namespace

const std::array<std::string, kForkTerms>& fork_term_names() {
  static const std::array<std::string, kForkTerms> names{"fixed part",
                                                         "each populated page of " + format_size(page_bytes()),
                                                         "each huge page of " + format_size(huge_page_bytes()),
                                                         "each mapping with pages",
                                                         "each open descriptor",
                                                         "each further thread, with stack"};
  return names;
}

std::array<double, kForkTerms> term_counts(const ForkTargetFacts& facts) {
  // Each thread has two mappings that belong to it: its stack, and the guard page before the stack.
  const double others = static_cast<double>(facts.threads) - 1;
  return {1.0,
          static_cast<double>(facts.pages),
          static_cast<double>(facts.huge_pages),
          static_cast<double>(facts.mappings) - 2 * others,
          static_cast<double>(facts.descriptors),
          others};
}

double predict_fork(const ForkModel& model, const ForkTargetFacts& facts) {
  const Row row = row_of(facts);
  double ns = 0;
  for (std::size_t i = 0; i < kForkTerms; ++i) ns += row(static_cast<Eigen::Index>(i)) * model.ns[i];
  return ns;
}

ForkModel fit_fork_model(const std::vector<ForkPlace>& places) {
  ForkModel model;
  if (places.empty()) model.not_fitted = "nothing was swept";
  if (places.empty()) return model;
  std::vector<const ForkPlace*> fitted;
  std::vector<std::vector<double>> rounds;
  for (const ForkPlace& place : places) {
    if (place.round_ns.empty()) {
      model.not_fitted = "interrupted before every process of the sweep was measured";
      return model;
    }
    if (place.sweep == kHeldBack) continue;
    fitted.push_back(&place);
    rounds.push_back(place.round_ns);
  }
  Eigen::MatrixXd rows(static_cast<Eigen::Index>(fitted.size()), static_cast<Eigen::Index>(kForkTerms));
  std::vector<double> ns;
  for (std::size_t i = 0; i < fitted.size(); ++i) {
    rows.row(static_cast<Eigen::Index>(i)) = row_of(fitted[i]->facts);
    ns.push_back(median(rounds[i]));
  }
  const bool once = std::any_of(rounds.begin(), rounds.end(), [](const auto& each) { return each.size() < 2; });
  if (once) model.no_interval = "one round shows no spread";
  const Coefficients found = solve(rows, ns);
  std::array<std::vector<double>, kForkTerms> estimates;
  for (const std::vector<double>& resample : resampled_medians(rounds, kResamples, kSeed)) {
    const Coefficients estimate = solve(rows, resample);
    for (std::size_t i = 0; i < kForkTerms; ++i) estimates[i].push_back(estimate(static_cast<Eigen::Index>(i)));
  }
  for (std::size_t i = 0; i < kForkTerms; ++i) {
    model.known[i] = rows.col(static_cast<Eigen::Index>(i)).any();
    model.ns[i] = found(static_cast<Eigen::Index>(i));
    model.interval[i] = percentile_interval(estimates[i], 0.95);
  }
  model.r_squared = fit_quality(rows, found, ns);
  for (const ForkPlace& place : places) {
    (place.sweep == kHeldBack ? model.held : model.fit)
        .push_back({&place, median(place.round_ns), predict_fork(model, place.facts)});
  }
  return model;
}

std::vector<ForkEstimate> visit_estimates(const ForkProcess& process) {
  std::vector<ForkEstimate> estimates;
  if (!process.ablation.empty() && !process.ablation.front().round_ns.empty()) {
    estimates.push_back({StudyPart::kCloneFlags, median(process.ablation.front().round_ns)});
  }
  for (const ForkSamples& samples : process.samples) {
    if (samples.flags == 0) estimates.push_back({StudyPart::kBetweenSamples, samples.unsampled_median_ns});
  }
  if (process.end_ns > 0) estimates.push_back({StudyPart::kEndOfVisit, process.end_ns});
  return estimates;
}

std::vector<ForkEstimate> all_estimates(const ForkProcess& process, const ForkData& data) {
  std::vector<ForkEstimate> estimates = visit_estimates(process);
  for (const ForkPlace& place : data.places) {
    const bool same = (place.sweep == "base" || place.sweep == "pages") && place.size.populated_bytes == process.bytes;
    if (same && !place.round_ns.empty()) estimates.push_back({StudyPart::kSweep, median(place.round_ns)});
  }
  if (process.bytes == data.ways_bytes && !data.ways.empty()) {
    estimates.push_back({StudyPart::kOtherWays, data.ways.front().call_ns});
  }
  return estimates;
}

double apart(const std::vector<ForkEstimate>& estimates) {
  if (estimates.size() < 2) return 1;
  const auto [least, most] =
      std::minmax_element(estimates.begin(), estimates.end(),
                          [](const ForkEstimate& one, const ForkEstimate& other) { return one.ns < other.ns; });
  return most->ns / least->ns;
}

}  // namespace zerotax::fork
