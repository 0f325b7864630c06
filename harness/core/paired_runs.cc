#include "core/paired_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>

#include "base/bootstrap.h"
#include "base/size.h"
#include "base/statistics.h"
#include "base/units.h"
#include "core/memory_guard.h"
#include "core/point.h"
#include "core/probe_process.h"
#include "core/progress.h"
#include "core/steady_state.h"

namespace zerotax {
namespace {

/// A tenth of a second, but at least eight operations, of which four are steady; at most 200, enough for a median.
constexpr Repeats kRepeats{200, 8, 8, 8, 100};

/// Expected seconds of a pair, good enough to estimate the time left: two processes that start, and what they write
/// (as in scheduler.cc).
double expected_seconds(const PairedPlace& place) {
  const double share = place.touch > 0 ? 1.0 : 0.4;
  const double operation = 2e-6 + 0.45 * share * static_cast<double>(place.size_bytes) / static_cast<double>(kGiB);
  return 2 * (0.015 + std::min(kRepeats.ops * operation, std::max(0.1, kRepeats.min_ops * operation)));
}

double cost_of(const OpSample& op, Cost cost) {
  std::int64_t ns = op.calloc_ns;
  if (cost == Cost::kTotal) ns += op.free_ns + (op.touch_ns == kNotMeasured ? 0 : op.touch_ns);
  return static_cast<double>(std::max<std::int64_t>(1, ns));
}

std::int64_t faults_of(const OpSample& op) {
  std::int64_t faults = 0;
  for (const std::int64_t each : {op.calloc_faults, op.touch_faults, op.free_faults}) {
    if (each != kNotMeasured) faults += each;
  }
  return faults;
}

PointSpec spec_of(const PairedSetup& setup, const PairedPlace& place) {
  const std::string& thread = place.thread.empty() ? setup.thread : place.thread;
  return {0, place.case_name, place.size_bytes, place.touch, thread, kRepeats};
}

/// What one process measured.
struct Observed {
  double ns;
  std::int64_t faults;
};

/// Fresh processes at one place.
class Pairing {
 public:
  Pairing(const PairedSetup& setup, PairedPlace& place, const std::function<bool()>& stop)
      : setup_(setup), place_(place), stop_(stop) {
    limits_.timeout =
        std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::duration<double>(setup.timeout_s));
    limits_.timeout = std::max(limits_.timeout, std::chrono::milliseconds(1));
    limits_.resident_bytes = resident_limit(place.size_bytes);
  }

  void run(bool a_first) {
    const auto first = observe(a_first ? setup_.a : setup_.b);
    if (!first) return;
    const auto second = observe(a_first ? setup_.b : setup_.a);
    if (!second) return;
    const Observed& a = a_first ? *first : *second;
    const Observed& b = a_first ? *second : *first;
    place_.pairs.push_back({a.ns, b.ns, a_first, a.faults, b.faults});
  }

 private:
  /// Empty if the process was stopped, or failed: then the place is left out.
  std::optional<Observed> observe(const Allocator& allocator) {
    const PointSpec spec = spec_of(setup_, place_);
    const PassResult pass = run_pass(allocator, spec, Pass::kTiming, limits_, stop_);
    if (pass.status() == PassResult::Status::kStopped || (stop_ && stop_())) return {};
    if (pass.status() != PassResult::Status::kOk || pass.ops() == 0) {
      place_.left_out = fmt::format("{}: {}", allocator.name, pass.reason().empty() ? "no operation" : pass.reason());
      return {};
    }
    std::vector<double> costs;
    std::vector<std::int64_t> faults;
    for (std::size_t i = warm_up_operations(pass.ops()); i < pass.ops(); ++i) {
      costs.push_back(cost_of(pass.op(i), setup_.cost));
      faults.push_back(faults_of(pass.op(i)));
    }
    return Observed{quantile(costs, 0.5), observed_median(faults)};
  }

  const PairedSetup& setup_;
  PairedPlace& place_;
  const std::function<bool()>& stop_;
  PassLimits limits_;
};

}  // namespace

bool run_pairs(const PairedSetup& setup, std::vector<PairedPlace>& places, const std::function<bool()>& stop) {
  double weight = 0;
  for (PairedPlace& place : places) {
    place.left_out = why_too_large(memory_needed(spec_of(setup, place)));
    weight += setup.pairs * expected_seconds(place);
  }
  Random coin(setup.coins.value_or(0));
  Progress progress("measuring pairs", setup.pairs * places.size(), weight);
  for (unsigned round = 0; round < setup.pairs; ++round) {
    for (std::size_t i = 0; i < places.size(); ++i) {
      PairedPlace& place = places[i];
      if (place.left_out.empty()) {
        progress.show(fmt::format("{} touch {:g}, round {}", format_size(place.size_bytes), place.touch, round + 1));
        Pairing(setup, place, stop).run(setup.coins ? coin.below(2) == 0 : (round + i) % 2 == 0);
        if (stop && stop()) return false;
      }
      progress.advance(expected_seconds(place));
    }
  }
  return true;
}

}  // namespace zerotax
