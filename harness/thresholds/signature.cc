#include "thresholds/signature.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "core/point_health.h"
#include "core/typed_point.h"

namespace zerotax::thresholds {
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
  if (found.contains("mmap")) found.erase("munmap");
  return found;
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

std::string zeroing_words(const Behaviour& behaviour) {
  if (behaviour.zeroed == kUnknown) return "zero nobody knows how much";
  if (behaviour.zeroed == "none") return "write no zeros";
  std::string what = behaviour.zeroed == "all" ? "zero the whole block" : "zero part of the block";
  if (behaviour.redundant == kUnknown) return what;
  if (behaviour.redundant == "none") return what + ", which was dirty";
  return what + (behaviour.redundant == "all" ? ", needlessly" : ", partly needlessly");
}

/// How much one side of a change costs, by its words: only to be compared with the other side's.
int cost_of(std::string_view side) {
  const auto has = [&](const char* words) { return side.find(words) != std::string_view::npos; };
  if (has("crashed") || has("timeout") || has("failed") || has("not_zero") || has("misaligned")) return 9;
  if (has("zero the whole block")) return has("partly needlessly") ? 3 : has("needlessly") ? 4 : 1;
  if (has("zero part of the block")) return has("needlessly") ? 2 : 1;
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

void describe(const char* who, const Behaviour& below, const Behaviour& above, std::vector<std::string>& changes) {
  if (zeroing_words(below) != zeroing_words(above)) {
    changes.push_back(fmt::format("{} {} (before: {})", who, zeroing_words(above), zeroing_words(below)));
  }
  if (below.home != above.home) {
    changes.push_back(
        fmt::format("the block of {} {} (before: {})", who, home_words(above.home), home_words(below.home)));
  }
  if (below.populated != above.populated) {
    changes.push_back(fmt::format("{} populate {} of the block (before: {})", who, above.populated, below.populated));
  }
  if (below.calloc_syscalls != above.calloc_syscalls) {
    changes.push_back(fmt::format("{} make {} (before: {})", who, calls_words(above.calloc_syscalls),
                                  calls_words(below.calloc_syscalls)));
  }
  if (below.free_syscalls != above.free_syscalls) {
    const std::string_view back = gives_back(below) == gives_back(above) ? "" : gives_back(above) ? kGoesBack : kIsKept;
    changes.push_back(fmt::format("free after {} makes {} (before: {}){}", who, calls_words(above.free_syscalls),
                                  calls_words(below.free_syscalls), back));
  }
}

Json behaviour_json(const Behaviour& behaviour) {
  return Json{{"home", behaviour.home},
              {"zeroed", behaviour.zeroed},
              {"redundant", behaviour.redundant},
              {"populated", behaviour.populated},
              {"calloc_syscalls", behaviour.calloc_syscalls},
              {"free_syscalls", behaviour.free_syscalls}};
}

Behaviour behaviour_from_json(const Json& json) {
  return {json.at("home"),      json.at("zeroed"),          json.at("redundant"),
          json.at("populated"), json.at("calloc_syscalls"), json.at("free_syscalls")};
}

}  // namespace

bool is_unknown(const std::string& word) { return word.empty() || word == kUnknown; }

bool gives_back(const Behaviour& behaviour) {
  return behaviour.free_syscalls.contains("munmap") || behaviour.free_syscalls.contains("madvise") ||
         behaviour.free_syscalls.contains("brk");
}

std::string share_of(std::uint64_t bytes, std::uint64_t size) {
  if (bytes * 4 < size) return "none";
  return bytes * 4 > size * 3 ? "all" : "part";
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

Json signature_json(const Signature& signature) {
  Json json;
  json["status"] = signature.status;
  if (!signature.refilling.refilled.empty()) {
    json["refilling"] = {{"refilled", signature.refilling.refilled}, {"returned_by", signature.refilling.returned_by}};
  } else if (signature.status == "ok") {
    json["fresh"] = behaviour_json(signature.fresh);
    json["reuse"] = behaviour_json(signature.reuse);
  }
  return json;
}

Signature signature_from_json(const Json& json) {
  Signature signature;
  signature.status = json.at("status");
  if (signature.status != "ok") return signature;
  if (json.contains("refilling")) {
    signature.refilling = {json.at("refilling").at("refilled"), json.at("refilling").at("returned_by")};
    return signature;
  }
  signature.fresh = behaviour_from_json(json.at("fresh"));
  signature.reuse = behaviour_from_json(json.at("reuse"));
  return signature;
}

}  // namespace zerotax::thresholds
