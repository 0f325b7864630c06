#pragma once

#include <cstddef>
#include <cstdint>

namespace zerotax {

/// Calls memset with a value of which all bits of the register are set as given, and returns what is then in that
/// register.
std::uint64_t left_by_memset(void* block, std::uint64_t value, std::size_t bytes);

}  // namespace zerotax
