#include "judge/judgement.h"

#include <algorithm>

#include "judge/points.h"
#include "os/page.h"
#include "point/operation_cost.h"

namespace zerotax {
namespace {

Answer answer(bool holds) { return holds ? Answer::kYes : Answer::kNo; }

/// Whether there are such calls; unknown if no kind of call is known.
Answer any_of(const Point& point, std::optional<RedundantCalls> (*calls)(const Point&)) {
  return redundant_calls(point) ? answer(calls(point).has_value()) : Answer::kUnknown;
}

}  // namespace

bool can_have_populated(std::uint64_t faults, std::uint64_t bytes, std::uint64_t page) {
  return 2 * faults * (bytes < huge_page_of(page) ? page : huge_page_of(page)) >= bytes;
}

bool is_change_of_block(std::uint64_t difference, std::uint64_t size_bytes) {
  constexpr double kPartOfBlock = 0.1;
  return static_cast<double>(difference) > kPartOfBlock * static_cast<double>(size_bytes);
}

Answer is_much_of(const std::optional<std::uint64_t>& bytes, std::uint64_t size) {
  return bytes ? answer(is_much(*bytes, size)) : Answer::kUnknown;
}

std::optional<RedundantCalls> fresh_calls(const Point& point) {
  const auto all = redundant_calls(point);
  if (!all) return std::nullopt;
  const auto found =
      std::find_if(all->begin(), all->end(), [](const auto& calls) { return calls.kind == RedundantKind::kFresh; });
  return found == all->end() ? std::nullopt : std::optional(*found);
}

std::optional<RedundantCalls> reuse_calls(const Point& point) {
  const auto all = redundant_calls(point);
  if (!all || all->empty() || all->front().kind != RedundantKind::kReuse) return std::nullopt;
  return std::any_of(all->begin(), all->end(), [](const auto& calls) { return calls.kind == RedundantKind::kFresh; })
             ? std::nullopt
             : std::optional(all->front());
}

Answer zeroes_fresh(const Point& point) { return any_of(point, fresh_calls); }

Answer zeroes_reused(const Point& point) { return any_of(point, reuse_calls); }

Answer first_redundant(const Point& point) {
  if (point.first() == nullptr) return Answer::kUnknown;
  return is_much_of(borne_out(point, of_first(Metric::kRedundantZeroedBytes)), point.size_bytes);
}

std::uint64_t bytes_beyond(const Point& point) {
  const std::uint64_t zeroed = std::max(point.evident_count(Metric::kZeroedBytes).value_or(0),
                                        count_of(point, of_first(Metric::kZeroedBytes)).value_or(0));
  return zeroed > point.size_bytes ? zeroed - point.size_bytes : 0;
}

Answer zeroes_beyond(const Point& point) {
  const bool first = point.first() != nullptr && point.first()->is_measured(Metric::kZeroedBytes);
  if (!first && !point.is_measured(Metric::kZeroedBytes)) return Answer::kUnknown;
  const bool beyond = bytes_beyond(point) >= std::max(point.page_bytes(), point.size_bytes / 16);
  const bool bound =
      point.is_upper_bound(Metric::kZeroedBytes) || (first && point.first()->is_upper_bound(Metric::kZeroedBytes));
  return beyond && bound ? Answer::kUnknown : answer(beyond);
}

Answer clears_in_free(const Point& point) {
  return is_much_of(borne_out(point, Metric::kZeroedInFreeBytes), point.size_bytes);
}

Answer needless_in_free(const Point& point) {
  return is_much_of(borne_out(point, Metric::kRedundantZeroedInFreeBytes), point.size_bytes);
}

Answer returns_memory(const Point& point) {
  if (point.touch != 1) return Answer::kUnknown;
  const auto faults = operation_faults(point);
  const SystemCalls* of_free = point.calls(Metric::kFreeSyscalls);
  const SystemCalls* of_calloc = point.calls(Metric::kCallocSyscalls);
  if (!faults || of_free == nullptr || of_calloc == nullptr) return Answer::kUnknown;
  const auto made = [&](const char* name) {
    return point.calls(Metric::kFreeSyscalls, name).value_or(0) +
           point.calls(Metric::kCallocSyscalls, name).value_or(0);
  };
  const bool can = made("munmap") + made("madvise") + made("brk") > 0;
  return answer(can && can_have_populated(*faults, point.size_bytes, point.page_bytes()));
}

}  // namespace zerotax
