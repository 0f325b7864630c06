#pragma once

#include <string>

namespace zerotax {

/// A C++ symbol as it was written in the source, and any other symbol unchanged. The name is made printable
/// (base/printable.h). A name of more than 2,000 characters is cut, because documents hold no text of more than 16 KiB
/// (base/strict_json.h).
std::string demangled(const char* symbol);

/// The last part of a path.
std::string file_name(const std::string& path);

}  // namespace zerotax
