#pragma once

#include <vector>

#include "point/point.h"

namespace zerotax {

/// Returns how zeros were written, from the bits of OpSample::methods. The result is n/a if `zeroed_bytes` is n/a.
MetricValue method_of(const MetricValue& zeroed_bytes, std::uint32_t methods);

/// Returns whether zeroed bytes are exact. If zeroing is known only from a page that was written to, as little as one
/// byte of the page may have been written.
MetricValue bound_of(const MetricValue& zeroed_bytes, std::uint32_t methods);

/// Returns the steady-state value of a row that has a source. `touch` is the fraction that the point touches.
MetricValue steady_value(const Passes& passes, const MetricRow& row, double touch);

/// Returns the value of a row for one operation, counted from 0.
MetricValue value_at(const Passes& passes, const MetricRow& row, std::size_t op);

/// Whether a point with these passes has the rows of this group. The group fork requires a case that forks. The group
/// transfer has no values for single operations (add_transfer).
bool is_measured_group(const Passes& passes, MetricGroup group);

using Tally = SyscallTally OpSample::*;

/// Returns the system calls that one operation of the audit made. Operations are counted from 0.
MetricValue syscalls_at(const PassResult& audit, std::size_t op, Tally which);

/// Returns the most frequent tally of the steady state. If several tallies are equally frequent, returns the latest.
MetricValue steady_syscalls(const PassResult& audit, Tally which);

/// Returns the sum of two metrics, or n/a if either metric is n/a.
MetricValue sum_of(const MetricValue& one, const MetricValue& other);

/// Returns where the block of an operation is: in the brk heap, in a mapping that calloc or free made or removed, or in
/// memory that the allocator keeps for many blocks.
MetricValue home_at(const PassResult& audit, std::size_t op);

/// Adds the kinds of calls (audit_modes and timing_modes) if the calls of the steady state differ. Each list is empty
/// if all calls of its pass were of one kind. The metrics of an entry come from a single operation (calloc_ns is the
/// median of that kind), so an entry never combines two operations. Two byte counts count as equal if they differ by at
/// most a sixteenth of the block, or by at most two pages. Two fault counts count as equal if they differ by at most
/// the same number of pages, or by at most 16. Rounding and neighbors on a page therefore cause no extra kind.
void add_call_modes(const Passes& passes, Point& point);

/// Returns the first operations of the process, at most 8.
std::vector<FirstOperation> first_operations(const Passes& passes);

/// Whether the case forks. The timing pass measures times and faults of a fork, and the faults pass the class of each
/// fault.
bool forks(const Passes& passes);

/// Returns how copies and reuses were distinguished.
MetricValue fork_method(const PassResult& faults);

}  // namespace zerotax
