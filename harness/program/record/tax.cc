#include "record/tax.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/units.h"
#include "os/emulated_cpu.h"
#include "os/page.h"
#include "record/metrics.h"

namespace zerotax::record {
namespace {

std::uint64_t part_of(std::uint64_t whole, std::uint64_t part, std::uint64_t of) {
  return of == 0 ? 0 : as_count(as_double(whole) * std::min(1.0, as_double(part) / as_double(of)));
}

struct Stores : ZeroRow {
  std::uint64_t user_ns = 0;  ///< of the large ones, without their faults
  std::uint64_t untimed = 0;  ///< bytes of the small ones
};

// A core that writes less than 4 GB/s to memory that no cache holds is older than what runs here; and a call.
constexpr double kMostNsPerByte = 0.25;
constexpr std::uint64_t kMostNsPerStore = 10;
constexpr const char* kNoCpuTime = "the kernel counted no CPU time for the run";
constexpr const char* kBytesOutside = "from outside, the sizes of stores are not known";
constexpr const char* kUntimed = "stores under 64 KiB are counted, but not timed";

Stores stores_of(const Tally& sum, ZeroKind kind, double ns_per_byte) {
  Stores stores{sum_of(sum.zeroed[kind])};
  const ZeroCost& cost = sum.cost[kind];
  stores.untimed = cost.cpu_ns == 0 ? stores.bytes : less(stores.bytes, cost.bytes);
  // The time of stores that took faults is reduced by what such faults cost elsewhere; where a fault takes 10 µs, as in
  // some virtual machines, that estimate can exceed all that they took. The time of the other stores is measured.
  const std::uint64_t with_faults_ns = less(cost.cpu_ns, cost.faultless_cpu_ns);
  const double in_faults = as_double(std::min(cost.faults * page_bytes(), cost.bytes)) * ns_per_byte;
  stores.user_ns = cost.cpu_ns - std::min(with_faults_ns, as_count(in_faults));
  return stores;
}

// While the rows are made, at_least_cpu_ns is what a row took, and cpu_ns n/a with the reason where that is not all.

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

/// Of stores of which the small ones were not timed: they took `ns` at least.
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

/// Cuts the estimates to the time that is left of the program's.
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

/// From outside, nobody knows whether stores of zeros were redundant.
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

/// The kernel's part: what was seen of it, and what may have come in addition.
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
    // The interval is divided by bytes, so that it does not end at 0 where no sample hit a fault.
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

/// From a least to a most; no most if nobody knows.
struct Bounds {
  std::uint64_t least = 0;
  std::optional<std::uint64_t> most = 0;
};

std::optional<std::uint64_t> most_of(const TaxRow& row) {
  if (row.cpu_ns) return row.at_least_cpu_ns;
  return *row.at_most_cpu_ns ? std::optional(**row.at_most_cpu_ns) : std::nullopt;
}

Bounds bounds_of(const std::vector<TaxRow>& rows, Cause last) {
  Bounds bounds;
  for (const TaxRow& row : rows) {
    if (row.cause > last) continue;
    const auto most = most_of(row);
    bounds.least += row.at_least_cpu_ns;
    bounds.most = bounds.most && most ? std::optional(*bounds.most + *most) : std::nullopt;
  }
  return bounds;
}

/// Within a fiftieth.
bool is_narrow(const Bounds& bounds) { return bounds.most && (*bounds.most - bounds.least) * 50 <= *bounds.most; }

/// What may have come in addition cannot have taken more than the time that is left.
void cap_bounds(Tax& tax) {
  const std::uint64_t least = bounds_of(tax.rows, Cause::kStores).least;
  const std::uint64_t left = less(tax.cpu_ns, least);
  for (TaxRow& row : tax.rows) {
    if (row.at_most_cpu_ns && *row.at_most_cpu_ns) {
      row.at_most_cpu_ns = std::min(**row.at_most_cpu_ns, row.at_least_cpu_ns + left);
    }
  }
}

/// Of the row that leaves most open: why not all is known. Empty if all is.
std::string why_not(const std::vector<TaxRow>& rows) {
  const TaxRow* worst = nullptr;
  const auto gap = [](const TaxRow& row) {
    const auto most = most_of(row);
    return most ? *most - row.at_least_cpu_ns : ~std::uint64_t{0};
  };
  for (const TaxRow& row : rows) {
    if (!row.cpu_ns && (worst == nullptr || gap(row) > gap(*worst))) worst = &row;
  }
  return worst == nullptr ? "" : worst->cpu_ns.why();
}

/// Puts the interval of the sum: ends of intervals where rows were sampled, and the least of other rows. The interval
/// is too wide rather than too narrow, because not all samples err in the same direction. Puts nothing if no row was
/// sampled.
void put_interval(Tax& tax) {
  std::array<std::uint64_t, 2> sum{};
  bool any = false;
  for (const TaxRow& row : tax.rows) {
    any = any || row.cpu_interval_ns;
    for (std::size_t i = 0; i < sum.size(); ++i) {
      sum.at(i) += row.cpu_interval_ns ? row.cpu_interval_ns->at(i) : row.at_least_cpu_ns;
    }
  }
  if (any) tax.zeroing_cpu_interval_ns = {sum[0], std::max(sum[0], std::min(sum[1], tax.cpu_ns))};
}

void put_sums(Tax& tax) {
  Bounds zeroing = bounds_of(tax.rows, Cause::kStores);
  if (zeroing.most && tax.cpu_ns != 0) zeroing.most = std::max(zeroing.least, std::min(*zeroing.most, tax.cpu_ns));
  const std::string why = why_not(tax.rows);
  const auto value = [&](const Bounds& bounds) {
    const bool near = bounds.most && share_of_cpu(tax, *bounds.most - bounds.least) < kNoticed;
    return known_if(near || is_narrow(bounds), bounds.least, why);
  };
  tax.zeroing_cpu_ns = value(zeroing);
  tax.kernel_cpu_ns = value(bounds_of(tax.rows, Cause::kUnseen));
  tax.share_of_cpu = tax.cpu_ns == 0 ? NotAvailable{kNoCpuTime}
                                     : known_if(bool{tax.zeroing_cpu_ns}, share_of_cpu(tax, zeroing.least), why);
  tax.zeroing_at_least_cpu_ns = zeroing.least;
  tax.zeroing_at_most_cpu_ns = {zeroing.most, why};
  put_interval(tax);
}

/// Where the bounds are narrow, they are one figure; but no estimate of what was not seen is one of nothing.
void settle(TaxRow& row, const Tax& tax) {
  const auto share = known_if(tax.cpu_ns != 0, share_of_cpu(tax, row.at_least_cpu_ns), kNoCpuTime);
  if (row.cause != Cause::kUnseen && is_narrow({row.at_least_cpu_ns, most_of(row)})) {
    row.cpu_ns = row.at_least_cpu_ns;
    row.share_of_cpu = share;
    row.at_most_cpu_ns = row.at_most_bytes = std::nullopt;
    return;
  }
  row.share_of_cpu = NotAvailable{row.cpu_ns.why()};
  if (!row.at_most_bytes) row.at_most_bytes = row.bytes;
}

/// Whether programs that recorded nothing took 1 % of the run's CPU time, or nobody knows how much.
bool misses_programs(const Tax& tax) {
  const Count& missed = tax.not_recorded.cpu_ns;
  if (tax.not_recorded.processes == 0) return false;
  return !missed || as_double(*missed) >= kNoticed * as_double(*missed + tax.cpu_ns + tax.recorder_cpu_ns);
}

/// The most that a row may have cost; for a sampled row, the estimate itself.
std::uint64_t cost_of(const TaxRow& row) { return std::max(row.at_least_cpu_ns, most_of(row).value_or(0)); }

std::uint64_t cost_of_cause(const Tax& tax, Cause cause) {
  const auto row =
      std::find_if(tax.rows.begin(), tax.rows.end(), [&](const TaxRow& each) { return each.cause == cause; });
  return row == tax.rows.end() ? 0 : cost_of(*row);
}

/// The bounds of a row; for a sampled row, its interval.
Bounds certain_bounds(const TaxRow& row) {
  if (row.cpu_interval_ns) return {row.cpu_interval_ns->front(), row.cpu_interval_ns->back()};
  return {row.at_least_cpu_ns, most_of(row)};
}

/// Whether samples leave open if a row takes enough time to matter (kNoticed).
bool is_open(const Tax& tax, const TaxRow& row) {
  if (!row.cpu_interval_ns) return false;
  const auto [least, most] = *row.cpu_interval_ns;
  return share_of_cpu(tax, least) < kNoticed && share_of_cpu(tax, most) >= kNoticed;
}

/// The advice where samples do not decide; empty if they do.
std::string undecided_advice(const Tax& tax, const TaxRow& worst, const TaxInput& input) {
  if (input.outside == nullptr) return "";
  if (!input.outside->too_few.empty()) {
    return fmt::format("No verdict: {}. To have one, {}.", input.outside->too_few, input.outside->longer);
  }
  // A row that certainly costs enough is worth advice, whatever the others cost.
  if (share_of_cpu(tax, certain_bounds(worst).least) >= kNoticed) return "";
  const TaxRow* open = nullptr;
  for (const TaxRow& row : tax.rows) {
    if (!is_open(tax, row)) continue;
    if (open == nullptr || row.cpu_interval_ns->back() > open->cpu_interval_ns->back()) open = &row;
  }
  if (open == nullptr) return "";
  const auto [least, most] = *open->cpu_interval_ns;
  return fmt::format(
      "No verdict: samples leave open whether a cause of zeroing takes 1 % of the CPU time (one takes {} to {}). To "
      "know, {}.",
      format_percent(share_of_cpu(tax, least)), format_percent(share_of_cpu(tax, most)), input.outside->longer);
}

/// The advice in one sentence if no cause takes enough time. Otherwise empty, and puts the cause of the costliest row.
std::string advice_of(Tax& tax, const TaxInput& input) {
  const std::uint64_t returning = cost_of_cause(tax, Cause::kReturning);
  // A setting that keeps memory from going back also saves the cost of its return.
  const auto all_of = [&](const TaxRow& row) {
    return cost_of(row) + (row.cause == Cause::kRefilled && cost_of(row) != 0 ? returning : 0);
  };
  const auto worst = std::max_element(tax.rows.begin(), tax.rows.end(),
                                      [&](const TaxRow& a, const TaxRow& b) { return all_of(a) < all_of(b); });
  if (std::string undecided = undecided_advice(tax, *worst, input); !undecided.empty()) return undecided;
  const bool noticed = cost_of(*worst) != 0 && share_of_cpu(tax, cost_of(*worst)) >= kNoticed;
  const bool unknown =
      noticed ? worst->cause == Cause::kUnseen : !tax.zeroing_at_most_cpu_ns || tax.not_recorded.noticed;
  if (unknown) {
    return "The cost of zeroing here is not known exactly. Try next: zerotax profile -- COMMAND, which samples every "
           "process from outside, its page faults and its memset.";
  }
  if (!noticed && tax.other_faults.noticed) {
    return other_faults_words("No cause of zeroing that was seen takes 1 % of the CPU time", tax);
  }
  if (!noticed) return "Nothing to gain here: no cause of zeroing takes 1 % of the CPU time.";
  tax.advice_about = worst->cause;
  return "";
}

}  // namespace

double share_of_cpu(const Tax& tax, std::uint64_t ns) {
  return tax.cpu_ns == 0 ? 0 : std::min(1.0, as_double(ns) / as_double(tax.cpu_ns));
}

std::string other_faults_words(const std::string& before, const Tax& tax) {
  return fmt::format(
      "{}. But {} page faults are of other kinds: files, copies after a fork, shared memory, memory returned by a way "
      "that was not seen. They may take {}{}. Try next: zerotax cow -- COMMAND, which tells them apart.",
      before, format_count(tax.other_faults.faults), tax.other_faults.capped ? "up to " : "",
      format_percent(share_of_cpu(tax, tax.other_faults.estimated_cpu_ns)));
}

bool is_worth_advice(const Tax& tax) {
  return std::any_of(tax.rows.begin(), tax.rows.end(), [&](const TaxRow& row) {
    return row.share_of_cpu && *row.share_of_cpu >= kNoticed && !is_open(tax, row);
  });
}

namespace {

/// Makes the sums of times unknown if too few samples were taken, even if all times are 0.
void withhold(Tax& tax, const std::string& why) {
  tax.zeroing_cpu_ns = tax.kernel_cpu_ns = NotAvailable{why};
  tax.share_of_cpu = NotAvailable{why};
}

/// Puts the cost of other faults, at most the CPU time that the causes of zeroing leave: no fault is paid twice.
void put_other_faults(Tax& tax, const TaxInput& input, double ns_per_byte) {
  OtherFaults& other = tax.other_faults;
  other.faults = less(input.kernel.minor_faults, input.kernel.faults);
  other.estimated_cpu_ns = as_count(as_double(other.faults * page_bytes()) * ns_per_byte);
  const std::uint64_t left = less(tax.cpu_ns, bounds_of(tax.rows, Cause::kStores).least);
  other.capped = other.estimated_cpu_ns > left;
  other.estimated_cpu_ns = std::min(other.estimated_cpu_ns, left);
  other.noticed = share_of_cpu(tax, other.estimated_cpu_ns) >= kNoticed;
}

/// The time measured by the clocks of threads, which is the least that the program took.
std::uint64_t measured_ns(const Tax& tax) {
  std::uint64_t sum = 0;
  for (const TaxRow& row : tax.rows) sum += row.estimated ? 0 : row.at_least_cpu_ns;
  return sum;
}

/// Compares bytes with those that the program held, and times with its CPU time.
void put_beside(Tax& tax, const TaxInput& input) {
  tax.beside = input.beside;
  for (BesideRow& row : *tax.beside) {
    const double bytes = row.bytes && *row.bytes ? as_double(**row.bytes) : 0;
    const bool much = bytes >= kLargeBytes && bytes > kNoticed * (as_double(input.kernel.peak) + bytes);
    const bool long_time = row.ns && *row.ns && share_of_cpu(tax, **row.ns) >= kNoticed;
    row.noticed = row.noticed || much || long_time;
  }
}

}  // namespace

Tax make_tax(const TaxInput& input, const FaultCost& cost) {
  Tax tax;
  tax.fault_cost = cost;
  tax.emulated_cpu = cpu_is_emulated();
  tax.not_recorded = input.not_recorded;
  const std::uint64_t recorded = less(input.cpu_ns, input.not_recorded.cpu_ns.value_or(0));
  tax.recorder_cpu_ns = std::min(input.sum.own_cpu_ns, recorded);
  tax.cpu_ns = recorded - tax.recorder_cpu_ns;
  add_kernel_rows(tax, input, cost);
  const double ns_per_byte = cost.base_ns_per_byte.value_or(0);
  tax.not_recorded.noticed = misses_programs(tax);
  if (input.outside != nullptr) {
    tax.rows.push_back(
        outside_row(Cause::kStores, NotAvailable{kBytesOutside}, input.outside->stores, input.outside->user_ns));
  } else {
    add_store_rows(tax, input, ns_per_byte);
  }
  if (input.outside == nullptr && tax.cpu_ns != 0) tax.cpu_ns = std::max(tax.cpu_ns, measured_ns(tax));
  cap(tax);
  cap_bounds(tax);
  put_other_faults(tax, input, ns_per_byte);
  put_sums(tax);
  if (input.outside != nullptr && !input.outside->too_few.empty()) withhold(tax, input.outside->too_few);
  put_beside(tax, input);
  tax.advice = advice_of(tax, input);
  for (TaxRow& row : tax.rows) settle(row, tax);
  return tax;
}

}  // namespace zerotax::record
