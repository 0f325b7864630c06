#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace zerotax::record {

/// Where a function with this code goes on, counted from its first byte, if it begins without a branch and then jumps:
/// bzero of glibc and musl jumps to memset. Nothing for any other. `machine`: e_machine.
std::optional<std::int64_t> jumps_to(unsigned machine, std::string_view code);

/// Whether this is the code by which a linker reaches a function of another file, or one that the processor decides on.
bool is_linkage(unsigned machine, std::string_view code);

}  // namespace zerotax::record
