#include "os/held_memory.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>

namespace zerotax {
namespace {

constexpr std::int64_t kKib = 1024;

/// A line is like "Anonymous:    1234 kB".
std::int64_t field_of(const char* text, const char* name) {
  const char* found = std::strstr(text, name);
  return found == nullptr ? 0 : std::strtoll(found + std::strlen(name), nullptr, 10) * kKib;
}

}  // namespace

HeldMemory::HeldMemory() : file_(::open("/proc/self/smaps_rollup", O_RDONLY | O_CLOEXEC)) {}

HeldMemory::Bytes HeldMemory::read() const {
  std::array<char, 4096> text{};
  if (!file_ || ::pread(file_.get(), text.data(), text.size() - 1, 0) <= 0) return {};
  return {field_of(text.data(), "\nAnonymous:"), field_of(text.data(), "\nAnonHugePages:")};
}

}  // namespace zerotax
