#pragma once

#include <cstddef>
#include <string>

namespace zerotax::exchange {

/// UTF-8 text of at most `most` bytes, cut between two characters, with … at the end of a cut text. `most` is at least
/// 3.
std::string cut_text(std::string text, std::size_t most);

}  // namespace zerotax::exchange
