#include "os/pid_namespace.h"

#include <unistd.h>

#include <array>

namespace zerotax {
namespace {

constexpr const char* kFirstNamespace = "pid:[4026531836]";

}  // namespace

std::optional<bool> in_first_pid_namespace(const std::string& proc) {
  std::array<char, 64> text{};
  const ssize_t length = ::readlink((proc + "/self/ns/pid").c_str(), text.data(), text.size());
  if (length <= 0) return std::nullopt;
  return std::string(text.data(), static_cast<std::size_t>(length)) == kFirstNamespace;
}

}  // namespace zerotax
