// C++'s operators new and delete. The operators of the C++ library call malloc and free, which count the call, so this
// file passes on calls to these operators without counting. It counts calls to an allocator's own operators.
#include <atomic>
#include <cstddef>
#include <cstdlib>

#include "os/got_hook.h"
#include "record/preload/calls.h"
#include "record/preload/counted.h"
#include "record/preload/live_heap.h"
#include "record/preload/modules.h"
#include "record/preload/process.h"
#include "record/preload/real.h"

#define ZEROTAX_EXPORT extern "C" [[gnu::visibility("default")]]

namespace zerotax::record {
namespace {

enum class Owner : int { kUnknown, kAllocator, kOther };

/// Finds an operator in a C++ library by the library's name. If a library was opened later, it is not among the objects
/// of the program's start.
void* find_in_cpp_library(const char* symbol) {
  for (const char* library : {"libstdc++.so.6", "libc++.so.1", "libc++abi.so.1"}) {
    if (void* const found = find_in(library, symbol)) return found;
  }
  return nullptr;
}

/// An operator to which the recorder's operator of the same name passes calls on.
struct Operator {
  const char* symbol;
  std::atomic<void*> function{nullptr};
  std::atomic<Owner> owner{Owner::kUnknown};

  constexpr explicit Operator(const char* name) : symbol(name) {}

  void* find() {
    if (function.load(std::memory_order_acquire) == nullptr) {
      resolve_real();
      void* found = find_next(symbol);
      if (found == nullptr) found = find_in_cpp_library(symbol);
      owner = found != nullptr && is_beside_malloc(found) ? Owner::kAllocator : Owner::kOther;
      function = found;
    }
    return function.load(std::memory_order_relaxed);
  }

  template <typename Function>
  Function as() {
    return reinterpret_cast<Function>(find());
  }

  [[nodiscard]] bool is_allocators() {
    return find() != nullptr && owner.load(std::memory_order_relaxed) == Owner::kAllocator;
  }
};

struct NoThrow;  // std::nothrow_t, which has no data

/// Returns the binary logarithm of an operator's alignment argument, or 0 if there is no such argument.
std::uint8_t alignment_of() { return 0; }
std::uint8_t alignment_of(const void* /*quietly*/) { return 0; }
std::uint8_t alignment_of(std::size_t alignment, const void* /*quietly*/ = nullptr) {
  return static_cast<std::uint8_t>(class_of(alignment));
}

/// Calls an operator of the allocator, and counts the call.
template <typename Allocate>
[[gnu::always_inline]] inline void* call_operator(CalledFrom from, std::size_t bytes, std::uint8_t alignment,
                                                  Allocate allocate) {
  const RawKind kind = alignment == 0 ? RawKind::kMalloc : RawKind::kAligned;
  return counted(from, bytes, [&] {
    return allocated_live(bytes, [&] { return allocated_noted(kind, bytes, alignment, allocate); });
  });
}

/// Calls the nothrow variant of an operator first, so that no exception passes through a counted call. If the variant
/// fails, calls the throwing operator, which may throw.
template <typename... More>
[[gnu::always_inline]] inline void* allocate(Operator& throwing, Operator& nothrow, std::size_t bytes, More... more) {
  using Throwing = void* (*)(std::size_t, More...);
  using Quiet = void* (*)(std::size_t, More..., const NoThrow*);
  if (throwing.is_allocators() && nothrow.find() != nullptr) {
    static const char kAnything = 0;
    const auto* const no_throw = reinterpret_cast<const NoThrow*>(&kAnything);
    void* const block = call_operator(called_from(), bytes, alignment_of(more...),
                                      [&] { return nothrow.as<Quiet>()(bytes, more..., no_throw); });
    if (block != nullptr) return block;
  }
  const auto function = throwing.as<Throwing>();
  // If there is no C++ library, malloc does the operator's work.
  if (function != nullptr) return function(bytes, more...);
  void* const block = std::malloc(bytes);
  if (block == nullptr) std::abort();
  return block;
}

template <typename... More>
[[gnu::always_inline]] inline void* allocate_quietly(Operator& nothrow, std::size_t bytes, More... more) {
  const auto function = nothrow.as<void* (*)(std::size_t, More...)>();
  if (function == nullptr) return std::malloc(bytes);
  if (!nothrow.is_allocators()) return function(bytes, more...);
  return call_operator(called_from(), bytes, alignment_of(more...), [&] { return function(bytes, more...); });
}

template <typename... More>
[[gnu::always_inline]] inline void release(Operator& remove, void* block, More... more) {
  const auto function = remove.as<void (*)(void*, More...)>();
  if (function == nullptr) return std::free(block);
  if (!remove.is_allocators()) return function(block, more...);
  freed(called_from(), block,
        [&] { released_live(block, [&] { released_noted(block, [&] { function(block, more...); }); }); });
}

}  // namespace
}  // namespace zerotax::record

using namespace zerotax::record;
using Bytes = std::size_t;
using Alignment = std::size_t;
using Quietly = const void*;

