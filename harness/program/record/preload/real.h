#pragma once

#include <dlfcn.h>

#include <cstddef>
#include <cwchar>

#include "os/page.h"

namespace zerotax::record {

// The functions that ours replace: result, name, symbol, parameters, and the arguments that pass these on. The
// dynamic linker may call the early functions while it looks up symbols.
#define ZEROTAX_EARLY_FUNCTIONS(X)                                                 \
  X(void*, malloc, "malloc", (std::size_t bytes), (bytes))                         \
  X(void*, calloc, "calloc", (std::size_t count, std::size_t size), (count, size)) \
  X(void*, realloc, "realloc", (void* old, std::size_t bytes), (old, bytes))
#define ZEROTAX_LATER_FUNCTIONS(X)                                                                         \
  X(int, posix_memalign, "posix_memalign", (void** block, std::size_t alignment, std::size_t bytes),       \
    (block, alignment, bytes))                                                                             \
  X(void*, aligned_alloc, "aligned_alloc", (std::size_t alignment, std::size_t bytes), (alignment, bytes)) \
  X(void*, memalign, "memalign", (std::size_t alignment, std::size_t bytes), (alignment, bytes))           \
  X(void*, valloc, "valloc", (std::size_t bytes), (bytes))                                                 \
  X(void*, pvalloc, "pvalloc", (std::size_t bytes), (bytes))                                               \
  X(void, free, "free", (void* block), (block))
#define ZEROTAX_ALLOCATOR_FUNCTIONS(X) ZEROTAX_EARLY_FUNCTIONS(X) ZEROTAX_LATER_FUNCTIONS(X)
#define ZEROTAX_STORE_FUNCTIONS(X)                                                                               \
  X(void*, memset, "memset", (void* target, int value, std::size_t bytes), )                                     \
  X(void*, memset_checked, "__memset_chk", (void* target, int value, std::size_t bytes, std::size_t room), )     \
  X(void, bzero, "bzero", (void* target, std::size_t bytes), )                                                   \
  X(void, explicit_bzero, "explicit_bzero", (void* target, std::size_t bytes), )                                 \
  X(void, explicit_bzero_checked, "__explicit_bzero_chk", (void* target, std::size_t bytes, std::size_t room), ) \
  X(wchar_t*, wmemset, "wmemset", (wchar_t * target, wchar_t value, std::size_t count), )

/// The functions that come after ours. Until they are looked up they stand for themselves: the first call looks all of
/// them up, and what that asks for comes from a small arena that is never given back (glibc 2.34 and later ask for
/// nothing).
struct Real {
// NOLINTNEXTLINE(bugprone-macro-parentheses): a type and a list of parameters
#define ZEROTAX_MEMBER(Result, name, symbol, parameters, arguments) Result(*name) parameters;
  ZEROTAX_ALLOCATOR_FUNCTIONS(ZEROTAX_MEMBER)
  ZEROTAX_STORE_FUNCTIONS(ZEROTAX_MEMBER)
#undef ZEROTAX_MEMBER
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
