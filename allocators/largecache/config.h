// The knobs, LARGECACHE_*, read from the environment.
#ifndef ZEROTAX_ALLOCATORS_LARGECACHE_CONFIG_H_
#define ZEROTAX_ALLOCATORS_LARGECACHE_CONFIG_H_

#include <cstddef>

#include "largecache/policy.h"

namespace zerotax::largecache {

/// Returns the value of a variable, or nullptr when it is not set.
using Lookup = const char* (*)(const char* name);

/// The policy and its settings, as requested by the variables found by `lookup`. For an unusable value, prints one line
/// on standard error that names the variable and what it accepts, and keeps the default. A policy's defaults are shares
/// of `physical_memory` (bytes). Allocates nothing.
Settings read_settings(Lookup lookup, std::size_t physical_memory);

/// Fills `settings` from this process's environment. False when it is too early: the C library has
/// not yet set `environ`, `settings` holds the defaults, and the caller should ask again later.
/// Allocates nothing.
bool settings_from_environment(Settings& settings);

/// Bytes of physical memory, as reported by sysinfo(2) (without what the kernel keeps for itself);
/// 0 if unknown.
std::size_t physical_memory_bytes();

}  // namespace zerotax::largecache

#endif  // ZEROTAX_ALLOCATORS_LARGECACHE_CONFIG_H_
