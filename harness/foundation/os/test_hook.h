#pragma once

#include <cstdlib>

namespace zerotax {

/// Returns the value of an environment variable with which a test makes zerotax behave as on another machine. Returns
/// nullptr in a build without tests.
inline const char* test_hook([[maybe_unused]] const char* variable) {
#ifdef ZEROTAX_TESTS
  return std::getenv(variable);
#else
  return nullptr;
#endif
}

}  // namespace zerotax
