#pragma once

#include <dlfcn.h>

#include <cstddef>
#include <cwchar>

#include "os/page.h"

namespace zerotax::record {

// The functions that the recorder replaces: result, name, symbol, parameters, and the arguments that pass the
// parameters on. The dynamic linker may call the early functions while it looks up symbols.
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

/// The functions to which the recorder's functions pass calls on. At first, they are stand-ins, whose first call looks
/// up all functions. Memory requested during the look-up comes from a small buffer that is never freed (glibc 2.34 and
/// later request none).
struct Real {
// NOLINTNEXTLINE(bugprone-macro-parentheses): a type and a list of parameters
#define ZEROTAX_MEMBER(Result, name, symbol, parameters, arguments) Result(*name) parameters;
  ZEROTAX_ALLOCATOR_FUNCTIONS(ZEROTAX_MEMBER)
  ZEROTAX_STORE_FUNCTIONS(ZEROTAX_MEMBER)
#undef ZEROTAX_MEMBER
  int (*find_object)(void*, dl_find_object*);  ///< nullptr before glibc 2.35
  int (*malloc_trim)(std::size_t);             ///< nullptr if no library has the function
};
extern Real real;
/// A copy of `real` as found by resolve_real(). calls.h and live_heap.h may replace members of `real`, but never
/// members of `plain_real`.
extern Real plain_real;

/// Looks up all functions of `real` once. Further calls do nothing.
void resolve_real();

/// Whether any block is in the early buffer; usually false.
extern bool early_used;
bool is_in_early(const void* block);
inline bool is_early(const void* block) { return early_used && is_in_early(block); }

/// Whether a function lies in the library whose malloc is called.
bool is_beside_malloc(const void* function);

/// The address range of the allocator's library; empty if the allocator is the C library's.
extern AddressRange allocator_code;

inline bool lies_in(AddressRange range, const void* address) {
  const auto place = reinterpret_cast<std::uintptr_t>(address);
  return place >= range.begin && place < range.end;
}

/// Whether an address lies in the allocator's library; never true for the C library's own allocator, because the C
/// library contains other functions, too.
inline bool is_of_allocator(const void* address) { return lies_in(allocator_code, address); }

/// The address range of the allocator's library, or of the C library if the allocator is the C library's. Calls to
/// memset and munmap from this range can be part of a call to the allocator.
extern AddressRange nesting_code;

}  // namespace zerotax::record
