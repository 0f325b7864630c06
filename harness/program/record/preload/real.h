#pragma once

#include <dlfcn.h>

#include <cstddef>
#include <cwchar>

#include "os/page.h"

namespace zerotax::record {

/// The functions that come after ours. Until they are looked up they stand for themselves: the first call looks all of
/// them up, and what that asks for comes from a small arena that is never given back (glibc 2.34 and later ask for
/// nothing).
struct Real {
  void* (*malloc)(std::size_t);
  void* (*calloc)(std::size_t, std::size_t);
  void* (*realloc)(void*, std::size_t);
  int (*posix_memalign)(void**, std::size_t, std::size_t);
  void* (*aligned_alloc)(std::size_t, std::size_t);
  void* (*memalign)(std::size_t, std::size_t);
  void* (*valloc)(std::size_t);
  void* (*pvalloc)(std::size_t);
  void (*free)(void*);
  void* (*memset)(void*, int, std::size_t);
  void* (*memset_checked)(void*, int, std::size_t, std::size_t);
  void (*bzero)(void*, std::size_t);
  void (*explicit_bzero)(void*, std::size_t);
  void (*explicit_bzero_checked)(void*, std::size_t, std::size_t);
  wchar_t* (*wmemset)(wchar_t*, wchar_t, std::size_t);
  int (*find_object)(void*, dl_find_object*);  ///< nullptr before glibc 2.35
};
extern Real real;
/// The same, once they are looked up, without those of live_heap.h, which may stand before them in `real`.
extern Real plain_real;

/// Looks all of them up, once; safe to call again.
void resolve_real();

/// Whether a block comes from that small arena, which mostly stays empty.
extern bool early_used;
bool is_in_early(const void* block);
inline bool is_early(const void* block) { return early_used && is_in_early(block); }

/// Whether a function lies in the library whose malloc is called.
bool is_beside_malloc(const void* function);

/// The library of the allocator; empty if it is the C library.
extern AddressRange allocator_code;

inline bool lies_in(AddressRange range, const void* address) {
  const auto place = reinterpret_cast<std::uintptr_t>(address);
  return place >= range.begin && place < range.end;
}

/// Whether an address lies in the allocator's library; never for the C library's own allocator, whose other functions
/// lie there too.
inline bool is_of_allocator(const void* address) { return lies_in(allocator_code, address); }

/// The library of the allocator, or the C library if the allocator is its own. Calls of memset and munmap from here can
/// be part of a call of the allocator.
extern AddressRange nesting_code;

}  // namespace zerotax::record
