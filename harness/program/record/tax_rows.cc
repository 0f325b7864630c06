#include <fmt/format.h>

#include <algorithm>

#include "os/page.h"
#include "record/metrics.h"
#include "record/tax.h"

namespace zerotax::record {
namespace {

std::uint64_t part_of(std::uint64_t whole, std::uint64_t part, std::uint64_t of) {
  return of == 0 ? 0 : as_count(as_double(whole) * std::min(1.0, as_double(part) / as_double(of)));
}

struct Stores : ZeroRow {
  std::uint64_t user_ns = 0;  ///< CPU time of the large stores, without their faults
  std::uint64_t untimed = 0;  ///< bytes of the small stores, which are not timed
};

// Upper bounds of the time of a store. Every current core writes faster than 4 GB/s, even to memory that is in no
// cache. In addition, a call takes less than kMostNsPerStore.
constexpr double kMostNsPerByte = 0.25;
constexpr std::uint64_t kMostNsPerStore = 10;
constexpr const char* kBytesOutside = "from outside, the sizes of stores are not known";
constexpr const char* kUntimed = "stores under 64 KiB are counted, but not timed";

Stores stores_of(const Tally& sum, ZeroKind kind, double ns_per_byte) {
  Stores stores{sum_of(sum.zeroed[kind])};
  const ZeroCost& cost = sum.cost[kind];
  stores.untimed = cost.cpu_ns == 0 ? stores.bytes : less(stores.bytes, cost.bytes);
  // The time of stores that took faults is reduced by the usual cost of such faults. If a fault takes 10 µs, as in some
  // virtual machines, that cost can exceed the whole time of the stores. The time of stores without faults is measured,
  // and therefore remains.
  const std::uint64_t with_faults_ns = less(cost.cpu_ns, cost.faultless_cpu_ns);
  const double in_faults = as_double(std::min(cost.faults * page_bytes(), cost.bytes)) * ns_per_byte;
  stores.user_ns = cost.cpu_ns - std::min(with_faults_ns, as_count(in_faults));
  return stores;
}

// While the rows are made, at_least_cpu_ns is the measured time of a row. If a part of the row's time was not measured,
// cpu_ns is n/a, with the reason.

TaxRow known_row(Cause cause, std::uint64_t bytes, std::uint64_t ns) {
  TaxRow row;
  row.cause = cause;
  row.bytes = bytes;
  row.cpu_ns = row.at_least_cpu_ns = ns;
  return row;
}

void set_unknown(TaxRow& row, const std::string& why, std::optional<std::uint64_t> most_ns) {
  row.cpu_ns = NotAvailable{why};
  row.at_most_cpu_ns = Count(most_ns, why);
}

/// Returns a row of stores that took at least `ns`. The time of small stores is not included.
TaxRow untimed_row(Cause cause, std::uint64_t bytes, std::uint64_t ns, const Stores& stores) {
  TaxRow row = known_row(cause, bytes, ns);
  const auto untimed_ns = as_count(as_double(stores.untimed) * kMostNsPerByte);
  if (stores.untimed != 0) set_unknown(row, kUntimed, ns + untimed_ns + stores.stores * kMostNsPerStore);
  return row;
}

void add_store_rows(Tax& tax, const TaxInput& input, double ns_per_byte) {
  Stores inside = stores_of(input.sum, kInCalloc, ns_per_byte);
  const Stores other = stores_of(input.sum, kInOther, ns_per_byte);
  inside.add(other);
  inside.user_ns += other.user_ns;
  inside.untimed += other.untimed;
  const std::uint64_t redundant_ns = part_of(inside.user_ns, inside.redundant_bytes, inside.examined_bytes);
  tax.rows.push_back(known_row(Cause::kRedundant, inside.redundant_bytes, redundant_ns));
  tax.rows.push_back(
      known_row(Cause::kNeeded, inside.examined_bytes - inside.redundant_bytes, inside.user_ns - redundant_ns));
  const auto set_unseen = [&](TaxRow& row, const std::string& why) {
    if (why.empty()) return;
    set_unknown(row, why, std::nullopt);
    if (*row.bytes == 0 || input.unseen.attributed_wrongly) row.bytes = NotAvailable{why};
  };
  for (auto row = tax.rows.end() - 2; row != tax.rows.end(); ++row) set_unseen(*row, input.unseen.of_allocator);
  if (const std::uint64_t unexamined = less(inside.bytes, inside.examined_bytes); unexamined != 0) {
    tax.rows.push_back(untimed_row(Cause::kUnexamined, unexamined, 0, inside));
    if (input.unseen.attributed_wrongly) set_unseen(tax.rows.back(), input.unseen.of_allocator);
  }
  constexpr std::pair<Cause, ZeroKind> kOthers[] = {
      {Cause::kInFree, kInFree}, {Cause::kByHand, kByHand}, {Cause::kByProgram, kCleared}};
  for (const auto& [cause, kind] : kOthers) {
    const Stores stores = stores_of(input.sum, kind, ns_per_byte);
    if (cause != Cause::kInFree || stores.bytes != 0) {
      tax.rows.push_back(untimed_row(cause, stores.bytes, stores.user_ns, stores));
      if (cause == Cause::kByHand) set_unseen(tax.rows.back(), input.unseen.by_hand);
      if (cause == Cause::kByProgram) set_unseen(tax.rows.back(), input.unseen.by_program);
    }
  }
}

/// Limits the estimates to the program's CPU time that no measured row takes.
void cap(Tax& tax) {
  std::uint64_t estimated = 0;
  std::uint64_t measured = 0;
  for (const TaxRow& row : tax.rows) (row.estimated ? estimated : measured) += row.at_least_cpu_ns;
  const std::uint64_t left = less(tax.cpu_ns, measured);
  if (estimated <= left) return;
  tax.capped = true;
  for (TaxRow& row : tax.rows) {
    if (row.estimated) row.cpu_ns = row.at_least_cpu_ns = part_of(left, row.at_least_cpu_ns, estimated);
  }
}

void set_sampled(TaxRow& row, const SampledTime& time) {
  row.cpu_ns = row.at_least_cpu_ns = time.ns;
  row.cpu_interval_ns = time.interval_ns;
}

/// Returns a row for a program recorded from outside. Whether the stores of zeros were redundant is unknown.
TaxRow outside_row(Cause cause, const Count& bytes, const Measured<SampledTime>& time, std::uint64_t most_ns) {
  TaxRow row = known_row(cause, 0, 0);
  row.bytes = bytes;
  if (time) {
    set_sampled(row, *time);
  } else {
    set_unknown(row, time.why(), most_ns);
  }
  return row;
}

TaxRow returning_row(const TaxInput& input) {
  if (input.outside != nullptr) {
    const OutsideTimes& times = *input.outside;
    return outside_row(Cause::kReturning, times.returned_bytes, times.returning, times.system_ns);
  }
  TaxRow returning = known_row(Cause::kReturning, 0, 0);
  for (const auto& causes : input.sum.returned) {
    for (const ReturnRow& row : causes) {
      *returning.bytes += row.bytes;
      returning.at_least_cpu_ns += row.cpu_ns;
    }
  }
  returning.cpu_ns = returning.at_least_cpu_ns;
  if (*returning.bytes >= kLargeBytes && returning.at_least_cpu_ns == 0)
    set_unknown(returning, kNoCpuClock, input.cpu_ns);
  return returning;
}

/// Adds the kernel's rows. One row is an upper bound of the bytes that were not seen.
void add_kernel_rows(Tax& tax, const TaxInput& input, const FaultCost& cost) {
  const KernelPart& kernel = input.kernel;
  const auto sampled = input.outside != nullptr ? input.outside->zero_fills : std::nullopt;
  auto fault_ns = sampled ? sampled->ns : as_count(kernel.fault_ns(cost));
  if (input.outside != nullptr && input.outside->too_few.empty() && fault_ns > input.outside->system_ns) {
    fault_ns = input.outside->system_ns;
    tax.capped = true;
  }
  const std::uint64_t refilled_ns = part_of(fault_ns, kernel.refilled, kernel.zeroed);
  const std::uint64_t refill_faults = part_of(kernel.faults, kernel.refilled, kernel.zeroed);
  const auto add = [&](Cause cause, std::uint64_t bytes, std::uint64_t faults, std::uint64_t ns) {
    TaxRow& row = tax.rows.emplace_back(known_row(cause, bytes, ns));
    row.faults = faults;
    if (input.outside != nullptr && !input.outside->too_few.empty()) {
      row.at_least_cpu_ns = 0;
      return set_unknown(row, input.outside->too_few, tax.cpu_ns);
    }
    row.estimated = !sampled;
    if (!sampled) return;
    // The interval of all faults is divided in proportion to the rows' bytes. A row's own interval would end at 0 if no
    // sample hit its faults.
    std::array<std::uint64_t, 2> ends = sampled->interval_ns;
    for (std::uint64_t& end : ends) {
      const std::uint64_t refilled = part_of(end, kernel.refilled, kernel.zeroed);
      end = cause == Cause::kRefilled ? refilled : end - refilled;
    }
    row.cpu_interval_ns = ends;
  };
  add(Cause::kFresh, kernel.zeroed - kernel.refilled, kernel.faults - refill_faults, fault_ns - refilled_ns);
  add(Cause::kRefilled, kernel.refilled, refill_faults, refilled_ns);
  tax.rows.push_back(returning_row(input));
  if (!kernel.unlimited && kernel.unseen == 0) return;
  TaxRow unseen = known_row(Cause::kUnseen, 0, 0);
  const bool is_priced = !kernel.unlimited && cost.base_ns_per_byte;
  const auto most_ns = as_count(as_double(kernel.unseen) * cost.base_ns_per_byte.value_or(0));
  set_unknown(unseen, kernel.why_not, is_priced ? std::optional(most_ns) : std::nullopt);
  unseen.bytes = NotAvailable{kernel.why_not};
  unseen.at_most_bytes = known_if(!kernel.unlimited, kernel.unseen, kernel.why_not);
  tax.rows.push_back(unseen);
}

/// Time measured by the threads' clocks is a lower bound of the program's CPU time.
std::uint64_t measured_ns(const Tax& tax) {
  std::uint64_t sum = 0;
  for (const TaxRow& row : tax.rows) sum += row.estimated ? 0 : row.at_least_cpu_ns;
  return sum;
}

}  // namespace

void add_rows(Tax& tax, const TaxInput& input) {
  add_kernel_rows(tax, input, tax.fault_cost);
  if (input.outside != nullptr) {
    tax.rows.push_back(
        outside_row(Cause::kStores, NotAvailable{kBytesOutside}, input.outside->stores, input.outside->user_ns));
  } else {
    add_store_rows(tax, input, tax.fault_cost.base_ns_per_byte.value_or(0));
    if (tax.cpu_ns != 0) tax.cpu_ns = std::max(tax.cpu_ns, measured_ns(tax));
  }
  cap(tax);
}

}  // namespace zerotax::record
