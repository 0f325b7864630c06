#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>

#include "base/lines.h"
#include "base/names.h"
#include "base/units.h"
#include "trace/fields.h"
#include "trace/function_calls.h"
#include "trace/function_result.h"
#include "trace/function_verdict.h"

namespace zerotax::trace {
namespace {

/// Function name and file name together identify a function. Addresses differ between runs, and paths of files may have
/// changed.
using Name = std::pair<std::string, std::string>;
struct Sides {
  FunctionSide before;
  FunctionSide after;
};
using AllSides = std::map<Name, Sides>;

void read_side(CtfTrace& trace, FunctionFilter& filter, FunctionSide Sides::*side, AllSides& all) {
  FunctionProfile profile(trace, filter, false);
  for (const auto& [key, figures] : profile.figures()) {
    const NamedFrame& frame = profile.frame(key.first, key.second);
    FunctionSide& function = all[{frame_label(frame, true), file_name(frame.module.value_or(""))}].*side;
    function.total_ns += figures.total_ns;
    function.self.add(figures.self);
    function.unfinished += figures.unfinished;
  }
}

Measured<DiffFigures> figures_of(const FunctionSide& side) {
  if (!side.is_there()) return NotAvailable{"not called"};
  const std::uint64_t calls = side.self.count();
  return DiffFigures{calls,
                     side.total_ns,
                     side.self.sum(),
                     known_if(calls > 0, calls > 0 ? side.self.mean() : 0, "no call ended"),
                     known_if(calls > 1, calls > 1 ? std::sqrt(side.self.variance()) : 0, "fewer than two calls ended"),
                     side.unfinished};
}

DiffRow row_of(const Name& name, const Sides& sides, bool complete) {
  const auto& [before, after] = sides;
  return {judge_function(before, after, complete),
          name.first,
          known_if(!name.second.empty(), name.second, "the address lies in no loaded file"),
          figures_of(before),
          figures_of(after),
          static_cast<std::int64_t>(after.self.count()) - static_cast<std::int64_t>(before.self.count())};
}

std::string signed_time(std::int64_t ns) { return (ns < 0 ? "-" : "+") + time_text(std::abs(ns)); }

constexpr double kPart = 0.1;               ///< smallest change that counts, as a part of the self time in the earlier
                                            ///< trace
constexpr std::uint64_t kFewestCalls = 10;  ///< smallest number of calls whose variance is useful
constexpr double kDeviations = 3.0;         ///< standard deviations that count as noise; if calls are independent,
                                            ///< chance exceeds them for 0.3 % of functions

double variance_of_sum(const TimeSums& self) { return static_cast<double>(self.count()) * self.variance(); }

}  // namespace

FunctionDiff diff_functions(CtfTrace& before, CtfTrace& after, FunctionFilter& filter) {
  AllSides all;
  read_side(before, filter, &Sides::before, all);
  read_side(after, filter, &Sides::after, all);
  filter.check_all_matched();
  FunctionDiff diff{source_of(before), source_of(after), filter, Direction::kSame, {}};
  const bool complete = diff.before.is_complete() && diff.after.is_complete();
  for (const auto& [name, sides] : all) {
    diff.functions.push_back(row_of(name, sides, complete));
    diff.verdict = std::max(diff.verdict, direction_of(diff.functions.back().verdict));
  }
  std::stable_sort(diff.functions.begin(), diff.functions.end(), [](const DiffRow& one, const DiffRow& other) {
    return std::abs(one.self_change_ns) > std::abs(other.self_change_ns);
  });
  return diff;
}

std::string function_diff_text(const FunctionDiff& diff) {
  std::string text = fmt::format("{:>19} {:>19}\n{:>9} {:>9} {:>9} {:>9} {:>9}  {:<11}  function\n", "calls", "self",
                                 "before", "after", "before", "after", "change", "verdict");
  const auto calls = [](const Measured<DiffFigures>& side) { return side ? format_count(side->calls) : "-"; };
  const auto self = [](const Measured<DiffFigures>& side) { return side ? time_text(side->self_ns) : "-"; };
  std::uint64_t same = 0;
  for (const DiffRow& row : diff.functions) {
    if (row.verdict == FunctionChange::kSame) {
      ++same;
      continue;
    }
    text += fmt::format("{:>9} {:>9} {:>9} {:>9} {:>9}  {:<11}  {}\n", calls(row.before), calls(row.after),
                        self(row.before), self(row.after), signed_time(row.self_change_ns), word(row.verdict),
                        one_line(row.function));
  }
  if (diff.functions.empty()) return "neither trace has such function calls: record them with --functions\n";
  if (same == diff.functions.size()) text.clear();
  if (same > 0) text += fmt::format("{} the same\n", format_counted(same, "function is", "functions are"));
  return text;
}

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
