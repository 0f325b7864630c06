// The knobs, LARGECACHE_*, read from the environment.
#ifndef ZEROTAX_ALLOCATORS_LARGECACHE_CONFIG_H_
#define ZEROTAX_ALLOCATORS_LARGECACHE_CONFIG_H_

#include <cstddef>

#include "largecache/policy.h"

namespace zerotax::largecache {

/// Returns the value of a variable, or nullptr if it is not set.
using Lookup = const char* (*)(const char* name);

/// Returns the policy and its settings from the variables that `lookup` finds. If a value is invalid, keeps the default
/// and prints one line on standard error that names the variable and the accepted values. A policy's defaults are
/// shares of `physical_memory` (bytes). Does not allocate.
Settings read_settings(Lookup lookup, std::size_t physical_memory);

/// Fills `settings` from this process's environment. Returns false if the C library has not yet set `environ`. In that
/// case `settings` has the defaults, and the caller should try again later. Does not allocate.
bool settings_from_environment(Settings& settings);

/// Returns the bytes of physical memory according to sysinfo(2), which excludes memory reserved by the kernel; 0 if
/// unknown.
std::size_t physical_memory_bytes();

}  // namespace zerotax::largecache

#endif  // ZEROTAX_ALLOCATORS_LARGECACHE_CONFIG_H_
