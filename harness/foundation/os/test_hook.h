#pragma once

#include <cstdlib>

namespace zerotax {

/// The environment variable by which a test chooses something that this machine would not. Always null in a build
/// without tests.
inline const char* test_hook([[maybe_unused]] const char* variable) {
#ifdef ZEROTAX_TESTS
  return std::getenv(variable);
#else
  return nullptr;
#endif
}

}  // namespace zerotax
