#pragma once

/// The hostile allocators of a few lines are rows of short_*.h. CMakeLists.txt finds their names there and builds
/// short.cc once for each, with its name as ALLOCATOR.

#include "hostile.h"

/// Does this to each block of `size` bytes that calloc hands out, kept or fresh; free keeps it.
#define CLEARS(name) ALLOCATOR_THAT_FILLS(name, false)
/// Does this to a fresh mapping in each calloc; free unmaps it.
#define FRESH(name) ALLOCATOR_THAT_FILLS(name, true)
#define ALLOCATOR_THAT_FILLS(name, fresh)            \
  struct hostile_##name {                            \
    static constexpr bool kFresh = fresh;            \
    static void fill(char* block, std::size_t size); \
  };                                                 \
  inline void hostile_##name::fill([[maybe_unused]] char* block, [[maybe_unused]] std::size_t size)
