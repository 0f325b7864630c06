#pragma once

#include <cstddef>
#include <cstdint>

#include "os/pagemap.h"
#include "os/range_list.h"

namespace zerotax {

/// Whether `bytes` bytes at `memory` are all zero. Reads them: do not use on pages that must stay unpopulated.
bool all_zero(const void* memory, std::size_t bytes);

/// The offset of the first non-zero byte, or `bytes`.
std::size_t first_nonzero(const void* memory, std::size_t bytes);

/// How many bytes of [begin, end) lie in pages whose part of the range is not all zero. Only the `populated` pages are
/// read.
std::size_t dirty_bytes(AddressRange range, const RangeList& populated);

/// Adds to `dirty` the pages of `populated` whose part of the range is not all zero.
void find_dirty_pages(AddressRange range, const RangeList& populated, RangeList& dirty);

/// Looks at a block that must be zero. Pages that are not populated are not read where the kernel guarantees that they
/// are zero (private anonymous mappings); elsewhere every byte is. Without a pagemap every byte is read. Returns the
/// offset of the first non-zero byte, or `bytes`.
std::size_t check_zero(const void* block, std::size_t bytes, const Pagemap& pagemap, RangeList& scratch);

}  // namespace zerotax
