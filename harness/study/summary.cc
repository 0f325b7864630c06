#include "study/summary.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/size.h"
#include "base/units.h"
#include "base/wrap.h"

namespace zerotax::study {

using findings::AllocatorTax;
using findings::RedundantCalls;
using findings::SizeCost;
using findings::SizeSpan;
using findings::redundant_words;
using findings::which_calls;
namespace {

constexpr std::uint64_t kSmallHeadline = 100 * kMiB;
constexpr std::uint64_t kLargeHeadline = 1000 * kMiB;

const SizeCost* cost_at(const AllocatorTax& tax, std::uint64_t size) {
  const auto found =
      std::find_if(tax.costs.begin(), tax.costs.end(), [&](const SizeCost& cost) { return cost.size_bytes == size; });
  return found == tax.costs.end() ? nullptr : &*found;
}

/// A time in a table; of calls that are not alike, the two most frequent kinds: "17.0 / 403 ms", "310 us / 39.1 ms".
std::string time_at(const AllocatorTax& tax, std::uint64_t size) {
  const SizeCost* cost = cost_at(tax, size);
  if (cost == nullptr || !cost->calloc_ns) return "n/a";
  if (cost->calloc_ns_modes.size() < 2) return format_ns(*cost->calloc_ns);
  std::string one = format_ns(cost->calloc_ns_modes[0]);
  const std::string other = format_ns(cost->calloc_ns_modes[1]);
  if (const std::size_t unit = one.find(' '); other.ends_with(one.substr(unit))) one.resize(unit);
  return fmt::format("{} / {}", one, other);
}

/// "100 %", or "1/7 calls" where only some of them write zeros needlessly.
std::string redundant_share(const SizeCost* cost) {
  if (cost == nullptr || !cost->redundant_bytes) return "n/a";
  if (cost->paying && !cost->paying->every())
    return fmt::format("{}/{} calls", cost->paying->ops, cost->paying->of_ops);
  return fmt::format("{:.0f} %",
                     100.0 * static_cast<double>(*cost->redundant_bytes) / static_cast<double>(cost->size_bytes));
}

std::string span_text(const SizeSpan& span) {
  if (span.from == span.to) return format_size(span.from);
  return fmt::format("{} to {}", format_size(span.from), format_size(span.to));
}

std::string spans_text(const std::vector<SizeSpan>& spans) {
  std::string text;
  for (const SizeSpan& span : spans) text += (text.empty() ? "" : ", ") + span_text(span);
  return text.empty() ? "never" : text;
}

/// The dearest size at which the allocator pays.
const SizeCost* dearest(const AllocatorTax& tax) {
  const SizeCost* worst = nullptr;
  for (const SizeCost& cost : tax.costs) {
    if (!cost.paying || !cost.paying->calloc_ns) continue;
    if (worst == nullptr || *cost.paying->calloc_ns > *worst->paying->calloc_ns) worst = &cost;
  }
  return worst;
}

/// What free does: an allocator whose calloc need not clear, because its free has, is not acquitted.
std::string free_clause(const AllocatorTax& tax) {
  std::string text;
  const char* who = tax.paying.empty() && tax.measured > 0 ? "That is calloc alone: free" : "Its free";
  if (!tax.needlessly_in_free.empty()) {
    text = fmt::format(" {} writes zeros over blocks that are zero already, at {}.", who,
                       spans_text(tax.needlessly_in_free));
  } else if (!tax.cleared_in_free.empty()) {
    text = fmt::format(" {} clears what was written to a block, at {}.", who, spans_text(tax.cleared_in_free));
  }
  if (tax.free_not_measured > 0) {
    text += fmt::format(" At {} size{} it is not known what free writes.", tax.free_not_measured,
                        tax.free_not_measured == 1 ? "" : "s");
  }
  return text;
}

std::string sentence(const AllocatorTax& tax) {
  if (tax.measured == 0) return fmt::format("**{}**: not known, for no size could be audited.", tax.label);
  std::string text;
  const SizeCost* worst = dearest(tax);
  if (tax.paying.empty()) {
    text = fmt::format("**{}** never writes zeros over a block that was zero already, at any of {} sizes.", tax.label,
                       tax.measured);
  } else {
    const bool always = tax.paying.size() == 1 && tax.paying[0].from == tax.costs.front().size_bytes &&
                        tax.paying[0].to == tax.costs.back().size_bytes;
    text = fmt::format("**{}** writes zeros over memory that is zero already, {}{}.", tax.label,
                       always ? "at every size, " : "at ", spans_text(tax.paying));
  }
  if (worst != nullptr) {
    const RedundantCalls& calls = *worst->paying;
    text += fmt::format(" Dearest is {}: {} redundant bytes, {} page faults and {} for {}.",
                        format_size(worst->size_bytes), redundant_words(calls),
                        calls.calloc_faults ? format_count(*calls.calloc_faults) : "n/a", format_ns(*calls.calloc_ns),
                        calls.every() ? "each calloc" : "each of these, " + which_calls(calls));
  }
  if (tax.paying.empty() && !tax.paying_fresh.empty()) {
    text += fmt::format(" Its first calloc does, at {}.", spans_text(tax.paying_fresh));
  } else if (!tax.paying.empty() && tax.paying_fresh.empty()) {
    text += " The first calloc of a process does not.";
  }
  text += free_clause(tax);
  if (tax.not_measured > 0) text += fmt::format(" {} sizes could not be audited.", tax.not_measured);
  return text;
}

std::string table(const std::vector<AllocatorTax>& taxes) {
  std::string text =
      fmt::format("| {:<26} | {:>15} | {:>16} | {:>9} |\n|:{:-<26}-|-{:->15}:|-{:->16}:|-{:->9}:|\n",
                  "one calloc, then a free", "calloc(100 MiB)", "calloc(1000 MiB)", "redundant", "", "", "", "");
  for (const AllocatorTax& tax : taxes) {
    const SizeCost* small = cost_at(tax, kSmallHeadline);
    text += fmt::format("| {:<26} | {:>15} | {:>16} | {:>9} |\n", tax.label.substr(0, 26), time_at(tax, kSmallHeadline),
                        time_at(tax, kLargeHeadline), redundant_share(small));
  }
  return text;
}

}  // namespace

std::string write_summary(const std::vector<AllocatorTax>& taxes) {
  std::string text =
      "## Who pays for zeros that were there already\n\n"
      "A block from calloc must be zero. Memory fresh from the kernel is, and so is\n"
      "memory that nobody wrote to. An allocator that writes zeros there all the same\n"
      "pays for nothing: time, page faults, and memory that is populated for it.\n"
      "Below, a program callocs a block, touches none of it, and frees it, again and\n"
      "again.\n\n";
  text += table(taxes);
  text += "\n(time of one calloc; redundant: share of the 100 MiB that was zeroed needlessly)\n\n";
  for (const AllocatorTax& tax : taxes) text += wrap(sentence(tax), "- ", "  ");
  bool heading = false;
  for (const AllocatorTax& tax : taxes) {
    for (const std::string& problem : tax.problems) {
      if (!heading) text += "\nPoints without a result:\n\n";
      heading = true;
      text += wrap(fmt::format("{} {}", tax.label, problem), "- ", "  ");
    }
  }
  return text;
}

}  // namespace zerotax::study
