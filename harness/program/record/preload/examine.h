#pragma once

#include <cstddef>
#include <cstdint>

#include "os/pagemap.h"

namespace zerotax::record {

/// Bytes of [target, target + bytes) that are zero already: in pages that the kernel reports as unpopulated
/// private anonymous memory, or in pages whose part of the range is all zero. Only populated pages are read, and only
/// if they are readable. Returns false if pages cannot be looked at.
bool redundant_bytes(const void* target, std::size_t bytes, std::uint64_t& redundant);

/// Bytes of the pages within a block that are populated. Returns false if pages cannot be looked at.
bool populated_bytes(const void* block, std::size_t bytes, std::uint64_t& populated);

/// Passes the populated pages of a range of whole pages to `visit`, range by range; some of them twice if the kernel
/// refused at first. Returns false if pages cannot be looked at.
bool for_each_populated(AddressRange pages, Pagemap::Visit visit, void* context);

/// The populated private anonymous memory in the pages of a range; nothing of it if pages cannot be looked at.
Pagemap::Anonymous anonymous_in(AddressRange range);

/// Bytes of the process at which the shared zero page is mapped; 0 if they cannot be found by one system call.
std::uint64_t zero_page_bytes();

/// Opens what pages are looked at with, before the program may keep that from being opened. In a child of fork, too:
/// what was kept open is of its parent's memory.
void open_pages();

/// The same as redundant_bytes by contents alone, page by page: for small ranges, which it may populate.
std::uint64_t redundant_bytes_by_contents(const void* target, std::size_t bytes);

}  // namespace zerotax::record
