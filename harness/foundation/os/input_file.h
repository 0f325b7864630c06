#pragma once

#include <string>

namespace zerotax {

/// More than any file that zerotax writes; what is larger is a mistake, and would only fill the memory.
inline constexpr std::size_t kMostInputBytes = std::size_t{1} << 30;

/// Whether anything has this name, even a dangling link: what cannot be read is not mistaken for what does not
/// exist.
bool is_there(const std::string& path);

/// The whole of a regular file. Throws UsageError at once for anything else (a pipe, a device or a socket would block,
/// or never end), for one that is larger than kMostInputBytes, and for one that cannot be read.
std::string read_input_file(const std::string& path);

}  // namespace zerotax
