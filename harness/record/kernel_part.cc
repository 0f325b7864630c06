#include "record/kernel_part.h"

#include <algorithm>

#include "os/fault_cost.h"
#include "os/page.h"

namespace zerotax::record {
namespace {

using namespace record;

constexpr std::uint64_t kSampleBytes = std::uint64_t{4} << 20;
constexpr int kSamples = 5;

/// A fault that populated more than this on average was of a huge page.
bool is_huge(const FaultSample& sample) { return sample.bytes / sample.faults > kHugePageBytes / 2; }

struct Sum {
  double bytes = 0;
  double ns = 0;

  void add(const FaultSample& sample) {
    bytes += static_cast<double>(sample.bytes);
    ns += static_cast<double>(sample.cpu_ns);
  }
  [[nodiscard]] std::optional<double> rate() const { return bytes > 0 ? std::optional(ns / bytes) : std::nullopt; }
};

/// The first is not counted: it finds other memory than those that follow.
std::optional<double> measure_here() {
  Sum sum;
  for (int i = 0; i <= kSamples; ++i) {
    const FaultSample sample = measure_fault_cost(kSampleBytes, PageKind::kBase);
    if (i > 0 && sample.faults != 0) sum.add(sample);
  }
  return sum.rate();
}

Json estimate(double value) { return static_cast<std::uint64_t>(std::max(value, 0.0)); }

}  // namespace

FaultCost fault_cost(const std::vector<const ProcessSlot*>& processes) {
  Sum base;
  Sum huge;
  FaultCost cost;
  for (const ProcessSlot* slot : processes) {
    const Holdings& holdings = slot->holdings;
    const std::uint32_t used = std::min<std::uint32_t>(holdings.samples_used, kFaultSamples);
    for (std::uint32_t i = 0; i < used; ++i) {
      const FaultSample& sample = holdings.samples[i];
      if (sample.faults == 0) continue;
      (is_huge(sample) ? huge : base).add(sample);
      ++cost.samples;
    }
  }
  cost.base_ns = base.rate();
  cost.huge_ns = huge.rate();
  if (!cost.base_ns) {
    cost.base_ns = measure_here();
    cost.measured_here = true;
  }
  return cost;
}

void KernelPart::add(const KernelPart& more) {
  zeroed += more.zeroed;
  huge += more.huge;
  refilled += more.refilled;
  returned += more.returned;
  peak += more.peak;
  faults += more.faults;
  minor_faults += more.minor_faults;
}

double KernelPart::fault_ns(const FaultCost& cost) const {
  const double base_rate = cost.base_ns.value_or(0);
  return static_cast<double>(zeroed - huge) * base_rate + static_cast<double>(huge) * cost.huge_ns.value_or(base_rate);
}

Json KernelPart::json(const FaultCost& cost) const {
  if (!why_not.empty()) {
    Json json;
    for (const char* key : {"zeroed_bytes", "huge_bytes", "fresh_bytes", "refilled_bytes", "returned_bytes",
                            "peak_bytes", "zero_fill_faults", "minor_faults", "fault_cpu_ns"}) {
      json[key] = not_available(why_not);
    }
    return json;
  }
  Json json;
  json["zeroed_bytes"] = zeroed;
  json["huge_bytes"] = huge;
  json["fresh_bytes"] = zeroed - refilled;
  json["refilled_bytes"] = refilled;
  json["returned_bytes"] = returned;
  json["peak_bytes"] = peak;
  json["zero_fill_faults"] = faults;
  json["minor_faults"] = minor_faults;
  json["fault_cpu_ns"] =
      cost.base_ns ? estimate(fault_ns(cost)) : not_available("no memory could be populated to measure it");
  return json;
}

KernelPart kernel_part(const ProcessSlot& slot) {
  KernelPart part;
  const Holdings& holdings = slot.holdings;
  if ((slot.gaps & kNoReturns) != 0) {
    part.why_not = "the C library's munmap, madvise and brk could not be watched";
  } else if ((slot.gaps & kNoPagemap) != 0) {
    part.why_not = "pages could not be looked at";
  } else if (holdings.closed == 0) {
    part.why_not = "it was killed, or still runs: what it held in the end is unknown";
  }
  if (!part.why_not.empty()) return part;
  part.returned = holdings.returned_bytes;
  const std::uint64_t held = holdings.at_end_bytes + holdings.swapped_bytes;
  part.peak = std::max<std::uint64_t>(holdings.peak_bytes, held);
  const std::uint64_t not_zeroed = holdings.at_start_bytes + holdings.copied_bytes;
  part.zeroed = held + part.returned > not_zeroed ? held + part.returned - not_zeroed : 0;
  part.refilled = std::min(part.zeroed, held + part.returned - std::min(part.peak, held + part.returned));
  part.huge = std::min<std::uint64_t>(part.zeroed, holdings.huge_bytes + holdings.returned_huge_bytes);
  const std::uint64_t own = std::min(holdings.own_faults, holdings.minor_faults);
  part.minor_faults = holdings.minor_faults - own;
  part.faults = std::min((part.zeroed - part.huge) / kPageBytes + part.huge / kHugePageBytes, part.minor_faults);
  return part;
}

std::uint64_t process_cpu_ns(const ProcessSlot& slot, const Tally& sum) {
  const std::int64_t cpu = slot.cpu_ns - slot.cpu_at_start_ns;
  std::uint64_t measured = sum.own_cpu_ns;
  for (const ZeroCost& cost : sum.cost) measured += cost.cpu_ns;
  for (const auto& causes : sum.returned) {
    for (const ReturnRow& row : causes) measured += row.cpu_ns;
  }
  return std::max<std::uint64_t>(measured, cpu > 0 ? static_cast<std::uint64_t>(cpu) : 0);
}

}  // namespace zerotax::record
