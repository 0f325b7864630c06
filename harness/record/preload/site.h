#pragma once

#include <cstdint>

#include "record/preload/arena.h"
#include "record/preload/state.h"

namespace zerotax::record {

/// Puts figures of a large call down to the call stack that made it. Allocates nothing and takes no lock.
/// Returns the site; nullptr if there is no room for it.
Site* note_site(SiteKind kind, std::uint64_t requested_bytes, const CallFigures& figures);

/// Puts the small stores since the last sample down to the call stack of the one that was looked at.
void note_sample(SiteKind kind);

}  // namespace zerotax::record
