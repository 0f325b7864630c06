#include "os/kernel_version.h"

#include <sys/utsname.h>

namespace zerotax {
namespace {

/// Parses a number and advances past it. This code also runs in a recorded program, without the C++ runtime.
int number_at(const char*& text) {
  int value = 0;
  for (; *text >= '0' && *text <= '9'; ++text) value = 10 * value + (*text - '0');
  return value;
}

}  // namespace

bool kernel_is_at_least(int major, int minor) {
  utsname system{};
  if (::uname(&system) != 0) return true;
  const char* text = &system.release[0];
  const int own_major = number_at(text);
  if (own_major == 0 || *text != '.') return true;
  ++text;
  const int own_minor = number_at(text);
  return own_major > major || (own_major == major && own_minor >= minor);
}

}  // namespace zerotax
