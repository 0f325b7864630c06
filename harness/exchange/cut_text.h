#pragma once

#include <cstddef>
#include <string>

namespace zerotax::exchange {

/// At most so many bytes of UTF-8 text, cut between two characters, with … at the end of what was cut. `most` is at
/// least 3.
std::string cut_text(std::string text, std::size_t most);

}  // namespace zerotax::exchange
