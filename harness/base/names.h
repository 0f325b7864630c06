#pragma once

#include <string>

namespace zerotax {

/// A C++ symbol as it was written in the source, and any other as it is: printable (base/printable.h), of more than
/// 2,000 characters the beginning, for documents hold no text of more than 16 KiB (base/strict_json.h).
std::string demangled(const char* symbol);

/// The last part of a path.
std::string file_name(const std::string& path);

}  // namespace zerotax
