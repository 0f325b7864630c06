#include "judge/signature.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "os/page.h"
#include "point/typed_point.h"

namespace zerotax {
namespace {

constexpr const char* kUnknown = "n/a";

std::string share(std::optional<std::uint64_t> bytes, std::uint64_t beyond, std::uint64_t size) {
  return bytes ? share_of(*bytes - std::min(beyond, *bytes), size) : kUnknown;
}

/// `calls` is nullptr if the calls were not counted.
std::set<std::string> names(const SystemCalls* calls) {
  if (calls == nullptr) return {kUnknown};
  std::set<std::string> found;
  for (const auto& [name, times] : *calls) found.insert(name);
  return found;
}

/// An allocator may map too much, and then cut the mapping to its alignment with munmap. This munmap is left out,
/// because it depends on the address that the kernel chose.
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

Behaviour behaviour_of(const MetricValues& values, std::uint64_t size, double touch) {
  const auto zeroed = values.count(Metric::kZeroedBytes);
  // Rounding up to a size class zeroes bytes beyond the request. The program never wrote to these bytes, so zeroing
  // them is redundant.
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
  const auto written = static_cast<std::uint64_t>(static_cast<double>(size) * touch);
  if (written > 0) behaviour.purged.share = share(values.count(Metric::kReturnedByMadviseBytes), 0, written);
  return behaviour;
}

/// Shares of the memory that a round of refill_loop touches.
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
  if (refilling.refilled == kUnknown) return "refill an unknown amount";
  if (refilling.refilled == "none") return "refill next to nothing: memory is kept";
  return fmt::format(
      "refill {} of what they use, returned by {}", refilling.refilled,
      refilling.returned_by.empty() ? "several ways" : fmt::format("{}", fmt::join(refilling.returned_by, " and ")));
}

std::string zeroing_words(const std::string& zeroed, const std::string& redundant, const char* zero = "zero",
                          const char* write = "write") {
  if (is_unknown(zeroed)) return fmt::format("{} an unknown amount", zero);
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

/// The rank of a share when costs are compared.
int cost_of(const std::string& share) { return share == "all" ? 2 : share == "part" ? 1 : 0; }

/// The rank of a share of zeroing. Needless zeros cost more than zeros that a dirty block needs.
int cost_of(const std::string& zeroed, const std::string& redundant) {
  const int needless = cost_of(redundant);
  return cost_of(zeroed) == 0 ? 0 : needless == 0 ? 1 : zeroed == "all" ? 2 + needless : 2;
}

Direction direction_of(int below, int above) {
  return above > below ? Direction::kWorse : above < below ? Direction::kBetter : Direction::kNeither;
}

std::string home_words(const std::string& home) {
  if (home == "heap") return "lives in the brk heap";
  if (home == "mapping") return "has a mapping of its own";
  if (home == "arena") return "lives in memory that the allocator keeps";
  return "has an unknown mapping";
}

std::string calls_words(const std::set<std::string>& calls) {
  return calls.empty() ? "no system call" : fmt::format("{}", fmt::join(calls, ", "));
}

void add_change(const std::string& subject, const std::string& now, const std::string& before, Direction direction,
                BehaviourChanges& changes, std::string_view more = "") {
  if (now != before) changes.push_back({fmt::format("{} {} (before: {}){}", subject, now, before, more), direction});
}

void describe(const std::string& who, const Behaviour& below, const Behaviour& above, BehaviourChanges& changes) {
  const Direction back = direction_of(static_cast<int>(gives_back(below)), static_cast<int>(gives_back(above)));
  add_change(who, zeroing_words(above), zeroing_words(below),
             direction_of(cost_of(below.zeroed, below.redundant), cost_of(above.zeroed, above.redundant)), changes);
  add_change("the block of " + who, home_words(above.home), home_words(below.home), Direction::kNeither, changes);
  if (below.populated != above.populated) {
    changes.push_back({fmt::format("{} populate {} of the block (before: {})", who, above.populated, below.populated),
                       direction_of(cost_of(below.populated), cost_of(above.populated))});
  }
  add_change(who + " make", calls_words(above.calloc_syscalls), calls_words(below.calloc_syscalls), Direction::kNeither,
             changes);
  add_change("free after " + who + " makes", calls_words(above.free_syscalls), calls_words(below.free_syscalls), back,
             changes,
             back == Direction::kNeither ? ""
             : gives_back(above)         ? ": memory goes back to the kernel"
                                         : ": memory is kept");
  if (below.in_free == above.in_free) return;
  add_change("free after " + who, zeroing_words(above.in_free), zeroing_words(below.in_free),
             direction_of(cost_of(below.in_free.zeroed, below.in_free.redundant),
                          cost_of(above.in_free.zeroed, above.in_free.redundant)),
             changes);
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
  const bool purges = calls.count("madvise") > 0 && behaviour.purged.share != "none";
  return purges || calls.count("munmap") + calls.count("brk") > 0;
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
  // A point that failed has no steady state worth comparing; its status is its behavior.
  if (!point.is_ok() || point.first() == nullptr) return signature;
  if (point.case_name == kRefillCase) {
    signature.refilling = refilling_of(point);
    return signature;
  }
  signature.fresh = behaviour_of(*point.first(), point.size_bytes, point.touch);
  signature.reuse = behaviour_of(point, point.size_bytes, point.touch);
  return signature;
}

BehaviourChanges describe_change(const Signature& below, const Signature& above) {
  BehaviourChanges changes;
  if (below.status != above.status) {
    const bool failed = !is_healthy_status(below.status);
    const bool fails = !is_healthy_status(above.status);
    add_change("the point is", above.status, below.status,
               direction_of(static_cast<int>(failed), static_cast<int>(fails)), changes);
    changes.back().fails = failed || fails;
    return changes;
  }
  if (below.refilling != above.refilling) {
    add_change("rounds", refilling_words(above.refilling), refilling_words(below.refilling),
               direction_of(cost_of(below.refilling.refilled), cost_of(above.refilling.refilled)), changes);
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

Direction direction_of(const BehaviourChanges& changes) {
  const Verdict verdict = verdict_of(changes);
  return verdict == Verdict::kWorse    ? Direction::kWorse
         : verdict == Verdict::kBetter ? Direction::kBetter
                                       : Direction::kNeither;
}

bool any_fails(const BehaviourChanges& changes) {
  return std::any_of(changes.begin(), changes.end(), [](const BehaviourChange& each) { return each.fails; });
}

void to_json(Json& json, const BehaviourChange& change) { json = change.words; }

namespace {

/// The cost of one side of a change that is described in the words of version 0.2. These words must stay.
int cost_in_words(std::string_view side) {
  const auto has = [&](const char* words) { return side.find(words) != std::string_view::npos; };
  if (has("crashed") || has("timeout") || has("failed") || has("not_zero") || has("misaligned")) return 9;
  if (has("zero the whole block") || has("zeroes the whole block"))
    return has("partly needlessly") ? 3 : has("needlessly") ? 4 : 1;
  if (has("zero part of the block") || has("zeroes part of the block")) return has("needlessly") ? 2 : 1;
  if (has("populate all") || side.starts_with("all")) return 2;
  return has("populate part") || side.starts_with("part") ? 1 : 0;
}

}  // namespace

void from_json(const Json& json, BehaviourChange& change) {
  constexpr std::string_view kBefore = " (before: ";
  change = {json.get<std::string>()};
  const std::string_view words = change.words;
  const auto before = words.find(kBefore);
  if (before == std::string_view::npos) return;
  const int above = cost_in_words(words.substr(0, before));
  const int below = cost_in_words(words.substr(before + kBefore.size()));
  change.direction = words.ends_with(": memory goes back to the kernel") ? Direction::kWorse
                     : words.ends_with(": memory is kept")               ? Direction::kBetter
                                                                         : direction_of(below, above);
  change.fails = words.starts_with("the point is ") && std::max(below, above) == 9;
}

}  // namespace zerotax
