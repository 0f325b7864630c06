#include "fork/agreement.h"

#include <algorithm>

#include "base/statistics.h"

namespace zerotax::fork {

std::vector<ForkEstimate> visit_estimates(const ForkProcess& process) {
  std::vector<ForkEstimate> estimates;
  if (!process.ablation.empty() && !process.ablation.front().round_ns.empty()) {
    estimates.push_back({"clone flags", median(process.ablation.front().round_ns)});
  }
  for (const ForkSamples& samples : process.samples) {
    if (samples.flags == 0) estimates.push_back({"between samples", samples.unsampled_median_ns});
  }
  if (process.end_ns > 0) estimates.push_back({"end of the visit", process.end_ns});
  return estimates;
}

std::vector<ForkEstimate> all_estimates(const ForkProcess& process, const ForkData& data) {
  std::vector<ForkEstimate> estimates = visit_estimates(process);
  for (const ForkPlace& place : data.places) {
    const bool same = (place.sweep == "base" || place.sweep == "pages") && place.size.populated_bytes == process.bytes;
    if (same && !place.round_ns.empty()) estimates.push_back({"sweep", median(place.round_ns)});
  }
  if (process.bytes == data.ways_bytes && !data.ways.empty()) {
    estimates.push_back({"other ways", data.ways.front().call_ns});
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
