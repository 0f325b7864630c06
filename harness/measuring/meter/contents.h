#pragma once

#include <cstddef>
#include <cstdint>

#include "os/pagemap.h"
#include "os/range_list.h"

namespace zerotax {

/// Whether `bytes` bytes at `memory` are all zero. Reads all these bytes, so this function must not be used for pages
/// that must stay unpopulated.
bool all_zero(const void* memory, std::size_t bytes);

/// Returns the offset of the first non-zero byte, or `bytes` if there is none.
std::size_t first_nonzero(const void* memory, std::size_t bytes);

/// Returns how many bytes of [begin, end) are in pages on which the range's part is not all zero. Reads only the
/// `populated` pages.
std::size_t dirty_bytes(AddressRange range, const RangeList& populated);

/// Adds to `dirty` the pages of `populated` on which the range's part is not all zero.
void find_dirty_pages(AddressRange range, const RangeList& populated, RangeList& dirty);

/// Checks a block that must be zero. Reads every byte, except in unpopulated pages that the kernel guarantees to be
/// zero (private anonymous mappings). Without a pagemap, reads every byte. Returns the offset of the first non-zero
/// byte, or `bytes` if there is none.
std::size_t check_zero(const void* block, std::size_t bytes, const Pagemap& pagemap, RangeList& scratch);

}  // namespace zerotax
