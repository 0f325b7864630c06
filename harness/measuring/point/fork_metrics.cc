#include "point/fork_metrics.h"

#include "point/steady_state.h"

namespace zerotax {
namespace {

bool forks(const PassResult& pass) { return pass.made() && pass.samples().forks != 0; }

}  // namespace

bool forks(const Passes& passes) { return forks(passes.timing) || forks(passes.audit); }

MetricValue fork_method(const PassResult& faults) {
  if (!faults.made()) return MetricValue::not_available(why_not(faults, "faults"));
  const char* na = &faults.samples().na_classes[0];
  if (na[0] != '\0') return MetricValue::not_available(na);
  return MetricValue::word(faults.samples().by_frame != 0 ? "page frames" : "exclusive pages");
}

}  // namespace zerotax
