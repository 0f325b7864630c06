#pragma once

#include <cstdint>

#include "os/page.h"
#include "record/preload/arena.h"

namespace zerotax::record {

// The kernel zeroes a huge page whole. Its parts that are all zero when the process returns the page, or ends, were
// most likely never written. The recorder reads huge pages at these times, and counts the parts of a page's size.

/// Remembers a new mapping of the program or of a stack. All other memory counts as the allocator's. Mappings that are
/// too small for a huge page are ignored.
void note_huge_mapping(AddressRange range, HugeKind kind);
/// Forgets the mappings in a range that is no longer mapped.
void forget_huge_mappings(AddressRange range);

/// Counts the huge pages in a range that is about to be returned to the kernel. This return stands for `weight`
/// returns.
void count_returned_huge(AddressRange range, std::uint64_t huge_bytes, std::uint64_t weight);
/// Counts the huge pages that the process still has.
void count_held_huge();

}  // namespace zerotax::record
