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

}  // namespace

void say(const char* format, ...) {
  char line[1024] = "zerotax-recorder: ";
  const std::size_t begin = std::strlen(line);
  std::va_list arguments;
  va_start(arguments, format);
  // NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): clang-tidy 14 misses va_start
  const int length = std::vsnprintf(line + begin, sizeof line - begin - 1, format, arguments);
  va_end(arguments);
  std::size_t end = begin + std::min(static_cast<std::size_t>(std::max(length, 0)), sizeof line - begin - 2);
  line[end++] = '\n';
  // A program that closed stderr wants no messages.
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line, end);
}

bool first_time(Trouble trouble) {
  const auto bit = static_cast<unsigned>(trouble);
  return (said.fetch_or(bit, std::memory_order_relaxed) & bit) == 0;
}

void forget_troubles() { said.store(0, std::memory_order_relaxed); }

}  // namespace zerotax::recorder
