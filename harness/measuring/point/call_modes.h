#pragma once

#include "point/point.h"

namespace zerotax {

/// Adds the kinds of calls that there are, where the calls of the steady state are not alike: audit_modes and
/// timing_modes, each empty if its pass saw one kind. The metrics of an entry are of one and the same operation
/// (calloc_ns: the median of that kind), so that what is said of a kind of call is never joined from two. Byte counts
/// within a sixteenth of the block (and 2 pages), and faults within that many pages (and 16), are alike: rounding and
/// neighbours on a page do not make another kind.
void add_call_modes(const Passes& passes, Point& point);

}  // namespace zerotax
