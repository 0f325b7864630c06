#pragma once

#include <string>

namespace zerotax {

/// More than any file that zerotax writes; what is larger is a mistake, and would only fill the memory.
inline constexpr std::size_t kMostInputBytes = std::size_t{1} << 30;

/// Whether there is anything of this name, also a link to nothing: what cannot be read is not taken for what is not
/// there.
bool is_there(const std::string& path);

/// The whole of a plain file. Throws UsageError at once for what is none (a pipe, a device or a socket would be waited
/// for, or never end), for one that is larger than kMostInputBytes, and for one that cannot be read.
std::string read_input_file(const std::string& path);

}  // namespace zerotax
