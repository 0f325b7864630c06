#include "record/preload/real.h"

#include <cstdint>
#include <type_traits>

#include "record/preload/calls.h"
#include "record/preload/instructions.h"
#include "record/preload/live_heap.h"
#include "record/preload/symbols.h"

namespace zerotax::record {
namespace {

// What the dynamic linker asks for while it looks symbols up: a few hundred bytes where it asks at all.
constexpr std::size_t kEarlyBytes = 32'768;
alignas(16) unsigned char early[kEarlyBytes];
std::size_t early_bytes = 0;
bool resolving = false;
bool resolved = false;

/// Zeroed, as nothing is ever given back.
void* early_block(std::size_t bytes) {
  const std::size_t rounded = (bytes + 15) & ~std::size_t{15};
  if (rounded < bytes || rounded > kEarlyBytes - early_bytes) return nullptr;
  void* block = &early[early_bytes];
  early_bytes += rounded;
  early_used = true;
  return block;
}

// Each stands in its place until the real one is known.
void* first_malloc(std::size_t bytes) {
  if (resolving) return early_block(bytes);
  resolve_real();
  return real.malloc(bytes);
}

void* first_calloc(std::size_t count, std::size_t bytes) {
  if (resolving) return early_block(count * bytes);
  resolve_real();
  return real.calloc(count, bytes);
}

void* first_realloc(void* block, std::size_t bytes) {
  if (resolving) return block == nullptr ? early_block(bytes) : nullptr;
  resolve_real();
  return real.realloc(block, bytes);
}

int first_posix_memalign(void** block, std::size_t alignment, std::size_t bytes) {
  resolve_real();
  return real.posix_memalign(block, alignment, bytes);
}

void* first_aligned_alloc(std::size_t alignment, std::size_t bytes) {
  resolve_real();
  return real.aligned_alloc(alignment, bytes);
}

void* first_memalign(std::size_t alignment, std::size_t bytes) {
  resolve_real();
  return real.memalign(alignment, bytes);
}

void* first_valloc(std::size_t bytes) {
  resolve_real();
  return real.valloc(bytes);
}

void* first_pvalloc(std::size_t bytes) {
  resolve_real();
  return real.pvalloc(bytes);
}

void first_free(void* block) {
  resolve_real();
  real.free(block);
}

/// Needs nothing: it is called before anything can be looked up, while the dynamic linker still relocates.
void* first_memset(void* target, int value, std::size_t bytes) {
  store_bytes(target, value, bytes);
  return target;
}

void* first_memset_checked(void* target, int value, std::size_t bytes, std::size_t room) {
  if (bytes > room) __builtin_trap();
  return first_memset(target, value, bytes);
}

void first_bzero(void* target, std::size_t bytes) { first_memset(target, 0, bytes); }

void first_explicit_bzero_checked(void* target, std::size_t bytes, std::size_t room) {
  first_memset_checked(target, 0, bytes, room);
}

wchar_t* first_wmemset(wchar_t* target, wchar_t value, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) target[i] = value;
  return target;
}

}  // namespace

bool early_used = false;
AddressRange allocator_code{};
AddressRange nesting_code{};
Real plain_real{};

constinit Real real{first_malloc,         first_calloc,
                    first_realloc,        first_posix_memalign,
                    first_aligned_alloc,  first_memalign,
                    first_valloc,         first_pvalloc,
                    first_free,           first_memset,
                    first_memset_checked, first_bzero,
                    first_bzero,          first_explicit_bzero_checked,
                    first_wmemset,        nullptr};

bool is_in_early(const void* block) {
  const auto* at = static_cast<const unsigned char*>(block);
  return at >= &early[0] && at < &early[kEarlyBytes];
}

bool is_beside_malloc(const void* function) {
  dl_find_object one{};
  dl_find_object other{};
  return real.find_object != nullptr && real.find_object(const_cast<void*>(function), &one) == 0 &&
         real.find_object(reinterpret_cast<void*>(plain_real.malloc), &other) == 0 &&
         one.dlfo_map_start == other.dlfo_map_start;
}

void resolve_real() {
  if (resolved || resolving) return;
  resolving = true;
  const auto find = [](const char* symbol, auto& function) {
    // A function that no library has keeps its stand-in; nobody can have bound to ours before, then.
    if (void* found = find_next(symbol)) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(found);
    }
  };
  Real found = real;
  find("malloc", found.malloc);
  find("calloc", found.calloc);
  find("realloc", found.realloc);
  find("posix_memalign", found.posix_memalign);
  find("aligned_alloc", found.aligned_alloc);
  find("memalign", found.memalign);
  find("valloc", found.valloc);
  find("pvalloc", found.pvalloc);
  find("free", found.free);
  find("memset", found.memset);
  find("__memset_chk", found.memset_checked);
  find("bzero", found.bzero);
  find("explicit_bzero", found.explicit_bzero);
  find("__explicit_bzero_chk", found.explicit_bzero_checked);
  find("wmemset", found.wmemset);
  // From here on objects can be found.
  find("_dl_find_object", real.find_object);
  found.find_object = real.find_object;
  dl_find_object allocator{};
  dl_find_object libc{};
  if (::_dl_find_object(reinterpret_cast<void*>(found.calloc), &allocator) == 0 &&
      ::_dl_find_object(reinterpret_cast<void*>(found.memset), &libc) == 0) {
    nesting_code = {reinterpret_cast<std::uintptr_t>(allocator.dlfo_map_start),
                    reinterpret_cast<std::uintptr_t>(allocator.dlfo_map_end)};
    if (allocator.dlfo_map_start != libc.dlfo_map_start) allocator_code = nesting_code;
  }
  real = plain_real = found;
  count_live_heap();
  begin_calls();
  resolved = true;
  resolving = false;
}

}  // namespace zerotax::record
