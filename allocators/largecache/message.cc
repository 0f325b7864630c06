#include "largecache/message.h"

#include <unistd.h>

#include <cerrno>

namespace zerotax::largecache {

Message::Message() { add_text("largecache: "); }

void Message::put(char c) {
  // The last byte stays free for the newline.
  if (length_ + 1 < text_.size()) text_[length_++] = c;
}

Message& Message::add_text(const char* text) {
  if (text == nullptr) return *this;
  for (; *text != '\0'; ++text) put(*text >= ' ' && *text <= '~' ? *text : '?');
  return *this;
}

Message& Message::add_number(std::uint64_t number) {
  if (number >= 10) add_number(number / 10);
  put(static_cast<char>('0' + number % 10));
  return *this;
}

Message& Message::add_pointer(const void* pointer) {
  const auto bits = reinterpret_cast<std::uintptr_t>(pointer);
  add_text("0x");
  bool leading = true;
  for (int shift = 60; shift >= 0; shift -= 4) {
    const auto digit = (bits >> shift) & 0xf;
    if (digit == 0 && leading && shift != 0) continue;
    leading = false;
    put("0123456789abcdef"[digit]);
  }
  return *this;
}

void Message::print() {
  const int saved_errno = errno;
  text_[length_++] = '\n';
  std::size_t sent = 0;
  while (sent < length_) {
    const ssize_t n = write(STDERR_FILENO, text_.data() + sent, length_ - sent);
    if (n > 0) {
      sent += static_cast<std::size_t>(n);
    } else if (n == 0 || errno != EINTR) {
      break;
    }
  }
  errno = saved_errno;
}

}  // namespace zerotax::largecache
