// What the ways of zeroing cost on this machine.
#ifndef ZEROTAX_ALLOCATORS_LARGECACHE_POLICIES_COSTS_H_
#define ZEROTAX_ALLOCATORS_LARGECACHE_POLICIES_COSTS_H_

#include <cstdint>

#include "largecache/policies/adaptive_model.h"

namespace zerotax::largecache {

/// A clock that costs little to read: the processor's cycle counter where there is one, nanoseconds elsewhere.
std::uint64_t Ticks();

/// The costs in Ticks(), measured when they are first asked for, on 64 pages of our own (some 0.3 ms). The least of
/// three trials, for whatever else the machine does only adds. Where no memory could be mapped, what one machine had.
/// The parts of a look are 0 where the kernel does not say which pages are there.
const Costs& MeasuredCosts();

}  // namespace zerotax::largecache

#endif  // ZEROTAX_ALLOCATORS_LARGECACHE_POLICIES_COSTS_H_
