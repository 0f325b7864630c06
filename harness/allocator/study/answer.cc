#include "study/answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "base/one_line.h"
#include "base/units.h"
#include "findings/summary.h"
#include "judge/judgement.h"
#include "point/plan.h"
#include "study/points_table.h"

namespace zerotax::study {
namespace {

constexpr std::size_t kLongestLabel = 22;

bool zeroes_needlessly(const Point& point) {
  const auto calls = redundant_calls(point);
  return calls && !calls->empty();
}

double cost_of(const Point& point, Metric metric) { return point.number(metric).value_or(0); }

/// Sorts points: failed ones first, then those with a result by `metric`, the largest value first.
std::vector<Point> sorted(std::vector<Point> points, Metric metric) {
  std::stable_sort(points.begin(), points.end(), [&](const Point& a, const Point& b) {
    const auto weight = [&](const Point& point) {
      return std::tuple(!is_healthy(point), point.is_ok(), cost_of(point, metric),
                        cost_of(point, Metric::kRedundantZeroedBytes));
    };
    return weight(a) > weight(b);
  });
  return points;
}

/// Returns a label. Omits the version of a preloaded library, because that version is often a build ID.
std::string label_of(const Point& point) {
  return point.preload ? point.allocator + settings_words(point.env) : allocator_label(point);
}

std::string place_of(const Point& point) {
  return fmt::format("{} at {}, touch {:g}{}", label_of(point), format_size(point.size_bytes), point.touch,
                     point.thread == "worker" ? ", worker thread" : "");
}

Table plain_table(const std::vector<Point>& points, const Palette& palette) {
  Table table({{"allocator", Unit::kText, 16},
               right_text("size", 9),
               {"touch", Unit::kNumber, 5},
               right_text("calloc", 9),
               right_text("faults", 8),
               right_text("zeroed", 9),
               right_text("needless", 9),
               {"", Unit::kText}});
  for (const Point& point : points) {
    const std::string mark = !is_healthy(point)         ? palette(Tone::kWorse, "!")
                             : zeroes_needlessly(point) ? palette(Tone::kWorse, "*")
                                                        : "";
    table.add({first_characters(label_of(point) + (point.thread == "worker" ? " (worker)" : ""), kLongestLabel),
               format_size(point.size_bytes), point.touch, time_word(point, Metric::kCallocNs),
               count_word(point, Metric::kCallocFaults), bytes_word(point, Metric::kZeroedBytes),
               bytes_word(point, Metric::kRedundantZeroedBytes), Cell::colored(mark)});
  }
  return table;
}

Table copies_table(const std::vector<Point>& points) {
  Table table({{"forking", Unit::kText, 22},
               right_text("size", 10),
               {"touch", Unit::kNumber, 5},
               right_text("fork", 10),
               right_text("child", 10),
               right_text("parent", 10)});
  for (const Point& point : points) {
    table.add({first_characters(label_of(point), kLongestLabel), format_size(point.size_bytes), point.touch,
               time_word(point, Metric::kForkNs), count_word(point, Metric::kChildCopies),
               count_word(point, Metric::kParentCopies)});
  }
  return table;
}

/// A kind of points: of cases that fork, of cases that receive, of cases that refill, or of all other cases.
struct Kind {
  bool (*has)(const Point&);
  Metric cost;
};
constexpr Kind kKinds[] = {
    {[](const Point& point) { return point.has(MetricGroup::kFork); }, Metric::kForkNs},
    {[](const Point& point) { return point.has(MetricGroup::kTransfer); }, Metric::kCpuSPerGb},
    {[](const Point& point) { return point.case_name == "refill_loop"; }, Metric::kRefilledBytes},
    {[](const Point&) { return true; }, Metric::kCallocNs}};

/// Returns the first of kKinds to which any of the points belongs.
const Kind& kind_of(const std::vector<Point>& points) {
  return *std::find_if(std::begin(kKinds), std::end(kKinds), [&](const Kind& kind) {
    return points.empty() || std::any_of(points.begin(), points.end(), kind.has);
  });
}

std::string needless_words(const std::vector<Point>& points) {
  const auto worst = std::find_if(points.begin(), points.end(), zeroes_needlessly);
  const auto count = std::count_if(points.begin(), points.end(), zeroes_needlessly);
  if (worst == points.end()) {
    const auto slowest = std::find_if(points.begin(), points.end(), [](const Point& point) { return point.is_ok(); });
    const auto known = static_cast<std::size_t>(std::count_if(
        points.begin(), points.end(), [](const Point& point) { return redundant_calls(point).has_value(); }));
    std::string text =
        known == 0 ? "It is unknown whether calloc zeroes memory needlessly."
                   : fmt::format("calloc zeroes nothing needlessly at any of {}.", format_counted(known, "point"));
    if (known > 0 && known < points.size()) {
      text += fmt::format(" Unknown at {}.", format_counted(points.size() - known, "more point"));
    }
    if (slowest == points.end() || !slowest->number(Metric::kCallocNs)) return text;
    return text + fmt::format(" Slowest: {} for {}.", time_word(*slowest, Metric::kCallocNs), place_of(*slowest));
  }
  const RedundantCalls calls = redundant_calls(*worst)->front();
  const auto ns = calls.every() ? worst->number(Metric::kCallocNs) : calls.calloc_ns;
  return fmt::format(
      "calloc zeroes memory needlessly at {} of {}. Worst: {}: {} zeroes {} bytes that are zero already{}.", count,
      format_counted(points.size(), "point"), place_of(*worst), which_calls(calls), redundant_words(calls),
      ns ? fmt::format(", in {}", format_ns(*ns)) : "");
}

std::string headline(const std::vector<Point>& points, Metric cost) {
  const Point& worst = points.front();
  const std::string others =
      points.size() > 1 ? fmt::format(", the most of {}", format_counted(points.size(), "point")) : "";
  if (!worst.is_ok() && is_healthy(worst)) {
    return fmt::format("No point was measured. First: {}: {}.", place_of(worst),
                       worst.reason.value_or("no reason is given"));
  }
  if (!is_healthy(worst)) {
    const auto broken =
        std::count_if(points.begin(), points.end(), [](const Point& point) { return !is_healthy(point); });
    return fmt::format("{} of {} failed. First: {}: {}: {}.", broken, format_counted(points.size(), "point"),
                       place_of(worst), word_of(worst.status), worst.reason.value_or("no reason is given"));
  }
  switch (cost) {
    case Metric::kForkNs:
      return fmt::format("A fork takes {} with {}{}.", time_word(worst, cost), place_of(worst), others);
    case Metric::kCpuSPerGb:
      return fmt::format("Receiving data takes {} s of CPU time per GB with {} ({}){}.",
                         format_number(cost_of(worst, cost)), place_of(worst), worst.case_name, others);
    case Metric::kRefilledBytes:
      return fmt::format("The kernel zeroes {} again in each round with {}{}.", bytes_word(worst, cost),
                         place_of(worst), others);
    default:
      return needless_words(points);
  }
}

Table table_of(const std::vector<Point>& points, Metric cost, const Palette& palette) {
  return cost == Metric::kForkNs          ? copies_table(points)
         : cost == Metric::kCpuSPerGb     ? transfers_table(points)
         : cost == Metric::kRefilledBytes ? refills_table(points)
                                          : plain_table(points, palette);
}

std::vector<std::string> warnings(const std::vector<Point>& points, const std::optional<Load>& load) {
  std::vector<std::string> all;
  for (const Point& point : points) {
    if (point.is_ok() || (&point == &points.front() && !is_healthy(point))) continue;
    all.push_back(fmt::format("{}: {}: {}.", place_of(point), word_of(point.status),
                              point.reason.value_or("no reason is given")));
  }
  for (const Point& point : points) {
    if (point.evident_count(Metric::kZeroedInFreeBytes).value_or(0) == 0) continue;
    all.push_back(fmt::format("{}: free zeroes {}, {} of it redundant.", place_of(point),
                              bytes_word(point, Metric::kZeroedInFreeBytes),
                              bytes_word(point, Metric::kRedundantZeroedInFreeBytes)));
  }
  const auto unlike =
      std::count_if(points.begin(), points.end(), [](const Point& point) { return !mode_lines(point).empty(); });
  if (unlike > 0) {
    all.push_back(fmt::format("At {} the calls differ, so numbers are medians.",
                              format_counted(static_cast<std::uint64_t>(unlike), "point")));
  }
  if (const std::string busy = findings::load_sentence(load); !busy.empty()) all.push_back(busy);
  return all;
}

}  // namespace

Answer points_answer(const std::vector<Point>& all, const std::optional<Load>& load, const std::string& next,
                     const Palette& palette) {
  if (all.empty()) return {.headline = "No point was measured."};
  const Kind& kind = kind_of(all);
  std::vector<Point> points = all;
  std::erase_if(points, [&](const Point& point) { return !kind.has(point); });
  points = sorted(std::move(points), kind.cost);
  Answer answer{.headline = headline(points, kind.cost), .table = table_of(points, kind.cost, palette)};
  if (!next.empty()) answer.steps.push_back({next, ""});
  answer.warnings = warnings(points, load);
  if (points.size() < all.size()) {
    answer.warnings.push_back(
        fmt::format("{} of other cases are not shown.", format_counted(all.size() - points.size(), "point")));
  }
  answer.legend = kind.cost == Metric::kCallocNs
                      ? "Medians of one call in the steady state. *: needless zeros. n/a: not measured."
                  : kind.cost == Metric::kForkNs ? "child, parent: pages copied after the fork. n/a: not measured."
                                                 : "n/a: not measured.";
  answer.more = "All points, kinds of calls, and memory held";
  return answer;
}

}  // namespace zerotax::study
