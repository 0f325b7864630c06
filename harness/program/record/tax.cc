#include "record/tax.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/units.h"
#include "os/page.h"
#include "os/processor.h"
#include "record/metrics.h"

namespace zerotax::record {
namespace {

constexpr const char* kNoCpuTime = "the kernel counted no CPU time for the run";

/// Lower and upper bound of a time, in nanoseconds. The upper bound is missing if it is unknown.
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

/// Whether the bounds differ by at most a fiftieth of the upper bound.
bool is_narrow(const Bounds& bounds) { return bounds.most && (*bounds.most - bounds.least) * 50 <= *bounds.most; }

/// Limits upper bounds. A row exceeds its lower bound by at most the CPU time minus the sum of all lower
/// bounds.
void cap_bounds(Tax& tax) {
  const std::uint64_t least = bounds_of(tax.rows, Cause::kStores).least;
  const std::uint64_t left = less(tax.cpu_ns, least);
  for (TaxRow& row : tax.rows) {
    if (row.at_most_cpu_ns && *row.at_most_cpu_ns) {
      row.at_most_cpu_ns = std::min(**row.at_most_cpu_ns, row.at_least_cpu_ns + left);
    }
  }
}

/// Returns why the row with the widest bounds is not known exactly, or an empty string if all rows are known.
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

/// Stores in `tax` the interval of the sum: the ends of the intervals of sampled rows, plus the lower bounds of other
/// rows. This interval is too wide rather than too narrow, because not all samples err in the same direction. Stores
/// nothing if no row was sampled.
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

/// Replaces narrow bounds by one number, except the bounds of unseen bytes, whose lower bound is 0.
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

/// Whether programs that recorded nothing took at least 1 % of the run's CPU time, or an unknown part of it.
bool misses_programs(const Tax& tax) {
  const Count& missed = tax.not_recorded.cpu_ns;
  if (tax.not_recorded.processes == 0) return false;
  return !missed || as_double(*missed) >= kNoticed * as_double(*missed + tax.cpu_ns + tax.recorder_cpu_ns);
}

std::uint64_t cost_of_cause(const Tax& tax, Cause cause) {
  const auto row =
      std::find_if(tax.rows.begin(), tax.rows.end(), [&](const TaxRow& each) { return each.cause == cause; });
  return row == tax.rows.end() ? 0 : cost_of(*row);
}

/// Returns the bounds of a row; for a sampled row, the ends of its interval.
Bounds certain_bounds(const TaxRow& row) {
  if (row.cpu_interval_ns) return {row.cpu_interval_ns->front(), row.cpu_interval_ns->back()};
  return {row.at_least_cpu_ns, most_of(row)};
}

/// Whether only the upper end of a sampled row's interval is enough CPU time to matter (kNoticed).
bool is_open(const Tax& tax, const TaxRow& row) {
  if (!row.cpu_interval_ns) return false;
  const auto [least, most] = *row.cpu_interval_ns;
  return share_of_cpu(tax, least) < kNoticed && share_of_cpu(tax, most) >= kNoticed;
}

/// Returns the advice to take more samples if the present samples leave open whether the cost matters. Otherwise,
/// returns an empty string.
std::string undecided_advice(Tax& tax, const TaxRow& worst, const TaxInput& input) {
  if (input.outside == nullptr) return "";
  const auto set_longer = [&] {
    tax.find_out = FindOut::kLonger;
    tax.remedy = input.outside->longer;
    tax.longer_seconds = input.outside->longer_seconds;
  };
  if (!input.outside->too_few.empty()) {
    set_longer();
    return fmt::format("No verdict: {}. For a verdict, {}.", input.outside->too_few, input.outside->longer);
  }
  // If a row certainly costs enough, it is worth advice, whatever the other rows cost.
  if (share_of_cpu(tax, certain_bounds(worst).least) >= kNoticed) return "";
  const TaxRow* open = nullptr;
  for (const TaxRow& row : tax.rows) {
    if (!is_open(tax, row)) continue;
    if (open == nullptr || row.cpu_interval_ns->back() > open->cpu_interval_ns->back()) open = &row;
  }
  if (open == nullptr) return "";
  set_longer();
  const auto [least, most] = *open->cpu_interval_ns;
  return fmt::format(
      "No verdict: samples leave open whether a cause of zeroing takes 1 % of the CPU time (one cause takes {} to"
      " {}). For a verdict, {}.",
      format_percent(share_of_cpu(tax, least)), format_percent(share_of_cpu(tax, most)), input.outside->longer);
}

/// Returns the advice as a sentence if no cause takes enough time. Otherwise, stores the costliest row's cause in the
/// tax, and returns an empty string.
std::string advice_of(Tax& tax, const TaxInput& input) {
  const std::uint64_t returning = cost_of_cause(tax, Cause::kReturning);
  // A setting that keeps memory from being returned also saves the cost of returning it.
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
    tax.find_out = FindOut::kCauses;
    return "The cost of zeroing here is not known exactly. Try next: zerotax profile -- COMMAND, which samples every "
           "process from outside, its page faults and its memset.";
  }
  if (!noticed && tax.other_faults.noticed) {
    tax.find_out = FindOut::kFaults;
    return other_faults_words("No known cause of zeroing takes 1 % of the CPU time", tax);
  }
  if (!noticed) return "Nothing to gain here: no cause of zeroing takes 1 % of the CPU time.";
  tax.advice_about = worst->cause;
  return "";
}

}  // namespace

