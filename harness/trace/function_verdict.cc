#include "trace/function_verdict.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace zerotax::trace {
namespace {

constexpr double kPart = 0.1;               ///< of the self time before: less is no change
constexpr std::uint64_t kFewestCalls = 10;  ///< whose variance means something
constexpr double kDeviations = 3.0;         ///< a chance of 0.3 % for each function, if calls are independent

double variance_of_sum(const TimeSums& self) { return static_cast<double>(self.count()) * self.variance(); }

}  // namespace

FunctionVerdict judge_function(const FunctionSide& before, const FunctionSide& after, bool complete) {
  FunctionVerdict verdict;
  verdict.change_ns = static_cast<std::int64_t>(after.self.sum()) - static_cast<std::int64_t>(before.self.sum());
  const bool spread_is_known = std::min(before.self.count(), after.self.count()) >= kFewestCalls;
  verdict.noise_ns = spread_is_known
                         ? Json(kDeviations * std::sqrt(variance_of_sum(before.self) + variance_of_sum(after.self)))
                         : not_available("fewer than 10 calls in a trace");
  const auto unclear = [&](const char* why) {
    verdict.name = "unclear";
    verdict.why = why;
    return verdict;
  };
  const bool calls_differ = before.self.count() != after.self.count();
  if (!complete && (calls_differ || !before.is_there() || !after.is_there())) {
    return unclear("records are missing in a trace");
  }
  if (!before.is_there() || !after.is_there()) {
    verdict.name = before.is_there() ? "vanished" : "appeared";
    return verdict;
  }
  const auto change = static_cast<double>(std::abs(verdict.change_ns));
  const bool is_large = change > kPart * static_cast<double>(before.self.sum());
  if (is_large && spread_is_known && change > verdict.noise_ns.get<double>()) {
    verdict.name = verdict.change_ns > 0 ? "grew" : "shrank";
  } else if (calls_differ) {
    verdict.name = after.self.count() > before.self.count() ? "more calls" : "fewer calls";
  } else if (is_large && !spread_is_known) {
    return unclear("too few calls to tell a change from chance");
  } else {
    verdict.name = "same";
  }
  return verdict;
}

int direction_of(const std::string& verdict) {
  if (verdict == "appeared" || verdict == "grew" || verdict == "more calls") return 1;
  return verdict == "vanished" || verdict == "shrank" || verdict == "fewer calls" ? -1 : 0;
}

}  // namespace zerotax::trace
