#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <utility>

#include "base/statistics.h"
#include "os/page.h"
#include "record/outside/result.h"

namespace zerotax::record {
namespace {

/// Unknown bytes below 1/kNegligible of the sampled estimate are neglected, because the estimate's interval is wider.
constexpr std::uint64_t kNegligible = 100;
/// A share below 1/kFewParts is negligible.
constexpr std::uint64_t kFewParts = 50;

/// Sums over the sampled processes.
struct Looked {
  std::uint64_t faults = 0;
  std::uint64_t of_seen_memory = 0;  ///< the part of `faults` before the last sample that could read the memory
  std::uint64_t grown = 0;
  std::uint64_t grown_at_most = 0;
  std::uint64_t earlier = 0;  ///< growth that is possible but unlikely, and only widens the interval
  std::uint64_t begin = 0;
  std::uint64_t held = 0;
  std::uint64_t peak = 0;
};

Looked looked_at(const OutsideData& data) {
  Looked sum;
  for (const auto& [pid, process] : data.processes) {
    sum.faults += process.faults;
    sum.of_seen_memory += process.looked_faults;
    sum.grown += process.grown;
    sum.grown_at_most += process.grown_at_most;
    const bool is_root = data.run && data.run->pid == pid;
    sum.earlier += less(process.earlier, is_root ? data.faults_before_exec * page_bytes() : 0);
    if (process.shares) continue;
    sum.begin += process.begin;
    sum.held += process.held;
    sum.peak += process.peak;
  }
  sum.faults = less(sum.faults, data.faults_before_exec);
  sum.of_seen_memory = less(sum.of_seen_memory, data.faults_before_exec);
  return sum;
}

/// Returns the program's faults after its exec, as the kernel counts them for its parent (wait4(2)).
std::uint64_t waited_faults(const OutsideData& data) {
  if (!data.run || !data.run->minor_faults) return 0;
  return less(*data.run->minor_faults, data.faults_before_exec);
}

/// Returns the best count of minor faults. Perf counts the faults of every descendant. /proc also counts faults of
/// system calls that populate memory (mlock, MAP_POPULATE). Faults of a child that ended before a sample appear in
/// /proc once the parent has waited for the child.
std::uint64_t minor_faults(const OutsideData& data, const Looked& looked) {
  // Only perf excludes faults of processes before they joined the cgroup.
  if (data.watched == Watched::kCgroup && data.counts_joined) return data.counts.minor_faults.value_or(0);
  return std::max({data.counts.minor_faults.value_or(0), looked.faults, waited_faults(data),
                   less(data.tree_faults, data.faults_before_exec)});
}

std::uint64_t rounded(double value) { return static_cast<std::uint64_t>(std::llround(std::max(0.0, value))); }

std::size_t trials_of(const OutsideData& data) { return static_cast<std::size_t>(data.faults.effective()); }

/// Estimated number of faults of one kind, such as copies.
struct Estimate {
  std::uint64_t faults = 0;
  std::array<std::uint64_t, 2> interval{};  ///< 95 %
  std::uint64_t lost = 0;                   ///< the part of the interval's upper end that accounts for faults whose
                                            ///< samples were lost
};

/// Estimates how many of `faults` are of one kind. Samples are lost in bursts, and during a burst all faults may be of
/// one kind. Lost samples count like the other samples only if nearly all of them, or nearly none, are of this kind.
Estimate estimate(const OutsideData& data, const SampledFaults& kind, std::uint64_t faults) {
  const std::size_t trials = trials_of(data);
  if (trials == 0) return {0, {0, faults}, 0};
  const double share = kind.faults / data.faults.faults;
  const auto hits = static_cast<std::size_t>(std::llround(share * static_cast<double>(trials)));
  const auto interval = binomial_interval(std::min(hits, trials), trials);
  const std::uint64_t lost = data.profile.lost != 0 ? less(faults, rounded(data.faults.faults)) : 0;
  const bool is_mixed = share * as_double(kFewParts) > 1 && (1 - share) * as_double(kFewParts) > 1;
  const std::uint64_t left = is_mixed && lost * kFewParts > faults ? lost : 0;
  const auto part = [&](double of) { return rounded(of * as_double(faults - left)); };
  return {part(share), {part(interval.low), part(interval.high) + left}, left};
}

/// Returns the maximum number of pages of shared memory that faults may have populated; 0 if no sample shows shared
/// memory.
std::uint64_t shared_pages(const OutsideData& data, std::uint64_t faults) {
  const bool held = std::any_of(data.processes.begin(), data.processes.end(),
                                [](const auto& each) { return each.second.shared >= kLargeBytes; });
  if (data.shared.samples == 0 && (!held || trials_of(data) != 0)) return 0;
  return estimate(data, data.shared, faults).interval[1];
}

void count_pages(OutsideKernel& kernel, const OutsideData& data) {
  kernel.method = ZeroedBy::kCounted;
  KernelPart& part = kernel.part;
  part.huge = *data.counts.zeroed_huge_pages * huge_page_bytes() + data.counts.holes * page_bytes();
  part.zeroed = *data.counts.zeroed_pages * page_bytes() + part.huge;
  part.faults = data.counts.fills + *data.counts.zeroed_huge_pages;
  // `minor_faults` may lack memory that a system call populated in a child that ended before a sample.
  part.minor_faults = std::max(part.minor_faults, part.faults);
  // The kernel clears pages of shared memory some time after they are allocated, so the count of zeroed pages does not
  // include them.
  const std::uint64_t others = less(part.minor_faults, part.faults);
  const std::uint64_t shared = shared_pages(data, others) * page_bytes() + data.huge_shared_bytes;
  part.slack = others * page_bytes() + data.huge_shared_bytes + data.counts.unsure_holes * page_bytes();
  // Shared memory that is too small to matter does not change a counted number.
  const bool matters = shared * kFewParts > part.zeroed;
  part.unseen = (matters ? shared : 0) + data.counts.unsure_holes * page_bytes();
  if (part.unseen != 0)
    part.why_not = matters ? kSharedUnknown : "the number of bytes that MADV_COLLAPSE zeroed is unknown";
}

/// Marks the zeroed bytes as unbounded if a process has hugetlbfs pages. A fault takes such a page from a pool and
/// zeroes it, and the program chooses the page's size.
void note_hugetlb(KernelPart& part, const OutsideData& data) {
  if (std::none_of(data.processes.begin(), data.processes.end(), [](const auto& each) { return each.second.hugetlb; }))
    return;
  part.unlimited = true;
  part.why_not = "the process has pages of hugetlbfs, which the kernel zeroes but does not count";
}

/// Estimates zeroed bytes from the sampled faults in user mode. The samples show the fraction of faults that populated
/// anonymous memory. Nothing is known about faults in kernel mode.
void divide_faults(OutsideKernel& kernel, const OutsideData& data) {
  kernel.method = ZeroedBy::kSampled;
  KernelPart& part = kernel.part;
  const std::uint64_t sampled = data.counts.minor_faults.value_or(part.minor_faults);
  const Estimate zero_fills = estimate(data, data.zero_fills, sampled);
  part.faults = zero_fills.faults;
  part.zeroed = part.faults * page_bytes();
  const auto bytes_of = [&](const SampledFaults& kind) { return estimate(data, kind, sampled).faults * page_bytes(); };
  const std::pair<std::uint64_t, const char*> unknown[] = {
      {bytes_of(data.unsure), "after a fork, a fault may copy a page: only root can tell"},
      {data.huge_bytes, "huge pages were populated on this machine, and only root can tell by which process"},
      {shared_pages(data, sampled) * page_bytes() + data.huge_shared_bytes, kSharedUnknown},
      {bytes_of(data.unread), "whether each page fault read or wrote is unknown, and a read zeroes nothing"},
      {zero_fills.lost * page_bytes(),
       "samples of page faults were lost, and the number of lost faults that zeroed a page is unknown"},
      {less(part.minor_faults, sampled) * page_bytes(),
       "faults that the kernel takes for the program are sampled only for root"},
  };
  const auto& most = *std::max_element(std::begin(unknown), std::end(unknown));
  for (const auto& [bytes, why] : unknown) part.unseen += bytes;
  if (unknown[0].first + data.huge_bytes == 0 && part.unseen * kNegligible < part.zeroed) part.unseen = 0;
  const std::uint64_t ever = part.minor_faults * page_bytes() + data.huge_bytes + data.huge_shared_bytes;
  part.unseen = std::min(part.unseen, ever - part.zeroed);
  if (part.unseen != 0) part.why_not = most.second;
  if (trials_of(data) == 0) return;
  const auto [low, high] = zero_fills.interval;
  // The upper end of the interval already includes the lost samples.
  const std::uint64_t unsampled = less(part.unseen, zero_fills.lost * page_bytes());
  kernel.zeroed_interval = {low * page_bytes(), std::min(high * page_bytes() + unsampled, ever)};
}

void bound(OutsideKernel& kernel, const OutsideData& data, const Looked& looked) {
  KernelPart& part = kernel.part;
  part.zeroed = std::min(looked.grown, part.minor_faults * page_bytes());
  part.faults = part.zeroed / page_bytes();
  part.unseen = less(part.minor_faults * page_bytes(), part.zeroed) + data.huge_bytes;
  part.why_not = data.denied.empty() ? "no page fault was sampled" : data.denied.substr(0, data.denied.find(';'));
}

/// Bounds the faults of a process whose exec changed its rights, and of its descendants. Only /proc shows these faults,
/// except those of processes that ended before a sample.
void bound_uncounted(OutsideKernel& kernel, const OutsideData& data) {
  KernelPart& part = kernel.part;
  const bool any_runs =
      std::any_of(data.processes.begin(), data.processes.end(), [](const auto& each) { return !each.second.ended; });
  part.faults_known = data.run && data.run->minor_faults && !any_runs;
  if (data.pages_follow && data.counts.zeroed_pages) {
    return;
  }
  part.why_not = kRightsChanged;
  part.unlimited = !part.faults_known;
  const std::uint64_t uncounted = less(part.minor_faults, data.counts.minor_faults.value_or(0));
  part.unseen = std::max(part.unseen, uncounted * page_bytes() + less(data.huge_bytes, part.huge));
}

/// Estimates the growth among bytes that no sample covers. After the last sample of a process, the fraction of growth
/// is assumed to be the same as before. All other bytes count as growth.
std::uint64_t likely_growth(const OutsideKernel& kernel, const OutsideData& data, std::uint64_t unseen_bytes) {
  const auto root = data.processes.find(data.run ? data.run->pid : data.pid.value_or(0));
  if (root == data.processes.end() || kernel.unseen_faults == 0) return unseen_bytes;
  const std::uint64_t seen = less(root->second.looked_faults, data.faults_before_exec);
  const bool is_alone = data.processes.size() == 1 && !data.forked;
  const std::uint64_t after = data.run ? less(waited_faults(data), seen) : is_alone ? kernel.unseen_faults : 0;
  const double share = std::min(1.0, as_double(after) / as_double(kernel.unseen_faults));
  return rounded(as_double(unseen_bytes) * (1 - share * (1 - root->second.growing)));
}

}  // namespace

OutsideKernel outside_kernel(const OutsideData& data) {
  const Looked looked = looked_at(data);
  OutsideKernel kernel;
  KernelPart& part = kernel.part;
  part.minor_faults = minor_faults(data, looked);
  part.peak = looked.peak;
  if (data.counts.zeroed_pages) {
    count_pages(kernel, data);
  } else if (data.faults.samples != 0) {
    divide_faults(kernel, data);
  } else {
    bound(kernel, data, looked);
  }
  if (data.profile.rights_changed != 0 && !data.counts_joined) bound_uncounted(kernel, data);
  note_hugetlb(part, data);
  // Any bytes that no sample covers may be growth of the processes' memory.
  kernel.unseen_faults = less(part.minor_faults, looked.of_seen_memory);
  const std::uint64_t huge = std::min(part.huge, kernel.unseen_faults * huge_page_bytes());
  // MADV_COLLAPSE populates holes without a fault.
  const std::uint64_t unseen = (kernel.unseen_faults + data.counts.holes) * page_bytes() + huge;
  // Copies of file pages also made a process grow, but the kernel did not zero them.
  const std::uint64_t others = less(part.minor_faults, part.faults);
  const std::uint64_t copied = std::min(others, estimate(data, data.copied, part.minor_faults).interval[1]);
  const std::uint64_t grown = less(looked.grown, copied * page_bytes());
  // If `part.zeroed` is an estimate from samples, the lower bound is the smaller of the estimate and the growth.
  kernel.zeroed_at_least = kernel.method == ZeroedBy::kSampled ? std::min(part.zeroed, grown) : part.zeroed;
  const auto [low, high] = kernel.zeroed_interval.value_or(std::array{part.zeroed, part.zeroed + part.unseen});
  const std::uint64_t least = less(low, looked.grown_at_most + looked.earlier + unseen);
  const std::uint64_t most = less(std::max(high, part.zeroed), grown);
  part.refilled =
      std::clamp(less(part.zeroed, looked.grown_at_most + likely_growth(kernel, data, unseen)), least, most);
  // Unless all faults are known, processes that ended before a sample may have populated all of the zeroed bytes.
  kernel.refilled_interval = {part.faults_known ? least : 0, most};
  // The kernel may have zeroed more bytes than any sample or count shows.
  if (part.unlimited) kernel.zeroed_interval = kernel.refilled_interval = std::nullopt;
  part.returned = less(part.zeroed + looked.begin, looked.held + unseen);
  return kernel;
}

}  // namespace zerotax::record
