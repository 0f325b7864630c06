// The costs of the strategies of zeroing on this machine.
#ifndef ZEROTAX_ALLOCATORS_LARGECACHE_ADAPTIVE_COSTS_H_
#define ZEROTAX_ALLOCATORS_LARGECACHE_ADAPTIVE_COSTS_H_

#include <cstddef>

#include "largecache/adaptive/adaptive_model.h"

namespace zerotax::largecache {

/// Returns the costs in ticks_now() (ticks.h) for about this many populated pages, measured on first use. The
/// measurement takes one fault for each of its own pages.
///
/// Costs of short blocks are measured on 64 pages, which fit into the processor's caches (about 0.1 ms). Costs of
/// longer blocks are measured on 512 pages, which do not fit (about 0.7 ms). The minimum of several trials counts,
/// because other activity only adds time.
///
/// If no memory can be mapped, returns the costs of one known machine. The costs of a scan are 0 if the kernel does not
/// report which pages are present.
const Costs& measured_costs(std::size_t populated);

}  // namespace zerotax::largecache

#endif  // ZEROTAX_ALLOCATORS_LARGECACHE_ADAPTIVE_COSTS_H_
