#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace zerotax {

/// Returns value - part, or 0 if `part` is larger.
inline std::uint64_t less(std::uint64_t value, std::uint64_t part) { return value > part ? value - part : 0; }

inline constexpr std::uint64_t kKiB = 1024;
inline constexpr std::uint64_t kMiB = 1024 * kKiB;
inline constexpr std::uint64_t kGiB = 1024 * kMiB;

/// The end of the user half of a 47-bit address space. No block can be that large.
inline constexpr std::uint64_t kAddressSpaceBytes = std::uint64_t{1} << 47;

/// Parses "104857600", "100MiB", "1.5 GiB", "100MB" into bytes. The units are B, KiB, MiB, GiB (1024) and kB, MB, GB
/// (1000). Throws UsageError if the text is not such a size, is zero, is not a whole number of bytes, or is beyond the
/// address space. For the ambiguous "100M", the remedy is "did you mean 100MiB or 100MB?".
std::uint64_t parse_size(std::string_view text);

}  // namespace zerotax
