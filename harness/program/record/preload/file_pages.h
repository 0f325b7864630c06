#pragma once

#include <cstdint>

#include "os/pagemap.h"

namespace zerotax::record {

/// Opens what mappings are looked at with: at the start, and in a child of fork.
void open_mappings();

/// A page of a private file mapping that the program writes to is copied, not zeroed, though it is anonymous from then
/// on. Which mappings those are, /proc/self/maps knows; to read it is too much for each return of memory, so the ranges
/// are remembered where the program mapped any.

/// A file was mapped there privately.
void note_file_pages(AddressRange range);

/// Nothing is mapped there any more; or it was moved.
void forget_file_pages(AddressRange range);
void move_file_pages(AddressRange from, AddressRange to);

/// The populated private anonymous memory in the pages of a range that the kernel zeroed: no copies of pages of
/// files.
Pagemap::Anonymous zeroed_in(AddressRange range);

/// Bytes of private pages in mappings of files.
struct FilePages {
  std::uint64_t copied = 0;
  std::uint64_t hugetlb = 0;  ///< in pages of hugetlbfs, which the kernel zeroed
};

/// Private pages in the ranges that were noted.
FilePages noted_file_pages();

/// Private pages in all mappings of files, those of the program itself and its libraries included. `made_code`: whether
/// code was made in memory (64 KiB or more that no file has).
FilePages all_file_pages(bool& made_code);

/// What the program has without its allocator and mappings of its own: its data and that of its libraries, and the
/// stack of its first thread. In bytes.
struct ImagePages {
  std::uint64_t zeroed;  ///< by the kernel
  std::uint64_t copied;  ///< from files
};
ImagePages image_pages();
/// Bytes in data without an initial value, and in the stack.
std::uint64_t zeroed_image_bytes();
/// All other anonymous memory, but for the heap of brk(2): in bytes.
std::uint64_t other_pages();

}  // namespace zerotax::record
