#pragma once

#include <cstdlib>
#include <string>

#include "point/plan.h"

namespace zerotax {

/// The allocator under test: the C library's, in the probe of this build, or a planted allocator (tests/planted) that
/// is preloaded into this probe. ZEROTAX_BINARY_DIR is the build folder.
inline Allocator glibc_allocator() {
  ::setenv("ZEROTAX_PROBE_DIR", ZEROTAX_BINARY_DIR "/bin", 1);
  return {"glibc", ZEROTAX_BINARY_DIR "/bin/bench-glibc", {}, {}, "1"};
}

inline Allocator planted_allocator(const std::string& name) {
  Allocator allocator = glibc_allocator();
  allocator.name = name;
  allocator.preload = ZEROTAX_BINARY_DIR "/tests/planted/libplanted_" + name + ".so";
  return allocator;
}

}  // namespace zerotax
