#pragma once

#include <vector>

#include "point/point.h"

namespace zerotax {

/// How zeros were written, by the bits of OpSample::methods; n/a if `zeroed_bytes` are.
MetricValue method_of(const MetricValue& zeroed_bytes, std::uint32_t methods);

/// Whether zeroed bytes are exact: a page that was written to may have been written to in one byte only.
MetricValue bound_of(const MetricValue& zeroed_bytes, std::uint32_t methods);

/// The value of a row that has a source, in the steady state. `touch`: the fraction that the point touches.
MetricValue steady_value(const Passes& passes, const MetricRow& row, double touch);

/// The same of one operation, counted from 0.
MetricValue value_at(const Passes& passes, const MetricRow& row, std::size_t op);

/// Whether the rows of this group are part of a point of these passes: those of a fork if the case forks. A transfer
/// is not of single operations (add_transfer).
bool is_measured_group(const Passes& passes, MetricGroup group);

using Tally = SyscallTally OpSample::*;

/// The system calls of one operation (counted from 0) of the audit.
MetricValue syscalls_at(const PassResult& audit, std::size_t op, Tally which);

/// The tally that occurs most often in the steady state; of equals, the latest.
MetricValue steady_syscalls(const PassResult& audit, Tally which);

/// Both together; n/a if one of them is.
MetricValue sum_of(const MetricValue& one, const MetricValue& other);

/// Where the block of an operation lives: in the brk heap; in a mapping that calloc or free made or removed; or in
/// memory that the allocator has for many blocks.
MetricValue home_at(const PassResult& audit, std::size_t op);

/// Adds the kinds of calls that there are, where the calls of the steady state are not alike: audit_modes and
/// timing_modes, each empty if its pass saw one kind. The metrics of an entry are of one and the same operation
/// (calloc_ns: the median of that kind), so that what is said of a kind of call is never joined from two. Byte counts
/// within a sixteenth of the block (and 2 pages), and faults within that many pages (and 16), are alike: rounding and
/// neighbours on a page do not make another kind.
void add_call_modes(const Passes& passes, Point& point);

/// The first operations of the process, 8 at most.
std::vector<FirstOperation> first_operations(const Passes& passes);

/// Whether the case forks. Times and faults of a fork are of the timing pass, what the faults were of the faults pass.
bool forks(const Passes& passes);

/// How copies and reuses were distinguished.
MetricValue fork_method(const PassResult& faults);

}  // namespace zerotax
