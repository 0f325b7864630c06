#include "compare/measure.h"

#include <algorithm>

#include "core/audit_point.h"
#include "core/memory_guard.h"
#include "core/progress.h"
#include "core/side_by_side.h"

namespace zerotax::compare {
namespace {

/// Two audits of each side show a figure that differs by chance in half of the processes as constant on both sides, and
/// different, in an eighth of the cases; seven do in one of 8,192.
constexpr unsigned kAudits = 2;
constexpr unsigned kAuditsAgain = 5;

class Auditor {
 public:
  Auditor(const ComparePlan& plan, const std::function<bool()>& stop) : stop_(stop) {
    plan_.timeout_s = plan.timeout_s;
    plan_.allocators = {plan.before, plan.after};
  }

  /// Audits of each side, a process each, side by side.
  void audit(ComparedPoint& point, unsigned times) {
    std::vector<Point> found(std::size_t{2} * times);
    run_side_by_side(found.size(), audits_side_by_side(memory_needed(spec(point, 0))), [&](std::size_t i) {
      if (!stop_()) found[i] = audit_point(plan_, spec(point, i % 2), stop_);
    });
    if (stop_()) return;
    for (std::size_t i = 0; i < found.size(); ++i) {
      ComparedSide& side = i % 2 == 0 ? point.before : point.after;
      if (side.invalid.empty()) add_figures(found[i], false, Cost::kTotal, side);
    }
  }

 private:
  static PointSpec spec(const ComparedPoint& point, std::size_t allocator) {
    return {allocator, point.case_name, point.size_bytes, point.touch, point.thread, {}};
  }

  Plan plan_;
  const std::function<bool()>& stop_;
};

bool differ(const ComparedPoint& point) {
  return point.before.invalid.empty() && point.after.invalid.empty() && point.before.work != point.after.work;
}

void add_faults(ComparedPoint& point) {
  for (const CostPair& pair : point.pairs) {
    point.before.work["faults"].push_back(pair.a_faults);
    point.after.work["faults"].push_back(pair.b_faults);
  }
}

}  // namespace

std::vector<ComparedPoint> planned_points(const ComparePlan& plan) {
  std::vector<ComparedPoint> points;
  for (const std::string& case_name : plan.axes.cases) {
    for (const std::uint64_t size : plan.axes.sizes) {
      for (const double touch : plan.axes.touches) {
        for (const std::string& thread : plan.axes.threads) {
          points.push_back(
              {case_name, size, touch, thread, {plan.before.name, "", {}, {}}, {plan.after.name, "", {}, {}}, {}, ""});
        }
      }
    }
  }
  return points;
}

bool measure_comparison(const ComparePlan& plan, const std::function<bool()>& stop,
                        std::vector<ComparedPoint>& points) {
  const PairedSetup setup{plan.before, plan.after, "main", plan.cost, plan.pairs, plan.timeout_s, plan.coins};
  points = planned_points(plan);
  Auditor auditor(plan, stop);
  {
    Progress progress("auditing", points.size(), static_cast<double>(points.size()));
    for (ComparedPoint& point : points) {
      progress.show(compared_key(point));
      auditor.audit(point, kAudits);
      if (!stop() && differ(point)) auditor.audit(point, kAuditsAgain);
      if (stop()) return false;
      progress.advance(1);
    }
  }
  std::vector<PairedPlace> places;
  std::vector<ComparedPoint*> of_place;
  for (ComparedPoint& point : points) {
    if (!point.before.invalid.empty() || !point.after.invalid.empty()) continue;
    places.push_back({point.size_bytes, point.touch, 0, {}, {}, point.case_name, point.thread});
    of_place.push_back(&point);
  }
  const bool whole = run_pairs(setup, places, stop);
  for (std::size_t i = 0; i < places.size(); ++i) {
    of_place[i]->invalid = places[i].left_out;
    of_place[i]->pairs = std::move(places[i].pairs);
    add_faults(*of_place[i]);
  }
  return whole;
}

}  // namespace zerotax::compare
