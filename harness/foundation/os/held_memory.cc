#include "os/held_memory.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "os/unique_fd.h"

namespace zerotax {
namespace {

constexpr std::int64_t kKib = 1024;

/// Returns the value of a line such as "Anonymous:    1234 kB", in bytes.
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

std::int64_t page_table_bytes(const char* status_file) {
  const UniqueFd fd(::open(status_file, O_RDONLY | O_CLOEXEC));
  char text[4096];
  const ssize_t got = fd ? ::read(fd.get(), &text[0], sizeof text) : -1;
  if (got <= 0) return -1;
  const std::string_view status(&text[0], static_cast<std::size_t>(got));
  constexpr std::string_view kName = "\nVmPTE:";
  const auto at = status.find(kName);
  if (at == std::string_view::npos) return -1;
  const auto digits = status.find_first_of("0123456789", at);
  if (digits == std::string_view::npos) return -1;
  std::int64_t kib = 0;
  const auto [end, error] = std::from_chars(status.data() + digits, status.data() + status.size(), kib);
  return error == std::errc{} ? kib * 1024 : -1;
}

}  // namespace zerotax
