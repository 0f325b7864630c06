#include "record/preload/real.h"

#include <cstdint>
#include <type_traits>

#include "record/preload/calls.h"
#include "record/preload/instructions.h"
#include "record/preload/live_heap.h"
#include "record/preload/modules.h"

namespace zerotax::record {
namespace {

// Memory for the requests of the dynamic linker while symbols are looked up: at most a few hundred bytes.
constexpr std::size_t kEarlyBytes = 32'768;
alignas(16) unsigned char early[kEarlyBytes];
std::size_t early_bytes = 0;
bool resolving = false;
bool resolved = false;

/// Returns a new block of the early memory, which is zero because no early block is ever freed.
void* early_block(std::size_t bytes) {
  const std::size_t rounded = (bytes + 15) & ~std::size_t{15};
  if (rounded < bytes || rounded > kEarlyBytes - early_bytes) return nullptr;
  void* block = &early[early_bytes];
  early_bytes += rounded;
  early_used = true;
  return block;
}

// Stand-ins, each of which replaces a real function until the real function is known.
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

#define ZEROTAX_FIRST(Result, name, symbol, parameters, arguments) \
  Result first_##name parameters {                                 \
    resolve_real();                                                \
    return real.name arguments;                                    \
  }
ZEROTAX_LATER_FUNCTIONS(ZEROTAX_FIRST)

/// Stores bytes without any library. The dynamic linker calls this function while it still relocates, and no symbol can
/// be looked up yet.
void* first_memset(void* target, int value, std::size_t bytes) {
  store_bytes(target, value, bytes);
  return target;
}

void* first_memset_checked(void* target, int value, std::size_t bytes, std::size_t room) {
  if (bytes > room) __builtin_trap();
  return first_memset(target, value, bytes);
}

void first_bzero(void* target, std::size_t bytes) { first_memset(target, 0, bytes); }

void first_explicit_bzero(void* target, std::size_t bytes) { first_memset(target, 0, bytes); }

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

#define ZEROTAX_STAND_IN(Result, name, symbol, parameters, arguments) first_##name,
constinit Real real{ZEROTAX_ALLOCATOR_FUNCTIONS(ZEROTAX_STAND_IN) ZEROTAX_STORE_FUNCTIONS(ZEROTAX_STAND_IN) nullptr,
                    nullptr};

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
    // If no library has the function, its stand-in stays. In that case, no other code can have bound to the recorder's
    // function.
    if (void* found = find_next(symbol)) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(found);
    }
  };
  Real found = real;
#define ZEROTAX_FIND(Result, name, symbol, parameters, arguments) find(symbol, found.name);
  ZEROTAX_ALLOCATOR_FUNCTIONS(ZEROTAX_FIND)
  ZEROTAX_STORE_FUNCTIONS(ZEROTAX_FIND)
  // Once _dl_find_object is known, it finds the loaded object that contains an address.
  find("_dl_find_object", real.find_object);
  find("malloc_trim", found.malloc_trim);
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

// glibc's _dl_find_object, which this library's files call by name. The function is found at run time, because a child
// may preload this library under the loader of another C library. That loader would refuse to start a program if the
// symbol were missing.
extern "C" [[gnu::visibility("hidden")]] int _dl_find_object(void* address, dl_find_object* result) noexcept {
  const auto find = zerotax::record::real.find_object;
  return find != nullptr ? find(address, result) : -1;
}
