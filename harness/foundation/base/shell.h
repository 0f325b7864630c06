#pragma once

#include <string>
#include <vector>

namespace zerotax {

/// A word as a shell reads it, in quotes if it has anything but letters, digits and _-./:=,+@%. The result is printable
/// (base/printable.h): control characters and bytes that are not UTF-8 become escapes in $'...'.
std::string shell_word(const std::string& word);

/// A command as a shell reads it, one blank between its words.
std::string shell_text(const std::vector<std::string>& words);

}  // namespace zerotax
