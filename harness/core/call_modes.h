#pragma once

#include <optional>

#include "base/json.h"
#include "core/point.h"

namespace zerotax {

/// Where the calls of the steady state are not alike, the kinds of calls that there are: {"audit": […], "timing": […]},
/// each a list, most frequent first, of {"ops", "share", figures…}; nothing if each pass saw one kind. The figures of
/// an entry are of one and the same operation (calloc_ns: the median of that kind), so that what is said of a kind of
/// call is never joined from two. Byte counts within a sixteenth of the block (and 2 pages), and faults within that
/// many pages (and 16), are alike: rounding and neighbours on a page are no other kind.
std::optional<Json> call_modes_json(const Passes& passes, std::uint64_t size_bytes);

}  // namespace zerotax
