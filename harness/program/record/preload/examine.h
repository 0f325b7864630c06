#pragma once

#include <cstddef>
#include <cstdint>

#include "os/pagemap.h"

namespace zerotax::record {

/// Counts the bytes of [target, target + bytes) that are already zero. These are the bytes on unpopulated pages of
/// private anonymous memory, and the bytes on pages whose part of the range is all zero. Only populated pages are read,
/// and only if they are readable. Returns false if pages cannot be examined.
bool redundant_bytes(const void* target, std::size_t bytes, std::uint64_t& redundant);

/// Counts the populated bytes in the pages of a block. Returns false if pages cannot be examined.
bool populated_bytes(const void* block, std::size_t bytes, std::uint64_t& populated);

/// Passes the populated pages of a range of whole pages to `visit`, range by range. If the kernel refused at first,
/// some ranges are passed twice. Returns false if pages cannot be examined.
bool for_each_populated(AddressRange pages, Pagemap::Visit visit, void* context);

/// Returns the populated private anonymous memory in the pages of a range; 0 if pages cannot be examined.
Pagemap::Anonymous anonymous_in(AddressRange range);

/// Returns the bytes of the process that map the shared zero page; 0 if one system call cannot find them.
std::uint64_t zero_page_bytes();

/// Opens the file for examining pages, before the program may forbid itself to open files. Call this in a child of
/// fork, too, because the kept file shows the parent's memory.
void open_pages();

/// Counts the bytes that are already zero. In contrast to redundant_bytes(), every page is read. Use this for small
/// ranges, because reading may populate pages.
std::uint64_t redundant_bytes_by_contents(const void* target, std::size_t bytes);

}  // namespace zerotax::record
