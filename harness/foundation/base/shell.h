#pragma once

#include <string>
#include <vector>

namespace zerotax {

/// Returns a word as a shell reads it, quoted if it contains anything but letters, digits and _-./:=,+@%. The result is
/// printable (base/printable.h). Control characters and bytes that are not UTF-8 become escapes in $'...'.
std::string shell_word(const std::string& word);

/// Returns a command as a shell reads it, with one blank between words.
std::string shell_text(const std::vector<std::string>& words);

}  // namespace zerotax
