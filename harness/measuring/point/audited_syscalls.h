#pragma once

#include "point/point.h"

namespace zerotax {

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

}  // namespace zerotax
