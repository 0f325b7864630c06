// What the ways of zeroing cost on this machine.
#ifndef ZEROTAX_ALLOCATORS_LARGECACHE_POLICIES_COSTS_H_
#define ZEROTAX_ALLOCATORS_LARGECACHE_POLICIES_COSTS_H_

#include <cstddef>
#include <cstdint>

#include "largecache/policies/adaptive_model.h"

namespace zerotax::largecache {

/// A clock that costs little to read: the processor's cycle counter where there is one, nanoseconds elsewhere.
std::uint64_t Ticks();

/// The costs in Ticks() of a block of so many pages, measured when they are first asked for, on pages of our own: 64 of
/// them, which fit into the processor's caches (some 0.3 ms), or for a longer block 512, which do not (some 2 ms). The
/// least of three trials, for whatever else the machine does only adds. Where no memory could be mapped, what one
/// machine had. The parts of a look are 0 where the kernel does not say which pages are there.
const Costs& MeasuredCosts(std::size_t pages);

}  // namespace zerotax::largecache

#endif  // ZEROTAX_ALLOCATORS_LARGECACHE_POLICIES_COSTS_H_
