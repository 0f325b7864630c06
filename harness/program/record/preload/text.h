#pragma once

#include <cstddef>

namespace zerotax::record {

/// Copies a text into a field of the arena, cut to fit and terminated by a zero byte.
template <std::size_t kRoom>
void copy_text(char (&field)[kRoom], const char* text) {
  std::size_t length = 0;
  for (; length + 1 < kRoom && text[length] != '\0'; ++length) field[length] = text[length];
  field[length] = '\0';
}

}  // namespace zerotax::record