// NOLINTBEGIN(bugprone-macro-parentheses): names cannot be put into any.
// The names are those of the Itanium C++ ABI: Zn new, Zd delete, w one object, a an array, m a size.
#define ZEROTAX_NEW(NAME)                                                                                            \
  namespace {                                                                                                        \
  constinit Operator plain_##NAME("_Z" #NAME "m"), quiet_##NAME("_Z" #NAME "mRKSt9nothrow_t"),                       \
      aligned_##NAME("_Z" #NAME "mSt11align_val_t"),                                                                 \
      aligned_quiet_##NAME("_Z" #NAME "mSt11align_val_tRKSt9nothrow_t");                                             \
  }                                                                                                                  \
  ZEROTAX_EXPORT void* _Z##NAME##m(Bytes bytes) { return allocate(plain_##NAME, quiet_##NAME, bytes); }              \
  ZEROTAX_EXPORT void* _Z##NAME##mSt11align_val_t(Bytes bytes, Alignment alignment) {                                \
    return allocate(aligned_##NAME, aligned_quiet_##NAME, bytes, alignment);                                         \
  }                                                                                                                  \
  ZEROTAX_EXPORT void* _Z##NAME##mRKSt9nothrow_t(Bytes bytes, Quietly quietly) {                                     \
    return allocate_quietly(quiet_##NAME, bytes, quietly);                                                           \
  }                                                                                                                  \
  ZEROTAX_EXPORT void* _Z##NAME##mSt11align_val_tRKSt9nothrow_t(Bytes bytes, Alignment alignment, Quietly quietly) { \
    return allocate_quietly(aligned_quiet_##NAME, bytes, alignment, quietly);                                        \
  }

#define ZEROTAX_DELETE(NAME)                                                                                         \
  namespace {                                                                                                        \
  constinit Operator plain_##NAME("_Z" #NAME "Pv"), sized_##NAME("_Z" #NAME "Pvm"),                                  \
      quiet_##NAME("_Z" #NAME "PvRKSt9nothrow_t"), aligned_##NAME("_Z" #NAME "PvSt11align_val_t"),                   \
      sized_aligned_##NAME("_Z" #NAME "PvmSt11align_val_t"),                                                         \
      aligned_quiet_##NAME("_Z" #NAME "PvSt11align_val_tRKSt9nothrow_t");                                            \
  }                                                                                                                  \
  ZEROTAX_EXPORT void _Z##NAME##Pv(void* block) { release(plain_##NAME, block); }                                    \
  ZEROTAX_EXPORT void _Z##NAME##Pvm(void* block, Bytes bytes) { release(sized_##NAME, block, bytes); }               \
  ZEROTAX_EXPORT void _Z##NAME##PvRKSt9nothrow_t(void* block, Quietly quietly) {                                     \
    release(quiet_##NAME, block, quietly);                                                                           \
  }                                                                                                                  \
  ZEROTAX_EXPORT void _Z##NAME##PvSt11align_val_t(void* block, Alignment alignment) {                                \
    release(aligned_##NAME, block, alignment);                                                                       \
  }                                                                                                                  \
  ZEROTAX_EXPORT void _Z##NAME##PvmSt11align_val_t(void* block, Bytes bytes, Alignment alignment) {                  \
    release(sized_aligned_##NAME, block, bytes, alignment);                                                          \
  }                                                                                                                  \
  ZEROTAX_EXPORT void _Z##NAME##PvSt11align_val_tRKSt9nothrow_t(void* block, Alignment alignment, Quietly quietly) { \
    release(aligned_quiet_##NAME, block, alignment, quietly);                                                        \
  }

// NOLINTEND(bugprone-macro-parentheses)
ZEROTAX_NEW(nw)
ZEROTAX_NEW(na)
ZEROTAX_DELETE(dl)
ZEROTAX_DELETE(da)

namespace zerotax::record {

void leave_out_operators() {
  if (plain_nw.find() == nullptr || plain_nw.is_allocators()) return;
  std::size_t count = 0;
  GotReplacement replacements[20];
  const auto add = [&](Operator& known, auto* ours) {
    void* const theirs = known.find();
    if (theirs != nullptr) replacements[count++] = {known.symbol, reinterpret_cast<void*>(ours), theirs, true};
  };
#define ZEROTAX_LEAVE_NEW(NAME)                     \
  add(plain_##NAME, &_Z##NAME##m);                  \
  add(quiet_##NAME, &_Z##NAME##mRKSt9nothrow_t);    \
  add(aligned_##NAME, &_Z##NAME##mSt11align_val_t); \
  add(aligned_quiet_##NAME, &_Z##NAME##mSt11align_val_tRKSt9nothrow_t);
#define ZEROTAX_LEAVE_DELETE(NAME)                          \
  add(plain_##NAME, &_Z##NAME##Pv);                         \
  add(sized_##NAME, &_Z##NAME##Pvm);                        \
  add(quiet_##NAME, &_Z##NAME##PvRKSt9nothrow_t);           \
  add(aligned_##NAME, &_Z##NAME##PvSt11align_val_t);        \
  add(sized_aligned_##NAME, &_Z##NAME##PvmSt11align_val_t); \
  add(aligned_quiet_##NAME, &_Z##NAME##PvSt11align_val_tRKSt9nothrow_t);
  ZEROTAX_LEAVE_NEW(nw)
  ZEROTAX_LEAVE_NEW(na)
  ZEROTAX_LEAVE_DELETE(dl)
  ZEROTAX_LEAVE_DELETE(da)
  replace_got_slots(&replacements[0], count);
}

}  // namespace zerotax::record
