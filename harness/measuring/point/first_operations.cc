#include "point/first_operations.h"

#include <algorithm>

#include "point/audited_syscalls.h"
#include "point/measured_values.h"
#include "point/zero_time.h"
#include "point/zeroed_words.h"

namespace zerotax {
namespace {

constexpr std::size_t kFirstOps = 8;

/// What no row can express: values derived from others, and values that are not numbers.
void add_derived(const Passes& passes, std::size_t op, FirstOperation& entry) {
  const PassResult& audit = passes.audit;
  const bool seen = op < audit.ops();
  const MetricValue& zeroed = entry[Metric::kZeroedBytes];
  entry[Metric::kZeroNs] = zero_time_at(passes, op, zeroed);
  entry[Metric::kZeroedBound] = bound_of(zeroed, seen ? audit.op(op).methods : 0);
  entry[Metric::kZeroedInFreeBound] = bound_of(entry[Metric::kZeroedInFreeBytes], seen ? audit.op(op).free_methods : 0);
  entry[Metric::kCallocSyscalls] = syscalls_at(audit, op, &OpSample::calloc_syscalls);
  entry[Metric::kFreeSyscalls] = syscalls_at(audit, op, &OpSample::free_syscalls);
  entry[Metric::kHome] = home_at(audit, op);
}

}  // namespace

std::vector<FirstOperation> first_operations(const Passes& passes) {
  std::vector<FirstOperation> operations;
  const std::size_t ops = std::min(kFirstOps, std::max(passes.timing.ops(), passes.audit.ops()));
  for (std::size_t i = 0; i < ops; ++i) {
    FirstOperation& entry = operations.emplace_back();
    entry.op = i + 1;
    for (const MetricRow* row : first_op_rows()) {
      if (row->source.of == nullptr || !is_measured_group(passes, row->group)) continue;
      entry[row->metric] = value_at(passes, *row, i);
    }
    add_derived(passes, i, entry);
  }
  return operations;
}

}  // namespace zerotax
