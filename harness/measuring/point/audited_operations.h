#pragma once

#include <cstdint>

namespace zerotax {

/// How many operations an audit makes of `ops` that were asked for: all of them, but beyond eight no more than 1000,
/// and no more than come to 2 GiB. By these two numbers alone, for its figures must not depend on speed.
std::uint32_t audited_operations(std::uint32_t ops, std::uint64_t size_bytes);

}  // namespace zerotax
