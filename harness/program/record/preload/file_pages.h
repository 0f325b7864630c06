#pragma once

#include <cstdint>

#include "os/mappings.h"
#include "os/pagemap.h"

namespace zerotax::record {

/// Opens the file for reading mappings. Call this at the start, and in a child of fork.
void open_mappings();

/// A write to a private file mapping copies the page. The copy is anonymous memory, but the kernel did not zero it.
/// Reading /proc/self/maps to find these mappings takes too long for each return of memory. Therefore the ranges that
/// the program maps privately are remembered.

/// Remembers a private mapping of a file.
void note_file_pages(AddressRange range);
/// Whether a range has ever been noted.
bool has_noted_file_pages();

/// Forgets a range that is no longer mapped, or moves a range that was moved.
void forget_file_pages(AddressRange range);
void move_file_pages(AddressRange from, AddressRange to);

/// Returns the populated private anonymous memory in the pages of a range that the kernel zeroed, without copies of
/// file pages.
Pagemap::Anonymous zeroed_in(AddressRange range);

/// Bytes of private pages in mappings of files.
struct FilePages {
  std::uint64_t copied = 0;
  std::uint64_t hugetlb = 0;  ///< bytes in pages of hugetlbfs, which the kernel zeroed
};

/// Returns the private pages in the remembered ranges.
FilePages noted_file_pages();

/// Returns the private pages in all mappings of files, including those of the program itself and its libraries.
/// `made_code` is set if code was made in memory (64 KiB or more outside files).
FilePages all_file_pages(bool& made_code);

/// Bytes of the program outside its allocator and its own mappings: the data of the program and its libraries, and the
/// stack of the first thread.
struct ImagePages {
  std::uint64_t zeroed;  ///< bytes of pages that the kernel zeroed
  std::uint64_t copied;  ///< bytes of pages that were copied from files
};
ImagePages image_pages();
/// Bytes in data without an initial value, and in the stack.
std::uint64_t zeroed_image_bytes();
/// Whether an address lies in data of the program or of a library.
bool is_in_image(std::uintptr_t address);
/// Calls visit(context, mapping) for every mapping of the process.
void for_each_own_mapping(void (*visit)(void* context, const Mapping& mapping), void* context);
/// Bytes of all other anonymous memory, without the heap of brk(2).
std::uint64_t other_pages();

}  // namespace zerotax::record
