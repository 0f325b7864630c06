#include <algorithm>
#include <cmath>

#include "base/statistics.h"
#include "record/outside/cpu_samples.h"
#include "record/outside/result.h"

namespace zerotax::record {
namespace {

constexpr SiteKind kKinds[] = {SiteKind::kFree, SiteKind::kPurge, SiteKind::kProgram};  // indexed by ReturnedIn

/// Divides the kernel-zeroed bytes among the places in proportion to their faults, and computes their intervals.
void add_faults(std::vector<RecordedSite>& sites, const OutsideData& data, const KernelPart& kernel) {
  double all = 0;
  double refilled = 0;
  double squares = 0;
  for (const FaultPlace& place : data.places) {
    all += place.faults.faults;
    refilled += place.refilled;
    squares += place.faults.squares;
  }
  const auto trials = static_cast<std::size_t>(squares > 0 ? all * all / squares : 0);
  for (const FaultPlace& place : data.places) {
    RecordedSite& site = sites.emplace_back();
    site.kind = SiteKind::kFault;
    site.frames = place.frames;
    const auto bytes = [&](double share) { return static_cast<std::uint64_t>(share * as_double(kernel.zeroed)); };
    const double share = place.faults.faults / all;
    site.sampled.kernel_zeroed_bytes = bytes(share);
    if (refilled > 0) {
      site.refilled_bytes =
          std::min(bytes(share), static_cast<std::uint64_t>(place.refilled / refilled * as_double(kernel.refilled)));
    }
    if (trials == 0) continue;
    const auto hits = static_cast<std::size_t>(std::llround(share * static_cast<double>(trials)));
    const auto interval = binomial_interval(std::min(hits, trials), trials);
    site.sampled.kernel_interval_bytes = {bytes(interval.low), bytes(interval.high)};
  }
}

void add_stores(std::vector<RecordedSite>& sites, const OutsideData& data, std::uint64_t store_ns) {
  const std::uint64_t trials = data.profile.sees_kernel ? data.cpu.all : data.cpu.user;
  for (const StorePlace& place : data.stores) {
    const auto time = sampled_time(place.samples, trials, store_ns);
    if (!time) continue;
    RecordedSite& site = sites.emplace_back();
    site.kind = SiteKind::kCleared;
    site.frames = place.frames;
    site.sampled.zero_cpu_ns = time->ns;
    site.sampled.zero_cpu_interval_ns = time->interval_ns;
  }
}

void add_returns(std::vector<RecordedSite>& sites, const OutsideData& data) {
  for (const ReturnPlace& place : data.returns) {
    RecordedSite& site = sites.emplace_back();
    site.kind = kKinds[static_cast<std::size_t>(place.in)];
    site.frames = place.frames;
    site.sampled.return_calls = static_cast<std::uint64_t>(std::llround(place.calls));
    site.sampled.returned_at_most_bytes = static_cast<std::uint64_t>(std::llround(place.bytes));
    const double half = 1.96 * std::sqrt(place.variance);
    const auto least = std::max(static_cast<double>(place.seen_bytes), place.bytes - half);
    site.sampled.returned_interval_bytes = {static_cast<std::uint64_t>(std::llround(least)),
                                            static_cast<std::uint64_t>(std::llround(place.bytes + half))};
  }
}

}  // namespace

std::vector<RecordedSite> outside_sites(const OutsideData& data, const KernelPart& kernel, std::uint64_t store_ns) {
  std::vector<RecordedSite> sites;
  add_faults(sites, data, kernel);
  add_stores(sites, data, store_ns);
  add_returns(sites, data);
  return sites;
}

}  // namespace zerotax::record
