#pragma once

#include <cstdint>
#include <functional>

namespace zerotax {

/// The kind of call before an address that a function may return to.
enum class CallKind { kNone, kOfFunction, kByRegister };

/// Reads the instruction that ends at `address`. `function`: where the function begins that is to be the one called.
CallKind call_before(std::uint64_t address, std::uint64_t function,
                     const std::function<bool(std::uint64_t address, void* to, std::size_t bytes)>& read);

}  // namespace zerotax
