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
  using enum FunctionChange;
  FunctionVerdict result;
  result.self_change_ns = static_cast<std::int64_t>(after.self.sum()) - static_cast<std::int64_t>(before.self.sum());
  const bool spread_is_known = std::min(before.self.count(), after.self.count()) >= kFewestCalls;
  result.noise_ns = NotAvailable{"fewer than 10 calls in a trace"};
  if (spread_is_known) {
    result.noise_ns = kDeviations * std::sqrt(variance_of_sum(before.self) + variance_of_sum(after.self));
  }
  const auto become = [&](FunctionChange change, const char* why = nullptr) {
    result.verdict = change;
    if (why != nullptr) result.why = why;
    return result;
  };
  const bool calls_differ = before.self.count() != after.self.count();
  if (!complete && (calls_differ || !before.is_there() || !after.is_there())) {
    return become(kUnclear, "records are missing in a trace");
  }
  if (!before.is_there()) return become(kAppeared);
  if (!after.is_there()) return become(kVanished);
  const auto change = static_cast<double>(std::abs(result.self_change_ns));
  const bool is_large = change > kPart * static_cast<double>(before.self.sum());
  if (is_large && spread_is_known && change > *result.noise_ns) {
    return become(result.self_change_ns > 0 ? kGrew : kShrank);
  }
  if (calls_differ) {
    return become(after.self.count() > before.self.count() ? kMoreCalls : kFewerCalls);
  }
  if (is_large && !spread_is_known) {
    return become(kUnclear, "too few calls to tell a change from chance");
  }
  return result;
}

Direction direction_of(FunctionChange change) {
  using enum FunctionChange;
  if (change == kAppeared || change == kGrew || change == kMoreCalls) return Direction::kMore;
  return change == kVanished || change == kShrank || change == kFewerCalls ? Direction::kLess : Direction::kSame;
}

}  // namespace zerotax::trace
