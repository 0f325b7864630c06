#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace zerotax::record {

/// The target of the first jump of a function, counted from its first byte, if no branch precedes the jump: bzero of
/// glibc and musl jumps to memset. Nothing for any other function. `machine`: e_machine.
std::optional<std::int64_t> jumps_to(unsigned machine, std::string_view code);

/// Whether this is linker code that calls a function of another file, or a function that the processor decides on.
bool is_linkage(unsigned machine, std::string_view code);

}  // namespace zerotax::record
