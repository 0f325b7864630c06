#include "record/tax.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/units.h"
#include "os/page.h"

namespace zerotax::record {
namespace {

using namespace record;

double as_double(std::uint64_t value) { return static_cast<double>(value); }

std::uint64_t part_of(std::uint64_t whole, std::uint64_t part, std::uint64_t of) {
  return of == 0 ? 0 : static_cast<std::uint64_t>(as_double(whole) * std::min(1.0, as_double(part) / as_double(of)));
}

struct Stores {
  std::uint64_t bytes = 0;
  std::uint64_t redundant = 0;
  std::uint64_t examined = 0;
  std::uint64_t user_ns = 0;  ///< of the large ones, without their faults
};

Stores stores_of(const Tally& sum, ZeroKind kind, double ns_per_byte) {
  Stores stores;
  for (const ZeroRow& row : sum.zeroed[kind]) {
    stores.bytes += row.bytes;
    stores.redundant += row.redundant_bytes;
    stores.examined += row.examined_bytes;
  }
  const ZeroCost& cost = sum.cost[kind];
  const double in_faults = as_double(std::min(cost.faults * kPageBytes, cost.bytes)) * ns_per_byte;
  stores.user_ns = cost.cpu_ns - std::min(cost.cpu_ns, static_cast<std::uint64_t>(in_faults));
  return stores;
}

TaxRow store_row(Cause cause, std::uint64_t bytes, std::uint64_t ns) {
  return {cause, bytes, std::nullopt, ns, false, ""};
}

void add_store_rows(Tax& tax, const Tally& sum, double ns_per_byte) {
  Stores inside = stores_of(sum, kInCalloc, ns_per_byte);
  const Stores other = stores_of(sum, kInOther, ns_per_byte);
  inside.bytes += other.bytes;
  inside.redundant += other.redundant;
  inside.examined += other.examined;
  inside.user_ns += other.user_ns;
  const std::uint64_t redundant_ns = part_of(inside.user_ns, inside.redundant, inside.examined);
  tax.rows.push_back(store_row(Cause::kRedundant, inside.redundant, redundant_ns));
  tax.rows.push_back(store_row(Cause::kNeeded, inside.examined - inside.redundant, inside.user_ns - redundant_ns));
  if (inside.bytes > inside.examined) {
    TaxRow row = store_row(Cause::kUnexamined, inside.bytes - inside.examined, 0);
    row.why_not = "stores under 64 KiB are counted, but not timed";
    tax.rows.push_back(row);
  }
  const Stores in_free = stores_of(sum, kInFree, ns_per_byte);
  if (in_free.bytes != 0) tax.rows.push_back(store_row(Cause::kInFree, in_free.bytes, in_free.user_ns));
  const Stores by_hand = stores_of(sum, kByHand, ns_per_byte);
  tax.rows.push_back(store_row(Cause::kByHand, by_hand.bytes, by_hand.user_ns));
}

/// Cuts the estimates to the time that is left of the program's.
void cap(Tax& tax) {
  std::uint64_t estimated = 0;
  std::uint64_t measured = 0;
  for (const TaxRow& row : tax.rows) (row.estimated ? estimated : measured) += row.cpu_ns;
  const std::uint64_t left = tax.cpu_ns > measured ? tax.cpu_ns - measured : 0;
  if (estimated <= left) return;
  tax.capped = true;
  for (TaxRow& row : tax.rows) {
    if (row.estimated) row.cpu_ns = part_of(left, row.cpu_ns, estimated);
  }
}

}  // namespace

const char* cause_name(Cause cause) {
  constexpr const char* kNames[] = {"fresh",  "refilled",   "returning", "redundant",
                                    "needed", "unexamined", "in_free",   "by_hand"};
  static_assert(std::size(kNames) == static_cast<std::size_t>(Cause::kByHand) + 1);
  return kNames[static_cast<std::size_t>(cause)];
}

std::uint64_t Tax::zeroing_ns() const {
  std::uint64_t ns = 0;
  for (const TaxRow& row : rows) ns += row.cpu_ns;
  return ns;
}

std::uint64_t Tax::kernel_ns() const {
  std::uint64_t ns = 0;
  for (const TaxRow& row : rows) {
    if (row.cause <= Cause::kReturning) ns += row.cpu_ns;
  }
  return ns;
}

double Tax::share(std::uint64_t ns) const { return cpu_ns == 0 ? 0 : std::min(1.0, as_double(ns) / as_double(cpu_ns)); }

const TaxRow* Tax::worst() const {
  const auto found =
      std::max_element(rows.begin(), rows.end(), [](const TaxRow& a, const TaxRow& b) { return a.cpu_ns < b.cpu_ns; });
  return found == rows.end() || found->cpu_ns == 0 ? nullptr : &*found;
}

Json Tax::json() const {
  const auto share_json = [&](std::uint64_t ns) {
    return cpu_ns == 0 ? not_available("the kernel counted no CPU time for the run") : Json(share(ns));
  };
  Json json;
  json["cpu_ns"] = cpu_ns;
  json["recorder_cpu_ns"] = own_cpu_ns;
  json["zeroing_cpu_ns"] = zeroing_ns();
  json["kernel_cpu_ns"] = kernel_ns();
  json["share_of_cpu"] = share_json(zeroing_ns());
  json["capped"] = capped;
  json["rows"] = Json::array();
  for (const TaxRow& row : rows) {
    const auto known = [&](const Json& value) { return row.why_not.empty() ? value : not_available(row.why_not); };
    Json one;
    one["cause"] = cause_name(row.cause);
    one["bytes"] = row.bytes ? Json(*row.bytes) : known(nullptr);
    one["faults"] = row.faults ? Json(*row.faults) : Json(nullptr);
    one["cpu_ns"] = known(row.cpu_ns);
    one["share_of_cpu"] = row.why_not.empty() ? share_json(row.cpu_ns) : not_available(row.why_not);
    one["estimated"] = row.estimated;
    json["rows"].push_back(one);
  }
  return json;
}

Tax make_tax(const Tally& sum, const KernelPart& kernel, const FaultCost& cost, std::uint64_t cpu_ns) {
  Tax tax;
  tax.own_cpu_ns = std::min(sum.own_cpu_ns, cpu_ns);
  tax.cpu_ns = cpu_ns - tax.own_cpu_ns;
  const auto fault_ns = static_cast<std::uint64_t>(kernel.fault_ns(cost));
  const std::uint64_t refilled_ns = part_of(fault_ns, kernel.refilled, kernel.zeroed);
  const std::uint64_t refill_faults = part_of(kernel.faults, kernel.refilled, kernel.zeroed);
  tax.rows.push_back({Cause::kFresh, kernel.zeroed - kernel.refilled, kernel.faults - refill_faults,
                      fault_ns - refilled_ns, true, ""});
  tax.rows.push_back({Cause::kRefilled, kernel.refilled, refill_faults, refilled_ns, true, ""});
  std::uint64_t returned = 0;
  std::uint64_t returned_ns = 0;
  for (const auto& causes : sum.returned) {
    for (const ReturnRow& row : causes) {
      returned += row.bytes;
      returned_ns += row.cpu_ns;
    }
  }
  tax.rows.push_back({Cause::kReturning, returned, std::nullopt, returned_ns, false, ""});
  if (!kernel.why_not.empty()) {
    for (TaxRow& row : tax.rows) row = {row.cause, std::nullopt, std::nullopt, 0, row.estimated, kernel.why_not};
  }
  add_store_rows(tax, sum, cost.base_ns.value_or(0));
  cap(tax);
  return tax;
}

std::string tax_advice(const Tax& tax, const Tally& sum, const std::string& allocator) {
  const TaxRow* worst = tax.worst();
  if (worst == nullptr || tax.share(worst->cpu_ns) < kNoticed) {
    return "Nothing to gain here: no cause of zeroing takes 1 % of the CPU time.";
  }
  const Cause cause = worst->cause;
  if (cause == Cause::kFresh) {
    return "Try next: reuse buffers, or allocate less: most of what is zeroed is memory that the program never had "
           "before.";
  }
  if (cause == Cause::kByHand)
    return "Try next: replace malloc and memset by calloc, which need not write fresh memory.";
  if (cause == Cause::kRedundant || cause == Cause::kNeeded || cause == Cause::kInFree) {
    return "Try next: another allocator (zerotax record --allocator mimalloc -- COMMAND), or malloc in place of calloc "
           "where the program overwrites the block.";
  }
  std::uint64_t by_program = 0;
  std::uint64_t all = 0;
  for (std::size_t i = 0; i < kReturnCauses; ++i) {
    for (const ReturnRow& row : sum.returned[i]) {
      all += row.bytes;
      if (i == kByProgram) by_program += row.bytes;
    }
  }
  if (by_program * 2 > all) {
    return "Try next: keep the memory that the program itself unmaps, and use it again.";
  }
  if (allocator.find("libc.so") != std::string::npos || allocator.find("libc-") != std::string::npos) {
    return "Try next: MALLOC_TRIM_THRESHOLD_=1073741824 MALLOC_MMAP_THRESHOLD_=1073741824 in the environment, which "
           "has glibc keep freed memory, or another allocator (--allocator mimalloc).";
  }
  return "Try next: a longer decay, or another allocator (--allocator NAME), so that freed memory is kept.";
}

}  // namespace zerotax::record
