#include "say.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <cstring>

namespace zerotax::recorder {
namespace {

std::atomic<unsigned> said{0};
std::atomic<char*> kept{nullptr};
std::atomic<unsigned long> kept_room{0};
std::atomic<pid_t> keeper{0};

}  // namespace

void say(const char* format, ...) {
  char line[1024] = "zerotax-recorder: ";
  const std::size_t begin = std::strlen(line);
  std::va_list arguments;
  va_start(arguments, format);
  // NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): clang-tidy 14 misses va_start
  const int length = std::vsnprintf(line + begin, sizeof line - begin - 1, format, arguments);
  va_end(arguments);
  if (char* const text = kept.load(); text != nullptr && keeper.load() == ::gettid()) {
    std::snprintf(text, kept_room.load(), "%s", line + begin);
    return;
  }
  std::size_t end = begin + std::min(static_cast<std::size_t>(std::max(length, 0)), sizeof line - begin - 2);
  line[end++] = '\n';
  // Errors are ignored, because a program that closed stderr wants no messages.
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line, end);
}

void say_into(char* text, unsigned long room) {
  keeper.store(::gettid());
  kept_room.store(room);
  kept.store(text);
}

bool first_time(Trouble trouble) {
  const auto bit = static_cast<unsigned>(trouble);
  return (said.fetch_or(bit, std::memory_order_relaxed) & bit) == 0;
}

void forget_troubles() { said.store(0, std::memory_order_relaxed); }

}  // namespace zerotax::recorder
