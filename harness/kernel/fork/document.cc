#include "fork/document.h"

namespace zerotax::fork {

ZEROTAX_FIELDS(ForkTargetFacts, pages, huge_pages, mappings, descriptors, threads)
ZEROTAX_FIELDS(ForkEstimate, part, ns)
ZEROTAX_FIELDS(ForkWay, name, call_ns, gone_ns)
ZEROTAX_FIELDS(PagesOrder, pages, allocations, zeroed)
ZEROTAX_FIELDS(PagesTaken, forks, lost, pages, zeroed_pages, contiguous, parent_table_bytes, orders)
ZEROTAX_FIELDS(Spread, mean_ns, variance_ns2, median_ns, low_ns, high_ns)
ZEROTAX_FIELDS(Phase, name, begins, ends, does, mean_ns, variance_ns2, median_ns, low_ns, high_ns, share)
ZEROTAX_FIELDS(Phases, forks, incomplete, lost, whole, phases)
ZEROTAX_FIELDS(Part, samples, ns, share, share_error, low_ns, high_ns, text)
ZEROTAX_FIELDS(SectionTime, name, casper, of_memory, samples, ns, share, share_error, low_ns, high_ns, text)
ZEROTAX_FIELDS(Observer, unsampled_mean_ns, unsampled_median_ns, median_ratio)
ZEROTAX_FIELDS(Samples, shares_memory, forks, samples, lost, period_ns, mean_ns, median_ns, entry_ns, sections_ns,
               sum_over_mean, observer, sections, clearing)
ZEROTAX_FIELDS(CloneFlags, flags, ns, share_saved)
ZEROTAX_FIELDS(MemoryShare, sampled, ablated, apart)
ZEROTAX_FIELDS(Process, name, visits, estimates, facts, kernel_pages, phases, ablation, samples, memory_share,
               contradiction)
ZEROTAX_FIELDS(CasperSection, section, ms, percent)
ZEROTAX_FIELDS(Ways, populated_bytes, ways)
ZEROTAX_FIELDS(Term, key, name, ns, low_ns, high_ns)
ZEROTAX_FIELDS(Prediction, sweep, populated_bytes, kind, facts, rounds_ns, kernel_pages, measured_ns, predicted_ns,
               error, plain)
ZEROTAX_FIELDS(Line, kind, empty_ns, ns_per_byte)
ZEROTAX_FIELDS(Model, terms, r_squared, worst_fit_error, worst_held_back_error, fit, held_back, lines)
ZEROTAX_FIELDS(SharedTables, populated_bytes, fork_ns, shared_ns, saved, first_write_ns)
ZEROTAX_FIELDS(Fork, schema, started, environment, complete, full, rounds, most_bytes, left_out, casper, processes,
               ways, model, shared_page_tables, sentence, notes)

Json fork_json(const Fork& fork) { return fork; }

Fork read_fork(const Json& json) { return json.get<Fork>(); }

}  // namespace zerotax::fork
