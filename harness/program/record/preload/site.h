#pragma once

#include <cstdint>

#include "record/preload/arena.h"
#include "record/preload/state.h"

namespace zerotax::record {

/// Whether this is a signal handler on a stack of its own: that may be 2 KiB, which is less than the unwinder or a look
/// at pages needs. A system call.
bool is_on_signal_stack();

/// The site of the call stack that leads here, made if it is new; nullptr if there is no room for it. Allocates nothing
/// and takes no lock.
Site* current_site(SiteKind kind);

/// Puts figures of a large call down to the call stack that made it. Returns the site; nullptr if there is no
/// room for it.
Site* note_site(SiteKind kind, std::uint64_t requested_bytes, const CallFigures& figures);

/// The number of calls that this call stands for at its site, where finding the site costs more than the call. Each of
/// a thread's first 4,096 calls stands for itself. Then one call in 32, chosen at random, stands for 32, and the others
/// for none (0). Each call stands for itself where the live heap is counted.
std::uint32_t site_weight(ThreadState& thread);

/// Adds estimated `calls` to the site of the current call. Returns the site; nullptr if there is no room
/// for it.
Site* note_sampled_calls(SiteKind kind, std::uint32_t calls);

/// Attributes the small stores since the last sample to the call stack of the store that was looked at.
void note_sample(SiteKind kind, Samples& samples);

/// Puts bytes that the kernel zeroes for small blocks down to the call stack that got one of them.
void note_estimate(SiteKind kind, Estimate Site::*estimate, std::uint64_t bytes);

/// The same for what the call that is over had the allocator's memory grow by.
void note_growth(ThreadState& thread, SiteKind kind);

}  // namespace zerotax::record
