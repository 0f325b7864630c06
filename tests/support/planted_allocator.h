#pragma once

#include <cstdlib>
#include <string>

#include "point/plan.h"

namespace zerotax {

/// The C library's allocator in its probe of this build, and a planted one (tests/planted) preloaded into the same.
/// ZEROTAX_BINARY_DIR is the folder of the build.
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
