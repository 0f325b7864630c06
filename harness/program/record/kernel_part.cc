#include "record/kernel_part.h"

#include <algorithm>
#include <map>
#include <utility>

#include "os/faults.h"
#include "os/page.h"
#include "record/metrics.h"

namespace zerotax::record {
namespace {

/// Bytes to populate, and number of measured repetitions. An additional repetition before these is not measured,
/// because it gets other memory than the later repetitions.
struct Sampling {
  std::uint64_t bytes;
  int times;
};
constexpr Sampling kBaseSampling{std::uint64_t{4} << 20, 5};
/// 64 MiB do not fit into the cache. Clearing huge pages that are in a cache takes half the time.
constexpr Sampling kHugeSampling{std::uint64_t{64} << 20, 2};
constexpr std::uint64_t kKnownPart = 50;
constexpr const char* kNoHugeCount = "the kernel does not report how many huge pages were populated during the run";

/// Whether the faults of a sample populated huge pages: on average, each fault populated more than half a huge page.
bool is_huge(const FaultSample& sample) { return sample.bytes / sample.faults > huge_page_bytes() / 2; }

struct Sum {
  double bytes = 0;
  double ns = 0;

  void add(const FaultSample& sample) {
    bytes += static_cast<double>(sample.bytes);
    ns += static_cast<double>(sample.cpu_ns);
  }
  [[nodiscard]] std::optional<double> rate() const { return bytes > 0 ? std::optional(ns / bytes) : std::nullopt; }
};

/// Measures on this machine how many nanoseconds populating takes per byte. Returns nothing if no page of the kind was
/// populated.
std::optional<double> measure_here(PageKind pages) {
  const Sampling& sampling = pages == PageKind::kHuge ? kHugeSampling : kBaseSampling;
  Sum sum;
  for (int i = 0; i <= sampling.times; ++i) {
    const FaultSample sample = measure_fault_cost(sampling.bytes, pages);
    if (i > 0 && sample.faults != 0 && is_huge(sample) == (pages == PageKind::kHuge)) sum.add(sample);
  }
  return sum.rate();
}

/// Returns the time when a process ended or executed another program, or nothing if that time is unknown.
std::optional<std::int64_t> end_of(const RecordedProcess& process, const std::vector<const RecordedProcess*>& all) {
  std::optional<std::int64_t> end;
  if (process.wall_ns) end = process.started_ns + *process.wall_ns;
  for (const RecordedProcess* each : all) {
    const bool is_next = each->pid == process.pid && each->started_ns > process.started_ns;
    if (is_next && (!end || each->started_ns < *end)) end = each->started_ns;
  }
  return end;
}

}  // namespace

FaultCost fault_cost(const std::vector<const ProcessSlot*>& processes, bool huge_pages) {
  Sum base;
  Sum huge;
  FaultCost cost;
  for (const ProcessSlot* slot : processes) {
    const Holdings& holdings = slot->holdings;
    const std::uint32_t used = std::min<std::uint32_t>(holdings.samples_used, kFaultSamples);
    for (std::uint32_t i = 0; i < used; ++i) {
      const FaultSample& sample = holdings.samples[i];
      // The cost is unknown if the thread's CPU clock cannot be read.
      if (sample.faults == 0 || sample.cpu_ns == 0) continue;
      (is_huge(sample) ? huge : base).add(sample);
      ++cost.samples;
    }
  }
  // Huge pages have a separate cost, because a byte in a huge page costs several times less than a byte in a small
  // page.
  const bool base_here = !base.rate();
  const bool huge_here = huge_pages && !huge.rate();
  const std::string none = "no such page was populated to measure it";
  cost.base_ns_per_byte = {base_here ? measure_here(PageKind::kBase) : base.rate(), none};
  cost.huge_ns_per_byte = {huge_here ? measure_here(PageKind::kHuge) : huge.rate(), none};
  cost.measured_in = base_here || huge_here ? "zerotax, after the run" : "the recorded processes";
  return cost;
}

void KernelPart::add(const KernelPart& more) {
  zeroed += more.zeroed;
  huge += more.huge;
  refilled += more.refilled;
  returned += more.returned;
  small_returns.add(more.small_returns);
  peak += more.peak;
  faults += more.faults;
  minor_faults += more.minor_faults;
  unseen += more.unseen;
  unlimited = unlimited || more.unlimited;
  slack = slack && more.slack ? std::optional(*slack + *more.slack) : std::nullopt;
  faults_known = faults_known && more.faults_known;
  if (!more.why_no_faults.empty()) why_no_faults = more.why_no_faults;
  if (!more.why_not.empty()) why_not = more.why_not;
}

bool KernelPart::known() const { return !unlimited && unseen <= (zeroed + unseen) / kKnownPart; }

double KernelPart::fault_ns(const FaultCost& cost) const {
  const double base_rate = cost.base_ns_per_byte.value_or(0);
  return static_cast<double>(zeroed - huge) * base_rate +
         static_cast<double>(huge) * cost.huge_ns_per_byte.value_or(base_rate);
}

KernelMetrics KernelPart::metrics(const FaultCost& cost) const {
  const auto value = [&](std::uint64_t number) { return known_if(known(), number, why_not); };
  // If the bounds are close to each other, their middle is reported.
  const std::uint64_t all = zeroed + unseen / 2;
  KernelMetrics metrics;
  metrics.zeroed_bytes = value(all);
  metrics.huge_bytes = known_if(why_not.empty(), huge, why_not);
  metrics.fresh_bytes = value(all - refilled);
  metrics.refilled_bytes = value(refilled);
  metrics.returned_bytes = value(returned);
  metrics.peak_bytes = value(peak);
  metrics.zero_fill_faults = value(faults);
  const std::string why_unknown = !why_not.empty() ? why_not : !why_no_faults.empty() ? why_no_faults : kRightsChanged;
  metrics.minor_faults = known_if(faults_known, minor_faults, why_unknown);
  metrics.minor_faults_at_least = minor_faults;
  const Interval interval = returned_interval(small_returns);
  if (known() && interval.below + interval.above != 0) metrics.zeroed_interval_bytes = interval.around(all);
  metrics.fault_cpu_ns = cost.base_ns_per_byte ? value(as_count(fault_ns(cost)))
                                               : NotAvailable{"no memory could be populated to measure it"};
  metrics.zeroed_at_least_bytes = zeroed;
  metrics.zeroed_at_most_bytes =
      known_if(!unlimited && slack, zeroed + std::max(unseen, slack.value_or(0)), unlimited ? why_not : kNoHugeCount);
  return metrics;
}

std::uint64_t faults_of(std::uint64_t bytes, std::uint64_t huge, const Holdings& holdings) {
  const std::uint64_t by_faults = less(huge, holdings.collapsed_bytes);
  return (less(bytes, huge) + holdings.collapsed_small_bytes) / page_bytes() + by_faults / huge_page_bytes();
}

KernelPart kernel_part(const ProcessSlot& slot, std::uint64_t sharers_faults) {
  KernelPart part;
  const Holdings& holdings = slot.holdings;
  if ((slot.gaps & kNoReturns) != 0) {
    part.why_not = "the C library's munmap, madvise and brk could not be watched";
  } else if ((slot.gaps & kNoPagemap) != 0) {
    part.why_not = "pages could not be examined";
  } else if ((slot.gaps & kNoHoldings) != 0) {
    part.why_not = "/proc could not be read, so the memory that a process held is unknown";
  } else if (holdings.closed == 0 && slot.ended != 0) {
    part.why_not = "the process cannot read its own count of page faults (a filter of system calls)";
  } else if (holdings.closed == 0) {
    part.why_not =
        "the end of a process was not seen (it was killed, ended by a system call of its own, or still runs)";
  }
  if (!part.why_not.empty()) {
    part.unlimited = true;
    part.faults_known = holdings.closed != 0;
    part.minor_faults = less(holdings.minor_faults + sharers_faults, holdings.own_faults);
    return part;
  }
  part.returned = holdings.returned_bytes;
  for (const ThreadBlock& block : slot.threads) {
    if (block.state != BlockState::kFree) part.small_returns.add(block.small_returns);
  }
  const std::uint64_t held = holdings.at_end_bytes + holdings.swapped_bytes + holdings.hugetlb_bytes;
  part.peak = std::max<std::uint64_t>(holdings.peak_bytes, held);
  const std::uint64_t not_zeroed = holdings.at_start_bytes + holdings.copied_bytes + holdings.copied_in_bytes;
  part.zeroed = less(held + part.returned, not_zeroed);
  part.refilled = std::min(part.zeroed, less(held + part.returned, part.peak));
  part.huge = std::min<std::uint64_t>(part.zeroed, holdings.huge_bytes + holdings.returned_huge_bytes);
  part.minor_faults = less(holdings.minor_faults + sharers_faults, holdings.own_faults);
  part.faults = std::min(faults_of(part.zeroed, part.huge, holdings), part.minor_faults);
  return part;
}

std::uint64_t process_cpu_ns(const ProcessSlot& slot, const Tally& sum, std::uint64_t sharers_ns) {
  const std::int64_t cpu = slot.cpu_ns - slot.cpu_at_start_ns + static_cast<std::int64_t>(sharers_ns);
  std::uint64_t measured = sum.own_cpu_ns;
  for (const ZeroCost& cost : sum.cost) measured += cost.cpu_ns;
  for (const auto& causes : sum.returned) {
    for (const ReturnRow& row : causes) measured += row.cpu_ns;
  }
  return std::max<std::uint64_t>(measured, cpu > 0 ? static_cast<std::uint64_t>(cpu) : 0);
}

Count peak_of(const std::vector<const RecordedProcess*>& processes) {
  struct Step {
    std::int64_t at_ns;
    std::int64_t bytes;
  };
  std::vector<Step> steps;
  std::map<std::int32_t, std::int64_t> of_children;  // largest peak of a child of fork, by the parent's PID
  for (const RecordedProcess* process : processes) {
    const auto peak = static_cast<std::int64_t>(process->kernel.peak_bytes.value_or(0));
    const auto raise = [&](std::int64_t& most) { most = std::max(most, peak); };
    if (process->began == Began::kFork) raise(of_children[process->parent_pid]);
    // A quiet child holds the same memory as its parent at the fork.
    if (process->quiet_children) raise(of_children[process->pid]);
  }
  for (const RecordedProcess* process : processes) {
    const KernelMetrics& kernel = process->kernel;
    if (!kernel.peak_bytes) return kernel.peak_bytes;
    const auto bytes = [](const Count& count) { return static_cast<std::int64_t>(count.value_or(0)); };
    const std::int64_t others = bytes(kernel.minor_faults) - bytes(kernel.zero_fill_faults);
    const std::int64_t copies = std::max<std::int64_t>(others, 0) * static_cast<std::int64_t>(page_bytes());
    const std::int64_t peak = bytes(kernel.peak_bytes);
    std::int64_t held = peak;
    if (process->began == Began::kFork) held = std::min(peak, bytes(kernel.zeroed_bytes) + copies);
    // If the parent copies a shared page, a child keeps the old page. Both pages count.
    if (const auto child = of_children.find(process->pid); child != of_children.end()) {
      held += std::min({copies, child->second, peak});
    }
    steps.push_back({process->started_ns, held});
    if (const auto end = end_of(*process, processes)) steps.push_back({*end, -held});
  }
  // Among steps of the same time, ends come first, because a process's program ends before its next program starts.
  std::sort(steps.begin(), steps.end(),
            [](const Step& a, const Step& b) { return std::pair(a.at_ns, a.bytes) < std::pair(b.at_ns, b.bytes); });
  std::int64_t now = 0;
  std::int64_t most = 0;
  for (const Step& step : steps) most = std::max(most, now += step.bytes);
  return static_cast<std::uint64_t>(most);
}

}  // namespace zerotax::record
