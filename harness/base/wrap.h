#pragma once

#include <string>
#include <string_view>

namespace zerotax {

/// Words, made printable (base/printable.h), in lines of at most 78 characters (a longer word stands alone), each ended
/// by a line break; the first line begins with `first`, the others with `further`.
std::string wrap(std::string_view sentence, std::string_view first = "", std::string_view further = "");

}  // namespace zerotax
