#include "top/document.h"

#include "top/view.h"

namespace zerotax::top {

void to_json(Json& json, By by) { json = word_of(by); }
void to_json(Json& json, Sort sort) { json = word_of(sort); }

ZEROTAX_FIELDS_WRITTEN(Usage, pid, start_ticks, parent, name, user, cgroup, processes, minor_faults, major_faults,
                       children_faults, zeroed_at_most_bytes, refilled_at_most_bytes, cpu_ns, fault_cpu_estimated_ns,
                       fault_cpu_share, resident_bytes, anonymous_bytes, huge_bytes)
ZEROTAX_FIELDS_WRITTEN(Machine, faults, major_faults, allocated_bytes, freed_bytes, huge_zeroed_bytes, seen_faults,
                       children_faults, unseen_faults, unseen_share)
ZEROTAX_FIELDS_WRITTEN(Own, cpu_ns, cpu_share)
ZEROTAX_FIELDS_WRITTEN(Sample, schema, zerotax_version, time, interval_s, by, sort, fault_cost_ns, machine, processes,
                       begun, ended, hidden, limits, rows_left_out, rows, own)

Json sample_json(const Sample& sample) { return sample; }

}  // namespace zerotax::top