std::uint64_t cost_of(const TaxRow& row) { return std::max(row.at_least_cpu_ns, most_of(row).value_or(0)); }

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

std::vector<const TaxRow*> costly_rows(const Tax& tax) {
  std::vector<const TaxRow*> rows;
  for (const TaxRow& row : tax.rows) {
    const std::uint64_t cost = cost_of(row);
    const bool has_bytes = row.bytes ? *row.bytes != 0 : row.at_most_bytes && *row.at_most_bytes;
    const bool has_cost = row.cpu_ns || (!row.bytes && cost < tax.cpu_ns);
    if (cost != 0 && share_of_cpu(tax, cost) >= kNoticed && (has_bytes || has_cost)) rows.push_back(&row);
  }
  const auto rank = [](const TaxRow* row) { return std::pair(cost_of(*row), row->bytes.value_or(0)); };
  std::stable_sort(rows.begin(), rows.end(), [&](auto* a, auto* b) { return rank(a) > rank(b); });
  return rows;
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

/// Stores the cost of other faults in `tax`. This cost is at most the CPU time that no cause of zeroing takes, so that
/// no fault counts twice.
void put_other_faults(Tax& tax, const TaxInput& input, double ns_per_byte) {
  OtherFaults& other = tax.other_faults;
  other.faults = less(input.kernel.minor_faults, input.kernel.faults);
  other.estimated_cpu_ns = as_count(as_double(other.faults * page_bytes()) * ns_per_byte);
  const std::uint64_t left = less(tax.cpu_ns, bounds_of(tax.rows, Cause::kStores).least);
  other.capped = other.estimated_cpu_ns > left;
  other.estimated_cpu_ns = std::min(other.estimated_cpu_ns, left);
  other.noticed = share_of_cpu(tax, other.estimated_cpu_ns) >= kNoticed;
}

/// Marks the rows that matter by their share of the memory that the program held, or of the program's CPU time.
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
  tax.not_recorded.noticed = misses_programs(tax);
  add_rows(tax, input);
  cap_bounds(tax);
  put_other_faults(tax, input, cost.base_ns_per_byte.value_or(0));
  put_sums(tax);
  if (input.outside != nullptr && !input.outside->too_few.empty()) withhold(tax, input.outside->too_few);
  put_beside(tax, input);
  tax.advice = advice_of(tax, input);
  for (TaxRow& row : tax.rows) settle(row, tax);
  return tax;
}

}  // namespace zerotax::record
