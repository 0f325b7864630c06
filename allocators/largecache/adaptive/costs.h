// The costs of the ways of zeroing on this machine.
#ifndef ZEROTAX_ALLOCATORS_LARGECACHE_ADAPTIVE_COSTS_H_
#define ZEROTAX_ALLOCATORS_LARGECACHE_ADAPTIVE_COSTS_H_

#include <cstddef>

#include "largecache/adaptive/adaptive_model.h"

namespace zerotax::largecache {

/// The costs in ticks_now() (ticks.h) of this many populated pages, measured when they are first needed, on pages of
/// our own, each of which takes one fault: 64 of them, which fit into the processor's caches (some 0.1 ms), or for more
/// pages 512, which do not (some 0.7 ms). The minimum of several trials, because whatever else the machine does only
/// adds time. If no memory could be mapped, the costs of one machine. The parts of a look are 0 if the kernel does not
/// report which pages are present.
const Costs& measured_costs(std::size_t populated);

}  // namespace zerotax::largecache

#endif  // ZEROTAX_ALLOCATORS_LARGECACHE_ADAPTIVE_COSTS_H_
