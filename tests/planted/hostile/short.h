#pragma once

/// Hostile allocators of a few lines are rows of short_*.h. CMakeLists.txt finds the names of the allocators there. It
/// builds short.cc once for each allocator, with the allocator's name as ALLOCATOR.

#include "hostile.h"

/// Defines an allocator. Its calloc runs the body below the macro on each block of `size` bytes, kept or fresh. free
/// keeps the block.
#define CLEARS(name) ALLOCATOR_THAT_FILLS(name, false)
/// Defines an allocator. Its calloc runs the body below the macro on a fresh mapping in every call. free unmaps the
/// mapping.
#define FRESH(name) ALLOCATOR_THAT_FILLS(name, true)
#define ALLOCATOR_THAT_FILLS(name, fresh)            \
  struct hostile_##name {                            \
    static constexpr bool kFresh = fresh;            \
    static void fill(char* block, std::size_t size); \
  };                                                 \
  inline void hostile_##name::fill([[maybe_unused]] char* block, [[maybe_unused]] std::size_t size)
