#include "judge/signature.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "os/page.h"
#include "point/point_health.h"
#include "point/typed_point.h"

namespace zerotax {
namespace {

constexpr const char* kUnknown = "n/a";

// The words of a change of status: a baseline keeps nothing else of it.
constexpr std::string_view kStatusChange = "the point is ";
constexpr std::string_view kBefore = " (before: ";
constexpr std::string_view kGoesBack = ": memory goes back to the kernel";
constexpr std::string_view kIsKept = ": memory is kept";

std::string share(std::optional<std::uint64_t> bytes, std::uint64_t beyond, std::uint64_t size) {
  return bytes ? share_of(*bytes - std::min(beyond, *bytes), size) : kUnknown;
}

/// `calls`: nullptr if they were not counted.
std::set<std::string> names(const SystemCalls* calls) {
  if (calls == nullptr) return {kUnknown};
  std::set<std::string> found;
  for (const auto& [name, times] : *calls) found.insert(name);
  return found;
}

/// An aligned mapping is mapped larger and cut, or not, by where the kernel put it: that is rounding, not behaviour.
std::set<std::string> names_in_calloc(const SystemCalls* calls) {
  std::set<std::string> found = names(calls);
  if (found.count("mmap") > 0) found.erase("munmap");
  return found;
}

FreeZeroing in_free_of(const MetricValues& values, std::uint64_t size) {
  const auto zeroed = values.count(Metric::kZeroedInFreeBytes);
  const auto redundant = values.count(Metric::kRedundantZeroedInFreeBytes);
  const std::uint64_t beyond = zeroed.value_or(0) > size ? *zeroed - size : 0;
  if (!values.is_upper_bound(Metric::kZeroedInFreeBytes)) {
    return {share(zeroed, beyond, size), share(zeroed ? redundant : zeroed, beyond, size)};
  }
  const std::string all = share_of_bound(*zeroed, size, values.page_bytes());
  return {all, redundant && all != kUnknown ? share_of_bound(*redundant, size, values.page_bytes()) : kUnknown};
}

Behaviour behaviour_of(const MetricValues& values, std::uint64_t size) {
  const auto zeroed = values.count(Metric::kZeroedBytes);
  // Rounding up to a size class zeroes bytes that nobody asked for; they were not touched, so they are all redundant.
  const std::uint64_t all = zeroed.value_or(0);
  const std::uint64_t beyond = all > size ? all - size : 0;
  Behaviour behaviour;
  behaviour.home = values.word(Metric::kHome).value_or(kUnknown);
  behaviour.zeroed = share(zeroed, beyond, size);
  behaviour.redundant = share(values.count(Metric::kRedundantZeroedBytes), beyond, size);
  behaviour.populated = share(values.count(Metric::kPopulatedBytes), 0, size);
  behaviour.calloc_syscalls = names_in_calloc(values.calls(Metric::kCallocSyscalls));
  behaviour.free_syscalls = names(values.calls(Metric::kFreeSyscalls));
  behaviour.in_free = in_free_of(values, size);
  return behaviour;
}

/// Shares of what a round of refill_loop touches.
Refilling refilling_of(const Point& point) {
  const auto requested = point.count(Metric::kRequestedBytes);
  const auto refilled = point.count(Metric::kRefilledBytes);
  if (!requested || !refilled) return {kUnknown, {}};
  const auto used = static_cast<std::uint64_t>(static_cast<double>(*requested) * point.touch);
  Refilling found{share_of(*refilled, used), {}};
  for (const auto& [name, metric] : {std::pair{"munmap", Metric::kReturnedByMunmapBytes},
                                     {"madvise", Metric::kReturnedByMadviseBytes},
                                     {"brk", Metric::kReturnedByBrkBytes}}) {
    if (share_of(point.count(metric).value_or(0), used) != "none") found.returned_by.insert(name);
  }
  return found;
}

std::string refilling_words(const Refilling& refilling) {
  if (refilling.refilled == kUnknown) return "refill nobody knows how much";
  if (refilling.refilled == "none") return "refill next to nothing: memory is kept";
  return fmt::format(
      "refill {} of what they use, returned by {}", refilling.refilled,
      refilling.returned_by.empty() ? "several ways" : fmt::format("{}", fmt::join(refilling.returned_by, " and ")));
}

std::string zeroing_words(const std::string& zeroed, const std::string& redundant, const char* zero = "zero",
                          const char* write = "write") {
  if (is_unknown(zeroed)) return fmt::format("{} nobody knows how much", zero);
  if (zeroed == "none") return fmt::format("{} no zeros", write);
  std::string what = fmt::format("{} {} block", zero, zeroed == "all" ? "the whole" : "part of the");
  if (is_unknown(redundant)) return what;
  if (redundant == "none") return what + ", which was dirty";
  return what + (redundant == "all" ? ", needlessly" : ", partly needlessly");
}

std::string zeroing_words(const Behaviour& behaviour) { return zeroing_words(behaviour.zeroed, behaviour.redundant); }

std::string zeroing_words(const FreeZeroing& in_free) {
  return zeroing_words(in_free.zeroed, in_free.redundant, "zeroes", "writes");
}

/// How much one side of a change costs, by its words: only to be compared with the other side's.
int cost_of(std::string_view side) {
  const auto has = [&](const char* words) { return side.find(words) != std::string_view::npos; };
  if (has("crashed") || has("timeout") || has("failed") || has("not_zero") || has("misaligned")) return 9;
  if (has("zero the whole block") || has("zeroes the whole block"))
    return has("partly needlessly") ? 3 : has("needlessly") ? 4 : 1;
  if (has("zero part of the block") || has("zeroes part of the block")) return has("needlessly") ? 2 : 1;
  if (has("populate all") || side.starts_with("all")) return 2;
  if (has("populate part") || side.starts_with("part")) return 1;
  return 0;
}

std::string home_words(const std::string& home) {
  if (home == "heap") return "lives in the brk heap";
  if (home == "mapping") return "has a mapping of its own";
  if (home == "arena") return "lives in memory that the allocator keeps";
  return "lives nobody knows where";
}

std::string calls_words(const std::set<std::string>& calls) {
  return calls.empty() ? "no system call" : fmt::format("{}", fmt::join(calls, ", "));
}

void describe(const std::string& who, const Behaviour& below, const Behaviour& above,
              std::vector<std::string>& changes) {
  const auto add = [&](const std::string& subject, const std::string& now, const std::string& before,
                       std::string_view more = "") {
    if (now != before) changes.push_back(fmt::format("{} {}{}{}){}", subject, now, kBefore, before, more));
  };
  const std::string_view back = gives_back(below) == gives_back(above) ? "" : gives_back(above) ? kGoesBack : kIsKept;
  add(who, zeroing_words(above), zeroing_words(below));
  add("the block of " + who, home_words(above.home), home_words(below.home));
  if (below.populated != above.populated) {
    changes.push_back(fmt::format("{} populate {} of the block (before: {})", who, above.populated, below.populated));
  }
  add(who + " make", calls_words(above.calloc_syscalls), calls_words(below.calloc_syscalls));
  add("free after " + who + " makes", calls_words(above.free_syscalls), calls_words(below.free_syscalls), back);
  if (!(below.in_free == above.in_free)) {
    add("free after " + who, zeroing_words(above.in_free), zeroing_words(below.in_free));
  }
}

bool agree(const std::string& one, const std::string& other) {
  return one == other || is_unknown(one) || is_unknown(other);
}

bool take_unknown(FreeZeroing& in_free, const FreeZeroing& known) {
  if (!is_unknown(in_free.zeroed)) return false;
  in_free = known;
  return !is_unknown(known.zeroed);
}

}  // namespace

bool FreeZeroing::operator==(const FreeZeroing& other) const {
  return agree(zeroed, other.zeroed) && agree(redundant, other.redundant);
}

bool is_unknown(const std::string& word) { return word.empty() || word == kUnknown; }

bool gives_back(const Behaviour& behaviour) {
  const std::set<std::string>& calls = behaviour.free_syscalls;
  return calls.count("munmap") + calls.count("madvise") + calls.count("brk") > 0;
}

std::string share_of(std::uint64_t bytes, std::uint64_t size) {
  if (bytes * 4 < size) return "none";
  return bytes * 4 > size * 3 ? "all" : "part";
}

std::string share_of_bound(std::uint64_t at_most, std::uint64_t size, std::uint64_t page) {
  const std::uint64_t most = std::min(at_most, size);
  const std::string share = share_of(most, size);
  return share_of(most - std::min(most, 2 * page), size) == share ? share : kUnknown;
}

bool take_unknown(Signature& signature, const Signature& known) {
  const bool reuse = take_unknown(signature.reuse.in_free, known.reuse.in_free);
  return take_unknown(signature.fresh.in_free, known.fresh.in_free) || reuse;
}

Signature signature_of(const Point& point) {
  Signature signature;
  signature.status = word_of(point.status);
  // A point that failed has no steady state worth comparing: its status is its behaviour.
  if (!point.is_ok() || point.first() == nullptr) return signature;
  if (point.case_name == kRefillCase) {
    signature.refilling = refilling_of(point);
    return signature;
  }
  signature.fresh = behaviour_of(*point.first(), point.size_bytes);
  signature.reuse = behaviour_of(point, point.size_bytes);
  return signature;
}

std::vector<std::string> describe_change(const Signature& below, const Signature& above) {
  std::vector<std::string> changes;
  if (below.status != above.status) {
    changes.push_back(fmt::format("{}{}{}{})", kStatusChange, above.status, kBefore, below.status));
    return changes;
  }
  if (below.refilling != above.refilling) {
    changes.push_back(
        fmt::format("rounds {} (before: {})", refilling_words(above.refilling), refilling_words(below.refilling)));
  }
  describe("later callocs", below.reuse, above.reuse, changes);
  describe("first callocs", below.fresh, above.fresh, changes);
  return changes;
}

std::string free_words(const Behaviour& behaviour) {
  const std::string& zeroed = behaviour.in_free.zeroed;
  return is_unknown(zeroed) || zeroed == "none" ? "" : "; free " + zeroing_words(behaviour.in_free);
}

std::string refilling_text(const Signature& signature) { return "rounds " + refilling_words(signature.refilling); }

bool tells_of_failing(const std::string& change) {
  if (!change.starts_with(kStatusChange)) return false;
  const auto before = change.find(kBefore);
  if (before == std::string::npos) return true;
  const std::string above = change.substr(kStatusChange.size(), before - kStatusChange.size());
  const std::string below = change.substr(before + kBefore.size(), change.size() - before - kBefore.size() - 1);
  return !is_healthy_status(above) || !is_healthy_status(below);
}

int cost_direction_of(const std::vector<std::string>& changes) {
  bool more = false;
  bool less = false;
  for (const std::string& change : changes) {
    const auto before = change.find(kBefore);
    if (before == std::string::npos) continue;
    const int above = cost_of(change.substr(0, before));
    const int below = cost_of(change.substr(before + kBefore.size()));
    more |= above > below || change.ends_with(kGoesBack);
    less |= above < below || change.ends_with(kIsKept);
  }
  return static_cast<int>(more) - static_cast<int>(less);
}

}  // namespace zerotax
